"""Proximal policy optimisation: the parameters, and how a summed gradient changes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from interplay.core.errors import UserError
from interplay.core.loading import did_you_mean
from interplay.core.world import Kind
from interplay.train.brain import NUM_TERMS, Batch, Brain
from interplay.train.losses import Terms
from interplay.train.restoring import check_array, check_weights
from interplay.train.settings import TrainSettings

ADAM_EPSILON = 1e-5  # as Stable-Baselines3's policies, and with it the preset


class Epoch(NamedTuple):
    """What a worker's shards learn from in one epoch: M minibatches, S shards, B rows of each.

    Attributes:
        batch: N rows, those of all its shards.
        order: (M, S, B) int32, rows of the batch; N stands for no row.
        plan: (M, S) int32, numbers of the network's plans.
    """

    batch: Batch
    order: jax.Array
    plan: jax.Array


class Learner:
    """Networks of all kinds of agents, their parameters and Adam's moments.

    Every worker has one and feeds it the same summed gradients, so all hold the same bits.

    Args:
        kinds: of the world.
        settings: of the run.

    Attributes:
        brains: kind name -> `Brain`.
        vectors: kind name -> (P,) float32, the parameters.

    Raises:
        UserError: if ``train.learners`` names no kind.
    """

    def __init__(self, kinds: Sequence[Kind], settings: TrainSettings) -> None:
        key = jax.random.key(settings.seed)
        self.brains = {
            kind.name: Brain(kind, settings, jax.random.fold_in(key, i)) for i, kind in enumerate(kinds)
        }
        ppo = settings.ppo
        self._learns = _learners([kind.name for kind in kinds], settings.train.learners)
        self._optimiser = optax.chain(
            optax.clip_by_global_norm(ppo.max_grad_norm), optax.adam(ppo.learning_rate, eps=ADAM_EPSILON)
        )
        self.vectors: dict[str, Any] = {name: jnp.asarray(b.first) for name, b in self.brains.items()}
        self._moments = {name: self._optimiser.init(vector) for name, vector in self.vectors.items()}
        self._nothing = {name: np.zeros(b.size + NUM_TERMS, np.float32) for name, b in self.brains.items()}
        self._move = jax.jit(partial(_move, self._optimiser), donate_argnums=(0, 1))
        self._step = {
            name: jax.jit(partial(_step, self._optimiser, brain), donate_argnums=(0, 1))
            for name, brain in self.brains.items()
        }

    @property
    def size(self) -> int:
        """Length of the vectors that shards add up: every kind's gradient and terms."""
        return sum(brain.size + NUM_TERMS for brain in self.brains.values())

    def terms(self, total: np.ndarray) -> dict[str, Terms]:
        """The loss terms inside a summed vector, by kind."""
        return {
            name: Terms(*part[-NUM_TERMS:].astype(np.float64).tolist())
            for name, part in self._parts(total).items()
        }

    def step(self, total: np.ndarray | None, epochs: Mapping[str, Epoch], minibatch: int) -> np.ndarray:
        """Takes one step of Adam, then computes the gradient of the next minibatch: one compiled call per kind.

        Args:
            total: (size,) float32, sums over every shard's rows of the minibatch before, checked; None: no step.
            epochs: of each kind, this worker's shards.
            minibatch: number within the epoch.

        Returns:
            (size,) float32, sums over the rows of this worker's shards.
        """
        parts = self._nothing if total is None else self._parts(total)
        gradients = []
        for name, (batch, order, plan) in epochs.items():
            self.vectors[name], self._moments[name], gradient = self._step[name](
                self.vectors[name],
                self._moments[name],
                parts[name],
                total is not None and name in self._learns,
                batch,
                order,
                plan,
                minibatch,
            )
            gradients.append(np.asarray(gradient))
        return np.concatenate(gradients) if len(gradients) > 1 else gradients[0]

    def apply(self, total: np.ndarray) -> None:
        """Takes one step of Adam along the mean gradient of all shards.

        Args:
            total: (size,) float32, sums over every shard's rows, checked.
        """
        parts = self._parts(total)
        for name in self._learns:
            self.vectors[name], self._moments[name] = self._move(
                self.vectors[name], self._moments[name], parts[name]
            )

    def check(self, total: np.ndarray, update: int) -> None:
        """Refuses a sum that would spoil the parameters.

        Args:
            total: (size,) float32.
            update: number of the update, for the error.

        Raises:
            UserError: if a gradient is not finite, naming its tensor.
        """
        if not np.isfinite(total.sum()):
            self._refuse(total, update)

    def save(self) -> dict[str, dict[str, np.ndarray]]:
        """Arrays for a checkpoint: file stem -> name -> array."""
        policy: dict[str, np.ndarray] = {}
        moments: dict[str, np.ndarray] = {}
        for name, brain in self.brains.items():
            policy |= {
                f"{name}/{t}": array for t, array in brain.split(np.asarray(self.vectors[name])).items()
            }
            leaves = jax.tree.leaves(self._moments[name])
            moments |= {f"{name}/{i}": np.asarray(leaf) for i, leaf in enumerate(leaves)}
        return {"policy": policy, "optimiser": moments}

    def describe(self) -> dict[str, Any]:
        """What a checkpoint's record says of the learner beside its arrays."""
        return {}

    def begin_with(self, vectors: Mapping[str, Any]) -> None:
        """Puts other weights, kind name -> (P,) float32, in the place of those drawn; for a run that begins."""
        self.vectors |= vectors

    def load(self, arrays: Mapping[str, Mapping[str, np.ndarray]]) -> None:
        """Restores what `save` gave.

        Raises:
            UserError: if the checkpoint belongs to another network.
        """
        vectors = read_policy(self.brains, arrays.get("policy", {}))
        moments = {
            name: read_moments(name, self._moments[name], arrays.get("optimiser", {})) for name in self.brains
        }
        self.vectors, self._moments = vectors, moments

    def _parts(self, total: np.ndarray) -> dict[str, np.ndarray]:
        parts, at = {}, 0
        for name, brain in self.brains.items():
            parts[name] = total[at : at + brain.size + NUM_TERMS]
            at += brain.size + NUM_TERMS
        return parts

    def _refuse(self, total: np.ndarray, update: int) -> None:
        for name, part in self._parts(total).items():
            bad = np.flatnonzero(~np.isfinite(part))
            if not bad.size:
                continue
            brain, at = self.brains[name], int(bad[0])
            of = (
                f"gradient of {brain.tensor_at(at)}"
                if at < brain.size
                else f"loss term {Terms._fields[at - brain.size]}"
            )
            whose = f" ({name})" if len(self.brains) > 1 else ""
            raise UserError(
                f"update {update}: {of}{whose} is not finite; lower ppo.learning_rate or scale the rewards"
            )


def _learners(kinds: Sequence[str], wanted: Sequence[str]) -> list[str]:
    unknown = [name for name in wanted if name not in kinds]
    if unknown:
        near = did_you_mean(unknown[0], kinds, f"there are {', '.join(kinds)}")
        raise UserError(f"train.learners: no kind {unknown[0]!r}; {near}")
    return [name for name in kinds if name in wanted or not wanted]


def read_policy(brains: Mapping[str, Brain], tensors: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Parameter vectors from a checkpoint's named tensors.

    Raises:
        UserError: if names or shapes do not fit these networks.
    """
    vectors = {}
    for name, brain in brains.items():
        expected = {f"{name}/{tensor}": array.shape for tensor, array in brain.split(brain.first).items()}
        given = {key: array.shape for key, array in tensors.items() if key in expected}
        for key, shape in expected.items():
            if given.get(key) != shape:
                raise UserError(
                    f"checkpoint: tensor {key} is {given.get(key, 'missing')}, this network needs {shape}; "
                    "load it with the settings it was trained with"
                )
        own = {t: tensors[f"{name}/{t}"] for t in brain.names}
        vectors[name] = jnp.array(brain.join(check_weights(f"checkpoint: kind {name}", own)))
    return vectors


def read_moments(name: str, moments: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    """The state of a kind's optimiser from a checkpoint's arrays.

    Args:
        name: of the kind.
        moments: of this run, whose form it must have.
        arrays: ``kind/number`` -> array.

    Raises:
        UserError: if one is missing, of another shape or dtype, or not finite.
    """
    leaves, tree = jax.tree.flatten(moments)
    for i, leaf in enumerate(leaves):
        key = f"{name}/{i}"
        check_array(key, arrays.get(key), leaf.shape, leaf.dtype, "checkpoint: optimiser")
    return jax.tree.unflatten(tree, [jnp.array(arrays[f"{name}/{i}"]) for i in range(len(leaves))])


def _move(optimiser: optax.GradientTransformation, vector: Any, moments: Any, part: Any) -> tuple[Any, Any]:
    """One optimiser step; `part` is a summed gradient followed by the terms."""
    terms = Terms(*part[-NUM_TERMS:])
    gradient = part[:-NUM_TERMS] / jnp.maximum(terms.rows, 1.0)
    change, moments = optimiser.update(gradient, moments, vector)
    return optax.apply_updates(vector, change), moments


def _step(
    optimiser: optax.GradientTransformation,
    brain: Brain,
    vector: Any,
    moments: Any,
    part: Any,
    moves: Any,
    batch: Batch,
    order: Any,
    plan: Any,
    minibatch: Any,
) -> tuple[Any, Any, Any]:
    """`_move` if `moves`, then the gradient of a minibatch."""
    moved = _move(optimiser, vector, moments, part)
    vector, moments = jax.tree.map(partial(jnp.where, moves), moved, (vector, moments))
    return vector, moments, brain.gradient(vector, batch, order[minibatch], plan[minibatch])
