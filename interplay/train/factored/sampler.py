"""Gradient steps on stretches sampled from the replays of a worker's shards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.core import seeding
from interplay.train.factored.learner import TeamLearner
from interplay.train.factored.replay import Frames
from interplay.train.factored.utilities import Differences

if TYPE_CHECKING:
    from interplay.train.shard import Shard
    from interplay.train.update import Worker

_DRAWS, _STEPS = 0x4E91, 0x4E92  # seed keys of the samples, and of the numbers of steps


class Sampler:
    """Replaces estimates and epochs over the rollout in a worker's update.

    Attributes:
        learner: the worker's.
    """

    def __init__(self, worker: Worker) -> None:
        settings, group = worker.settings, worker.settings.factored
        assert group is not None, "teams learn by value factorisation"
        assert isinstance(worker.learner, TeamLearner)
        self._worker, self.learner, self._group = worker, worker.learner, group
        self._shards, length = settings.train.shards, group.sequence
        self._each = max(-(-group.minibatch // (length * self._shards)), 1)  # stretches of a shard in a step
        self._drawn = self._each * length * self._shards  # frames of a step: decisions, but for truncations

    def learn(self) -> dict[str, Any]:
        """Takes the gradient steps of every learning team group with a minibatch in its replay; returns metrics."""
        worker, learner = self._worker, self.learner
        replays = [list(shard.replays.values()) for shard in worker.shards]
        kept = [[(one.there, one.decided, one.ring.decides.sum()) for one in own] for own in replays]
        sums = worker.add_up([np.array(own, np.float64).ravel() for own in kept])
        there, decided, decisions = sums.reshape(-1, 3).T
        for own in replays:
            for replay in own:
                replay.decided = 0
        numbers: dict[str, Any] = {
            "epsilon": learner.epsilon,
            "replay": float(decisions.sum()),
            "gradient_steps": 0,
        }
        found: dict[str, list[np.ndarray]] = {}
        for number, team_group in enumerate(learner.team_groups):
            count = self._count(number, decided[number])
            if not count or not self._is_ready(number, there[number]):
                continue
            sums, norms = zip(*self._steps(number, count), strict=True)
            name = learner.populations.names[team_group.population]
            found.setdefault(name, []).append(np.append(np.sum(sums, axis=0), np.mean(norms)))
            numbers["gradient_steps"] += len(norms)
        if found:
            numbers |= _means("", [row for rows in found.values() for row in rows])
        if len(learner.populations.names) > 1:
            for name, rows in found.items():
                numbers |= _means(f"[{name}]", rows)
        return numbers

    def _is_ready(self, number: int, stretches: float) -> bool:
        """Whether a team group learns: its replay holds a minibatch, or is full."""
        team_group, own = self.learner.team_groups[number], self._group
        if (
            not self._worker.learns[team_group.population]
            or team_group.kind not in self.learner.kinds_that_learn
        ):
            return False
        full = self._shards * self._worker.shards[0].replays[team_group.name].capacity
        return stretches >= min(max(own.minibatch // own.sequence, 1), full)

    def _count(self, number: int, decided: float) -> int:
        """Gradient steps of a team group after so many decisions; a fraction is the probability of one more."""
        rng = seeding.generator(self._worker.settings.seed, _STEPS, self._worker.updates, number)
        return int(decided * self._group.replays / self._drawn + rng.random())

    def _steps(self, number: int, count: int) -> list[tuple[np.ndarray, float]]:
        """`Differences` and gradient norm of each gradient step of a team group."""
        done, worker, learner = [], self._worker, self.learner
        for step in range(count):
            parts = [learner.sums(number, self._draw(shard, number, step)) for shard in worker.shards]
            total = worker.add_up(parts)
            norm = learner.step(number, total, worker.updates)
            done.append((total[-len(Differences._fields) :].astype(np.float64), norm))
        return done

    def _draw(self, shard: Shard, number: int, step: int) -> Frames:
        """A shard's part of a minibatch."""
        replay = shard.replays[self.learner.team_groups[number].name]
        seed, update = self._worker.settings.seed, self._worker.updates
        rng = seeding.generator(seed, _DRAWS, shard.index, update, step, number)
        return replay.take(replay.draw(rng, self._each), self._each)


def _means(suffix: str, rows: Sequence[np.ndarray]) -> dict[str, float]:
    """Means over decisions, and of gradient norms."""
    sums = Differences(*np.sum([row[:-1] for row in rows], axis=0))
    count = max(float(sums.rows), 1.0)
    return {
        f"td_error{suffix}": float(sums.absolute) / count,
        f"value_loss{suffix}": float(sums.squared) / count,
        f"q{suffix}": float(sums.value) / count,
        f"q_target{suffix}": float(sums.target) / count,
        f"rows{suffix}": float(sums.rows),
        f"gradient_norm{suffix}": float(np.mean([row[-1] for row in rows])),
    }
