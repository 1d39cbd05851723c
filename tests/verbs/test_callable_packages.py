"""`interplay.train` and `interplay.evaluate` are functions and packages, in whatever order they are imported."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import interplay

STATEMENTS = (
    "from interplay.train.settings import TrainSettings",
    "import interplay.train; assert callable(interplay.train)",
    "import interplay.evaluate as e; assert callable(e) and e.round_robin",
    "from interplay.evaluate import play; assert inspect.isfunction(play)",
    "from interplay import train; assert train is sys.modules['interplay.train'] and callable(train)",
    "import interplay.verbs.training as t; assert inspect.signature(interplay.train) == inspect.signature(t.train)",
)


@pytest.mark.parametrize("first", range(len(STATEMENTS)))
def test_any_order_of_imports_gives_a_package_that_is_called(first):
    order = STATEMENTS[first:] + STATEMENTS[:first]
    for lines in (order, order[::-1]):
        code = "\n".join(("import sys, inspect, interplay", *lines, "assert callable(interplay.evaluate)"))
        subprocess.run([sys.executable, "-c", code], check=True)


def test_calls_reach_the_functions():
    table = interplay.evaluate("random", "dilemma/fixed", episodes=3)
    assert len(table) == 3
    with pytest.raises(TypeError):
        interplay.evaluate("random", "dilemma/fixed", episode=3)
    assert list(inspect.signature(interplay.train).parameters)[:2] == ["world", "out"]


def test_what_is_offered_can_be_had_and_loads_nothing_heavy_by_itself():
    for name in interplay.__all__:
        assert getattr(interplay, name) is not None
    code = "import interplay, sys; interplay.train; interplay.evaluate; print('jax' in sys.modules, 'numba' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert said.split() == ["False", "False"]
    with pytest.raises(AttributeError, match="has no attribute 'no_such_verb'"):
        interplay.no_such_verb  # noqa: B018
