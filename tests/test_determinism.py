"""The same worlds in batches of other sizes, at other places, with threads and in another process; much more in the soak."""

from __future__ import annotations

import numpy as np
import pytest

from bench import trust_determinism
from bench.trust_determinism import BLOCK, FAMILIES, compare


@pytest.mark.parametrize("family", ["simulation", "gridworld", "mmo"])
def test_equal_worlds_are_equal_in_every_arrangement(family):
    assert compare(family, ticks=2_000, worlds=5) == 2 * BLOCK * 4 * 5


def test_there_is_a_world_of_every_family():
    from interplay import list_worlds

    assert {world.partition("/")[0] for world, _ in FAMILIES.values()} == {
        spec.id.partition("/")[0] for spec in list_worlds()
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
