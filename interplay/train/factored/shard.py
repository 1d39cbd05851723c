"""A shard that learns from replay: its worlds are played as everywhere, teams' frames are kept in its own ring."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from interplay.core import seeding
from interplay.core.errors import UserError
from interplay.core.world import World
from interplay.train.factored.collector import TeamCollector
from interplay.train.factored.frames import Frames
from interplay.train.factored.learner import TeamLearner
from interplay.train.rollout import InferenceParameters
from interplay.train.settings import TrainSettings
from interplay.train.shard import MakeWorld, Shard

_DRAWS = 0x4E91  # key of what is replayed


class TeamShard(Shard):
    """One shard of a run by value factorisation.

    Args:
        index: number of the shard.
        world: its worlds, reset.
        learner: of the run.
        settings: of the run.

    Attributes:
        troops: of the run.
        minibatch: team-steps that all shards together draw for a gradient step: whole stretches, at least one of each shard.
    """

    collector: TeamCollector
    collector_class = TeamCollector

    def __init__(self, index: int, world: World, learner: TeamLearner, settings: TrainSettings) -> None:
        super().__init__(index, world, learner, settings)
        group = settings.factored
        assert group is not None, "teams learn by value factorisation"
        self.troops, shards = learner.troops, settings.train.shards
        self._each = max(-(-group.minibatch // (group.sequence * shards)), 1)
        self.minibatch = self._each * group.sequence * shards
        capacity = max(group.replay // (group.sequence * shards), 1)
        self.collector.keep_frames(learner.troops, learner.state, group, capacity)

    def settle(self, parameters: InferenceParameters, update: int) -> None:
        """Refuses what a rollout must not have taught.

        Raises:
            UserError: if an observation or a reward is not finite.
        """
        bad = self.collector.bad
        if bad is None and not np.isfinite(self.collector.buffer.reward).all():
            bad = "reward"
        if bad is not None:
            raise UserError(f"update {update}: {bad} is not finite; check the world")

    def stretches(self) -> np.ndarray:
        """(troops,) float64, complete stretches that are kept."""
        return np.array([replay.there for replay in self.collector.replays], np.float64)

    def draw(self, number: int, update: int, step: int) -> Frames:
        """What a troop's gradient step learns from: this shard's part of the minibatch."""
        replay = self.collector.replays[number]
        rng = seeding.generator(self._settings.seed, _DRAWS, self.index, update, step, number)
        return replay.take(replay.draw(rng, self._each), self._each)

    def moments(self) -> np.ndarray:
        """None: there are no values of rows."""
        return np.zeros(5)

    def finish(self) -> None:
        """Forgets the steps of the rollout."""
        self.collector.buffer.advance()

    def save(self) -> dict[str, np.ndarray]:
        """Everything that this shard's next update depends on, the replay included.

        Raises:
            UserError: by worlds that cannot be saved.
        """
        arrays = super().save()
        for troop, replay in zip(self.troops, self.collector.replays, strict=True):
            arrays |= {f"replay/{troop.name}/{name}": array for name, array in replay.save().items()}
        return arrays

    def load(self, arrays: Mapping[str, np.ndarray], update: int) -> str | None:
        """Restores what `save` gave; where worlds begin anew, stretches that were under way are lost.

        Raises:
            UserError: if the arrays belong to other settings.
        """
        for troop, replay in zip(self.troops, self.collector.replays, strict=True):
            prefix = f"replay/{troop.name}/"
            own = {name.removeprefix(prefix): a for name, a in arrays.items() if name.startswith(prefix)}
            replay.load(own, f"checkpoint: shard {self.index}, replay of {troop.name}")
        return super().load(arrays, update)

    def follow(self, old: Shard, update: int) -> None:
        """As of every shard; what was played before is replayed still."""
        assert isinstance(old, TeamShard)
        for mine, replay in zip(self.collector.replays, old.collector.replays, strict=True):
            mine.load(replay.save(), "replay")
        super().follow(old, update)

    def _begin_anew(self, update: int) -> None:
        super()._begin_anew(update)
        for replay in self.collector.replays:
            replay.forget_open()


def make_team_shard(
    index: int, make_world: MakeWorld, learner: TeamLearner, settings: TrainSettings
) -> TeamShard:
    """Makes a shard with its fixed range of the run's worlds, reset."""
    count = settings.num_worlds // settings.train.shards
    world = make_world(num_worlds=count, seed=settings.seed, first_world=index * count)
    world.reset()
    return TeamShard(index, world, learner, settings)
