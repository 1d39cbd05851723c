"""Masks that a user hands to a policy, read as training reads them, or refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.train.distributions import Distribution
from interplay.train.play.forms import legal_of, parted, refuse_stuck

FOUR: spaces.Space[Any] = spaces.Discrete(4)
SHOP = spaces.Dict({"buy": spaces.Discrete(3), "pair.x": spaces.Discrete(2), "push": spaces.Box(-1, 1, (1,))})
ROWS: list[tuple[spaces.Space[Any], Any, list[int]]] = [
    (FOUR, np.array([1, 0, 0, 1], np.int8), [1, 0, 0, 1]),
    (FOUR, [True, False, False, True], [1, 0, 0, 1]),
    (FOUR, np.array([0.0, 1.0, 0.0, 0.0]), [0, 1, 0, 0]),
    (spaces.MultiDiscrete([2, 3]), (np.array([1, 0]), np.array([0, 1, 1])), [1, 0, 0, 1, 1]),
    (spaces.MultiBinary(2), np.array([2, 0]), [1, 1, 1, 0]),
    (SHOP, {"buy": [1, 0, 0], "pair": {"x": [0, 1]}}, [1, 0, 0, 0, 1]),
    (SHOP, {"buy": [1, 0, 0]}, [1, 0, 0, 1, 1]),
    (SHOP, [1, 0, 0, 0, 1], [1, 0, 0, 0, 1]),
]
REFUSED: list[tuple[spaces.Space[Any], Any]] = [
    (FOUR, np.array([-1e8, -1e8, -1e8, 0.0])),
    (FOUR, np.full(4, 0.5)),
    (FOUR, np.array([2, 0, 0, 0])),
    (FOUR, np.ones(3)),
    (FOUR, {"action": np.ones(4)}),
    (SHOP, {"buys": [1, 0, 0], "pair": {"x": [0, 1]}}),
    (SHOP, {"pair": {"x": [0, 1]}}),  # buy is a part that is masked
    (SHOP, {"buy": [1, 0, -1e8]}),
    (SHOP, np.ones(4)),
]


@pytest.mark.parametrize(("space", "mask", "row"), ROWS)
def test_masks_of_every_form_are_rows(space: spaces.Space[Any], mask: Any, row: list[int]) -> None:
    assert legal_of(space, mask, "it", needs=("buy",)).astype(int).tolist() == row


def test_rows_are_parted_by_heads() -> None:
    found = parted(Distribution(SHOP), np.array([[1, 0, 0, 1, 1], [0, 1, 1, 0, 1]]))
    assert {key: own.tolist() for key, own in found.items()} == {
        "buy": [[1, 0, 0], [0, 1, 1]],
        "pair.x": [[1, 1], [0, 1]],
    }


@pytest.mark.parametrize(("space", "mask"), REFUSED)
def test_what_is_no_mask_is_refused(space: spaces.Space[Any], mask: Any) -> None:
    with pytest.raises(UserError, match="it has a mask"):
        legal_of(space, mask, "it", needs=("buy",))


@pytest.mark.parametrize("mask", [np.full((2, 4), 0.5), np.array([0, -1e8, 0, 0])])
def test_rows_of_several_observations_are_zeros_and_ones(mask: np.ndarray) -> None:
    with pytest.raises(UserError):
        legal_of(FOUR, mask, "it", rows=2)


def test_a_head_without_a_choice_is_refused() -> None:
    distribution = Distribution(SHOP)
    refuse_stuck(distribution, np.array([[1, 0, 0, 0, 1], [0, 0, 1, 1, 1]], bool), "it")
    for row in ([0, 0, 0, 1, 1], [1, 1, 1, 0, 0]):
        with pytest.raises(UserError):
            refuse_stuck(distribution, np.array([[1, 0, 0, 0, 1], row], bool), "it")
