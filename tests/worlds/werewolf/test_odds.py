"""Random play against exact odds (specification 14): winners, lengths, returns, metrics."""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np
import pytest

from interplay.core.policy import Policy
from tests.worlds.werewolf import chains
from tests.worlds.werewolf.random_games import play, score
from tests.worlds.werewolf.role_chains import (
    wolves_win_with_guard,
    wolves_win_with_hunter,
    wolves_win_with_witch,
)

SIZES = (6, 7, 9, 10, 11)
GAMES = 200_000
FEWER = 40_000
LIMIT = 4.0  # standard errors
SILENT: dict[str, Any] = {"talk_rounds_night": 0, "talk_rounds_day": 0}  # half the steps, the same law


def wolves_of(n: int) -> int:
    return isqrt(n)


@pytest.fixture(scope="module", params=SIZES)
def games(request):
    """Players, and many games among so many at random."""
    return request.param, play(GAMES, n_players=request.param)


def test_who_wins_and_when(games):
    n, played = games
    crew = wolves_of(n), n - wolves_of(n)
    assert abs(score(played.wolves_win(), float(chains.wolves_win(*crew)))) < LIMIT
    assert abs(score(played.metrics["tot_days"], float(chains.expected_days(*crew)))) < LIMIT
    assert not played.metrics["timeout"].any()
    assert np.array_equal(played.metrics["win_wolf"] + played.metrics["win_vil"], np.ones(GAMES))


def test_what_it_pays(games):
    n, played = games
    wolf, villager = chains.mean_returns(wolves_of(n), n - wolves_of(n))
    assert abs(score(played.wolf_return, float(wolf))) < LIMIT
    assert abs(score(played.villager_return, float(villager))) < LIMIT


def test_what_is_counted(games):
    n, played = games
    for name, expected in chains.metrics(wolves_of(n), n - wolves_of(n)).items():
        values = np.nan_to_num(played.metrics[name])  # a game that ends in its first night has no vote
        assert abs(score(values, float(expected))) < LIMIT, name


def test_how_games_end(games):
    """Odd: wolves win at night. Even: games end only by votes."""
    n, played = games
    kill, execution = 1, 3
    if n % 2:
        assert (played.last_phase[played.wolves_win() == 1] == kill).all()
    else:
        assert (played.last_phase == execution).all()
    assert (played.last_phase[played.wolves_win() == 0] == execution).all()


def test_five_players_lose_to_two_wolves_before_they_vote():
    with pytest.warns(UserWarning, match="first night"):
        played = play(1000, n_players=5)
    assert played.wolves_win().all()
    assert not played.metrics["tot_days"].any()


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize(("policy", "hit"), [("unite", chains.shared), ("avoid_wolves", chains.independent)])
def test_packs_that_keep_off_their_own(n, policy, hit):
    played = play(GAMES // 2, policy, n_players=n, **SILENT)
    expected = float(chains.wolves_win(wolves_of(n), n - wolves_of(n), hit))
    assert abs(score(played.wolves_win(), expected)) < LIMIT


VOTES: dict[str, dict[str, Any]] = {
    "no self-votes": {"allow_self_vote": False},
    "deeper ballots": {"ballot_len": 4, "vote_depth": 3},
    "whole ballots with duplicates": {"flexibility": 0.9, "count_duplicates": True},
    "talk": {"talk_rounds_night": 1, "talk_rounds_day": 2},
    "talk off": {"arm": "talk_off", "talk_rounds_day": 1},
    "words": {"signal_length": 2, "signal_range": 3, "talk_rounds_day": 1},
    "claims, shuffled": {"claims": True, "arm": "signals_shuffled"},
    "rank": {"accord": "rank", "ballot_len": 3},
    "revotes": {"tie": "revote", "revotes": 2},
    "the dead leave": {"dead": "end_with_bootstrap"},
}


@pytest.mark.parametrize("setting", VOTES)
@pytest.mark.parametrize("n", [7, 10])
def test_the_law_is_the_same_however_they_vote(setting, n):
    played = play(FEWER, n_players=n, **{**SILENT, **VOTES[setting]})
    crew = wolves_of(n), n - wolves_of(n)
    assert abs(score(played.wolves_win(), float(chains.wolves_win(*crew)))) < LIMIT
    assert abs(score(played.metrics["tot_days"], float(chains.expected_days(*crew)))) < LIMIT


class OneName(Policy):
    """All acting seats name the same player, drawn from names legal for all."""

    def act(self, timestep):
        acting, n = timestep.acting, len(self.world.agents)
        legal = (timestep.action_mask["action"][..., : n + 1] | ~acting[..., None]).all(axis=1)
        drawn = np.argmax(legal * self.rng.random(legal.shape), axis=1)
        return np.broadcast_to(drawn[:, None, None], (*acting.shape, 1)).astype(np.int16)


class Mute(Policy):
    """All seats pass, which is illegal: the world draws for them."""

    def act(self, timestep):
        n = len(self.world.agents)
        return np.full((*timestep.acting.shape, 1), n, np.int16)


@pytest.mark.parametrize("n", [7, 10])
@pytest.mark.parametrize("policy", [OneName, Mute])
def test_the_law_is_the_same_for_a_common_lynch_and_for_draws_of_the_world(n, policy):
    played = play(FEWER, policy(), n_players=n, **SILENT)
    expected = float(chains.wolves_win(wolves_of(n), n - wolves_of(n)))
    assert abs(score(played.wolves_win(), expected)) < LIMIT
    assert np.all(played.metrics["accord"] == 1.0) == (policy is OneName)
    assert np.all(played.metrics["illegal"] > 0) == (policy is Mute)


@pytest.mark.parametrize(("n", "wolves"), [(5, 2), (6, 2), (8, 3), (9, 3), (10, 3)])
def test_a_game_that_begins_by_day_is_that_of_one_player_more(n, wolves):
    played = play(FEWER, n_players=n, wolves=wolves, first_phase="day_talk", **SILENT)
    assert chains.wolves_win_by_day(wolves, n - wolves) == chains.wolves_win(wolves, n + 1 - wolves)
    assert abs(score(played.wolves_win(), float(chains.wolves_win(wolves, n + 1 - wolves)))) < LIMIT


@pytest.mark.parametrize("n", [7, 9, 10, 11])
@pytest.mark.parametrize(
    ("role", "chain"),
    [("guard", wolves_win_with_guard), ("hunter", wolves_win_with_hunter), ("witch", wolves_win_with_witch)],
)
def test_a_guard_a_hunter_or_a_witch(n, role, chain):
    wolves = wolves_of(n)
    played = play(FEWER, n_players=n, roles={role: 1}, **SILENT)
    assert abs(score(played.wolves_win(), float(chain(wolves, n - wolves - 1)))) < LIMIT


@pytest.mark.parametrize("roles", [{"seer": 1}, {"medium": 1}, {"possessed": 1}, {"seer": 2, "possessed": 2}])
def test_who_only_knows_or_hopes_changes_nothing(roles):
    played = play(FEWER, n_players=9, roles=roles, **SILENT)
    assert abs(score(played.wolves_win(), float(chains.wolves_win(3, 6)))) < LIMIT


def test_the_line_ups_of_aiwolf():
    five = play(FEWER, n_players=5, wolves=1, roles={"possessed": 1, "seer": 1}, **SILENT)
    assert abs(score(five.wolves_win(), float(chains.wolves_win(1, 4)))) < LIMIT
    roles = {"possessed": 1, "seer": 1, "guard": 1, "medium": 1}
    thirteen = play(FEWER, n_players=13, wolves=3, roles=roles, **SILENT)
    assert abs(score(thirteen.wolves_win(), float(wolves_win_with_guard(3, 9)))) < LIMIT
