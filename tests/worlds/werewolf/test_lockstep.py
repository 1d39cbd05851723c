"""The real game equals the naive one, step for step: observations, masks, rewards, ends, metrics."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interplay import make_world
from interplay.worlds.werewolf.config import VARIANTS
from tests.worlds.werewolf.pair import Pair
from tests.worlds.werewolf.settings_of_games import options

pytestmark = pytest.mark.slow

BUSY: dict[str, Any] = {  # as many rules as one table can hold
    "n_players": 12,
    "wolves": 3,
    "roles": {"seer": 1, "guard": 1, "medium": 1, "possessed": 1, "hunter": 2, "witch": 1},
    "ballot_len": 3,
    "vote_depth": 2,
    "tie": "revote",
    "revotes": 2,
    "allow_abstain": True,
    "allow_self_vote": False,
    "guard_repeat": False,
    "hunter_pass": True,
    "talk_rounds_day": 2,
    "signal_length": 2,
    "claims": True,
    "accord": "rank",
    "reveal_role": True,
    "obs": {"history": 3},
}


def pair(num_worlds: int, seed: int, variant: str = "9", **chosen: Any) -> Pair:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # games that end in the first night
        return Pair(make_world(f"werewolf/{variant}", num_worlds, seed, **chosen))


@given(chosen=options(), seed=st.integers(0, 10_000), wild=st.sampled_from((0.0, 0.3)))
@settings(max_examples=120, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_any_game_equals_the_naive_one(chosen, seed, wild):
    pair(2, seed, **chosen).play(np.random.default_rng(seed), wild)


@pytest.mark.parametrize("variant", [name.replace("_", "-") for name in VARIANTS if "l21" not in name])
def test_every_variant_equals_the_naive_game(variant):
    two = pair(3, 5, variant)
    two.play(np.random.default_rng(5), wild=0.1)
    assert two.events["games"] == 3
    assert two.events["illegal"] > 0


@pytest.mark.parametrize("dead", ["spectate", "end_with_bootstrap"])
def test_a_table_with_everything_equals_the_naive_one(dead):
    """One batch over several games, the later ones dealt anew; everything that can happen does."""
    two = pair(10, 3, dead=dead, **BUSY)
    winners: Counter[int] = Counter()
    for episode in range(3):
        two.play(np.random.default_rng(episode), wild=0.1)
        winners.update(game.winner for game in two.games)
    assert all(two.events[name] > 0 for name in ("ties", "illegal", "saved", "shots")), two.events
    assert winners[0] > 0
    assert winners[1] > 0
