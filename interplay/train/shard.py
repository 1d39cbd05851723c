"""A shard: a fixed part of a run, with its own worlds, random streams and minibatch order.

The shards of a run never change; the number of processes that share them may (specification scale 3). A gradient step takes up to
``minibatch // train.shards`` samples of each shard (`Shard.rows_per_step`), with memory as many sequences as fill that number of
places (`Shard.units_per_step`): fewer samples where sequences are padded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import numpy as np

from interplay.core import seeding
from interplay.core.errors import CannotRestore, UserError
from interplay.core.world import World
from interplay.train.algorithms import Segments
from interplay.train.batches import Batch
from interplay.train.collector import Collector
from interplay.train.factored.learner import TeamLearner
from interplay.train.factored.recorder import TeamRecorder
from interplay.train.factored.replay import Replay
from interplay.train.learner import Learner
from interplay.train.reward_scale import DiscountedReturns, reward_factors
from interplay.train.rollout import InferenceParameters, collect
from interplay.train.run.episodes import BEGINS
from interplay.train.run.restoring import restore
from interplay.train.samples import NetworkInput, ReadySamples, cut_sequences
from interplay.train.selfplay.guessing import pay_speakers
from interplay.train.settings import TrainSettings

MakeWorld = Callable[..., Any]  # make_world(num_worlds=, seed=, first_world=) -> World
_ORDER = 0x5EED  # key of the minibatch orders


class Moments(NamedTuple):
    """Sums over a shard's rows for the explained variance, float64: rows, target, target^2, error, error^2."""

    rows: float
    target: float
    target_squared: float
    error: float
    error_squared: float


class Shard:
    """One shard of a run.

    Attributes:
        room: shards of the run.
        collector: plays the worlds.
        ready: kind name -> the samples from `estimate`.
        returns: of every slot so far; updated only with `Algorithm.normalise_reward`.
        moments: (5,) `Moments` of the ready rows of all kinds, with the values and targets of `estimate`.
        units: kind name -> (U, L) indices in `ready` that are trained on together; -1 is padding.
        replays: name of a team_group -> its replay; empty for on-policy algorithms.
    """

    collector_class: type[Collector] = Collector

    def __init__(self, index: int, world: World, learner: Learner, settings: TrainSettings) -> None:
        self.index, self.world, self.networks = index, world, learner.networks
        self.room = settings.train.shards
        self._settings, self._algorithm = settings, learner.algorithm
        self._count, self._estimate = len(learner.populations.names), learner.estimate
        self._kinds_that_learn = learner.kinds_that_learn
        rule = learner.algorithm
        self.collector = self.collector_class(index, world, learner, settings)
        self._factors = reward_factors(rule.reward_scale, [str(agent) for agent in world.agents])
        slots = (world.num_worlds, len(world.agents))
        self.returns = DiscountedReturns(slots, rule.gamma, rule.by_decision)
        self.ready: dict[str, ReadySamples] = {}
        self.moments = np.zeros(5)
        self.units: dict[str, np.ndarray] = {}
        self.replays: dict[str, Replay] = {}
        if isinstance(learner, TeamLearner):
            self.collector.recorder = own = TeamRecorder(self.collector, learner, settings)
            self.replays = {
                team_group.name: kept for team_group, kept in zip(own.team_groups, own.replays, strict=True)
            }

    def play(self, parameters: InferenceParameters, update: int) -> dict[str, float]:
        """Plays one rollout of this shard alone; `collect` plays several together."""
        seconds = collect([self.collector], parameters, update)
        self.settle(parameters, update)
        return seconds

    def settle(self, parameters: InferenceParameters, update: int) -> None:
        """Finishes the rewards of a rollout and checks its numbers."""
        buffer, speaking = self.collector.buffer, self._settings.belief.speaking
        if speaking:
            pay_speakers(self.collector, parameters, speaking)
        buffer.reward[buffer.earlier :] *= self._factors
        self.collector.refuse_bad_numbers(update)

    def return_sums(self) -> np.ndarray:
        """`DiscountedReturns.sums` over the acting steps of learning networks."""
        buffer = self.collector.buffer
        learnt = np.zeros(buffer.acting.shape, bool)
        for pending in self.collector.pending.values():
            new = slice(pending.kept, pending.count)
            learnt.reshape(len(learnt), -1)[pending.step[new], pending.slot[new]] = pending.acts[new]
        return self.returns.sums(buffer, learnt)

    def divide_rewards(self, divisors: np.ndarray) -> None:
        """Divides the rewards of the last rollout by (A,) float32."""
        buffer = self.collector.buffer
        buffer.reward[buffer.earlier :] /= divisors

    def estimate(self) -> np.ndarray:
        """Finds the ready samples and computes their advantages and targets; returns as `set_targets`."""
        buffer = self.collector.buffer
        ready = buffer.ready().reshape(len(buffer.value), -1)
        for name, pending in self.collector.pending.items():
            step, slot = pending.step[: pending.count], pending.slot[: pending.count]
            index = np.flatnonzero(ready[step, slot])
            value = buffer.value.reshape(ready.shape)[step[index], slot[index]]
            population = pending.population[index]
            self.ready[name] = ReadySamples(index, population, value, value, value)
            self.units[name] = self._units(name, step[index], slot[index], population)
        sums = self.set_targets()
        self.moments = sum(
            (_moments(found.target, found.value) for found in self.ready.values()), np.zeros(5)
        )
        return sums

    def set_targets(self, current: Mapping[str, np.ndarray] | None = None) -> np.ndarray:
        """Computes advantages, not normalised, and targets of the ready samples.

        Args:
            current: kind name -> (2, N) log-probs and values by the current networks; None: the stored ones.

        Returns:
            (kinds, Q, 3) float64: number, sum and sum of squares of the advantages of acting rows.

        Raises:
            UserError: if the algorithm's estimate has another shape than the trajectories, or is not finite.
        """
        sums = np.zeros((len(self.networks), self._count, 3))
        advantage, target = self._targets(current)
        for kind, (name, found) in enumerate(self.ready.items()):
            pending = self.collector.pending[name]
            at = pending.step[found.picked], pending.slot[found.picked]
            self.ready[name] = found = found._replace(advantage=advantage[at], target=target[at])
            acts, wide = pending.acts[found.picked].astype(np.float64), found.advantage.astype(np.float64)
            for column, weight in enumerate((acts, acts * wide, acts * wide * wide)):
                sums[kind, :, column] = np.bincount(found.population, weight, self._count)
        return sums

    def decouple(self, current: Mapping[str, np.ndarray]) -> None:
        """Stores current log-probs and multiplies advantages by ``min(1, pi / pi_old)``.

        This is decoupled PPO (Hilton et al. 2021), but for the minimum: there the weight is ``pi / pi_old``.

        Args:
            current: as of `set_targets`; its values are not read.
        """
        for name, (log_prob, _) in current.items():
            pending, found = self.collector.pending[name], self.ready[name]
            old = pending.log_prob[found.picked]
            weight = np.exp(np.minimum(log_prob - old, 0.0))
            self.ready[name] = found._replace(advantage=found.advantage * weight)
            pending.log_prob[found.picked] = log_prob

    def _targets(self, current: Mapping[str, np.ndarray] | None) -> list[np.ndarray]:
        """Advantages and targets of all slots, (T, W A) float32 each; see `set_targets`."""
        buffer, value = self.collector.buffer, self.collector.buffer.value
        log_ratio = np.zeros(value.shape, np.float32)
        if current is not None:
            value = value.copy()
            for name, (log_prob, new) in current.items():
                pending, picked = self.collector.pending[name], self.ready[name].picked
                at = pending.step[picked], pending.slot[picked]
                value.reshape(len(value), -1)[at] = new
                log_ratio.reshape(len(value), -1)[at] = log_prob - pending.log_prob[picked]
        along = (buffer.reward, value, buffer.acting, buffer.ended, buffer.bootstrap)
        given = Segments(*along, buffer.last_value, log_ratio)
        found = [np.asarray(part) for part in self._estimate(jax.device_put(given))]
        for name, part in zip(("advantage", "target"), found, strict=True):
            if part.shape != value.shape:
                raise UserError(
                    f"algorithm: estimate gives {name} of shape {part.shape}, rewards have {value.shape}"
                )
            if not np.isfinite(part).all() and np.isfinite(value).all() and np.isfinite(buffer.reward).all():
                raise UserError(f"algorithm: estimate gives {name} that is not finite, from numbers that are")
        return [part.reshape(len(value), -1) for part in found]

    def _units(self, name: str, step: np.ndarray, slot: np.ndarray, population: np.ndarray) -> np.ndarray:
        """(U, L) indices in `ready` that are trained on together: single samples, or sequences."""
        length = self.networks[name].sequence
        if length == 1:
            return np.arange(len(step))[:, None]
        return cut_sequences(step, slot, population, length, self.collector.buffer.earlier)

    def sums(self, name: str) -> np.ndarray:
        """The sums that the last rollout adds to a kind's running moments, see `PolicyNetwork.row_sums`."""
        pending = self.collector.pending[name]
        new = slice(pending.kept, pending.count)
        rows = {dtype: array[new] for dtype, array in pending.seen.rows.items()}
        return self.networks[name].row_sums(rows, pending.population[new])

    def normalise(self, sums: np.ndarray) -> None:
        """Normalises each population's advantages by (kinds, Q, 3) sums of `estimate` over all shards."""
        for kind, name in enumerate(self.networks):
            rows, total, squares = sums[kind].T
            mean = total / np.maximum(rows, 1.0)
            deviation = np.sqrt(np.maximum(squares / np.maximum(rows, 1.0) - mean * mean, 0.0)) + 1e-8
            found = self.ready[name]
            scaled = (found.advantage - mean[found.population]) / deviation[found.population]
            self.ready[name] = found._replace(advantage=scaled.astype(np.float32))

    def write_batch(self, name: str, batch: Batch, start: int) -> None:
        """Copies the ready samples of a kind into the rows of a batch from `start` on."""
        pending, found = self.collector.pending[name], self.ready[name]
        rows = slice(start, start + len(found.picked))
        seen = NetworkInput(batch.seen, batch.mask, batch.memory, batch.fresh, batch.view).part(rows).arrays()
        if pending.truth is not None:
            seen["truth"] = batch.truth[rows]
        arrays = pending.arrays()
        for key, out in seen.items():
            np.take(arrays[key], found.picked, axis=0, out=out, mode="clip")  # other modes are buffered
        batch.action[rows], batch.log_prob[rows] = (
            pending.action[found.picked],
            pending.log_prob[found.picked],
        )
        batch.acts[rows] = pending.acts[found.picked]
        batch.advantage[rows], batch.target[rows] = found.advantage, found.target

    def rows_in(self, name: str, at: int, total: int) -> slice:
        """The ready rows of the worker's shard number `at` in a batch of `total` rows; see `join_batches`."""
        start = at * (total // self.room)
        return slice(start, start + len(self.ready[name].picked))

    def minibatches(self) -> int:
        """Gradient steps of an epoch over this shard's samples."""
        return max(-(-len(self.units[name]) // self.units_per_step(name)) for name in self.networks)

    def rows_per_step(self, name: str) -> int:
        """Most rows of a kind in a gradient step: the largest kind that learns fills the shard's minibatch, others in proportion."""
        own = len(self.networks[name].kind.slots)
        most = max(len(self.networks[kind].kind.slots) for kind in self._kinds_that_learn)
        if self._algorithm.minibatch is None:
            return self.collector.pending[name].capacity
        share = max(self._algorithm.minibatch // self._settings.train.shards, 1)
        return -(-share * own // most)

    def units_per_step(self, name: str) -> int:
        """Most units in a gradient step: samples, or sequences with memory."""
        if self._algorithm.minibatch is None:
            return self.most_units(name)
        return max(self.rows_per_step(name) // self.networks[name].sequence, 1)

    @property
    def most_minibatches(self) -> int:
        """Most gradient steps of an epoch: if every sample is used."""
        return max(-(-self.most_units(name) // self.units_per_step(name)) for name in self.networks)

    def most_units(self, name: str) -> int:
        """Most units; if slots change populations a sequence may be a single sample."""
        capacity, length = self.collector.pending[name].capacity, self.networks[name].sequence
        if self._count > 1 or length == 1:
            return capacity
        buffer = self.collector.buffer
        return self.collector.rows(name) * (-(-buffer.earlier // length) + -(-buffer.steps // length))

    def shuffle(self, name: str, update: int, epoch: int) -> np.ndarray:
        """Draws an epoch's order of a kind: (U,) indices in `units`; unshuffled for a single whole batch."""
        kind, count = list(self.networks).index(name), len(self.units[name])
        if self._algorithm.minibatch is None:
            return np.arange(count)
        rng = seeding.generator(self._settings.seed, _ORDER, self.index, update, epoch, kind)
        return rng.permutation(count)

    def drop(self) -> None:
        """Drops the samples of a rollout that is not trained on."""
        if self._algorithm.normalise_reward:
            self.return_sums()  # moves the running returns on
        for pending in self.collector.pending.values():
            pending.keep(np.zeros(pending.count, bool), 0)
        self.collector.buffer.advance()

    def finish(self) -> None:
        """Drops the samples that were trained on and the oldest steps."""
        buffer = self.collector.buffer
        for name, found in self.ready.items():
            pending = self.collector.pending[name]
            waits = np.ones(pending.count, bool)
            waits[found.picked] = False
            pending.keep(waits, buffer.steps)
        self.ready.clear()
        buffer.advance()

    def save(self) -> dict[str, np.ndarray]:
        """The state that this shard's next update depends on; call it after `finish`."""
        collector = self.collector
        arrays = {f"world/{name}": array for name, array in self.world.save().items()}
        arrays |= {f"trajectory/{name}": array for name, array in collector.buffer.save().items()}
        for kind, pending in collector.pending.items():
            arrays |= {f"pending/{kind}/{name}": array for name, array in pending.save().items()}
        arrays |= {f"opponent/{name}": array for name, array in collector.opponents.save().items()}
        arrays |= {f"windows/{name}": array for name, array in collector.episodes.windows.save().items()}
        for team_group, replay in self.replays.items():
            arrays |= {f"replay/{team_group}/{name}": array for name, array in replay.save().items()}
        return arrays | self._counters()

    def load(self, arrays: Mapping[str, np.ndarray], update: int) -> str | None:
        """Restores `save`; returns why saved episodes could not continue, or None.

        Without a saved world new episodes begin, and pending samples and open windows of metrics are lost.
        """
        world = _below(arrays, "world/")
        owner = f"checkpoint: shard {self.index}"
        for team_group, replay in self.replays.items():
            replay.load(_below(arrays, f"replay/{team_group}/"), f"{owner}, replay of {team_group}")
        try:
            if world:
                load_world(self.world, world, owner)
        except CannotRestore as error:
            self._begin_anew(update)
            return str(error)
        if not world:
            self._begin_anew(update)
            return None
        bounds = {"lengths": (0, 2**53), "life_steps": (0, 2**53)}
        bounds |= {f"cast_{name}": pair for name, pair in self.collector.casting.bounds().items()}
        counters = self._counters()
        windows, lives = self.collector.episodes.windows, self.collector.lives.in_episode
        if not windows.fits(_below(arrays, "windows/")) or arrays["life_in_episode"].shape != lives.shape:
            # The world's metrics were changed since: no window waits for the running episodes.
            counters.pop("life_in_episode")
            arrays = {name: array for name, array in arrays.items() if not name.startswith("windows/")}
        if "discounted_returns" not in arrays:  # normalised from here on
            counters.pop("discounted_returns", None)
        restore(counters, arrays, owner, bounds)
        self.collector.casting.restored()
        self.collector.buffer.load(_below(arrays, "trajectory/"), owner)
        slots = self.world.num_worlds * len(self.world.agents)
        bounds = {
            "step": (0, self._algorithm.horizon - 1),
            "slot": (0, slots - 1),
            "population": (0, self._count - 1),
        }
        for kind, pending in self.collector.pending.items():
            pending.load(_below(arrays, f"pending/{kind}/"), f"{owner}, kind {kind}", bounds)
        self.collector.opponents.load(_below(arrays, "opponent/"))
        self.collector.episodes.windows.load(_below(arrays, "windows/"), owner)
        return None

    def follow(self, old: Shard, update: int) -> None:
        """Takes the place of a shard with other worlds: new episodes begin, replays stay."""
        for name, replay in self.replays.items():
            replay.load(old.replays[name].save(), "replay")
        self.collector.episodes.grow(old.collector.episodes.later)
        self._begin_anew(update)

    def _counters(self) -> dict[str, np.ndarray]:
        collector = self.collector
        return (
            {
                "present": collector.present,
                "returns": collector.episodes.returns,
                "lengths": collector.episodes.lengths,
                "life_steps": collector.lives.steps,
                "life_earned": collector.lives.earned,
                "life_in_episode": collector.lives.in_episode,
            }
            | {f"cast_{name}": array for name, array in collector.casting.save().items()}
            | self._memory()
            | ({"discounted_returns": self.returns.now} if self._algorithm.normalise_reward else {})
        )

    def _memory(self) -> dict[str, np.ndarray]:
        """The agents' memory, if there is any."""
        collector = self.collector
        named = {f"memory/{kind}": array for kind, array in collector.memory.items()}
        return named | {"fresh": collector.fresh} if named else {}

    def _begin_anew(self, update: int) -> None:
        """Starts new episodes with seeds that the run has not used."""
        count = self.world.num_worlds
        seed = int(seeding.world_seeds(self._settings.seed, 1, first=update)[0])
        self.world.reset(seeds=seeding.world_seeds(seed, count, first=self.index * count))
        self.collector.buffer.clear()
        self.returns.now[:] = 0.0
        self.collector.begin_anew()
        for replay in self.replays.values():
            replay.forget_open()
        self.collector.episodes.windows.forget(BEGINS)
        self.collector.opponents.begin((self._settings.seed, self.index, update))
        self.collector.casting.draw(np.ones(count, bool))


def make_shard(index: int, make_world: MakeWorld, learner: Learner, settings: TrainSettings) -> Shard:
    """Makes a shard with its range of the run's worlds, reset."""
    count = settings.num_worlds // settings.train.shards
    world = make_world(num_worlds=count, seed=settings.seed, first_world=index * count)
    world.reset()
    return Shard(index, world, learner, settings)


def load_world(world: World, snapshot: Mapping[str, np.ndarray], owner: str) -> None:
    """Restores worlds from a checkpoint.

    Raises:
        CannotRestore: if the snapshot fits but cannot be restored.
        UserError: if it does not fit.
    """
    try:
        world.load(snapshot)
    except UserError:
        raise
    except (
        ValueError,
        TypeError,
        LookupError,
        ArithmeticError,
        AttributeError,
    ) as error:  # from a user's world
        raise UserError(
            f"{owner}: {world.id} does not take its saved worlds ({error}); choose an earlier checkpoint"
        ) from error


def _below(arrays: Mapping[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    return {key.removeprefix(prefix): array for key, array in arrays.items() if key.startswith(prefix)}


def _moments(target: np.ndarray, value: np.ndarray) -> np.ndarray:
    t = target.astype(np.float64)
    error = t - value
    return np.array([len(t), t.sum(), (t * t).sum(), error.sum(), (error * error).sum()])
