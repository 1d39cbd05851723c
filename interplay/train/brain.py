"""One kind of agent's network with everything that is compiled around it.

Parameters live in one flat float32 vector per kind: it is what Adam updates in one pass, what shards add up, and
what crosses between processes. `Brain.names` says which tensor an element belongs to.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from interplay.core.world import Kind
from interplay.train import compute, losses, networks
from interplay.train.distributions import Distribution
from interplay.train.exchange import tree_sum
from interplay.train.losses import Terms
from interplay.train.observations import ObservationRows
from interplay.train.settings import TrainSettings

NUM_TERMS = len(Terms._fields)
_HEAD = 0x6E55  # folded into the key of the head that guesses

assert compute  # imported for its effect: it sets XLA's flags before the backend starts


class Batch(NamedTuple):
    """What one shard learns from in one update; N rows.

    Attributes:
        prepared: observations as the network's `prepare` left them, (N, ...).
        action: (N, columns) float32.
        log_prob: (N,) float32 when acting.
        advantage: (N,) float32, normalised.
        target: (N,) float32, of the value.
        acts: (N,) float32, 1 where the row teaches the policy.
        mask: (N, choices) bool, or None.
    """

    prepared: Any
    action: jax.Array
    log_prob: jax.Array
    advantage: jax.Array
    target: jax.Array
    acts: jax.Array
    mask: jax.Array | None


class Brain:
    """The network of one kind of agent.

    Args:
        kind: name and spaces.
        settings: of the run.
        key: jax random key of the weights.

    Attributes:
        rows: layout of the observations.
        distribution: of the actions.
        size: P, number of parameters.
        first: (P,) float32, the parameters that training begins with.
    """

    def __init__(self, kind: Kind, settings: TrainSettings, key: jax.Array) -> None:
        self.kind = kind
        self.rows = ObservationRows(kind.observation_space, settings.network.input_scale)
        self.distribution = Distribution(kind.action_space, settings.network.probability_floor)
        network = networks.make_network(settings.network, kind.observation_space, kind.action_space, key=key)
        if settings.belief.about:
            head = jax.random.fold_in(key, _HEAD)
            network = networks.GuessingNetwork(network, settings.network.width, key=head)
        tensors, self._static = eqx.partition(network, eqx.is_inexact_array)
        leaves = jax.tree_util.tree_flatten_with_path(tensors)[0]
        self._tree = jax.tree.structure(tensors)
        self._shapes = [leaf.shape for _, leaf in leaves]
        self._ends = np.cumsum([leaf.size for _, leaf in leaves])
        self.names = [_path_name(path) for path, _ in leaves]
        self.size = int(self._ends[-1])
        self.first = np.concatenate([np.asarray(leaf, np.float32).ravel() for _, leaf in leaves])
        self._ppo = settings.ppo
        self.act = jax.jit(self._act)
        self.prepare = jax.jit(self._prepare)
        self.choose = jax.jit(self._choose, static_argnames="greedy")
        self.chances = jax.jit(self._chances)

    def tensor_at(self, element: int) -> str:
        """Which tensor an element of the flat vector belongs to, e.g. ``policy/layers/0/weight``."""
        return self.names[int(np.searchsorted(self._ends, element, side="right"))]

    def split(self, vector: np.ndarray) -> dict[str, np.ndarray]:
        """The flat vector as named tensors, for a checkpoint."""
        parts = np.split(np.asarray(vector), self._ends[:-1])
        return {
            name: part.reshape(shape)
            for name, part, shape in zip(self.names, parts, self._shapes, strict=True)
        }

    def join(self, tensors: Mapping[str, np.ndarray]) -> np.ndarray:
        """The inverse of `split`."""
        return np.concatenate([np.asarray(tensors[name], np.float32).ravel() for name in self.names])

    def _network(self, vector: jax.Array) -> Any:
        parts = jnp.split(vector, self._ends[:-1])
        leaves = [part.reshape(shape) for part, shape in zip(parts, self._shapes, strict=True)]
        return eqx.combine(jax.tree.unflatten(self._tree, leaves), self._static)

    def _prepare(self, rows: jax.Array) -> Any:
        # `prepare` knows no parameters, so the network without them will do.
        return networks.prepare(self._static, self.rows.read(rows))

    def _act(
        self, vector: jax.Array, rows: jax.Array, mask: jax.Array | None, key: jax.Array, counter: jax.Array
    ) -> jax.Array:
        """Samples actions: (B, width) -> (B, columns + 2), the action, its log-probability and the value."""
        parameters, value = self._network(vector)(self._prepare(rows))
        action = self.distribution.sample(parameters, jax.random.fold_in(key, counter), mask)
        log_prob = self.distribution.log_prob(parameters, action, mask)
        return jnp.concatenate([action, log_prob[:, None], value[:, None]], axis=1)

    def _choose(
        self, vector: jax.Array, rows: jax.Array, mask: jax.Array | None, key: jax.Array, greedy: bool
    ) -> jax.Array:
        """Actions for play, (B, columns): sampled, or the likeliest."""
        parameters, _ = self._network(vector)(self._prepare(rows))
        if greedy:
            return self.distribution.greedy(parameters, mask)
        return self.distribution.sample(parameters, key, mask)

    def _chances(self, vector: jax.Array, rows: jax.Array, mask: jax.Array | None) -> jax.Array:
        """Probabilities of every choice, (B, choices)."""
        parameters, _ = self._network(vector)(self._prepare(rows))
        return self.distribution.probabilities(parameters, mask)

    def demand(self, prepared: Any) -> np.ndarray | None:
        """What each prepared row costs the network, (N,), or None if that is always the same."""
        demand = self._static.demand(prepared) if hasattr(self._static, "demand") else None
        return None if demand is None else np.asarray(demand)

    def plan(self, demand: np.ndarray) -> int:
        """Number of the network's plan for a minibatch of these demands, in ascending order."""
        return int(self._static.choose_plan(demand))

    def gradient(self, vector: jax.Array, batch: Batch, index: jax.Array, plan: jax.Array) -> jax.Array:
        """Gradient of the summed loss over some rows of S shards, then the terms of `Terms`: (P + 8,) float32.

        Every shard's part is computed by the same instructions on arrays of the same shape, however many shards come
        together, and the parts are added up in the fixed tree.

        Args:
            vector: (P,) parameters.
            batch: N rows, those of all S shards.
            index: (S, B) int32, rows; N stands for no row.
            plan: (S,) int32, numbers of the network's plans for these rows in this order.
        """
        plans: tuple[Hashable, ...] = getattr(self._static, "plans", (None,))
        branches = [partial(self._shard_gradient, vector, batch, plan=each) for each in plans]
        parts = jax.lax.map(lambda shard: jax.lax.switch(shard[1], branches, shard[0]), (index, plan))
        return tree_sum(list(parts))

    def _shard_gradient(self, vector: jax.Array, batch: Batch, index: jax.Array, plan: Hashable) -> jax.Array:
        counts = (index < batch.acts.shape[0]).astype(jnp.float32)
        at = jnp.minimum(index, batch.acts.shape[0] - 1)
        # The barrier keeps XLA from gathering anew inside every operation that reads a row.
        rows = jax.lax.optimization_barrier(jax.tree.map(lambda leaf: leaf[at], batch))
        gradient, terms = jax.grad(partial(self._loss, rows=rows, counts=counts, plan=plan), has_aux=True)(
            vector
        )
        return jnp.concatenate([gradient, jnp.stack(terms)])

    def _loss(
        self, vector: jax.Array, rows: Batch, counts: jax.Array, plan: Hashable
    ) -> tuple[jax.Array, Terms]:
        network = self._network(vector)
        parameters, value = network(rows.prepared) if plan is None else network(rows.prepared, plan)
        terms = losses.ppo_terms(
            self.distribution.log_prob(parameters, rows.action, rows.mask),
            self.distribution.entropy(parameters, rows.mask),
            value,
            rows.log_prob,
            rows.advantage,
            rows.target,
            rows.acts * counts,
            counts,
            self._ppo.clip,
        )
        return losses.total(terms, self._ppo.value_coefficient, self._ppo.entropy), terms


def _path_name(path: Any) -> str:
    return "/".join(str(getattr(key, "name", getattr(key, "key", getattr(key, "idx", key)))) for key in path)
