"""Playing a shard's worlds for a fixed number of steps and keeping what learning needs.

Reset is explicit here as everywhere: a world that is over is restarted after its last step was stored, so the last
observation of an episode that was cut is there when its value is asked for.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import numpy as np

from interplay.core.errors import UserError
from interplay.core.world import TimeStep, World
from interplay.train.brain import Brain
from interplay.train.episodes import EpisodeStatistics

Vectors = Mapping[str, Any]  # kind name -> (P,) float32 parameters


class KindRollout(NamedTuple):
    """What agents of one kind saw and did; T steps, W worlds, A agents of the kind.

    Attributes:
        rows: (T, W, A, width) float32 observations.
        action: (T, W, A, columns) float32.
        log_prob: (T, W, A) float32.
        value: (T, W, A) float32.
        last_value: (W, A) float32, of the observation after the last step.
        mask: (T, W, A, choices) bool, or None.
    """

    rows: np.ndarray
    action: np.ndarray
    log_prob: np.ndarray
    value: np.ndarray
    last_value: np.ndarray
    mask: np.ndarray | None


class Rollout(NamedTuple):
    """T steps of a shard's W worlds; A counts the agents of all kinds.

    Attributes:
        kinds: kind name -> `KindRollout`.
        reward: (T, W, A) float32, earned in the step.
        acting: (T, W, A) bool, the step read the slot's action.
        present: (T, W, A) bool, the slot's life went on: acting, waiting, or dead but earning.
        ended: (T, W, A) bool, the life or the world's episode ended in the step.
        bootstrap: (T, W, A) float32, value of the last observation of lives that were cut, else 0.
        seconds: spent in networks and in worlds.
    """

    kinds: dict[str, KindRollout]
    reward: np.ndarray
    acting: np.ndarray
    present: np.ndarray
    ended: np.ndarray
    bootstrap: np.ndarray
    seconds: dict[str, float]


class Collector:
    """Plays one shard's worlds.

    Args:
        world: a batch, reset.
        brains: of each kind.
        steps: T.
        key: jax random key of the shard; actions of step t of update u are drawn with ``fold_in(key, u T + t)``.

    Attributes:
        present: (W, A) bool, see `Rollout`.
        statistics: of the episodes that ended.
    """

    def __init__(self, world: World, brains: Mapping[str, Brain], steps: int, key: jax.Array) -> None:
        self.world = world
        self.brains = brains
        self.steps = steps
        self.present = np.zeros((world.num_worlds, len(world.agents)), bool)
        self.statistics = EpisodeStatistics(world)
        self._keys = {name: jax.random.fold_in(key, i) for i, name in enumerate(brains)}
        self._buffers = _allocate(world, brains, steps)

    def collect(self, vectors: Vectors, update: int) -> Rollout:
        """Plays T steps. The arrays belong to the collector and are overwritten by the next call."""
        out, seconds = self._buffers, {"act": 0.0, "step": 0.0}
        for t in range(self.steps):
            began = time.perf_counter()
            timestep = self.world.timestep
            self.present |= timestep.acting
            out.acting[t], out.present[t] = timestep.acting, self.present
            actions = self._act(vectors, timestep, t, update * self.steps + t)
            acted = time.perf_counter()
            timestep = self.world.step(actions)
            self._store_outcome(vectors, timestep, t)
            self._restart()
            seconds["act"] += acted - began
            seconds["step"] += time.perf_counter() - acted
        began = time.perf_counter()
        last = self._values(vectors, self.world.timestep)
        for name, kind in out.kinds.items():
            kind.last_value[...] = last[:, self.brains[name].kind.slots]
        seconds["act"] += time.perf_counter() - began
        return out._replace(seconds=seconds)

    def _act(self, vectors: Vectors, timestep: TimeStep, t: int, counter: int) -> Any:
        """Asks every kind's network, stores what it said, gives the actions as the world takes them."""
        observations = self.world.by_kind(timestep.observation)
        masks = self.world.by_kind(timestep.action_mask)
        actions = {}
        for name, brain in self.brains.items():
            kind = self._buffers.kinds[name]
            brain.rows.write(observations[name], kind.rows[t])
            shape = kind.rows.shape[1:3]
            mask = brain.distribution.flat_mask(masks[name], shape)
            if mask is not None and kind.mask is not None:
                kind.mask[t] = mask
                mask = mask.reshape(shape[0] * shape[1], -1)
            said = brain.act(
                vectors[name], _merge(kind.rows[t]), mask, self._keys[name], np.uint32(counter % 2**32)
            )
            said = np.asarray(said).reshape(*shape, -1)
            kind.action[t], kind.log_prob[t], kind.value[t] = said[..., :-2], said[..., -2], said[..., -1]
            actions[name] = brain.distribution.to_world(said[..., :-2])
        return actions if len(actions) > 1 else next(iter(actions.values()))

    def _store_outcome(self, vectors: Vectors, timestep: TimeStep, t: int) -> None:
        out = self._buffers
        out.reward[t] = timestep.reward
        out.ended[t] = timestep.terminated | timestep.truncated | timestep.over[:, None]
        out.bootstrap[t] = 0.0
        if timestep.truncated.any():
            out.bootstrap[t] = np.where(timestep.truncated, self._values(vectors, timestep), 0.0)
        self.present &= ~out.ended[t]
        self.statistics.add(timestep)

    def _restart(self) -> None:
        over = self.world.timestep.over
        if over.any():
            self.world.reset(over)

    def _values(self, vectors: Vectors, timestep: TimeStep) -> np.ndarray:
        """V of every slot's observation, (W, A)."""
        observations = self.world.by_kind(timestep.observation)
        values = np.zeros(self.present.shape, np.float32)
        for name, brain in self.brains.items():
            kind = self._buffers.kinds[name]
            rows = np.empty_like(kind.rows[0])
            brain.rows.write(observations[name], rows)
            mask = None if kind.mask is None else _merge(np.ones_like(kind.mask[0]))
            # The program that acts also tells values; one for values alone would have to be compiled as well.
            said = brain.act(vectors[name], _merge(rows), mask, self._keys[name], np.uint32(0))
            values[:, brain.kind.slots] = np.asarray(said[:, -1]).reshape(rows.shape[:2])
        return values


def refuse_bad_numbers(rollout: Rollout, brains: Mapping[str, Brain], update: int) -> None:
    """Stops training before NaN or infinite numbers reach the parameters.

    Raises:
        UserError: naming the tensor and the update.
    """
    for name, kind in rollout.kinds.items():
        bad = None if np.isfinite(kind.rows).all() else brains[name].rows.name_bad(kind.rows)
        for tensor, array in (("value", kind.value), ("log_prob", kind.log_prob)):
            if bad is None and not np.isfinite(array).all():
                bad = f"{tensor} of the network"
        if bad is not None:
            whose = f" of {name}" if len(rollout.kinds) > 1 else ""
            raise UserError(
                f"update {update}: {bad}{whose} is not finite; check the world, or lower ppo.learning_rate"
            )
    if not np.isfinite(rollout.reward).all():
        raise UserError(f"update {update}: reward is not finite; check the world")


def _merge(array: np.ndarray) -> np.ndarray:
    """(W, A, ...) -> (W * A, ...)."""
    return array.reshape(-1, *array.shape[2:])


def _allocate(world: World, brains: Mapping[str, Brain], steps: int) -> Rollout:
    masks = world.by_kind(world.timestep.action_mask)
    whole = (steps, world.num_worlds, len(world.agents))
    kinds = {}
    for name, brain in brains.items():
        shape = (steps, world.num_worlds, len(brain.kind.slots))
        masked = masks[name] is not None
        kinds[name] = KindRollout(
            rows=np.zeros((*shape, brain.rows.width), np.float32),
            action=np.zeros((*shape, brain.distribution.columns), np.float32),
            log_prob=np.zeros(shape, np.float32),
            value=np.zeros(shape, np.float32),
            last_value=np.zeros(shape[1:], np.float32),
            mask=np.ones((*shape, brain.distribution.choices), bool) if masked else None,
        )
    return Rollout(
        kinds=kinds,
        reward=np.zeros(whole, np.float32),
        acting=np.zeros(whole, bool),
        present=np.zeros(whole, bool),
        ended=np.zeros(whole, bool),
        bootstrap=np.zeros(whole, np.float32),
        seconds={},
    )
