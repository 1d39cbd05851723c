"""Leagues: who meets whom by which rule, each result counts once, and others teach nobody."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import numpy as np
import pytest
from safetensors.numpy import load_file

from interplay.core.errors import UserError
from interplay.evaluate.tournaments.payoff import Payoff
from interplay.evaluate.tournaments.ratings.bradley_terry import win_probability
from interplay.train.learner import Learner
from interplay.train.play.policy import load_policy, policies_at, population_names
from interplay.train.populations import Populations
from interplay.train.run.checkpoint import find_checkpoint, list_checkpoints
from interplay.train.run.episodes import LifeStatistics
from interplay.train.selfplay.league.casting import LeagueCasting
from interplay.train.selfplay.league.league import League
from interplay.train.selfplay.league.meetings import PRIORITIES, near_in_strength, prioritised
from interplay.train.selfplay.league.standing import table
from interplay.train.selfplay.matchups import sides_of, with_opponents
from interplay.train.settings import TrainSettings
from interplay.train.shard import Shard
from interplay.train.trainer import train
from interplay.worlds.matrix.config import RockPaperScissorsSettings
from interplay.worlds.matrix.world import RockPaperScissorsWorld
from tests.train.runs import short_run

TWO = {
    "main": {
        "meets": [
            {"by": "self", "share": 0.3},
            {"by": "pfsp", "share": 0.5},
            {"by": "fixed", "share": 0.2, "play": "rock"},
        ]
    },
    "exploiter": {"meets": [{"by": "current", "among": ["main"]}], "restart_after": 2},
}


def settings_of(updates: int = 1, league: dict[str, Any] | None = None, **own: Any) -> TrainSettings:
    values = {
        "num_worlds": 32,
        "train": {"max_updates": updates},
        "ppo": {"rollout": 8, "minibatch": 128, "epochs": 2, "learning_rate": 1e-2, "target_kl": "off"},
        "population": {"block": 8},
        "league": {"learners": TWO, "period": 500, "keep": 4} | (league or {}),
    }
    return short_run("matrix/rock-paper-scissors", {**values, **own})


def world_of(worlds: int, **own: Any) -> RockPaperScissorsWorld:
    world = RockPaperScissorsWorld(RockPaperScissorsSettings(), worlds, **own)
    world.reset()
    return world


def league_of(settings: TrainSettings) -> League:
    populations = with_opponents(settings, world_of(1))
    count = len(populations.names)
    first = {"agent": np.arange(count * 3, dtype=np.float32).reshape(count, 3)}
    return League(settings.league, populations, first, settings.seed)


def frozen_league(copies: int, **own: Any) -> League:
    """After so many periods; the weights of learner q at the end of period p are 100 q + p."""
    league = league_of(settings_of(league=own))
    for period in range(1, copies + 1):
        league.end_update(0, 500 * period, {"agent": np.full((2, 3), period) + 100.0 * np.arange(2)[:, None]})
    return league


def casting_of(league: League, worlds: int, **own: Any) -> LeagueCasting:
    settings, world = settings_of(), world_of(worlds, **own)
    return LeagueCasting(league, sides_of(settings, world, with_opponents(settings, world)), world, seed=3)


def mark_moments(learner: Learner) -> None:
    """Sets all numbers of the optimiser to 1 for the first learner, to 2 for the second."""
    learner._moments["agent"] = jax.tree.map(
        lambda leaf: jax.numpy.stack([jax.numpy.full_like(leaf[q], q + 1) for q in range(2)]),
        learner._moments["agent"],
    )


def moments_of(learner: Learner) -> list[set[float]]:
    """The numbers of the optimiser of each learner."""
    leaves = jax.tree.leaves(learner._moments["agent"])
    return [{float(one) for leaf in leaves for one in np.ravel(leaf[q])} for q in range(2)]


# -- who there is --------------------------------------------------------------------------------------


def test_copies_are_kept_and_the_oldest_gives_way() -> None:
    league = frozen_league(2)
    assert [league.name(player) for player in league.frozen] == [
        "main-0001",
        "exploiter-0001",
        "main-0002",
        "exploiter-0002",
    ]
    assert {name: float(own["agent"][0]) for name, own in league.members()} == {
        "main-0001": 1.0,
        "exploiter-0001": 101.0,
        "main-0002": 2.0,
        "exploiter-0002": 102.0,
    }
    assert league.since.tolist() == [500, 500, 1000, 1000]
    names = [name for name, _ in frozen_league(3).members()]
    assert names == ["main-0002", "exploiter-0002", "main-0003", "exploiter-0003"]
    names = [name for name, _ in frozen_league(3, keep=5).members()]  # the learner with the most gives way
    assert names == ["exploiter-0001", "main-0002", "exploiter-0002", "main-0003", "exploiter-0003"]


def test_a_copy_begins_without_results_and_the_others_keep_theirs() -> None:
    """The results of the learning phase and of the copy that is dropped are gone: of 5 matches that between the oldest stays."""
    league = frozen_league(2)
    old, other, late, _ = map(int, league.frozen)
    assert [league.name(player) for player in (old, other, late)] == [
        "main-0001",
        "exploiter-0001",
        "main-0002",
    ]
    rock = int(league.fixed[0])
    league.payoff.add(np.array([0, rock, old, rock, late]), np.array([rock, 0, late, old, rock]), np.ones(5))
    league.end_update(0, 1500, {"agent": np.zeros((2, 3))})
    assert league.name(old) == "main-0003"  # in the place of main-0001
    expected = np.zeros((league.players, league.players))
    expected[late, rock] = 1.0
    assert np.array_equal(league.payoff.matches, expected)
    assert np.array_equal(league.payoff.total, expected)


def test_who_begins_anew_has_its_first_weights_and_no_results() -> None:
    settings = settings_of()
    learner = Learner(world_of(1).kinds, settings, with_opponents(settings, world_of(1)))
    first = {name: np.array(vectors) for name, vectors in learner.vectors.items()}
    for name in first:
        learner.vectors[name] = learner.vectors[name] + 1.0
    mark_moments(learner)
    assert learner.keep_selves(1, 100) == {}
    for period, begins in ((500, False), (1000, True)):
        learner.keep_selves(2, period)
        main, exploiter = np.asarray(learner.vectors["agent"])
        assert np.array_equal(exploiter, first["agent"][1]) == begins
        assert np.array_equal(main, first["agent"][0] + 1.0)
        assert moments_of(learner) == [{1.0}, {0.0} if begins else {2.0}]
    assert isinstance(learner.pool, League)
    assert np.array_equal(learner.pool.stacks["agent"][1], first["agent"][1])  # its mirror too
    assert learner.pool.age.tolist() == [2, 0]


def test_who_wins_against_all_begins_anew() -> None:
    strong = {"main": {"meets": [{"by": "self"}], "restart_above": 0.7}}
    league = league_of(settings_of(league={"learners": strong, "keep": 4}))
    vectors = {"agent": np.ones((1, 3))}
    assert league.end_update(0, 500, vectors) == (("main-0001",), (), ())
    copy = int(league.frozen[0])
    league.payoff.add(np.zeros(10, int), np.full(10, copy), np.array([1.0] * 8 + [-1.0] * 2))
    decision = league.end_update(0, 1000, vectors)
    assert decision is not None
    assert decision.restarted == (0,)
    league.payoff.add(np.zeros(10, int), np.full(10, copy), np.array([1.0] * 6 + [-1.0] * 4))
    assert league.end_update(0, 1500, vectors) == (("main-0003",), (), ())
    league.payoff.add(np.zeros(9, int), np.full(9, copy), np.ones(9))  # too few to tell
    assert league.end_update(0, 2000, vectors) == (("main-0004",), (), ())
    for other, won in zip(league.frozen[:2], (10, 6), strict=True):  # one of two is not beaten so clearly
        league.payoff.add(np.zeros(10, int), np.full(10, other), np.sign(won - np.arange(10) - 0.5))
    assert league.end_update(0, 2500, vectors) == (("main-0005",), (), ())


def test_lives_are_counted_to_who_lived_them() -> None:
    league = frozen_league(2)
    casting = casting_of(league, 200)
    born = casting.born(np.zeros((200, 2), np.uint8))
    lived = casting.lived(born, casting.seat(born, world_of(200)))
    statistics = LifeStatistics(world_of(200), with_opponents(settings_of(), world_of(1)))
    there = np.ones((200, 2), bool)
    statistics.end(there, lived)
    counted = statistics.in_episode.reshape(200, 2, -1)[..., 0].sum(axis=0)
    for q in range(2):
        assert counted[q] == (casting.player == q).sum() > 0
    assert counted.sum() < 400  # copies and fixed players lived the others


PBT = {"rates": ["learning_rate", "entropy_coefficient"], "spread": 4.0, "change": 1.5}


def test_who_falls_behind_goes_on_from_who_is_ahead() -> None:
    settings = settings_of(
        league={"learners": rules(by="self"), "pbt": PBT}, ppo={"entropy_coefficient": 0.1, "rollout": 8}
    )
    learner = Learner(world_of(1).kinds, settings, with_opponents(settings, world_of(1)))
    league = learner.pool
    assert isinstance(league, League)
    assert (league.factor >= 0.25).all()
    assert (league.factor <= 4.0).all()
    before, factor = np.array(learner.vectors["agent"]), league.factor.copy()
    mark_moments(learner)
    rates = [
        own["learning_rate"] for own in league.scale([{"learning_rate": 1.0, "entropy_coefficient": 1.0}] * 2)
    ]
    assert rates == pytest.approx(factor[:, 0])
    learner.set_rates(0.5)
    assert learner._rates["entropy_coefficient"] == pytest.approx(0.1 * factor[:, 1], rel=1e-6)
    league.payoff.add(np.zeros(20, int), np.ones(20, int), np.ones(20))  # main wins them all
    learner.keep_selves(1, 500)
    after = np.array(learner.vectors["agent"])
    assert np.array_equal(after[1], before[0])
    assert np.array_equal(after[0], before[0])
    assert moments_of(learner) == [{1.0}, {1.0}]
    assert np.array_equal(league.factor[0], factor[0])
    assert all(
        step == pytest.approx(1.5) or step == pytest.approx(1 / 1.5) for step in league.factor[1] / factor[0]
    )
    assert league.payoff.met[1].sum() == 0
    learner.keep_selves(2, 1000)  # nobody knows now who is ahead
    assert np.array_equal(np.array(learner.vectors["agent"]), after)


def test_factors_are_drawn_to_either_side_and_later_draws_are_others() -> None:
    """Their logarithms are uniform in [-log 4, log 4]: of 80 the mean is 0 up to 4 deviations."""
    many = {f"learner{i}": {"meets": [{"by": "self"}]} for i in range(40)}
    league = league_of(settings_of(league={"learners": many, "pbt": PBT}))
    drawn = np.log(league.factor) / np.log(4.0)
    assert abs(drawn.mean()) < 4 * np.sqrt(1 / 3 / 80)
    assert (drawn.min(), drawn.max()) == pytest.approx((-1, 1), abs=0.15)
    before = league.rng().random()
    league.end_update(0, 500, {"agent": np.zeros((40, 3))})
    assert league.rng().random() != before


def test_earlier_results_count_less_after_a_period() -> None:
    kept = {name: {"meets": [{"by": "current"}], "freeze": False} for name in ("main", "other")}
    league = league_of(settings_of(league={"learners": kept, "decay": 0.25}))
    league.payoff.add(np.zeros(8, int), np.ones(8, int), np.array([1.0] * 7 + [0.0]))
    league.end_update(0, 500, {"agent": np.zeros((2, 3))})
    assert (league.payoff.total[0, 1], league.payoff.matches[0, 1]) == (7 / 4, 8 / 4)


def test_the_table_names_whose_copies_its_players_are_and_since_when() -> None:
    """The first seat of the copy of the exploiter, of a mirror of main, and of rock; the oldest copy is the anchor without rock."""
    league = frozen_league(2)
    old, late, rock = int(league.frozen_of([1])[0]), int(league.frozen_of([0])[1]), int(league.fixed[0])
    for one, other, outcomes in ((late, 0, [1, 1, -1]), (0, old, [1, 0]), (1, old, [-1, -1, -1, 1])):
        league.payoff.add(
            np.full(len(outcomes), one), np.full(len(outcomes), other), np.array(outcomes, float)
        )
    found = table(league, "world", 1234, "return")
    assert found.names == ("main", "exploiter", "exploiter-0001", "main-0002")
    assert found.learner == ("main", "exploiter", "exploiter", "main")
    assert found.since.tolist() == [1234, 1234, 500, 1000]
    assert (found.anchor, found.elo[2]) == ("exploiter-0001", 0.0)
    assert found.payoff.matches[3, 0] == 3
    league.payoff.add(np.array([rock]), np.array([late]), np.ones(1))
    found = table(league, "world", 1234, "return")
    assert (found.anchor, found.names[-1], found.learner[-1], found.since[-1]) == ("rock", "rock", "", 0)
    assert league.ratings() == pytest.approx(dict(zip(found.names, found.elo, strict=True)))


def test_outcomes_of_an_update_are_means_over_either_seat() -> None:
    """Main wins 1 of 2 in the first seat and loses 3 of 4 in the second; before, it had won 9."""
    league = frozen_league(1)
    copy = int(league.frozen[1])
    league.payoff.add(np.zeros(9, int), np.full(9, copy), np.ones(9))
    new = Payoff.empty(league.players)
    new.add(np.array([0, 0]), np.array([copy, copy]), np.array([1.0, 0.0]))
    new.add(np.full(4, copy), np.zeros(4, int), np.array([1.0, 1.0, 1.0, 0.0]))
    assert league.add(np.stack(new)) == {"outcome[main]": (1 - 3) / 6}
    assert (league.payoff.total[0, copy], league.payoff.matches[0, copy]) == (10, 11)


def test_as_strong_learners_keep_their_rates() -> None:
    league = league_of(settings_of(league={"learners": rules(by="self"), "pbt": PBT}))
    factor = league.factor.copy()
    league.payoff.add(np.zeros(20, int), np.ones(20, int), np.tile([1.0, -0.5], 10))
    decision = league.end_update(0, 500, {"agent": np.zeros((2, 3))})
    assert decision is not None
    assert decision.replaced == ()
    assert np.array_equal(league.factor, factor)


def test_nobody_goes_on_from_who_just_began_anew() -> None:
    anew = {"main": {"meets": [{"by": "self"}], "restart_after": 1}, "other": {"meets": [{"by": "self"}]}}
    for first in (0, 1):  # who is ahead
        league = league_of(settings_of(league={"learners": anew, "pbt": PBT}))
        league.payoff.add(np.full(20, first), np.full(20, 1 - first), np.ones(20))
        assert league.end_update(0, 500, {"agent": np.ones((2, 3))}) == (
            ("main-0001", "other-0001"),
            (0,),
            (),
        )


def test_who_met_nobody_yet_is_as_strong_as_its_newest_copy() -> None:
    league = frozen_league(2, learners=rules(by="near", among=["main"]), keep=8)
    weak, strong = map(int, league.frozen_of([0]))
    league.payoff.add(np.full(20, strong), np.full(20, weak), np.ones(20))
    league.update_matchmaking()
    assert league.payoff.met[0].sum() == 0
    assert league.chances[0, strong] > 0.5
    league.age[0] = 0  # it began anew, and has 0 points
    league.update_matchmaking()
    points = league.ratings()
    won = np.array([win_probability(0.0, points[league.name(one)]) for one in (weak, strong)])
    assert league.chances[0, [weak, strong]] == pytest.approx(near_in_strength(won))


def test_everything_that_decides_is_saved() -> None:
    league = league_of(settings_of(league={"learners": rules(by="pfsp"), "pbt": PBT}))
    vectors = {"agent": np.random.default_rng(0).normal(size=(2, 3)).astype(np.float32)}
    league.payoff.add(np.zeros(20, int), np.ones(20, int), np.ones(20))
    league.end_update(0, 500, vectors)
    league.payoff.add(np.zeros(9, int), np.full(9, int(league.frozen[0])), np.tile([1.0, 1.0, -1.0], 3))
    league.end_update(0, 600, vectors)
    other = league_of(settings_of(league={"learners": rules(by="pfsp"), "pbt": PBT | {"spread": 2.0}}))
    assert not np.array_equal(other.factor, league.factor)
    other.load(league.save())
    for name in ("owner", "number", "since", "age", "copies", "factor", "serial", "chances", "pairs"):
        assert np.array_equal(getattr(other, name), getattr(league, name)), name
    assert np.array_equal(other.payoff.met, league.payoff.met)
    ours, theirs = (one.end_update(0, 1000, vectors) for one in (league, other))
    assert ours == theirs
    assert np.array_equal(other.factor, league.factor)
    league.payoff.add(np.zeros(1, int), np.full(1, int(league.frozen[0])), np.ones(1))
    for name, change, says in (
        ("total", lambda _: league.payoff.matches + 1.0, "beyond the number of matches"),
        ("number", np.zeros_like, "no league numbers them"),
        ("number", np.ones_like, "no league numbers them"),
        ("copies", np.zeros_like, "no league numbers them"),
        ("matches", lambda matches: matches + np.eye(len(matches)), "no league could have"),
        ("matches", lambda matches: matches + 1.0, "no league could have"),
        ("owner", lambda owner: np.full_like(owner, -1), "no league could have"),
    ):
        bad = league.save()
        bad[name] = change(bad[name])
        with pytest.raises(UserError, match=says):
            other.load(bad)


def test_periods_go_on_by_the_length_that_they_have_now() -> None:
    vectors = {"agent": np.zeros((2, 3))}
    other = league_of(settings_of(league={"period": 1_500}))
    other.load(frozen_league(4).save())
    other.go_on(2_000)
    assert other.end_update(0, 2_900, vectors) is None
    assert other.end_update(0, 3_000, vectors) is not None


def test_players_have_the_weights_of_their_files() -> None:
    settings, world = settings_of(), world_of(1)
    learner = Learner(world.kinds, settings, with_opponents(settings, world))
    learner.keep_selves(1, 500)
    files = learner.save()
    learner.load(files)
    for player in ("main", "exploiter", "main-0001"):
        changed = {name: array + np.float32(1.0) for name, array in files[f"policy-{player}"].items()}
        with pytest.raises(UserError, match=f"{player} has other weights here than in its file"):
            learner.load(files | {f"policy-{player}": changed})


@pytest.mark.slow
def test_a_run_begins_with_the_learners_of_a_league(tmp_path: Path) -> None:
    league = train(settings_of(3), tmp_path / "league")
    group = {"shards": 2, "max_updates": 1, "start_from": str(league), "best_by": "outcome[main]"}
    begin = tmp_path / "next" / "checkpoints" / "000000000000"
    train(settings_of(train=group, league={"learners": {**TWO, "third": {}}}), tmp_path / "next")
    source = find_checkpoint(league)
    for mine, theirs in (("main", "main"), ("exploiter", "exploiter"), ("third", "main")):
        files = [one / f"policy-{name}.safetensors" for one, name in ((begin, mine), (source, theirs))]
        assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.slow
def test_the_newest_copy_stands_for_a_learner_in_its_first_period_after_a_restart(tmp_path: Path) -> None:
    """Every second period the only learner begins with its first weights, which no name without a player may mean."""
    restarts = {
        "learners": {"main": {"meets": [{"by": "self"}], "restart_after": 2}},
        "measure": 0.0,
        "period": 512,
    }
    group = {"shards": 2, "max_updates": 4, "checkpoint_updates": 1, "keep_checkpoints": 4}
    run = train(settings_of(league=restarts, train=group), tmp_path / "run")
    *_, third, fourth = paths = list_checkpoints(run)
    played = ["main", "main-0002", "main", "main-0004"]

    def weights(checkpoint: Path, name: str) -> dict[str, np.ndarray]:
        return load_file(checkpoint / f"policy-{name}.safetensors")

    def same(one: Any, other: Any) -> bool:
        return all(np.array_equal(array, other[tensor]) for tensor, array in one.items())

    assert not same(weights(fourth, "main"), weights(fourth, "main-0004"))
    policy: Any = load_policy(run)
    assert policy.words.endswith("run@main-0004 at 2,048")
    for path, player, _ in zip(paths, played, policies_at(policy, run, paths), strict=True):
        assert same(load_policy(path).weights[0], weights(path, player)), path
        assert same(policy.weights[0], weights(path, player)), path
    assert same(load_policy(f"{run}@main").weights[0], weights(fourth, "main"))
    for source, player in ((third, "main"), (fourth, "main-0004")):
        begin = tmp_path / player
        train(
            settings_of(league=restarts, train=group | {"max_updates": 1, "start_from": str(source)}), begin
        )
        assert same(weights(begin / "checkpoints" / "000000000000", "main"), weights(source, player))


# -- who meets whom ------------------------------------------------------------------------------------


@pytest.mark.parametrize("priority", PRIORITIES)
def test_priorities_follow_their_formulas(priority: str) -> None:
    rates = np.array([0.0, 0.25, 0.5, 0.9, 1.0])
    x = rates
    expected = {
        "linear": 1 - x,
        "squared": (1 - x) ** 2,
        "half": np.array([0.5, 0.5, 0.5, 0.1, 0.0]),
        "variance": x * (1 - x),
        "variance_0.1": np.array([0.1, 0.1875, 0.25, 0.1, 0.1]),
        "variance_0.05": np.array([0.05, 0.1875, 0.25, 0.09, 0.05]),
    }[priority]
    assert prioritised(rates, priority) == pytest.approx(expected / expected.sum())


def test_where_all_weights_are_zero_everybody_is_as_likely() -> None:
    assert prioritised(np.ones(4)).tolist() == [0.25] * 4


def test_who_is_as_strong_is_met_most() -> None:
    weights = near_in_strength(np.array([0.1, 0.5, 0.6]))
    assert weights.argmax() == 1
    assert weights[2] / weights[1] == pytest.approx(np.exp(-0.5 * 0.5**2))


def rules(**by: Any) -> dict[str, Any]:
    return {"main": {"meets": [by]}, "other": {"meets": [{"by": "self"}]}}


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ({"by": "self"}, {"main": 1.0}),
        ({"by": "current"}, {"other": 1.0}),
        ({"by": "latest"}, {"main-0003": 1.0}),
        ({"by": "latest", "among": ["other"]}, {"other-0003": 1.0}),
        ({"by": "first"}, {"main-0001": 1.0}),
        ({"by": "uniform"}, {"main-0001": 1 / 3, "main-0002": 1 / 3, "main-0003": 1 / 3}),
        ({"by": "uniform", "last": 2}, {"main-0002": 0.5, "main-0003": 0.5}),
        ({"by": "latest", "among": ["other", "main"]}, {"main-0003": 0.5, "other-0003": 0.5}),
        ({"by": "first", "among": ["main", "other"]}, {"main-0001": 0.5, "other-0001": 0.5}),
        (
            {"by": "uniform", "last": 2, "among": ["main", "other"]},
            {"main-0002": 0.25, "main-0003": 0.25, "other-0002": 0.25, "other-0003": 0.25},
        ),
        ({"by": "fixed", "play": "rock"}, {"rock": 1.0}),
        ({"by": "pfsp", "among": ["main"]}, {"main-0001": 1 / 3, "main-0002": 1 / 3, "main-0003": 1 / 3}),
    ],
)
def test_rules_choose_as_they_say(rule: dict[str, Any], expected: dict[str, float]) -> None:
    league = frozen_league(3, learners=rules(**rule), keep=8)
    told: dict[str, float] = {}
    for player in np.flatnonzero(league.chances[0]):
        told[league.name(int(player))] = told.get(league.name(int(player)), 0.0) + league.chances[0, player]
    assert told == pytest.approx(expected)


def test_priorities_are_of_the_learner_s_own_win_rates() -> None:
    """It has won 3 of 4 against its first copy, 1 of 4 against its second, and never met the third."""
    league = frozen_league(3, learners=rules(by="pfsp", among=["main"], priority="linear", matches=4), keep=8)
    one, two, three = (int(player) for player in league.frozen_of([0]))
    for other, results in ((one, [1, 1, 1, -1]), (two, [-1, -1, -1, 1])):
        league.payoff.add(np.zeros(4, int), np.full(4, other), np.array(results, float))
    league.update_matchmaking()
    assert league.chances[0, [one, two, three]] == pytest.approx(np.array([0.25, 0.75, 0.5]) / 1.5)


def test_a_rule_without_candidates_is_self_play() -> None:
    league = league_of(settings_of())
    assert league.chances[0].tolist() == pytest.approx([0.8, *[0.0] * 7, 0.2])


def test_equilibria_leave_out_who_is_beaten_and_results_of_few_matches() -> None:
    league = frozen_league(3, learners=rules(by="nash", among=["main"]), keep=8)
    one, two, three = (int(p) for p in league.frozen_of([0]))
    for winner, loser, count in ((one, two, 10), (three, one, 9), (three, two, 9)):
        league.payoff.add(np.full(count, winner), np.full(count, loser), np.ones(count))
    league.end_update(0, 1501, {"agent": np.zeros((2, 3))})
    assert league.chances[0, one] == pytest.approx(1.0)


def test_matches_are_drawn_in_their_shares() -> None:
    league = frozen_league(2, measure=0.25)
    league.payoff.add(np.full(9, 0), np.full(9, int(league.frozen[0])), np.ones(9))
    league.update_matchmaking()
    casting, count = casting_of(league, 4_000), 0
    counts = np.zeros((2, league.players))
    measured = 0
    for _ in range(5):
        home, player = casting.home, casting.player
        count += len(home)
        measured += int((home < 0).sum())
        for q in range(2):
            own = player[home == q]
            assert (own == q).any(axis=1).all()
            # The learner sits on either side as often.
            first = (own[:, 0] == q) & (own[:, 1] != q)
            second = (own[:, 1] == q) & (own[:, 0] != q)
            assert abs(first.sum() - second.sum()) < 4 * np.sqrt(first.sum() + second.sum())
            both = (own == q).all(axis=1)
            counts[q, q] += both.sum()
            other = np.where(own[~both] == q, -1, own[~both]).max(axis=1)
            counts[q] += np.bincount(other, minlength=league.players)
        casting.draw(np.ones(len(home), bool))
    assert abs(measured - 0.25 * count) < 4 * np.sqrt(count * 0.25 * 0.75)
    for q in range(2):
        expected = counts[q].sum() * league.chances[q]
        assert (np.abs(counts[q] - expected) <= 4 * np.sqrt(expected)).all()


def test_least_played_pairs_are_measured_by_mirrors() -> None:
    league = frozen_league(1, measure=0.5)
    casting = casting_of(league, 500)
    pairs = {tuple(sorted(pair)) for pair in casting.player[casting.home < 0].tolist()}
    assert pairs <= {tuple(sorted(pair)) for pair in league.pairs.tolist()}
    assert len(pairs) > 1
    assert (casting.player[casting.home < 0] >= league.learners).all()


def test_draws_are_the_world_s_own() -> None:
    league = frozen_league(2)
    whole, part = casting_of(league, 8, seed=1), casting_of(league, 4, seed=1, first_world=4)
    for _ in range(6):
        whole.draw(np.ones(8, bool))
        for w in range(4):
            part.draw(np.arange(4) == w)
        assert np.array_equal(whole.player[4:], part.player)
        assert np.array_equal(whole.home[4:], part.home)


# -- what came of it -----------------------------------------------------------------------------------


def test_results_count_once_for_the_players_of_the_match() -> None:
    league = frozen_league(2)
    casting = casting_of(league, 50)
    scores = np.random.default_rng(0).normal(size=(50, 2))
    scores[7] = np.nan  # aborted
    over = np.arange(50) % 2 == 1
    expected = Payoff.empty(league.players)
    for w in np.flatnonzero(over):
        a, b = league.rated(casting.player[w])
        if a != b and w != 7:
            expected.total[a, b] += np.sign(scores[w, 0] - scores[w, 1])
            expected.matches[a, b] += 1
    casting.record(over, scores)
    found = casting.take().reshape(2, league.players, league.players)
    assert np.array_equal(found, np.stack(expected))
    assert expected.matches.sum() > 5
    assert not casting.take().any()


class Reversed(RockPaperScissorsWorld):
    """Its outcome is the loser's."""

    @property
    def metrics(self) -> dict[str, np.ndarray]:
        return super().metrics | {"outcome": 1.0 - 2.0 * super().metrics["won"]}


@pytest.mark.parametrize(
    ("kind", "score", "by_outcome"),
    [(Reversed, None, True), (Reversed, "return", False), (RockPaperScissorsWorld, None, False)],
)
def test_matches_go_by_the_outcome_where_the_world_has_one(
    kind: type[RockPaperScissorsWorld], score: str | None, by_outcome: bool
) -> None:
    settings, world = settings_of(league={"score": score}), kind(RockPaperScissorsSettings(), 64)
    world.reset()
    learner = Learner(world.kinds, settings, with_opponents(settings, world))
    shard, scores = Shard(0, world, learner, settings), []
    shard.collector.casting.record = lambda over, found: scores.append(  # type: ignore[method-assign]
        (found[over].copy(), world.metrics["won"][over].copy(), shard.collector.episodes.returns[over].copy())
    )
    shard.play(learner.inference_parameters(), 0)
    found, won, returns = map(np.concatenate, zip(*scores, strict=True))
    assert len(np.unique(won)) == 2
    assert np.array_equal(found, 1.0 - 2.0 * won if by_outcome else returns)


def test_sides_of_several_agents_are_compared_by_their_means_and_drawn_one_by_one() -> None:
    """Of three sides: the first has 3 agents of mean 2, the second one with 5, the third one with 2."""
    two = {"main": {"meets": [{"by": "uniform"}]}, "other": {"meets": [{"by": "self"}]}}
    league = frozen_league(2, learners=two, measure=0.0)
    sides = Populations(("a", "b", "c"), np.array([1, 0, 2, 0, 0], np.uint16))
    world: Any = SimpleNamespace(num_worlds=1_000, first_world=0)
    casting = LeagueCasting(league, sides, world, seed=3)
    copies = league.frozen_of([0])
    others = np.isin(casting.player, copies).sum(axis=1) == 2
    assert np.array_equal(others, casting.home == 0)
    met = casting.player[others]
    same = np.array([len(set(players)) == 2 for players in met.tolist()])  # main, and one copy twice
    assert abs(same.mean() - 0.5) < 4 * np.sqrt(0.25 / len(same))
    assert np.array_equal(casting.seat(np.zeros((1_000, 5)), world), casting.player[:, [1, 0, 2, 0, 0]])
    casting.record(np.ones(1_000, bool), np.tile([5.0, 1.0, 2.0, 2.0, 3.0], (1_000, 1)))
    expected = Payoff.empty(league.players)
    for a, b, c in casting.player.tolist():
        for one, other, outcome in ((a, b, -1.0), (a, c, 0.0), (b, c, 1.0)):
            expected.add(np.array([one]), np.array([other]), np.array([outcome]))
    assert np.array_equal(casting.take(), np.stack(expected).ravel())


def test_a_match_with_who_gave_way_counts_for_nobody() -> None:
    league = frozen_league(2, measure=0.0)  # every place is taken
    casting = casting_of(league, 200)
    old = set(league.frozen.tolist()[:2])
    meets = np.array([bool(old & set(players)) for players in casting.player.tolist()])
    assert 5 < meets.sum() < 195
    league.end_update(0, 1500, {"agent": np.zeros((2, 3))})  # main-0001 and exploiter-0001 give way
    casting.record(meets, np.tile([1.0, 0.0], (200, 1)))
    assert not casting.take().any()
    casting.record(~meets, np.tile([1.0, 0.0], (200, 1)))
    assert casting.take().any()


def test_nobody_learns_from_the_others() -> None:
    settings = settings_of(league={"measure": 0.3})
    world = world_of(64)
    learner = Learner(world.kinds, settings, with_opponents(settings, world))
    learner.keep_selves(1, 500)
    shard = Shard(0, world, learner, settings)
    casting, step, expected = shard.collector.casting, world.step, np.zeros(2, int)

    def spy(action: np.ndarray) -> Any:
        assert np.array_equal(shard.collector._network, casting.player)
        for q in range(2):
            expected[q] += int((casting.player == q).sum())
        rock = int(learner.pool.fixed[0])  # type: ignore[union-attr]
        assert (action[casting.player == rock] == 0).all()
        return step(action)

    world.step = spy  # type: ignore[method-assign]
    shard.play(learner.inference_parameters(), 0)
    pending = shard.collector.pending["agent"]
    own = pending.population[: pending.count][pending.acts[: pending.count]]
    assert np.bincount(own, minlength=2).tolist() == expected.tolist()
    assert 0 < expected.sum() < 64 * 2 * 8
    assert shard.collector.acted == expected.sum()


@pytest.mark.slow
def test_a_player_of_a_league_is_opened_by_its_name(tmp_path: Path) -> None:
    run = train(settings_of(5), tmp_path / "run")
    names = population_names(find_checkpoint(run))
    assert "main" in names
    frozen = next(name for name in names if name.startswith("main-"))
    world = world_of(4)
    for name, player in (("main", ""), (frozen, f"@{frozen}")):
        policy = load_policy(f"{run}{player}")
        policy.start(world)
        assert policy.names == (name,)
        assert policy.act(world.timestep).shape == (4, 2)
    with pytest.raises(UserError, match="no population nobody; there are"):
        load_policy(f"{run}@nobody")
    train(settings_of(1, league={"learners": rules(by="fixed", play=f"{run}@{frozen}")}), tmp_path / "next")
