"""Whether a policy can read a world: every difference is named, with both layouts."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from gymnasium import spaces

from interplay.core.world import Kind
from interplay.evaluate.tournaments.layouts import layout_problem, shown

FIELDS = {"own": spaces.Box(-1, 1, (3,), np.float32), "day": spaces.Discrete(5)}


def world(fields=FIELDS, action=None, *names):
    """Kinds of agents with equal spaces."""
    action = action or spaces.MultiDiscrete([4, 2])
    kinds = [Kind(name, (0,), spaces.Dict(fields), action) for name in names or ("agent",)]
    return SimpleNamespace(kinds=kinds)


# What a world may have instead, and the parts of the clause that say so from either side.
DIFFERENT = {
    "shape": (world({**FIELDS, "own": spaces.Box(-1, 1, (4,), np.float32)}), '"own"', "(3,)", "(4,)"),
    "dtype": (world({**FIELDS, "own": spaces.Box(-1, 1, (3,), np.float64)}), '"own"', "float32", "float64"),
    "choices": (world({**FIELDS, "day": spaces.Discrete(6)}), '"day"', "choices 5", "choices 6"),
    "one more field": (world({**FIELDS, "map": spaces.Discrete(2)}), '"map"', "absent", "choices 2"),
    "one field less": (world({"own": FIELDS["own"]}), '"day"', "choices 5", "absent"),
    "action": (world(FIELDS, spaces.MultiDiscrete([4, 3])), "the action", "(4, 2)", "(4, 3)"),
    "kind of action": (world(FIELDS, spaces.Discrete(8)), "the action", "choices (4, 2)", "choices 8"),
    "part of an action": (
        world(FIELDS, spaces.Dict(move=spaces.Discrete(4))), "the action", "choices (4, 2)", "{move: choices 4}",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", DIFFERENT)
def test_what_differs_is_named_from_the_side_of_who_was_trained(what):
    other, thing, here, there = DIFFERENT[what]
    for trained, asked, was, now in ((world(), other, here, there), (other, world(), there, here)):
        problem = layout_problem(trained, asked)
        assert thing in problem
        before, _, after = problem.partition(" in its training and is ")
        assert was in before
        assert now in after


def test_what_is_laid_out_alike_fits_whatever_the_values_are():
    wider = {"own": spaces.Box(-9, 9, (3,), np.float32), "day": spaces.Discrete(5, start=1)}
    assert layout_problem(world(), world()) is None
    assert layout_problem(world(), world(wider)) is None


def test_kinds_are_known_by_their_names():
    both, one = world(FIELDS, None, "wolf", "sheep"), world(FIELDS, None, "sheep")
    assert layout_problem(both, one) is None
    assert layout_problem(both, both) is None
    assert layout_problem(one, both) == "it knows no agents of kind wolf, only sheep"
    fewer = world({"own": FIELDS["own"]}, None, "wolf", "sheep")
    assert layout_problem(both, fewer).startswith('observation "day" of wolf was choices 5')


def test_spaces_in_a_few_characters():
    space = spaces.Dict(a=spaces.Discrete(2), b=spaces.MultiBinary(3))
    assert shown(space) == "{a: choices 2, b: int8 (3,)}"
