"""The parameters of all populations, and the optimiser steps along summed gradients."""

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
from interplay.train.algorithms import Algorithm, Rule, make_algorithm
from interplay.train.batches import Batch, Minibatch
from interplay.train.devices import PRODUCTS, open_device, put
from interplay.train.learning_network import LearningNetwork
from interplay.train.losses import NUM_TERMS, Rates, Terms
from interplay.train.parallel.exchange import Exchange
from interplay.train.parallel.meeting import meet
from interplay.train.populations import Populations
from interplay.train.run.warm_start import policy_stem, read_moments, read_stacks
from interplay.train.selfplay.matchups import make_others
from interplay.train.settings import TrainSettings
from interplay.train.views import View

_ROWS = Terms._fields.index("rows")


class Epoch(NamedTuple):
    """The training data of a worker's shards in one epoch.

    Attributes:
        batch: rows of its shards, with room for those of all other shards of the run.
        minibatches: the rows of each gradient step; leaves of `Minibatch` with a leading axis of steps.
        shards: () int32, number of the worker's shards; None: all.
    """

    batch: Batch
    minibatches: Minibatch
    shards: Any = None


# After a gradient: go on, or the algorithm stops early, the gradient is not finite, another worker is late.
CONTINUE, ENOUGH, BAD, LATE = range(4)


class State(NamedTuple):
    """The state that the compiled loop carries; jax arrays.

    Attributes:
        total: (size,) float32, the last sum; of this worker alone if another one was late.
        at: () int32, the next minibatch.
        verdict: () int32, of the last sum.
        terms: (M, Q, 8) float32 of every minibatch, over all kinds that learn.
        norms: (M, Q) float32 of every minibatch: gradient norm over all kinds that learn, before clipping.
    """

    total: Any
    at: Any
    verdict: Any
    terms: Any
    norms: Any


class Learner:
    """Networks of all kinds of agents and populations, their parameters and optimisers.

    Every worker has one and feeds it the same summed gradients, so all hold the same bits.

    Args:
        view: input of central critics; None: values are the networks' own.

    Attributes:
        device: of the parameters; None: the processor.
        epochs: most passes over the samples of an update.
        normalises: whether each population's advantages are normalised.
        corrects: whether targets are computed again for each epoch.
        estimate: `Algorithm.estimate`, jitted; None for value factorisation.
        networks: kind name -> `PolicyNetwork`.
        vectors: kind name -> (Q, P) float32, the parameters.
        pool: past selves, or the other players of a league.
        learns: (Q,) bool, the populations that learn; samples of the others are not kept.
        norms: (m, Q) float32, of the gradients of the last `run_epoch`, or `run_epochs` on a device; see `State`.
    """

    def __init__(
        self,
        kinds: Sequence[Kind],
        settings: TrainSettings,
        populations: Populations,
        view: View | None = None,
    ) -> None:
        self.device = open_device(settings.train)
        self.populations, self.view = populations, view
        self._at = np.flatnonzero(populations.played)  # rows of the stacks that are the run's own
        self.networks = self._make_networks(kinds, settings, jax.random.key(settings.seed))
        for network in self.networks.values():
            network.device, network.products = self.device, PRODUCTS[settings.train.precision]
        self.kinds_that_learn, self.learns = _find_learners(
            [kind.name for kind in kinds], populations, settings.train.learners
        )
        self.pool = make_others(
            settings, populations, {name: network.first for name, network in self.networks.items()}
        )
        optimiser = self.algorithm.optimiser()
        self._rates: dict[str, np.ndarray] = {}
        self.set_rates(0.0)
        first: dict[str, Any] = {name: jnp.asarray(n.first) for name, n in self.networks.items()}
        self.vectors = self.place(first)
        self._moments = self.place({name: jax.vmap(optimiser.init)(vector) for name, vector in first.items()})
        self._optimiser = optimiser
        self._move = jax.jit(self._moved, donate_argnums=(0, 1))
        self._gradient = jax.jit(self._sum_gradients)
        own = self.algorithm if isinstance(self.algorithm, Algorithm) else None
        self.corrects = own is not None and own.corrects
        self.estimate: Any = None if own is None else jax.jit(own.estimate)
        self._predicted = jax.jit(self._predict)
        self.norms = np.zeros((0, len(self.learns)), np.float32)
        self._epoch = jax.jit(self._run, donate_argnums=(0, 1))

    def _make_networks(
        self, kinds: Sequence[Kind], settings: TrainSettings, key: jax.Array
    ) -> dict[str, LearningNetwork]:
        """Makes the run's algorithm and the networks of every kind."""
        algorithm = make_algorithm(settings)
        self.algorithm: Rule = algorithm
        self.epochs, self.normalises, self._enough = algorithm.epochs, algorithm.normalise, algorithm.enough
        return {
            kind.name: LearningNetwork(
                kind,
                settings,
                jax.random.fold_in(key, i),
                self.populations,
                algorithm.loss,
                algorithm.sequence,
                self.view.size if self.view is not None else 0,
            )
            for i, kind in enumerate(kinds)
        }

    def place(self, tree: Any) -> Any:
        """Puts arrays on the learner's device; on the processor they stay unchanged."""
        return put(tree, self.device)

    @property
    def size(self) -> int:
        """Length of the vectors that shards add up: gradients and terms of all kinds that learn and populations."""
        return sum(rows * columns for rows, columns in self._shapes().values())

    def set_rates(self, share: float) -> dict[str, float]:
        """Sets the scheduled rates for a share of the run; returns them for the log.

        Constant schedules are not logged. If populations differ, each is logged as ``learning_rate[villager]``.
        """
        names = self.populations.names
        each = self.pool.scale([self.algorithm.rates(share, population) for population in names])
        self._rates = {rate: np.array([own[rate] for own in each], np.float32) for rate in each[0]}
        # Of three shares, as a schedule may end where it began.
        marks = [[self.algorithm.rates(at, population) for population in names] for at in (0.0, 0.618, 1.0)]
        logged: dict[str, float] = {}
        for rate in each[0]:
            if all(one[rate] == own[rate] for mark in marks for one, own in zip(mark, each, strict=True)):
                continue
            alike = len({own[rate] for own in each}) == 1
            logged |= (
                {rate: each[0][rate]}
                if alike
                else {f"{rate}[{n}]": own[rate] for n, own in zip(names, each, strict=True)}
            )
        return logged

    def inference_parameters(self) -> dict[str, Any]:
        """Kind name -> the precomputed parameters of its networks, then of past selves; valid until parameters change."""
        if not self.pool.places:
            return {name: network.precompute(self.vectors[name]) for name, network in self.networks.items()}
        return {
            name: network.precompute(
                jnp.concatenate([self.vectors[name], self.place(self.pool.stacks[name])])
            )
            for name, network in self.networks.items()
        }

    def keep_selves(self, updates: int, agent_steps: int) -> dict[str, float]:
        """Copies weights into the pool when due; returns the ratings to log."""
        decision = self.pool.end_update(updates, agent_steps, self.vectors)
        if decision is None:
            return {}
        for name, vectors in self.vectors.items():
            for learner in decision.restarted:
                begun = jnp.asarray(self.pool.stacks[name][learner])
                vectors, fresh = vectors.at[learner].set(begun), self._optimiser.init(begun)
                self._moments[name] = jax.tree.map(
                    lambda leaf, new, at=learner: leaf.at[at].set(new), self._moments[name], fresh
                )
            for learner, other in decision.replaced:
                vectors = vectors.at[learner].set(vectors[other])
                self._moments[name] = jax.tree.map(
                    lambda leaf, at=learner, given=other: leaf.at[at].set(leaf[given]), self._moments[name]
                )
            self.vectors[name] = vectors
        return {f"rating[{name}]": points for name, points in self.pool.ratings().items()}

    def run_epoch(
        self, epochs: Mapping[str, Epoch], minibatches: int, exchange: Exchange, update: int = 0
    ) -> tuple[np.ndarray, bool]:
        """Takes an epoch's gradient steps in one compiled program, which adds up gradients with the other workers.

        If another worker is late, Python waits for it, and the same program continues with the finished sum.

        Args:
            epochs: of each kind, this worker's shards.
            update: number of the update, for an error.

        Returns:
            (m, Q, 8) float64, the terms of each computed minibatch over all shards and kinds that learn; and whether the algorithm stopped
            early at the last one, and its step was not taken.
        """
        at, terms = 0, np.zeros((minibatches, len(self.learns), NUM_TERMS))
        norms = np.zeros((minibatches, len(self.learns)), np.float32)
        total, verdict = np.zeros(self.size, np.float32), CONTINUE
        while verdict == LATE or (verdict == CONTINUE and at < minibatches):
            if verdict == LATE:
                at, total = at - 1, exchange.finish(total)
            self.vectors, self._moments, state = self._epoch(
                self.vectors,
                self._moments,
                self._rates,
                epochs,
                exchange.place,
                at,
                minibatches,
                total,
                np.bool_(verdict == LATE),
            )
            begun, at, verdict = at, int(state.at), int(state.verdict)
            total = np.asarray(state.total)
            terms[begun:at] = np.asarray(state.terms)[begun:at]
            norms[begun:at] = np.asarray(state.norms)[begun:at]
            if verdict == BAD:
                self.refuse(total, update)
        self.norms = norms[:at]
        return terms[:at], verdict == ENOUGH

    def predict(self, epochs: Mapping[str, Epoch], minibatches: int) -> dict[str, np.ndarray]:
        """Kind name -> (2, N), log-probs of the stored actions and values of all rows in an epoch."""
        return {
            name: np.asarray(part)
            for name, part in self._predicted(self.vectors, epochs, minibatches).items()
        }

    def gradient(self, epochs: Mapping[str, Epoch], minibatch: int) -> np.ndarray:
        """(size,) float32 sums of gradients and terms over this worker's rows of one minibatch, without a step."""
        return np.asarray(self._gradient(self.vectors, self._rates, epochs, minibatch))

    def apply(self, total: np.ndarray) -> None:
        """Takes one step of every population with rows, along the mean over its rows.

        Args:
            total: (size,) float32, finite sums over all shards' rows.
        """
        self.vectors, self._moments = self._move(self.vectors, self._moments, self._rates, total)

    def terms(self, total: np.ndarray) -> np.ndarray:
        """The loss terms inside a summed vector, over all kinds that learn: (Q, 8) float64."""
        return np.sum(
            [part[:, -NUM_TERMS:].astype(np.float64) for part in self._parts(total).values()], axis=0
        )

    def refuse(self, total: np.ndarray, update: int) -> None:
        """Raises the error for a sum (size,) with the verdict `BAD`; names its first number that is not finite, or its largest."""
        sizes = self._parts(np.where(np.isfinite(total), np.abs(total), np.inf))
        name = max(sizes, key=lambda kind: float(sizes[kind].max()))
        network, part = self.networks[name], sizes[name]
        population, at = (int(i) for i in np.unravel_index(part.argmax(), part.shape))
        of = (
            f"gradient of {network.tensor_at(at)}"
            if at < network.size
            else f"loss term {Terms._fields[at - network.size]}"
        )
        names = [name] if len(self.networks) > 1 else []
        names += [self.populations.names[population]] if len(self.populations.names) > 1 else []
        named = f" ({', '.join(names)})" if names else ""
        what = "is not finite" if np.isinf(part[population, at]) else "is too large for a float32 sum"
        raise UserError(f"update {update}: {of}{named} {what}; lower the learning rate or scale the rewards")

    def save(self) -> dict[str, dict[str, np.ndarray]]:
        """Arrays for a checkpoint: file stem -> name -> array; two files for each population."""
        files: dict[str, dict[str, np.ndarray]] = {}
        for population in self.populations.own:
            index = self.populations.names.index(population)
            moments: dict[str, np.ndarray] = {}
            for name in self.networks:
                leaves = jax.tree.leaves(self._moments[name])
                moments |= {f"{name}/{i}": np.asarray(leaf[index]) for i, leaf in enumerate(leaves)}
            files |= {policy_stem(population): self.weights(population), f"optimiser-{population}": moments}
        files |= {policy_stem(name): self._named(vectors) for name, vectors in self.pool.members()}
        return files | {"pool": self.pool.save()} if self.pool.places else files

    def take_moments(self, moments: Mapping[str, tuple[Any, np.ndarray]]) -> None:
        """Adds a rollout to the running moments: kind -> the rollout's parameters and `PolicyNetwork.row_sums`."""
        for name, (was, sums) in moments.items():
            self.vectors[name] = self.place(self.networks[name].with_moments(self.vectors[name], was, sums))

    def weights(self, population: str) -> dict[str, np.ndarray]:
        """The weights of one population's networks: ``kind/tensor`` -> array."""
        index = self.populations.names.index(population)
        return self._named({name: np.asarray(stack[index]) for name, stack in self.vectors.items()})

    def _named(self, vectors: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {
            f"{name}/{tensor}": array
            for name, network in self.networks.items()
            for tensor, array in network.split(vectors[name]).items()
        }

    def describe(self) -> dict[str, Any]:
        """For a checkpoint's record: the order of the populations, then of a league's frozen players."""
        return {"populations": [*self.populations.own, *(name for name, _ in self.pool.members())]}

    def begin_with(self, vectors: Mapping[str, Any]) -> None:
        """Replaces the initial weights: kind name -> (own populations, P) float32."""
        for name, stack in vectors.items():
            self.vectors[name] = self.vectors[name].at[self._at].set(jnp.asarray(stack))
        self.pool.begin_with(vectors)

    def load(self, arrays: Mapping[str, Mapping[str, np.ndarray]]) -> None:
        """Restores what `save` gave."""
        own = self.populations.own
        vectors = read_stacks(self.networks, [arrays.get(policy_stem(p), {}) for p in own])
        moments = {}
        for name, mine in self._moments.items():
            one = jax.tree.map(lambda leaf: leaf[0], mine)
            each = [read_moments(name, one, arrays.get(f"optimiser-{p}", {})) for p in own]
            stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *each)
            moments[name] = jax.tree.map(lambda leaf, new: leaf.at[self._at].set(new), mine, stacked)
        self.begin_with(vectors)
        self._moments = moments
        if self.pool.places:
            self.pool.load(arrays.get("pool", {}))
        self._check_copies(arrays)

    def _check_copies(self, arrays: Mapping[str, Mapping[str, np.ndarray]]) -> None:
        """Checks that a league's weights are those in its players' files."""
        for player, vectors in [*self.pool.mirrors(), *self.pool.members()]:
            held = arrays.get(policy_stem(player), {})
            for tensor, array in self._named(vectors).items():
                if not np.array_equal(held.get(tensor, ()), array):
                    raise UserError(
                        f"checkpoint: league: {player} has other weights here than in its file; choose an earlier checkpoint"
                    )

    # -- compiled -----------------------------------------------------------------------------------------

    def _run(
        self,
        vectors: Any,
        moments: Any,
        rates: Rates,
        epochs: Mapping[str, Epoch],
        place: Any,
        at: Any,
        end: Any,
        total: Any,
        finished: Any,
    ) -> tuple[Any, Any, State]:
        """Gradient steps from minibatch `at` to `end` or a verdict; if `finished`, the first takes `total` without a meeting."""
        most = next(iter(epochs.values())).minibatches.number.shape[0]
        every_terms = jnp.zeros((most, len(self.learns), NUM_TERMS), jnp.float32)
        every_norms = jnp.zeros((most, len(self.learns)), jnp.float32)
        first = jnp.asarray(at, jnp.int32)
        state = State(total, first, jnp.asarray(CONTINUE), every_terms, every_norms)

        def goes_on(carry: Any) -> jax.Array:
            return (carry[2].at < end) & (carry[2].verdict == CONTINUE)

        def one(carry: Any) -> Any:
            vectors, moments, state = carry
            total, came = jax.lax.cond(
                finished & (state.at == first),
                lambda: (state.total, jnp.asarray(True)),
                lambda: meet(self._sum_gradients(vectors, rates, epochs, state.at), place),
            )
            verdict = jnp.where(came, self._verdict(total), LATE)
            vectors, moments = jax.lax.cond(
                verdict == CONTINUE,
                lambda: self._moved(vectors, moments, rates, total),
                lambda: (vectors, moments),
            )
            terms = state.terms.at[state.at].set(self._sum_terms(total))
            norms = state.norms.at[state.at].set(self._norms(total))
            return vectors, moments, State(total, state.at + 1, verdict, terms, norms)

        return jax.lax.while_loop(goes_on, one, (vectors, moments, state))

    def _predict(self, vectors: Any, epochs: Mapping[str, Epoch], end: Any) -> dict[str, jax.Array]:
        return {
            name: network.predict(vectors[name], *epochs[name], end)
            for name, network in self.networks.items()
        }

    def _sum_gradients(
        self, vectors: Any, rates: Rates, epochs: Mapping[str, Epoch], minibatch: Any
    ) -> jax.Array:
        """(size,): gradients and terms of every kind that learns."""
        parts = []
        for name in self.kinds_that_learn:  # not of `epochs`, the keys of which jax sorts
            batch, minibatches, shards = epochs[name]
            chosen = Minibatch(*(leaf[minibatch] for leaf in minibatches))
            parts.append(self.networks[name].gradient(vectors[name], batch, chosen, rates, shards).ravel())
        return jnp.concatenate(parts)

    def _sum_terms(self, total: jax.Array) -> jax.Array:
        """(Q, 8), over all kinds that learn."""
        return sum(part[:, -NUM_TERMS:] for part in self._parts(total).values())

    def _norms(self, total: jax.Array) -> jax.Array:
        """(Q,) norms of the mean gradients in a sum, over all kinds that learn."""
        squares = jnp.zeros(len(self.learns), jnp.float32)
        for part in self._parts(total).values():
            rows = jnp.maximum(part[:, -NUM_TERMS:][:, _ROWS], 1.0)
            squares += jnp.square(part[:, :-NUM_TERMS]).sum(axis=1) / jnp.square(rows)
        return jnp.sqrt(squares)

    def _verdict(self, total: jax.Array) -> jax.Array:
        """Whether a sum may move the parameters; an infinite norm would clip every gradient to 0."""
        enough = self._enough(Terms(*self._sum_terms(total).sum(axis=0)))
        finite = jnp.isfinite(total.sum()) & jnp.isfinite(self._norms(total)).all()
        return jnp.where(finite, jnp.where(enough, ENOUGH, CONTINUE), BAD)

    def _moved(self, vectors: Any, moments: Any, rates: Rates, total: jax.Array) -> tuple[Any, Any]:
        """One step of all kinds that learn."""
        vectors, moments = dict(vectors), dict(moments)
        for name, part in self._parts(total).items():
            vectors[name], moments[name] = _move(
                self._optimiser,
                vectors[name],
                moments[name],
                part,
                rates["learning_rate"],
                self.networks[name].decays,
            )
        return vectors, moments

    def _shapes(self) -> dict[str, tuple[int, int]]:
        networks = [(name, self.networks[name]) for name in self.kinds_that_learn]
        return {name: (len(n.first), n.size + NUM_TERMS) for name, n in networks}

    def _parts(self, total: Any) -> dict[str, Any]:
        """Kind that learns -> (Q, P + 8) of a summed vector."""
        parts, at = {}, 0
        for name, (rows, columns) in self._shapes().items():
            parts[name] = total[at : at + rows * columns].reshape(rows, columns)
            at += rows * columns
        return parts


def _find_learners(
    kinds: Sequence[str], populations: Populations, wanted: Sequence[str]
) -> tuple[list[str], np.ndarray]:
    """The kinds that learn, and the (Q,) mask of populations that learn; without a restriction all do."""
    known = list(dict.fromkeys((*kinds, *populations.names)))
    for name in wanted:
        if name not in known:
            near = did_you_mean(name, known, f"there are {', '.join(known)}")
            raise UserError(f"train.learners: no kind or population {name!r}; {near}")
        if name in populations.opponents:
            raise UserError(f"train.learners: {name} is played by opponents; take it out of opponents")
    some = set(wanted) & set(populations.names)
    learns = np.array([name in (some or populations.own) for name in populations.names])
    return [name for name in kinds if name in wanted or not set(wanted) & set(kinds)], learns


def _move(
    optimiser: optax.GradientTransformation,
    vectors: Any,
    moments: Any,
    parts: Any,
    learning_rate: Any,
    decays: Any,
) -> tuple[Any, Any]:
    """Takes one step of every population with rows.

    Args:
        parts: (Q, P + 8), summed gradients, then terms.
        decays: `PolicyNetwork.decays`.
    """

    def one(vector: Any, moment: Any, part: Any, way: Any) -> tuple[Any, Any]:
        rows = part[-NUM_TERMS:][_ROWS]
        gradient = part[:-NUM_TERMS] / jnp.maximum(rows, 1.0)
        direction, moved = optimiser.update(gradient, moment, vector * decays)
        changed = (vector - way * direction, moved)
        return jax.tree.map(partial(jnp.where, rows > 0), changed, (vector, moment))

    return jax.vmap(one)(vectors, moments, parts, learning_rate)
