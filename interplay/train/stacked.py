"""The networks of all populations of one kind of agents: weights in a stack, rows in blocks.

What a block needs of the weights is worked out once per update (`networks.unfold`); a loop over blocks then picks its
population's part and computes 64 rows with it, which stay in the cache. That takes as
long as one batched product over populations padded to the largest does where all are equally large (``bench/learner.py --world
mmo/combat`` prints both), and nothing is padded where they are not.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from interplay.core.world import Kind
from interplay.train import losses, networks
from interplay.train.brain import NUM_TERMS, Brain
from interplay.train.leaves import ObservationLeaves
from interplay.train.losses import Terms
from interplay.train.populations import Blocks, Populations, most_blocks
from interplay.train.settings import TrainSettings


class Rows(NamedTuple):
    """What is learnt from: N rows sorted by population, followed by one block's rows that are not read.

    Attributes:
        leaves: observations, key -> (N + block, ...).
        action: (..., columns) float32.
        log_prob: (...,) float32 when acting.
        advantage: (...,) float32, normalised.
        target: (...,) float32, of the value.
        acts: (...,) float32, 1 where the row teaches the policy.
        mask: (..., choices) bool, or None.
        truth: (..., n) bool, which seats are of the population that is guessed; None where nothing is guessed.
    """

    leaves: Any
    action: Any
    log_prob: Any
    advantage: Any
    target: Any
    acts: Any
    mask: Any
    truth: Any = None


class StackedBrain(Brain):
    """The networks of one kind of agent, one for each of Q populations; P parameters each.

    Args:
        kind: name and spaces.
        settings: of the run.
        key: jax random key of the first population's weights.
        populations: of the run.

    Attributes:
        stack: (Q, P) float32, the parameters that training begins with.
        leaves: layout of the observations.
        block: rows per block.
        guesses: whether its networks guess who is who (`BeliefGroup`).
        guessed: number of the population that is guessed, which does not guess; -1: none of these.
    """

    def __init__(self, kind: Kind, settings: TrainSettings, key: jax.Array, populations: Populations) -> None:
        super().__init__(kind, settings, key)
        count = len(populations.names)
        others = [jax.random.fold_in(key, i) for i in range(1, count)]
        shared = settings.population.share_init
        self.stack = np.stack(
            [self.first] + [self.first if shared else Brain(kind, settings, k).first for k in others]
        )
        self.leaves = ObservationLeaves(
            kind.observation_space, settings.network.input_scale, getattr(self._static, "raw", False)
        )
        self.block = settings.population.block
        about = settings.belief.about
        self.guesses, self._listening = bool(about), settings.belief.listening
        self.guessed = populations.names.index(about) if about in populations.names else -1
        fast = networks.unfold(self._network(jnp.asarray(self.first)))
        self._fast_static = eqx.partition(fast, eqx.is_inexact_array)[1]
        self._algorithm = settings.algorithm
        self._gradient_settings = settings.policy_gradient
        self.unfold = jax.jit(self._unfold)
        self.act_blocks = jax.jit(self._act_blocks, static_argnames="greedy")
        self.accumulate = jax.jit(self._accumulate, donate_argnums=1)
        self.chances_of = jax.jit(self._chances_of)
        self.beliefs_of = jax.jit(self._beliefs_of)

    def most_blocks(self, rows: int, more: int = 0) -> int:
        """How many blocks so many rows of the populations, and of so many `more` networks, need at most."""
        return most_blocks(rows, len(self.stack) + more, self.block)

    def allocate(self, rows: int, masked: bool) -> Rows:
        """Arrays for N rows and the block after them."""
        total = rows + self.block
        log_prob, advantage, target, acts = (np.zeros(total, np.float32) for _ in range(4))
        mask = np.ones((total, self.distribution.choices), bool) if masked else None
        action = np.zeros((total, self.distribution.columns), np.float32)
        leaves = self.leaves.allocate(total)
        truth = np.zeros((total, len(self.kind.slots)), bool) if self.guesses else None
        return Rows(leaves, action, log_prob, advantage, target, acts, mask, truth)

    def _unfold(self, vectors: jax.Array) -> Any:
        """(Q, P) parameters as stacked arrays of the networks' fast form."""
        return jax.vmap(self._fast_form)(vectors)

    def _fast_form(self, vector: jax.Array) -> Any:
        return eqx.filter(networks.unfold(self._network(vector)), eqx.is_inexact_array)

    def _call(self, arrays: Any, leaves: Mapping[str, jax.Array]) -> tuple[jax.Array, jax.Array]:
        """One population's network on one block."""
        network = eqx.combine(arrays, self._fast_static)
        parameters, value = network(networks.prepare(self._static, self.leaves.read(leaves)))
        return parameters, value

    def _guess(self, arrays: Any, leaves: Mapping[str, jax.Array]) -> tuple[jax.Array, jax.Array, jax.Array]:
        """The same, and the log odds (B, n) of its guess."""
        network = eqx.combine(arrays, self._fast_static)
        parameters, value, guess = network.guess(networks.prepare(self._static, self.leaves.read(leaves)))
        return parameters, value, guess

    def _act_blocks(
        self,
        forms: Any,
        leaves: Mapping[str, jax.Array],
        mask: jax.Array | None,
        blocks: Blocks,
        key: jax.Array,
        counter: jax.Array,
        greedy: bool = False,
    ) -> jax.Array:
        """Samples actions of sorted rows.

        Args:
            forms: what `unfold` gave.
            leaves: observations of N rows and a block more.
            mask: legal choices, or None.
            blocks: how the rows are cut.
            key: of the random draws.
            counter: of the step, folded into the key.
            greedy: take the likeliest action.

        Returns:
            (N + block, columns + 2): the action, its log-probability and the value.
        """
        drawn = jax.random.fold_in(key, counter)
        total = next(iter(leaves.values())).shape[0]

        def one(i: jax.Array, out: jax.Array) -> jax.Array:
            at = blocks.start[i]
            parameters, value = self._call(_pick(forms, blocks.population[i]), self._cut(leaves, at))
            legal = None if mask is None else self._cut(mask, at)
            if greedy:
                action = self.distribution.greedy(parameters, legal)
            else:
                action = self.distribution.sample(parameters, jax.random.fold_in(drawn, i), legal)
            log_prob = self.distribution.log_prob(parameters, action, legal)
            said = jnp.concatenate([action, log_prob[:, None], value[:, None]], axis=1)
            return jax.lax.dynamic_update_slice_in_dim(out, said, at, 0)

        out = jnp.zeros((total, self.distribution.columns + 2), jnp.float32)
        return jax.lax.fori_loop(0, blocks.number, one, out)

    def _chances_of(
        self, forms: Any, population: jax.Array, leaves: Mapping[str, jax.Array], mask: jax.Array | None
    ) -> jax.Array:
        """Probabilities of every choice by one population's network, (B, choices)."""
        parameters, _ = self._call(_pick(forms, population), leaves)
        return self.distribution.probabilities(parameters, mask)

    def _beliefs_of(self, forms: Any, population: jax.Array, leaves: Mapping[str, jax.Array]) -> jax.Array:
        """What one population's network believes of every seat, (B, n) probabilities."""
        return jax.nn.sigmoid(self._guess(_pick(forms, population), leaves)[2])

    def _accumulate(self, vectors: jax.Array, total: jax.Array, rows: Rows, blocks: Blocks) -> jax.Array:
        """Adds every population's gradient of the summed loss over its rows, and its terms.

        Args:
            vectors: (Q, P) parameters.
            total: (Q, P + 8), what was added up so far.
            rows: sorted, as `Rows` says.
            blocks: how they are cut.

        Returns:
            (Q, P + 8).
        """
        forms, back = jax.vjp(self._unfold, vectors)
        nothing = jax.tree.map(jnp.zeros_like, forms), jnp.zeros((len(self.stack), NUM_TERMS), jnp.float32)
        ahead = jnp.arange(self.block)

        def one(i: jax.Array, sums: tuple[Any, jax.Array]) -> tuple[Any, jax.Array]:
            own = blocks.population[i]
            cut = jax.lax.optimization_barrier(self._cut(rows, blocks.start[i]))
            counts = (ahead < blocks.rows[i]).astype(jnp.float32)
            guessing = counts * (own != self.guessed)
            loss = partial(self._block_loss, rows=cut, counts=counts, guessing=guessing)
            gradient, terms = jax.grad(loss, has_aux=True)(_pick(forms, own))
            added = jax.tree.map(lambda s, g: s.at[own].add(g), sums[0], gradient)
            return added, sums[1].at[own].add(jnp.stack(terms))

        gradients, terms = jax.lax.fori_loop(0, blocks.number, one, nothing)
        return total + jnp.concatenate([back(gradients)[0], terms], axis=1)

    def _block_loss(
        self, arrays: Any, rows: Rows, counts: jax.Array, guessing: jax.Array
    ) -> tuple[jax.Array, Terms]:
        if not self.guesses:
            parameters, value = self._call(arrays, rows.leaves)
            return self._losses(parameters, value, rows, counts)
        parameters, value, guess = self._guess(arrays, rows.leaves)
        loss, terms = self._losses(parameters, value, rows, counts)
        missed = losses.guess_terms(guess, rows.truth, guessing)
        return loss + self._listening * missed, terms._replace(guess=missed)

    def _losses(
        self, parameters: jax.Array, value: jax.Array, rows: Rows, counts: jax.Array
    ) -> tuple[jax.Array, Terms]:
        log_prob = self.distribution.log_prob(parameters, rows.action, rows.mask)
        entropy = self.distribution.entropy(parameters, rows.mask)
        known = (rows.log_prob, rows.advantage, rows.target, rows.acts * counts, counts)
        if self._algorithm == "ppo":
            terms = losses.ppo_terms(log_prob, entropy, value, *known, self._ppo.clip)
            return losses.total(terms, self._ppo.value_coefficient, self._ppo.entropy), terms
        terms = losses.policy_gradient_terms(log_prob, entropy, value, *known)
        weights = self._gradient_settings
        return losses.total(terms, 0.5 * weights.value_coefficient, weights.entropy), terms

    def _cut(self, tree: Any, at: jax.Array) -> Any:
        """One block's rows of every array."""
        return jax.tree.map(lambda leaf: jax.lax.dynamic_slice_in_dim(leaf, at, self.block), tree)


def _pick(forms: Any, population: jax.Array) -> Any:
    """One population's part of stacked arrays."""
    return jax.tree.map(lambda leaf: jax.lax.dynamic_index_in_dim(leaf, population, keepdims=False), forms)
