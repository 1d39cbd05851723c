"""A shard: a fixed part of a run, with its own worlds, random streams, minibatch order and advantage normalisation.

The shards of a run are numbered and never change; how many processes share them is another matter
(specification scale 3). Minibatches are drawn per shard, ``ppo.minibatch / train.shards`` rows each, so that
one gradient step sees ``ppo.minibatch`` rows. Advantages are normalised over a shard's rollout: over a small minibatch
their deviation would be noise.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from interplay.core import seeding
from interplay.core.errors import CannotRestore, UserError
from interplay.core.world import World
from interplay.train.brain import Batch, Brain
from interplay.train.restoring import restore
from interplay.train.returns import generalised_advantage, normalise
from interplay.train.rollout import Collector, Rollout, Vectors, refuse_bad_numbers
from interplay.train.settings import TrainSettings

# Of the steps in which an agent waits or is dead but present, every eighth teaches its value, which is needed only
# where a rollout ends. They never teach the policy.
IDLE_EVERY = 8
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

    Args:
        index: number of the shard.
        world: its worlds.
        brains: networks of each kind.
        settings: of the run.

    Attributes:
        seconds: time spent in networks and in worlds in the last update.
        batches: kind name -> what `estimate` made.
    """

    def __init__(
        self, index: int, world: World, brains: Mapping[str, Brain], settings: TrainSettings
    ) -> None:
        self.index = index
        self.world = world
        self.brains = brains
        self._settings = settings
        key = jax.random.fold_in(jax.random.key(settings.seed), 1_000_000 + index)
        self.collector = Collector(world, brains, settings.ppo.rollout, key)
        self.seconds: dict[str, float] = {}
        self.batches: dict[str, Batch] = {}
        self._rollout: Rollout
        self._used: dict[str, np.ndarray] = {}
        self._demands: dict[str, np.ndarray | None] = {}

    def play(self, vectors: Vectors, update: int) -> None:
        """Plays one rollout.

        Raises:
            UserError: if an observation, a reward or a network's output is not finite.
        """
        self._rollout = self.collector.collect(vectors, update)
        self.seconds = self._rollout.seconds
        refuse_bad_numbers(self._rollout, self.brains, update)

    def estimate(self) -> Moments:
        """Turns the rollout into batches to learn from: advantages, targets, prepared observations."""
        rollout, ppo = self._rollout, self._settings.ppo
        moments = np.zeros(len(Moments._fields))
        for name, brain in self.brains.items():
            slots = list(brain.kind.slots)
            kind = rollout.kinds[name]
            present = rollout.present[:, :, slots]
            acts = rollout.acting[:, :, slots] if ppo.mask_dead else present
            advantage, target = _estimate(
                rollout.reward[:, :, slots] * np.float32(ppo.reward_scale),
                kind.value,
                acts,
                rollout.ended[:, :, slots],
                rollout.bootstrap[:, :, slots],
                kind.last_value,
                gamma=ppo.gamma,
                lam=ppo.lam,
                by_decision=ppo.discount == "decision",
                normalised=ppo.normalise_advantage,
            )
            used = acts | (present & _idle_phase(present.shape[0]))
            self._used[name] = np.flatnonzero(used).astype(np.int32)
            self.batches[name] = Batch(
                prepared=brain.prepare(_rows(kind.rows)),
                action=jnp.array(_rows(kind.action)),
                log_prob=jnp.array(kind.log_prob.ravel()),
                advantage=advantage,
                target=target,
                acts=jnp.array(acts.ravel(), jnp.float32),
                mask=None if kind.mask is None else jnp.array(_rows(kind.mask)),
            )
            self._demands[name] = brain.demand(self.batches[name].prepared)
            moments += _moments(np.asarray(target), kind.value.ravel(), self._used[name])
        return Moments(*moments)

    def minibatches(self) -> int:
        """How many gradient steps an epoch over this shard's rows needs."""
        return max(-(-len(self._used[name]) // self.rows_per_step(name)) for name in self.brains)

    def rows_per_step(self, name: str) -> int:
        """Rows of a kind per gradient step: the most populous kind has its share of ppo.minibatch, others in proportion."""
        share = max(self._settings.ppo.minibatch // self._settings.train.shards, 1)
        most = max(len(brain.kind.slots) for brain in self.brains.values())
        return -(-share * len(self.brains[name].kind.slots) // most)

    @property
    def most_minibatches(self) -> int:
        """How many gradient steps an epoch needs at most: if every row is used."""
        steps = self._settings.ppo.rollout * self.world.num_worlds
        return max(
            -(-steps * len(brain.kind.slots) // self.rows_per_step(name))
            for name, brain in self.brains.items()
        )

    def shuffle(self, name: str, update: int, epoch: int, minibatches: int) -> tuple[np.ndarray, np.ndarray]:
        """Draws the epoch's order of a kind; rows are spread evenly over the minibatches, which all shards have in common.

        Returns:
            (M, B) int32 rows, -1 for none, each minibatch in the order in which the network wants it; (M,) int32, numbers
            of the network's plans.
        """
        kind = list(self.brains).index(name)
        rng = seeding.generator(self._settings.seed, _ORDER, self.index, update, epoch, kind)
        order = np.full((self.rows_per_step(name), minibatches), -1, np.int32)
        order.flat[: len(self._used[name])] = rng.permutation(self._used[name])
        index, plan = order.T.copy(), np.zeros(minibatches, np.int32)
        demand = self._demands[name]
        if demand is not None:
            cost = np.where(index < 0, 0, demand[index])
            ascending = np.argsort(cost, axis=1, kind="stable")
            index = np.take_along_axis(index, ascending, axis=1)
            cost = np.take_along_axis(cost, ascending, axis=1)
            plan[:] = [self.brains[name].plan(part) for part in cost]
        return index, plan

    def save(self) -> dict[str, np.ndarray]:
        """Everything that this shard's next update depends on.

        Raises:
            UserError: by worlds that cannot be saved.
        """
        statistics = self.collector.statistics
        return {f"world/{name}": array for name, array in self.world.save().items()} | {
            "present": self.collector.present,
            "returns": statistics.returns,
            "lengths": statistics.lengths,
        }

    def load(self, arrays: Mapping[str, np.ndarray], update: int) -> str | None:
        """Restores what `save` gave.

        Args:
            arrays: of the checkpoint; without a saved world new episodes begin, from seeds of their own.
            update: updates done so far.

        Returns:
            Why new episodes begin though worlds were saved; None if they go on.

        Raises:
            UserError: if the arrays belong to other settings.
        """
        world = {
            key.removeprefix("world/"): array for key, array in arrays.items() if key.startswith("world/")
        }
        if not world:
            self._begin_anew(update)
            return None
        owner = f"checkpoint: shard {self.index}"
        try:
            load_world(self.world, world, owner)
        except CannotRestore as error:
            self._begin_anew(update)
            return str(error)
        statistics = self.collector.statistics
        mine = {
            "present": self.collector.present,
            "returns": statistics.returns,
            "lengths": statistics.lengths,
        }
        restore(mine, arrays, owner, {"lengths": (0, 2**62)})
        return None

    def _begin_anew(self, update: int) -> None:
        """Starts episodes that the run has not seen."""
        count = self.world.num_worlds
        seed = int(seeding.world_seeds(self._settings.seed, 1, first=update)[0])
        self.world.reset(seeds=seeding.world_seeds(seed, count, first=self.index * count))


def make_shard(index: int, make_world: Any, brains: Mapping[str, Brain], settings: TrainSettings) -> Shard:
    """Makes a shard with its fixed range of the run's worlds, reset."""
    count = settings.num_worlds // settings.train.shards
    world = make_world(num_worlds=count, seed=settings.seed, first_world=index * count)
    world.reset()
    return Shard(index, world, brains, settings)


def load_world(world: World, snapshot: Mapping[str, np.ndarray], owner: str) -> None:
    """Restores worlds from a checkpoint.

    Raises:
        CannotRestore: if the snapshot fits and the worlds do not come back.
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
    ) as error:  # of a world of the user's own
        raise UserError(
            f"{owner}: {world.id} does not take its saved worlds ({error}); choose an earlier checkpoint"
        ) from error


@partial(jax.jit, static_argnames=("gamma", "lam", "by_decision", "normalised"))
def _estimate(
    reward: Any,
    value: Any,
    acts: Any,
    ended: Any,
    bootstrap: Any,
    last: Any,
    gamma: float,
    lam: float,
    by_decision: bool,
    normalised: bool,
) -> tuple[jax.Array, jax.Array]:
    """Advantages and targets as rows (N,)."""
    out = generalised_advantage(reward, value, acts, ended, bootstrap, last, gamma, lam, by_decision)
    advantage = out.advantage.ravel()
    if normalised:
        advantage = normalise(advantage, acts.ravel().astype(jnp.float32))
    return advantage, out.target.ravel()


def _rows(array: np.ndarray) -> np.ndarray:
    """(T, W, A, ...) -> (T W A, ...)."""
    return array.reshape(-1, *array.shape[3:])


def _idle_phase(steps: int) -> np.ndarray:
    return (np.arange(steps) % IDLE_EVERY == IDLE_EVERY - 1)[:, None, None]


def _moments(target: np.ndarray, value: np.ndarray, used: np.ndarray) -> np.ndarray:
    t = target[used].astype(np.float64)
    error = t - value[used]
    return np.array([len(t), t.sum(), (t * t).sum(), error.sum(), (error * error).sum()])
