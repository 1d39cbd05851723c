"""Evaluations, ratings in training and tournaments give the same shares for the same episodes, on separate code paths."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.core import seeding
from interplay.core.policy import Policy
from interplay.evaluate import PolicyMap, play, round_robin
from interplay.evaluate.results import NAMES, OUTCOME, results
from interplay.evaluate.tournaments.matches import match_results, match_seeds, play_block
from interplay.evaluate.tournaments.matchups import Matchup
from interplay.registry import make_policy, make_world

WORLD, LIMIT, MATCHES, SEED = "battle/3m", 22, 32, 5


class Wavering(Policy):
    """Attacks, except in a share of steps chosen by a hash of the world, independent of batch and seat order."""

    def __init__(self, share: float) -> None:
        self.share, self.name = share, f"wavering {share}"

    def start(self, world, seed=0):
        super().start(world, seed)
        self.inner = make_policy(WORLD, "attack_move")
        self.inner.start(world, seed)

    def act(self, timestep):
        action = np.array(self.inner.act(timestep))
        for w, key in enumerate(self.world.hash()):
            rng = np.random.default_rng(int(key))
            legal = np.asarray(timestep.action_mask["action"][w])
            drawn = np.where(legal, rng.random(legal.shape), -1.0).argmax(axis=1)
            own = rng.random(len(action[w])) < self.share
            action[w, own] = drawn[own]
        return action


@pytest.fixture(scope="module")
def block():
    """Matches of two players, and the first one's outcomes read from the world."""
    players = [Wavering(0.1), Wavering(0.2)]
    world = make_world(WORLD, MATCHES, limit=LIMIT)
    played = play_block(world, players, Matchup((0, 1), 0), range(MATCHES), SEED, score=OUTCOME)
    outcome = np.array([world.metrics[OUTCOME][m, 0 if m % 4 in (0, 3) else 3] for m in range(MATCHES)])
    return players, played, outcome


def test_three_roads_to_the_same_shares(block):
    players, played, outcome = block
    rated = match_results(played, OUTCOME)
    # Road 1: by hand from the world's own metric.
    assert rated.means()["won"] == np.mean(outcome > 0)
    assert rated.means()["lost"] == np.mean(outcome < 0)
    assert 0 < rated.means()["lost"] < rated.means()["won"], "unequal players, so that swapped sides are seen"
    # Road 2: a tournament.
    named = dict(zip(("calm", "wild"), players, strict=True))
    cup = round_robin(named, WORLD, matches=MATCHES, seed=SEED, options={"limit": LIMIT})
    assert cup.score == OUTCOME
    assert {name: share.share for name, share in cup.shares(0).items()} == rated.means()
    # Road 3: `evaluate` from the same seeds, once for each way to sit.
    base = int(seeding.generator(SEED, 0x70001).integers(2**63))
    seeds = seeding.world_seeds(base, MATCHES // 2)
    assert set(seeds.tolist()) == set(match_seeds(SEED, 2, range(MATCHES)).tolist())
    found = []
    for red, blue, side in ((0, 1, "red"), (1, 0, "blue")):
        seats = {k: players[red] if k < 3 else players[blue] for k in range(6)}
        table = play(make_world(WORLD, 7, limit=LIMIT), PolicyMap(seats), MATCHES // 2, base)
        found.append(table.shares()[side])
    both = {name: (found[0][name].share + found[1][name].share) / 2 for name in NAMES}
    assert both == pytest.approx(rated.means())


def test_the_limit_cuts_and_draws_nothing(block):
    _, played, _ = block
    limited = np.array([match.more["truncated"] for match in played])
    even = np.array([match.scores[0] == match.scores[1] for match in played])
    assert (even & limited).any()
    rated = match_results(played, OUTCOME)
    assert rated.means()["cut"] == np.mean(even & limited)
    np.testing.assert_array_equal(sum(rated), 1.0)
    stopped = play(make_world(WORLD, 4), Wavering(0.9), 8, max_steps=3)
    assert {name: share.share for name, share in stopped.shares()["red"].items()} == {
        "won": 0, "lost": 0, "drawn": 0, "cut": 1
    }  # fmt: skip
    assert results(stopped[OUTCOME][:, 0], np.zeros(8, bool)).cut.all(), "what came of them nobody knows"


def test_points_of_elo_count_draws_and_cut_matches_half(block):
    players, _, outcome = block
    cup = round_robin(
        dict(zip("ab", players, strict=True)), WORLD, matches=MATCHES, seed=SEED, options={"limit": LIMIT}
    )
    points = float((outcome > 0).sum() + 0.5 * (outcome == 0).sum())
    assert cup.wins[0, 1] == points
    # Of two players Elo is the log odds of the points, with one drawn match more.
    odds = (points + 0.5) / (MATCHES - points + 0.5)
    assert cup.elo[0] - cup.elo[1] == pytest.approx(400 * np.log10(odds))


def test_on_demand_the_return_decides_and_nothing_is_cut(block):
    players, _, _ = block
    cup = round_robin(
        dict(zip("ab", players, strict=True)), WORLD, matches=4, score="return", options={"limit": 3}
    )
    assert cup.score == "return"
    assert list(cup.shares(0)) == ["won", "lost", "drawn"]


def test_summaries_have_the_shares_and_no_mean_of_outcomes(block):
    players, _, _ = block
    seats = {k: players[0] if k < 3 else players[1] for k in range(6)}
    table = play(make_world(WORLD, 5, limit=LIMIT), PolicyMap(seats), 12)
    summary, shares = table.summary(), table.shares()
    assert not any(name.startswith(OUTCOME) for name in summary)
    for side, slot in (("red", 0), ("blue", 3)):
        ends = table[OUTCOME][:, slot]
        assert summary[f"won[{side}]"].mean == shares[side]["won"].share == np.mean(ends > 0)
        assert shares[side]["cut"].share == np.mean((ends == 0) & table["truncated"])
        assert sum(share.share for share in shares[side].values()) == pytest.approx(1)
    told = table.to_dict()
    assert told["results"]["red"]["won"]["n"] == 12
    assert told["units"]["felled"] == "per team"
    assert "won[red]" in table._repr_html_()
