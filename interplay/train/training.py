"""One worker's part of a run: its shards, the learner that all workers hold alike, and the steps of an update."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from interplay.core.errors import UserError
from interplay.train.brain import Batch
from interplay.train.checkpoint import Checkpoint, write_arrays
from interplay.train.episodes import read_sums
from interplay.train.exchange import Exchange, tree_sum
from interplay.train.losses import Terms
from interplay.train.ppo import Epoch, Learner
from interplay.train.records import check_record
from interplay.train.settings import TrainSettings
from interplay.train.shard import Moments, Shard, make_shard

MakeWorld = Callable[..., Any]  # make_world(num_worlds=, seed=, first_world=) -> World
KL_SLACK = 1.5  # an epoch ends when the estimate exceeds this times ppo.target_kl (Stable-Baselines3's rule)


class Training:
    """One worker of a run. All workers call the same methods in the same order.

    Args:
        settings: of the run.
        make_world: factory of a part of the worlds.
        learner: networks and optimiser.
        exchange: to the other workers; None until `join`.

    Attributes:
        updates: done so far.
        episodes: ended so far, over all shards.
        shards: this worker's.
    """

    def __init__(
        self, settings: TrainSettings, make_world: MakeWorld, learner: Learner, exchange: Exchange
    ) -> None:
        self.settings = settings
        self.learner = learner
        self.exchange = exchange
        self.updates = 0
        self.episodes = 0
        each = settings.train.shards // exchange.size
        mine = range(exchange.rank * each, (exchange.rank + 1) * each)
        self._make_world = make_world
        self.shards = [self._make_shard(index) for index in mine]

    @property
    def agent_steps(self) -> int:
        """Steps taken so far, counted as the preset counts them: every slot of every world, alive or not."""
        world = self.shards[0].world
        return self.updates * self.settings.ppo.rollout * self.settings.num_worlds * len(world.agents)

    @property
    def metric_names(self) -> list[str]:
        """Metrics of `update` that only some updates have: those of episodes that ended."""
        return list(self.shards[0].collector.statistics.names)

    def update(self) -> dict[str, Any]:
        """One update: play, estimate, learn. Returns the numbers to log, the same for every worker."""
        began = time.perf_counter()
        self.play()
        played = time.perf_counter()
        moments = self.estimate()
        estimated = time.perf_counter()
        numbers = self.learn()
        self.updates += 1
        done = time.perf_counter()
        numbers |= self.summarise(moments)
        self.episodes += int(numbers["episodes"])
        seconds = {name: sum(s.seconds[name] for s in self.shards) for name in ("act", "step")}
        seconds |= {"advantage": estimated - played, "update": done - estimated}
        total = max(done - began, 1e-9)
        return numbers | {"time_share": {name: value / total for name, value in seconds.items()}}

    def play(self) -> None:
        """Every shard plays one rollout."""
        for shard in self.shards:
            shard.play(self.learner.vectors, self.updates)

    def estimate(self) -> list[Moments]:
        """Every shard computes advantages and value targets."""
        return [shard.estimate() for shard in self.shards]

    def learn(self) -> dict[str, float]:
        """Epochs of minibatches until ``ppo.epochs`` or the KL limit; all workers stop at the same minibatch."""
        ppo, steps, epoch = self.settings.ppo, 0, 0
        minibatches = self._agree_minibatches()
        batches = {name: self._join(name) for name in self.learner.brains}
        sums = np.zeros(len(Terms._fields))
        total: np.ndarray | None = None
        for epoch in range(ppo.epochs):
            epochs = {name: self._shuffle(name, batch, epoch, minibatches) for name, batch in batches.items()}
            for minibatch in range(minibatches):
                total = self.exchange.combine(self.learner.step(total, epochs, minibatch))
                terms = np.sum(list(self.learner.terms(total).values()), axis=0)
                sums += terms
                steps += 1
                kl = terms[Terms._fields.index("kl")] / max(terms[Terms._fields.index("acting")], 1.0)
                if ppo.target_kl is not None and kl > KL_SLACK * ppo.target_kl:
                    return _loss_numbers(Terms(*sums), kl, epoch + minibatch / minibatches, steps)
                self.learner.check(total, self.updates)
        assert total is not None
        self.learner.apply(total)
        return _loss_numbers(Terms(*sums), kl, float(epoch + 1), steps)

    def summarise(self, moments: list[Moments]) -> dict[str, Any]:
        """Explained variance and the episodes that ended, over all shards."""
        vectors = [
            np.concatenate([moment, shard.collector.statistics.take()])
            for moment, shard in zip(moments, self.shards, strict=True)
        ]
        total = self.exchange.combine(tree_sum(vectors))
        size = len(Moments._fields)
        names = self.shards[0].collector.statistics.names
        explained = _explained_variance(Moments(*total[:size]))
        return {"explained_variance": explained, **read_sums(names, total[size:])}

    def agree(self, value: int) -> int:
        """What the first worker says; the others' values do not count."""
        mine = value if self.exchange.rank == 0 else 0
        return int(self.exchange.combine(np.array([mine], np.float64))[0])

    def compare_digests(self) -> None:
        """Raises `UserError` if the workers' parameters are not the same bits."""
        digests = np.zeros(self.exchange.size)
        arrays = [np.asarray(vector) for vector in self.learner.vectors.values()]
        digests[self.exchange.rank] = zlib.crc32(b"".join(array.tobytes() for array in arrays))
        digests = self.exchange.combine(digests)
        odd = np.flatnonzero(digests != digests[0])
        if odd.size:
            raise UserError(
                f"update {self.updates}: worker {odd[0]} has other parameters than worker 0; "
                "run all workers on processors of one model and resume from the last checkpoint"
            )

    def write_shards(self, staging: Path) -> str | None:
        """Writes this worker's shards into a checkpoint in the making; gives the reason if worlds cannot be saved."""
        reason = None
        for shard in self.shards:
            arrays: dict[str, np.ndarray] = {}
            try:
                arrays = shard.save()
            except UserError as error:
                reason = str(error)
            write_arrays(staging, f"shard-{shard.index:04d}", arrays)
        return reason

    def load(self, checkpoint: Checkpoint) -> str | None:
        """Goes on from a checkpoint; gives the reason if new episodes begin though worlds were saved.

        Raises:
            UserError: if it belongs to other settings.
        """
        check_record(checkpoint)
        self.updates = int(checkpoint.record["updates"])
        self._load_record(checkpoint.record)
        if self.agent_steps != checkpoint.agent_steps:
            raise UserError(
                f"{checkpoint.path}: {self.updates:,} updates are {self.agent_steps:,} agent-steps with these settings, the "
                f"checkpoint says {checkpoint.agent_steps:,}; resume with the run's own ppo.rollout and num_worlds"
            )
        self.episodes = int(checkpoint.record.get("episodes", 0))  # older checkpoints did not count them
        self.learner.load(checkpoint.arrays)
        reason = None
        for shard in self.shards:
            arrays = checkpoint.arrays.get(f"shard-{shard.index:04d}")
            if arrays is None:
                raise UserError(
                    f"{checkpoint.path}: shard {shard.index} is missing; resume with the run's own train.shards"
                )
            reason = shard.load(arrays, self.updates) or reason
        return reason

    def describe(self) -> dict[str, Any]:
        """What a checkpoint's record says of the training beside its counters."""
        return {}

    def _load_record(self, record: Mapping[str, Any]) -> None:
        """Restores what `describe` gave."""

    def close(self) -> None:
        """Closes the worlds."""
        for shard in self.shards:
            shard.world.close()

    def _make_shard(self, index: int) -> Shard:
        return make_shard(index, self._make_world, self.learner.brains, self.settings)

    def _join(self, name: str) -> Batch:
        """The rows of all shards of this worker, one after another."""
        batches = [shard.batches.pop(name) for shard in self.shards]
        if len(batches) == 1:
            return batches[0]
        joined: Batch = jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *batches)
        return joined

    def _shuffle(self, name: str, batch: Batch, epoch: int, minibatches: int) -> Epoch:
        """The epoch's order, in arrays whose shape is the same in every update."""
        shards, total = len(self.shards), batch.acts.shape[0]
        most, share = self.shards[0].most_minibatches, self.shards[0].rows_per_step(name)
        order = np.full((most, shards, share), total, np.int32)
        plan = np.zeros((most, shards), np.int32)
        for at, shard in enumerate(self.shards):
            rows, plan[:minibatches, at] = shard.shuffle(name, self.updates, epoch, minibatches)
            order[:minibatches, at] = np.where(rows < 0, total, rows + at * (total // shards))
        return Epoch(batch, jnp.array(order), jnp.array(plan))

    def _agree_minibatches(self) -> int:
        """The most that any shard needs."""
        needs = np.zeros(self.settings.train.shards)
        for shard in self.shards:
            needs[shard.index] = shard.minibatches()
        return max(int(self.exchange.combine(needs).max()), 1)


def _loss_numbers(sums: Terms, kl: float, epochs: float, steps: int) -> dict[str, float]:
    acting, rows = max(sums.acting, 1.0), max(sums.rows, 1.0)
    return {
        "policy_loss": sums.policy / acting,
        "value_loss": sums.value / rows,
        "entropy": sums.entropy / acting,
        "kl": kl,
        "clip_fraction": sums.clipped / acting,
        "epochs": epochs,
        "gradient_steps": steps,
        "acting_rows": sums.acting / max(steps, 1),
    }


def _explained_variance(m: Moments) -> float:
    """1 - Var(target - value) / Var(target)."""
    rows = max(m.rows, 1.0)
    variance = m.target_squared / rows - (m.target / rows) ** 2
    unexplained = m.error_squared / rows - (m.error / rows) ** 2
    return 1.0 - unexplained / variance if variance > 0 else float("nan")
