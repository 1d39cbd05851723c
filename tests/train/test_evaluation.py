"""Ratings in a run: the current policy against fixed opponents, on the same matches every time, without a word to training."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from interplay.core.policy import Policy
from interplay.evaluate.results import results
from interplay.evaluate.tournaments.ratings.bradley_terry import elo, win_probability
from interplay.train.learner import Learner
from interplay.train.making import make_learner, registry_factory
from interplay.train.selfplay.evaluation import Evaluation, rate_against, rates_of
from interplay.train.selfplay.matchups import with_opponents
from interplay.train.settings import TrainSettings
from interplay.train.trainer import train
from tests.train.runs import arrays_of, log_of, short_run
from tests.train.toy_worlds import Corridor

pytestmark = pytest.mark.slow

LEFT, RIGHT, BACK = (f"tests.train.test_evaluation:{name}" for name in ("Left", "Right", "Back"))
AGAINST = {
    "evaluate_against": ["random", RIGHT],
    "evaluate_every": 600,
    "evaluate_episodes": 8,
    "evaluate_actions": "sampled",
}


class Right(Policy):
    """Always goes right: nobody arrives earlier."""

    def act(self, timestep: Any) -> np.ndarray:
        return np.ones(timestep.acting.shape, np.int64)


class Left(Policy):
    """Always goes left, and stays where it began."""

    def act(self, timestep: Any) -> np.ndarray:
        return np.zeros(timestep.acting.shape, np.int64)


class Back(Left):
    """Another name for the same."""


def settings_of(updates: int, workers: int = 1, **own: Any) -> TrainSettings:
    values = {
        "train": {"max_updates": updates, "workers": workers} | own.pop("train", AGAINST),
        "ppo": {"rollout": 32, "minibatch": 128, "epochs": 4, "learning_rate": 1e-2, "target_kl": "off"},
        "network": {"hidden": [16]},
    }
    return short_run("tests.train.toy_worlds:Corridor", values, **own)


def told_of(run: Path) -> list[dict[str, Any]]:
    names = ("agent_steps", "rating", "score_rate[random]", f"score_rate[{RIGHT}]")
    return [{name: line[name] for name in names} for line in log_of(run) if "rating" in line]


@pytest.fixture(scope="module")
def rated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train(settings_of(12), tmp_path_factory.mktemp("rated") / "run")


def test_ratings_rise_with_what_is_learnt(rated: Path) -> None:
    """Who does not move loses to who goes right, and at the end arrives as early: all matches are draws."""
    told = told_of(rated)
    assert 3 <= len(told) <= 12
    assert told[-1]["rating"] > told[0]["rating"] + 50
    assert told[-1]["score_rate[random]"] > 0.8
    assert told[-1][f"score_rate[{RIGHT}]"] <= 0.5
    lines = log_of(rated)
    crossed = [
        before["agent_steps"] // 600 < line["agent_steps"] // 600
        for before, line in itertools.pairwise(lines)
    ]
    assert [("rating" in line) for line in lines[1:]] == crossed


def test_training_does_not_notice(rated: Path, tmp_path: Path) -> None:
    plain = train(settings_of(12, train={}), tmp_path / "plain")
    assert arrays_of(plain) == arrays_of(rated)


@pytest.mark.parametrize("against", [[RIGHT], [LEFT, RIGHT], [RIGHT, LEFT, BACK]])
def test_score_rates_by_hand(against: list[str]) -> None:
    """Who goes right beats who goes left; two who do the same draw, and have the same points."""
    settings = settings_of(1, train=AGAINST | {"evaluate_against": against})
    learner = Learner(Corridor().kinds, settings, with_opponents(settings, Corridor()))
    network = learner.networks["agent"]
    at = network._ends[network.names.index("policy_head/dense/bias")]
    weights = np.array(learner.vectors["agent"])
    evaluation = Evaluation(settings, Corridor, learner, 0)
    told = []
    for left, right in ((50.0, -50.0), (-50.0, 50.0)):
        weights[0, at - 2 : at] = [left, right]
        learner.begin_with({"agent": weights})
        told.append(evaluation.evaluate(600 * (1 + len(told))))
    rules = {"evaluate_actions": "sampled", "evaluate_score": "return"}
    most = 400 * np.log10(17)  # 8.5 of 9
    if len(against) == 1:
        assert told[0] == rules | {f"score_rate[{RIGHT}]": 0.0, "rating": pytest.approx(-most)}
        assert told[1] == rules | {f"score_rate[{RIGHT}]": 0.5, "rating": pytest.approx(0.0)}
    elif len(against) == 3:  # who goes right wins all eight against each of the others, who draw
        anchors = elo(np.array([[0.0, 8, 8], [0, 0, 4], [0, 4, 0]]))
        for line, points in zip(told, ([0.0, 4, 4], [4.0, 8, 8]), strict=True):
            assert line["rating"] == pytest.approx(rate_against(np.array(points), 8, anchors))
    else:  # points between the opponents have a mean of 0
        rates = ({f"score_rate[{LEFT}]": own, f"score_rate[{RIGHT}]": own - 0.5} for own in (0.5, 1.0))
        for line, own, points in zip(told, rates, (-most / 2, most / 2), strict=True):
            assert line == rules | own | {"rating": pytest.approx(points)}
    for resumed in (evaluation, Evaluation(settings, Corridor, learner, 1_250)):
        assert resumed.evaluate(1_300) == {}
    evaluation.close()


def test_greedy_and_sampled_ratings_differ_where_they_must() -> None:
    """Who goes right with odds of e to 1 goes right always where it is greedy, and so draws; sampled it comes late in some matches."""
    own = {"evaluate_against": [RIGHT], "evaluate_actions": "both", "evaluate_episodes": 32}
    settings = settings_of(1, train=AGAINST | own)
    learner = Learner(Corridor().kinds, settings, with_opponents(settings, Corridor()))
    network = learner.networks["agent"]
    at = network._ends[network.names.index("policy_head/dense/bias")]
    weights = np.zeros_like(np.array(learner.vectors["agent"]))
    weights[0, at - 2 : at] = [0.0, 1.0]
    learner.begin_with({"agent": weights})
    evaluation = Evaluation(settings, Corridor, learner, 0)
    told = evaluation.evaluate(600)
    evaluation.close()
    assert (told["evaluate_actions"], told["evaluate_actions_sampled"]) == ("greedy", "sampled")
    assert told[f"score_rate[{RIGHT}]"] == 0.5
    assert told[f"score_rate_sampled[{RIGHT}]"] < 0.5
    assert told["rating_sampled"] < told["rating"]


@pytest.mark.parametrize("algorithm", ["ppo", "vdn"])
@pytest.mark.parametrize("world", ["tests.train.toy_worlds:Corridor", "battle/3m"])
@pytest.mark.parametrize("own", [{}, {"evaluate_score": "return"}])
def test_names_of_ratings_are_those_of_an_evaluation(algorithm: str, world: str, own: dict[str, Any]) -> None:
    group = {
        "evaluate_against": ["random"],
        "evaluate_every": 600,
        "evaluate_episodes": 2,
        "evaluate_actions": "both",
    }
    team = {"by": "name", "groups": {"team": ["*"]}}
    settings = short_run(world, algorithm=algorithm, population=team, train=group | own)
    make = registry_factory(settings)
    evaluation = Evaluation(settings, make, make_learner(settings, make, begins=True, say=str), 0)
    one = make(num_worlds=1, seed=0, first_world=0)
    one.reset()
    logged = {name for name in evaluation.evaluate(600) if not name.startswith("evaluate_")}
    evaluation.close()
    assert set(evaluation.metric_names(one)) == logged
    shares = 4 if world == "battle/3m" and not own else 1
    assert len(logged) == (shares + 1) * (1 if algorithm == "vdn" else 2)


def test_worlds_with_an_outcome_are_rated_by_four_shares() -> None:
    """By hand: of eight episodes 3 won, 2 lost, 1 drawn, 2 cut; the points of a rating are 3 and half of 3."""
    found = results(np.array([1.0, 1, 1, -1, -1, 0, 0, 0]), np.array([0, 0, 0, 0, 0, 0, 1, 1], bool))
    assert rates_of(found, "outcome") == {
        "win_rate": 3 / 8, "loss_rate": 2 / 8, "draw_rate": 1 / 8, "cut_rate": 2 / 8
    }  # fmt: skip
    assert rates_of(found, "return") == {"score_rate": 4.5 / 8}


def test_a_rating_explains_the_wins() -> None:
    """Where expected and counted wins agree, the drawn match of every pair included; with one opponent as `elo` has it."""
    anchors, wins = np.array([-150.0, 20.0, 130.0]), np.array([19.0, 14.5, 7.0])
    rating = rate_against(wins, 20, anchors)
    expected = [21 * win_probability(rating, anchor) for anchor in anchors]
    assert sum(expected) == pytest.approx(wins.sum() + 1.5)
    pair = elo(np.array([[0.0, 19.0], [1.0, 0.0]]))
    assert rate_against(np.array([19.0]), 20, np.zeros(1)) == pytest.approx(pair[0] - pair[1])
