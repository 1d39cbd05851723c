"""The checker's parts by hand: heads and masks, bounds of spaces, actions with one choice changed, wild numbers."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from interplay.checker import planting
from interplay.checker.layout import _outside, heads, mask_sizes, overlap
from interplay.checker.masks import Choice, _legal_actions, _with, illegal_choices
from interplay.core.world import Kind
from tests.checker.sound_worlds import Camp

SPACE = spaces.Dict(a=spaces.MultiDiscrete([2, 3]), b=spaces.Box(0, 1, (2,)), c=spaces.Discrete(4, start=5))


def test_heads_and_masks_are_laid_out_key_by_key() -> None:
    assert heads(SPACE) == [("a", 0, 2), ("a", 2, 3), ("c", 0, 4)]
    assert mask_sizes(SPACE) == {"a": 5, "c": 4}


@pytest.mark.parametrize(
    ("space", "values", "wrong"),
    [
        (spaces.Box(-1, 2, (1,)), [-1.5, -1, 0, 2, 2.5, np.nan], [1, 0, 0, 0, 1, 0]),
        (spaces.MultiBinary(1), [-1, 0, 1, 2], [1, 0, 0, 1]),
        (spaces.Discrete(4, start=5), [4, 5, 8, 9], [1, 0, 0, 1]),
        (spaces.MultiDiscrete([2, 3]), [[0, 0], [1, 2], [2, 2], [1, 3], [-1, 0]], [[0, 0], [0, 0], [1, 0], [0, 1], [1, 0]]),
    ],
)  # fmt: skip
def test_what_lies_outside_a_space(space: spaces.Space, values: list[Any], wrong: list[Any]) -> None:
    assert _outside(space, np.array(values)).tolist() == np.array(wrong, bool).tolist()


def test_memory_that_is_too_hard_to_compare_is_not_called_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = np.zeros(9)
    assert overlap(whole[:5], whole[4:])
    assert not overlap(whole[::2], whole[1::2])

    def give_up(*_: Any, **__: Any) -> bool:
        raise np.exceptions.TooHardError

    monkeypatch.setattr(np, "shares_memory", give_up)
    assert not overlap(whole[:5], whole[4:])


def test_choices_of_one_agent_are_changed() -> None:
    kind = Kind("agent", (0, 1), spaces.Dict(), SPACE)
    base = {"a": np.zeros((2, 2, 2), int), "b": np.full((2, 2, 2), 0.5), "c": np.full((2, 2), 6)}
    changed = _with(
        SimpleNamespace(kinds=[kind]), base, Choice(kind, "c", 2, 3, row=1, column=0), {1: 2, 2: 3}
    )
    assert changed["a"].tolist() == [[[0, 0], [0, 0]], [[0, 2], [0, 0]]]
    assert changed["c"].tolist() == [[6, 6], [8, 6]], "choices are counted from the start of the space, 5"
    assert (base["a"].sum(), base["c"].sum()) == (0, 24)
    assert (changed["b"] == 0.5).all()


@pytest.mark.parametrize(
    ("space", "head", "count"), [(SPACE, 2, 4 + 2 * 3 * 4), (spaces.MultiDiscrete([3] * 7), 1, 3)]
)
def test_all_heads_are_tried_together_where_they_are_few(space: spaces.Space, head: int, count: int) -> None:
    kind = Kind("agent", (0,), spaces.Dict(), space)
    given = {"by_kind": lambda tree: {"agent": {}}, "timestep": SimpleNamespace(action_mask=None)}
    world = SimpleNamespace(kinds=[kind], ignores_illegal=False, **given)
    base = (
        {"a": np.zeros((1, 1, 2), int), "c": np.zeros((1, 1), int)} if head == 2 else np.zeros((1, 1, 7), int)
    )
    choice = Choice(kind, "c" if head == 2 else "action", head, 0, row=0, column=0)
    assert len({str(one) for one in _legal_actions(world, base, choice)}) == count - (head == 2) * 4
    assert len(list(_legal_actions(world, base, choice))) == count


def test_illegal_choices_are_those_of_agents_that_act() -> None:
    world = Camp(2)
    world.reset(seeds=np.array([3, 4], np.uint64))
    world.state.legal[...] = True
    world.state.legal[0, 2, 3] = world.state.legal[1, 1, 1] = False
    world.state.legal[1, 3] = False  # nothing to compare with
    assert {(one.value, one.row, one.column) for one in illegal_choices(world)} == {(3, 0, 2), (1, 1, 1)}
    world.state.acting[0, 2] = False
    assert {(one.value, one.row, one.column) for one in illegal_choices(world)} == {(1, 1, 1)}
    world.ignores_illegal = True  # nor if it is the only illegal one, where all of them mean nothing
    assert not list(illegal_choices(world))
    world.state.legal[1, 1, 2] = False
    assert {(one.value, one.row, one.column) for one in illegal_choices(world)} == {(1, 1, 1), (2, 1, 1)}


def planted(trick: Any, array: np.ndarray, draws: int = 400) -> Counter[float]:
    """Numbers that a trick writes in place of others, over many draws."""
    rng, met = np.random.default_rng(5), Counter()
    for _ in range(draws):
        changed = array.copy()
        with np.errstate(all="ignore"):
            trick(rng, changed, [array + 1])
        met.update(set(changed[changed != array].tolist()))
    return met


def test_wild_numbers_by_hand() -> None:
    numbers = np.array([[3, 7, 9], [4, 4, 20]], np.int16)
    assert set(planted(planting._extreme, numbers)) == {32767, -32768, 32766, -32767, -1}
    assert set(planted(planting._extreme, numbers.astype(np.uint8))) == {255, 254, 1, 0}
    assert set(planted(planting._beside, numbers)) == {2, 21, 22}
    assert set(planted(planting._sized, numbers)) == set(range(1, 11))
    assert set(planted(planting._flipped, numbers)) == {-3, -7, -9, -4, -20}
    assert set(planted(planting._mixed, numbers)) == {4, 8, 10, 5, 21}
    assert set(planted(planting._repeated, numbers)) <= {3, 7, 9, 4, 20}
    endless = planted(planting._not_finite, np.ones(4, np.float32))
    assert {str(one) for one in endless} == {"nan", "inf", "-inf"}
