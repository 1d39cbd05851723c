"""Evaluates the current policy against fixed opponents during a run: shares of episodes, and a rating comparable over time.

Matches are those of tournaments, in separate worlds with the same seeds every time. So training does not change, and a resumed run
measures the same. The first worker plays; the others wait.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from interplay.core.errors import UserError
from interplay.core.policy import Policy
from interplay.core.world import World
from interplay.evaluate.results import OUTCOME, Results, has_outcome
from interplay.evaluate.tournaments.matches import default_score, match_results, play_block
from interplay.evaluate.tournaments.matchups import Matchup, check_sides
from interplay.evaluate.tournaments.ratings.bradley_terry import DRAWS, elo, win_probability
from interplay.train.interfaced import with_interfaces
from interplay.train.learner import Learner
from interplay.train.play.policy import open_opponent
from interplay.train.play.trained_policy import TrainedPolicy
from interplay.train.populations import Populations
from interplay.train.selfplay.opponents import inside
from interplay.train.settings import TrainSettings

TIMES = 20  # evaluations of a run without ``train.evaluate_every``
_KEY = "train.evaluate_against"
_RATES = {"won": "win_rate", "lost": "loss_rate", "drawn": "draw_rate", "cut": "cut_rate"}
_POINTS_RATE = "score_rate"  # of other scores than the outcome
_POINTS, _HALVINGS = 4000.0, 60  # range of the bisection beyond the anchors, and its steps


class Evaluation:
    """The evaluations of a run.

    Args:
        make_world: factory of worlds, which are made on first use.
    """

    def __init__(
        self, settings: TrainSettings, make_world: Callable[..., World], learner: Learner, agent_steps: int
    ) -> None:
        self._settings, self._make, self._learner = settings, make_world, learner
        self._every = settings.train.evaluate_every or max(settings.steps // TIMES, 1)
        self._done = agent_steps // self._every
        self._world: World | None = None
        self._anchors = np.zeros(0)
        self._options: dict[str, Any] = {}

    def play_with(self, options: Mapping[str, Any]) -> None:
        """Makes the worlds anew with these options, on their next use."""
        self.close()
        self._world, self._options = None, dict(options)

    def evaluate(self, agent_steps: int) -> dict[str, Any]:
        """Evaluates when due; returns the metrics, else nothing.

        Worlds with an outcome: ``win_rate[NAME]``, ``loss_rate[NAME]``, ``draw_rate[NAME]`` and ``cut_rate[NAME]``, which sum to 1. Others:
        ``score_rate[NAME]``, draws counted half. ``rating`` is in Elo points; drawn and cut episodes count half in it. With
        ``evaluate_actions = "both"`` these are greedy, and sampled ones are ``win_rate_sampled[NAME]``, ``rating_sampled`` and so on.
        ``evaluate_actions``, ``evaluate_actions_sampled`` and ``evaluate_score`` name the rules of play and the score.
        """
        done, self._done = self._done, agent_steps // self._every
        names = self._settings.train.evaluate_against
        if not names or done == self._done:
            return {}
        if self._world is None:
            self._begin()
        own = self._learner.populations.own
        self._policy.load_weights([self._learner.weights(population) for population in own])
        rated: dict[str, Any] = {"evaluate_score": self._score}
        for rule, suffix in self._suffixes.items():
            self._trained.greedy = rule == "greedy"
            rated |= self._rate(names, suffix) | {f"evaluate_actions{suffix}": self._trained.actions}
        return rated

    def _rate(self, names: Sequence[str], suffix: str) -> dict[str, float]:
        """The current policy's metrics; `suffix` is appended to their names."""
        met = [self._meet(self._policy, who, i) for i, who in enumerate(self._opponents)]
        rates = {
            f"{rate}{suffix}[{name}]": value
            for name, found in zip(names, met, strict=True)
            for rate, value in rates_of(found, self._score).items()
        }
        points = np.array([_points(found) for found in met])
        matches = self._settings.train.evaluate_episodes
        return rates | {f"rating{suffix}": rate_against(points, matches, self._anchors)}

    def metric_names(self, world: World) -> list[str]:
        """Metrics of an evaluation.

        Args:
            world: of the run, after a reset.
        """
        train = self._settings.train
        if not train.evaluate_against:
            return []
        score = train.evaluate_score or default_score(inside(world))
        rates = tuple(_RATES.values()) if score == OUTCOME else (_POINTS_RATE,)
        names = [(rate, f"[{name}]") for rate in rates for name in train.evaluate_against]
        return [
            f"{rate}{suffix}{name}"
            for suffix in self._suffixes.values()
            for rate, name in [*names, ("rating", "")]
        ]

    @property
    def _suffixes(self) -> dict[str, str]:
        """Rule of play -> suffix of its metrics; value factorisation has no sampled actions."""
        asked = self._settings.train.evaluate_actions
        if asked != "both":
            return {asked: ""}
        return {"greedy": ""} | ({} if self._settings.factored else {"sampled": "_sampled"})

    def close(self) -> None:
        """Closes the worlds."""
        if self._world is not None:
            self._world.close()

    def _begin(self) -> None:
        """Makes worlds and players, and rates the opponents by matches between them."""
        settings, own = self._settings, self._learner.populations.own
        count = settings.train.evaluate_episodes
        made = self._make(num_worlds=count, seed=settings.seed, first_world=0, **self._options)
        self._world = inside(made)
        self._world.reset()
        self._score = settings.train.evaluate_score or default_score(self._world)
        self._trained = TrainedPolicy(settings, own, [], True, "current")
        self._policy = with_interfaces(self._trained)
        self._opponents = open_opponents(settings)
        count = len(self._opponents)
        wins = np.zeros((count, count))
        for number, (i, j) in enumerate(combinations(range(count), 2), count):
            wins[i, j] = _points(self._meet(self._opponents[i], self._opponents[j], number))
            wins[j, i] = settings.train.evaluate_episodes - wins[i, j]
        self._anchors = elo(wins)

    def _meet(self, one: Policy, other: Policy, number: int) -> Results:
        """Results of a pair, with each policy on every side equally often."""
        assert self._world is not None
        # Every second number: neighbours share a seed, and greedy play on mirrored sides would repeat itself.
        matches = range(0, 2 * self._settings.train.evaluate_episodes, 2)
        seed = self._settings.seed
        played = play_block(
            self._world, [one, other], Matchup((0, 1), number), matches, seed, score=self._score
        )
        return match_results(played, self._score)


def rates_of(found: Results, score: str) -> dict[str, float]:
    """Shares of episodes by the names of `_RATES`; the share of points if the score is not the outcome."""
    if score != OUTCOME:
        return {_POINTS_RATE: _points(found) / len(found.won)}
    return {_RATES[name]: share for name, share in found.means().items()}


def _points(found: Results) -> float:
    """Episodes won; drawn and cut ones count half."""
    return float((found.won + 0.5 * (found.drawn + found.cut)).sum())


def rate_against(wins: np.ndarray, matches: int, anchors: np.ndarray) -> float:
    """The maximum-likelihood Elo points of a player from its matches against rated players.

    As in `interplay.evaluate.tournaments.ratings.bradley_terry`, every pair gets an additional draw.

    Args:
        wins: (P,) matches won against each; drawn and cut ones count half.
        matches: against each.
        anchors: (P,) their Elo points.

    Example:
        >>> round(rate_against(np.array([9.5]), 10, np.array([100.0])))
        500
    """
    low, high = float(anchors.min()) - _POINTS, float(anchors.max()) + _POINTS
    won = float(wins.sum()) + 0.5 * DRAWS * len(wins)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        expected = (matches + DRAWS) * sum(win_probability(middle, float(other)) for other in anchors)
        low, high = (middle, high) if expected < won else (low, middle)
    return round((low + high) / 2, 6)  # without the rounding errors of halving


def open_opponents(settings: TrainSettings) -> Sequence[Policy]:
    """Opens the policies of ``train.evaluate_against``, without starting them."""
    return [open_opponent(settings, _KEY, who) for who in settings.train.evaluate_against]


def check_evaluation(settings: TrainSettings, world: World, populations: Populations) -> None:
    """Checks, before there is a run folder, that the evaluations can be played."""
    if not settings.train.evaluate_against:
        return
    if world.persistent:
        raise UserError(
            f"{_KEY}: worlds of {world.id} may never end, so there is no winner; leave it out, and choose checkpoints of lives by train.best_by"
        )
    if populations.opponents:
        raise UserError(
            f"{_KEY}: {populations.opponents[0]} is played by opponents alone, and the current policy plays all sides; "
            f"give opponents.{populations.opponents[0]} as a list with self"
        )
    try:
        check_sides(world, 2)
    except UserError as error:
        # The cure after ";" is for tournaments; matches here are always one against one.
        reason = str(error).partition(";")[0]
        raise UserError(f"{_KEY}: {reason}; leave it out, and compare runs by `interplay evaluate`") from None
    world.reset()
    if settings.train.evaluate_score == OUTCOME and not has_outcome(inside(world)):
        raise UserError(
            f"train.evaluate_score = outcome: {world.id} has no metric of that name; leave it out to rate by the return"
        )
    for policy in open_opponents(settings):
        policy.start(inside(world))
