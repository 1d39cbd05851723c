"""The steps of an update by value factorisation: play, replay, learn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from interplay.train.diagnosis.measures import measure
from interplay.train.factored.learner import TeamLearner
from interplay.train.factored.shard import TeamShard, make_team_shard
from interplay.train.factored.utilities import Differences
from interplay.train.parallel.exchange import Exchange
from interplay.train.settings import TrainSettings
from interplay.train.shard import MakeWorld
from interplay.train.update import Stopwatch, Worker


class TeamWorker(Worker):
    """One worker of a run by value factorisation.

    Args:
        settings: of the run.
        make_world: factory of a part of the worlds.
        learner: networks, mixers and optimisers.
        exchange: to the other workers.
    """

    learner: TeamLearner
    shards: list[TeamShard]  # type: ignore[assignment]
    make_shard = staticmethod(make_team_shard)

    def __init__(
        self, settings: TrainSettings, make_world: MakeWorld, learner: TeamLearner, exchange: Exchange
    ) -> None:
        super().__init__(settings, make_world, learner, exchange)
        group = settings.factored
        assert group is not None, "teams learn by value factorisation"
        self._group = group
        played = group.rollout * settings.num_worlds
        self._count = max(round(played * group.replays / self.shards[0].minibatch), 1)  # of gradient steps

    def update(self) -> dict[str, Any]:
        """One update. Returns the numbers to log, the same for every worker."""
        watch, learner = Stopwatch(), self.learner
        rates = learner.set_rates(self.share)
        learner.set_epsilon(self.agent_steps)
        numbers: dict[str, Any] = {"epsilon": learner.epsilon} | ({"rates": rates} if rates else {})
        self.play()
        watch.lap("play")
        numbers |= self.learn()
        watch.lap("update")
        numbers |= self.summarise() | measure(self)
        del numbers["explained_variance"]  # of rows, which have no value here
        for shard in self.shards:
            shard.finish()
        self.updates += 1
        numbers |= learner.keep_selves(self.updates, self.agent_steps)
        return numbers | {"time_share": watch.shares(self._played)}

    def learn(self) -> dict[str, Any]:
        """Gradient steps of every troop that learns, once its replay holds a minibatch."""
        learner = self.learner
        there = self._add_up([shard.stretches() for shard in self.shards])
        numbers: dict[str, Any] = {"replay": float(there.sum() * self._group.sequence), "gradient_steps": 0}
        found: dict[str, list[np.ndarray]] = {}
        for number, troop in enumerate(learner.troops):
            name = learner.populations.names[troop.population]
            if not self._is_ready(number, there[number]):
                continue
            sums, norms = zip(*self._steps(number), strict=True)
            found.setdefault(name, []).append(np.append(np.sum(sums, axis=0), np.mean(norms)))
            numbers["gradient_steps"] += len(norms)
        if found:
            every = [row for rows in found.values() for row in rows]
            numbers |= _told("", every)
        if len(learner.populations.names) > 1:
            for name, rows in found.items():
                numbers |= _told(f"[{name}]", rows)
        return numbers

    def _is_ready(self, number: int, stretches: float) -> bool:
        """Whether a troop learns: its replay holds a minibatch, or is full."""
        troop, own = self.learner.troops[number], self._group
        if not self.learns[troop.population] or troop.kind not in self.learner.kinds_that_learn:
            return False
        full = self.settings.train.shards * self.shards[0].collector.replays[number].capacity
        return stretches >= min(max(own.minibatch // own.sequence, 1), full)

    def _steps(self, number: int) -> list[tuple[np.ndarray, float]]:
        """`Differences` and the gradient's norm of each gradient step of a troop."""
        done = []
        for step in range(self._count):
            parts = [
                self.learner.sums(number, shard.draw(number, self.updates, step)) for shard in self.shards
            ]
            total = self._add_up(parts)
            norm = self.learner.step(number, total, self.updates)
            done.append((total[-len(Differences._fields) :].astype(np.float64), norm))
        return done


def _told(suffix: str, rows: Sequence[np.ndarray]) -> dict[str, float]:
    """Means over decisions, and of the gradients' norms."""
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
