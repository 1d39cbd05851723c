"""The current policy against fixed opponents, now and then in a run: win rates, and a rating that can be compared over time.

Matches are those of tournaments, on the same seeds every time and in worlds of their own, so nothing of training changes and a resumed
run measures the same. The first worker plays; the others wait.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np

from interplay.core.errors import UserError
from interplay.core.policy import Policy
from interplay.core.world import World
from interplay.evaluate.tournaments.matches import play_block
from interplay.evaluate.tournaments.matchups import Matchup, check_sides
from interplay.evaluate.tournaments.ratings.bradley_terry import DRAWS, elo, win_probability
from interplay.train.interfaced import seen
from interplay.train.learner import Learner
from interplay.train.play.policy import open_opponent
from interplay.train.play.trained_policy import TrainedPolicy
from interplay.train.populations import Populations
from interplay.train.selfplay.opponents import inside
from interplay.train.settings import TrainSettings

TIMES = 20  # that a run is evaluated, where ``train.evaluate_every`` does not say when
_KEY = "train.evaluate_against"
_POINTS, _HALVINGS = 4000.0, 60  # how far beyond the anchors a rating is looked for, and in how many steps


class Evaluation:
    """The evaluations of a run.

    Args:
        settings: of the run.
        make_world: factory of worlds; its own are made when they are needed first.
        learner: whose weights play.
        agent_steps: done so far.
    """

    def __init__(
        self, settings: TrainSettings, make_world: Callable[..., World], learner: Learner, agent_steps: int
    ) -> None:
        self._settings, self._make, self._learner = settings, make_world, learner
        self._every = settings.train.evaluate_every or max(settings.steps // TIMES, 1)
        self._done = agent_steps // self._every
        self._world: World | None = None
        self._anchors = np.zeros(0)

    def tell(self, agent_steps: int) -> dict[str, float]:
        """The numbers to log after so many agent-steps; nothing if it is not time for them."""
        done, self._done = self._done, agent_steps // self._every
        names = self._settings.train.evaluate_against
        if not names or done == self._done:
            return {}
        if self._world is None:
            self._begin()
        own = self._learner.populations.own
        self._policy.load_weights([self._learner.weights(population) for population in own])
        wins = np.array([self._wins(self._policy, who, i) for i, who in enumerate(self._opponents)])
        matches = self._settings.train.evaluate_episodes
        rates = {f"win_rate[{name}]": float(won / matches) for name, won in zip(names, wins, strict=True)}
        return rates | {"rating": rate_against(wins, matches, self._anchors)}

    @property
    def metric_names(self) -> list[str]:
        """What `tell` gives when it is time for it."""
        names = self._settings.train.evaluate_against
        return [*(f"win_rate[{name}]" for name in names), "rating"] if names else []

    def close(self) -> None:
        """Closes the worlds."""
        if self._world is not None:
            self._world.close()

    def _begin(self) -> None:
        """Makes worlds and players, and rates the opponents by matches among themselves."""
        settings, own = self._settings, self._learner.populations.own
        made = self._make(num_worlds=settings.train.evaluate_episodes, seed=settings.seed, first_world=0)
        self._world = inside(made)
        self._policy = seen(TrainedPolicy(settings, own, [], False, "current"))
        self._opponents = open_opponents(settings)
        count = len(self._opponents)
        wins = np.zeros((count, count))
        for number, (i, j) in enumerate(combinations(range(count), 2), count):
            wins[i, j] = self._wins(self._opponents[i], self._opponents[j], number)
            wins[j, i] = settings.train.evaluate_episodes - wins[i, j]
        self._anchors = elo(wins)

    def _wins(self, one: Policy, other: Policy, number: int) -> float:
        """Matches that the one won against the other, draws counted half; both sit everywhere equally often."""
        assert self._world is not None
        matches = range(self._settings.train.evaluate_episodes)
        played = play_block(self._world, [one, other], Matchup((0, 1), number), matches, self._settings.seed)
        return float(sum((a > b) + 0.5 * (a == b) for a, b in (match.scores for match in played)))


def rate_against(wins: np.ndarray, matches: int, anchors: np.ndarray) -> float:
    """The likeliest Elo points of a player by its matches against players whose points are known.

    As in `interplay.evaluate.tournaments.ratings.bradley_terry`, every pair is given a drawn match beside those that it played.

    Args:
        wins: (P,) matches that were won against each of them, draws counted half.
        matches: played against each.
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
    return (low + high) / 2


def open_opponents(settings: TrainSettings) -> Sequence[Policy]:
    """The policies that ``train.evaluate_against`` names, not started.

    Raises:
        UserError: if there is no such policy or run.
    """
    return [open_opponent(settings, _KEY, who) for who in settings.train.evaluate_against]


def check_evaluation(settings: TrainSettings, world: World, populations: Populations) -> None:
    """Refuses evaluations that cannot be, before there is a run folder.

    Raises:
        UserError: for a world in which nobody can win against somebody, or an opponent that cannot play in it.
    """
    if not settings.train.evaluate_against:
        return
    if world.persistent:
        raise UserError(
            f"{_KEY}: worlds of {world.id} may never end, so nobody wins; leave it out, train.best_by watches lives"
        )
    if populations.opponents:
        raise UserError(
            f"{_KEY}: {populations.opponents[0]} is played by somebody else, and the current policy sits everywhere; "
            f"let it play too: opponents.{populations.opponents[0]} as a list with self"
        )
    try:
        check_sides(world, 2)
    except UserError as error:
        # What a tournament would do about it is no cure for a run: here it is always one against one.
        reason = str(error).partition(";")[0]
        raise UserError(f"{_KEY}: {reason}; leave it out, and compare runs by `interplay evaluate`") from None
    world.reset()
    for policy in open_opponents(settings):
        policy.start(inside(world))
