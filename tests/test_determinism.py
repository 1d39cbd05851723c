"""The same worlds in batches of other sizes, at other places, with threads and in another process; much more in the soak."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from bench import trust_determinism
from bench.trust_determinism import BLOCK, FAMILIES, compare
from tests.present import worlds_to_test


@pytest.mark.parametrize("family", ["simulation", "gridworld", "mmo"])
def test_equal_worlds_are_equal_in_every_arrangement(family):
    assert compare(family, ticks=2_000, worlds=5) == 2 * BLOCK * 4 * 5


def test_there_is_a_world_of_every_family():
    assert {world.partition("/")[0] for world, _ in FAMILIES.values()} == {
        spec.id.partition("/")[0] for spec in worlds_to_test()
    }


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("PositionDraw", "batches of other sizes, turned: world 0 differs at tick 1"),
        ("BatchSizeDraw", "one by one: world 0 differs at tick 1"),
        ("UnseededGenerator", "one by one: world"),
    ],
)
def test_a_fault_is_named_with_arrangement_world_and_tick(monkeypatch, fault, said):
    monkeypatch.setitem(FAMILIES, "faulty", (f"tests.checker.faulty_worlds:{fault}", {}))
    monkeypatch.setattr(trust_determinism, "blocks_of_a_child", echo)
    if fault == "PositionDraw":  # one by one, every place is 0
        monkeypatch.setattr(trust_determinism, "arrangements", lambda worlds: arrangements(worlds)[1:])
    with pytest.raises(AssertionError, match=said):
        compare("faulty", ticks=1_000, worlds=5)


arrangements = trust_determinism.arrangements


def echo(family, worlds, seed):
    """A child that knows nothing of the worlds of a test."""
    first, players = trust_determinism.begin(family, worlds, seed)
    while True:
        yield np.array(trust_determinism.play_block([first], players)[:, 0])


LEFT_OUT = {"seed": 0, "first_world": 0, "threads": 1, "trust": False, "resume": False, "host": "127.0.0.1"}


def defaults(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[str, ast.expr | None]]:
    """(name, default) of each parameter that has a default."""
    own = function.args
    yield from zip((one.arg for one in own.kwonlyargs), own.kw_defaults, strict=True)
    names = [one.arg for one in (*own.posonlyargs, *own.args)]
    yield from zip(reversed(names), reversed(own.defaults), strict=False)


def test_an_argument_that_is_left_out_is_the_same_in_every_function():
    """So two ways to one run give one run, and none trusts a stranger's files or opens a port to other machines."""
    met = dict.fromkeys(LEFT_OUT, 0)
    for path in (Path(__file__).parents[1] / "interplay").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for name, default in defaults(node):
                    if name in LEFT_OUT and isinstance(default, ast.Constant) and default.value is not None:
                        assert default.value == LEFT_OUT[name], f"{path.name}:{node.lineno}: {name}"
                        met[name] += 1
    assert min(met.values()) > 4
