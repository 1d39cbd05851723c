"""The networks of one kind of agent, one per population, and the compiled programs around them.

Parameters are a stack (Q, P) of flat float32 vectors, one per population: the optimiser updates them in one pass, shards add up
their gradients, and processes exchange them. `PolicyNetwork.names` maps elements to tensors.

Rows are computed in *blocks*: rows of one population that fit a core's cache. With one population and few slots there is one block,
and no loop. `networks.precompute` prepares the weights once for all blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.core.world import Kind
from interplay.train import networks
from interplay.train.distributions import Distribution
from interplay.train.networks.flat import Normaliser, merged
from interplay.train.networks.layers import without_branches
from interplay.train.observations import ObservationRows, Rows, find_names, input_space
from interplay.train.parallel import xla
from interplay.train.populations import Blocks, Populations, most_blocks
from interplay.train.settings import TrainSettings

_CRITIC = 0xC717  # folded into the key of a central critic
_HEAD = 0x6E55  # folded into the key of the guessing head
MARK = "place_in_team"  # the leaf with an agent's place in its team (`VdnGroup.agent_id`)

assert xla  # imported for its effect: it sets XLA's flags before the backend starts


def check_shapes(expected: Mapping[str, tuple[int, ...]], tensors: Mapping[str, np.ndarray]) -> None:
    """Checks that a checkpoint's tensors, by ``kind/tensor``, have the expected shapes; more tensors are fine."""
    for key, shape in expected.items():
        given = tensors[key].shape if key in tensors else "missing"
        if given != shape:
            raise UserError(
                f"checkpoint: tensor {key} is {given}, this network needs {shape}; "
                "load it with the settings it was trained with"
            )


class PolicyNetwork:
    """The networks of one kind of agent for Q populations; P parameters each.

    Args:
        kind: name and spaces.
        key: jax random key of the first population's weights.
        view: input size of a central critic; 0: the value is the network's own.
        marks: (A_kind, M) float32, an extra input for each slot; None: nothing.
        weights: ``kind/tensor`` -> array of a checkpoint, which will replace the initial weights; None: they stay.

    Attributes:
        space: of the networks' input: the kind's observation, and the mark.
        layout: of observations in rows.
        names: of the tensors, e.g. ``policy/layers/0/weight``.
        size: P.
        first: (Q, P) float32, the initial parameters.
        block: rows per block.
        raw: whether the networks take unprepared rows.
        memory: size of an agent's memory; 0: none.
        guesses: whether the networks guess populations (`BeliefGroup`).
        guessed: number of the guessed population, which does not guess; -1: none of these.
        always_greedy: the network always plays greedily; its outputs are utilities (`interplay.train.factored`).
        device: of a learner's parameters; None: the processor.
        products: jax's name of the precision of products on that device.
    """

    device: Any = None
    products = "highest"

    def __init__(
        self,
        kind: Kind,
        settings: TrainSettings,
        key: jax.Array,
        populations: Populations,
        view: int = 0,
        marks: np.ndarray | None = None,
        weights: Mapping[str, np.ndarray] | None = None,
    ) -> None:
        self.kind, self.view, self.marks = kind, view, marks
        self.space = kind.observation_space if marks is None else _marked(kind, marks.shape[1])
        self._settings = settings
        self.always_greedy = settings.factored is not None
        about = settings.belief.about
        self.guesses = bool(about)
        self.guessed = populations.names.index(about) if about in populations.names else -1
        self.distribution = Distribution(
            kind.action_space, settings.network.probability_floor, settings.network.action_masks
        )
        if weights is not None:
            check_shapes({f"{kind.name}/{name}": shape for name, shape in self._expected(key)}, weights)
        tensors, self._static = eqx.partition(self._make(key), eqx.is_inexact_array)
        leaves = jax.tree_util.tree_flatten_with_path(tensors)[0]
        self._tree = jax.tree.structure(tensors)
        self._shapes = [leaf.shape for _, leaf in leaves]
        self._ends = np.cumsum([leaf.size for _, leaf in leaves])
        self.names = [_path_name(path) for path, _ in leaves]
        self.size = int(self._ends[-1])
        self.first = self._begin(tensors, key, len(populations.names))
        self._inner = self._static.network if view else self._static
        self.raw = getattr(self._inner, "raw", False)
        names = find_names(self.space, settings.network)
        own = settings.network
        self.layout = ObservationRows(self.space, own.input_scale, self.raw, names, own.scale_pictures)
        self.block = settings.population.block
        self.memory = int(getattr(self._inner, "memory_size", 0)) if settings.network.remembers else 0
        self._precomputes = hasattr(self._static, "precompute")
        fast = networks.precompute(self._network(jnp.asarray(self.first[0])))
        self._fast_static = eqx.partition(fast, eqx.is_inexact_array)[1]
        # Acting takes tensors: to slice them out of vectors would cost a copy of all weights in each step.
        self.precompute = jax.jit(self._tensors)
        # Raw rows stay as they are: a compiled program would copy them.
        self.prepare = dict if self.raw else jax.jit(self._read)
        self.act = jax.jit(self._act, static_argnames=("block", "greedy"))
        self.probabilities = jax.jit(self._probabilities)
        self.beliefs = jax.jit(self._beliefs)
        self.outputs = jax.jit(self._outputs)

    # -- parameters ---------------------------------------------------------------------------------

    def tensor_at(self, element: int) -> str:
        """The tensor of an element of a flat vector, e.g. ``policy/layers/0/weight``."""
        return self.names[int(np.searchsorted(self._ends, element, side="right"))]

    def split(self, vector: np.ndarray) -> dict[str, np.ndarray]:
        """Splits a flat vector into named tensors."""
        parts = np.split(np.asarray(vector), self._ends[:-1])
        return {
            name: part.reshape(shape)
            for name, part, shape in zip(self.names, parts, self._shapes, strict=True)
        }

    def join(self, tensors: Mapping[str, np.ndarray]) -> np.ndarray:
        """The inverse of `split`."""
        return np.concatenate([np.asarray(tensors[name], np.float32).ravel() for name in self.names])

    @property
    def normaliser(self) -> Normaliser | None:
        """The normaliser of observations, without its moments; None without `network.normalise`."""
        found = [
            leaf
            for leaf in jax.tree.leaves(self._static, is_leaf=lambda own: isinstance(own, Normaliser))
            if isinstance(leaf, Normaliser)
        ]
        return found[0] if found else None

    @property
    def decays(self) -> np.ndarray:
        """(P,) float32, 1 for weights, 0 for the moments of the normaliser, which an optimiser must not decay."""
        each = [float("normaliser/" not in name) for name in self.names]
        return np.repeat(np.array(each, np.float32), np.diff(self._ends, prepend=0))

    def row_sums(self, rows: Rows, population: np.ndarray) -> np.ndarray:
        """The sums that N rows add to the moments of every population: (Q, 1 + 2 n) float64."""
        own = self.normaliser
        assert own is not None, "network.normalise is off"
        boxed = np.array(own.boxed)
        each = []
        for number in range(len(self.first)):
            mine = population == number
            some = rows if mine.all() else {dtype: array[mine] for dtype, array in rows.items()}
            each.append(self.layout.sums(some, own.keys, boxed))
        return np.stack(each)

    def with_moments(self, vectors: Any, was: Any, sums: np.ndarray) -> Any:
        """Parameters (Q, P) with the moments of `was` merged with new rows, see `row_sums`."""
        vectors, was = np.array(jax.device_get(vectors)), jax.device_get(was)
        parts = [self._columns(f"normaliser/{name}") for name in ("mean", "deviation", "count")]
        for columns in zip(*parts, strict=True):
            mean, deviation, count = (was[:, own] for own in columns)
            for own, new in zip(columns, merged(mean, deviation, count, sums), strict=True):
                vectors[:, own] = new
        return jax.device_put(vectors)

    def _columns(self, ending: str) -> list[slice]:
        """The columns in a flat vector of the tensors with this ending."""
        ends = self._ends.tolist()
        places = zip(self.names, [0, *ends], ends, strict=False)
        return [slice(start, end) for name, start, end in places if name.endswith(ending)]

    def _make_policy(self, key: jax.Array) -> Any:
        """The network without what stands beside it."""
        own = self._settings.network
        seen, action = input_space(self.space, own), self.kind.action_space
        return networks.make_network(own, seen, action, key=key, valued=not self.always_greedy)

    def _make(self, key: jax.Array) -> Any:
        own, network = self._settings.network, self._make_policy(key)
        if self.view:
            beside = networks.Critic(
                self.view, own.critic_hidden, own.activation, key=jax.random.fold_in(key, _CRITIC)
            )
            return networks.CriticNetwork(network, beside)
        if not self.guesses:
            return network
        return networks.GuessingNetwork(network, own.width, key=jax.random.fold_in(key, _HEAD))

    def _expected(self, key: jax.Array) -> list[tuple[str, tuple[int, ...]]]:
        """Names and shapes of the tensors, found without allocating them; empty if a user's network fails here."""
        try:
            shapes = eqx.filter_eval_shape(self._make, key)
        except UserError:
            raise
        except Exception:
            return []  # the network is made soon, which raises the same error
        leaves = jax.tree_util.tree_flatten_with_path(shapes)[0]
        return [
            (_path_name(path), leaf.shape)
            for path, leaf in leaves
            if hasattr(leaf, "dtype") and jnp.issubdtype(leaf.dtype, jnp.inexact)
        ]

    def _begin(self, tensors: Any, key: jax.Array, count: int) -> np.ndarray:
        """(Q, P) initial parameters: drawn for each population, or shared with `population.share_init`."""
        drawn = [tensors]
        for number in range(1, count):
            if self._settings.population.share_init:
                drawn.append(tensors)
            else:
                network = self._make(jax.random.fold_in(key, number))
                drawn.append(eqx.filter(network, eqx.is_inexact_array))
        flat = [[np.asarray(leaf, np.float32).ravel() for leaf in jax.tree.leaves(one)] for one in drawn]
        return np.stack([np.concatenate(leaves) for leaves in flat])

    def _network(self, vector: jax.Array) -> Any:
        parts = jnp.split(vector, self._ends[:-1])
        leaves = [part.reshape(shape) for part, shape in zip(parts, self._shapes, strict=True)]
        return eqx.combine(jax.tree.unflatten(self._tree, leaves), self._static)

    def _precompute(self, vectors: jax.Array) -> Any:
        """(Q, P) parameters in the form that `gradient` differentiates: the networks' fast form if there is one."""
        with self.placed():
            return jax.vmap(self._fast_form)(vectors) if self._precomputes else vectors

    def _tensors(self, vectors: jax.Array) -> Any:
        """(Q, P) parameters as stacked tensors of the networks, in their fast form if there is one."""
        with self.placed():
            return jax.vmap(self._fast_form)(vectors)

    def _fast_form(self, vector: jax.Array) -> Any:
        return eqx.filter(networks.precompute(self._network(vector)), eqx.is_inexact_array)

    def _fast_network(self, arrays: Any) -> Any:
        """One population's network from its precomputed arrays, or from its vector."""
        flat = isinstance(arrays, jax.Array)
        return self._network(arrays) if flat else eqx.combine(arrays, self._fast_static)

    # -- calls --------------------------------------------------------------------------------------

    @contextmanager
    def placed(self) -> Iterator[None]:
        """Traces for the learner's device: without branches, with its precision of products."""
        if self.device is None:
            yield
            return
        with without_branches(), jax.default_matmul_precision(self.products):
            yield

    def most_blocks(self, rows: int, block: int, more: int = 0) -> int:
        """Most blocks of `rows` rows of the populations and of `more` other networks."""
        return most_blocks(rows, len(self.first) + more, block)

    def plan(self, demand: np.ndarray) -> int:
        """Number of the network's plan for rows of these ascending demands."""
        return int(self._inner.choose_plan(demand))

    def demand(self, seen: Any) -> np.ndarray | None:
        """The cost of each prepared row, (N,), or None if all cost the same."""
        demand = self._inner.demand(seen) if hasattr(self._inner, "demand") else None
        return None if demand is None else np.asarray(demand)

    def _read(self, rows: Mapping[str, jax.Array]) -> Any:
        # `prepare` reads no parameters, so the network without them is enough.
        return networks.prepare(self._inner, self.layout.read(rows))

    def _call(
        self, arrays: Any, seen: Any, view: jax.Array | None = None, plan: Hashable = None
    ) -> tuple[jax.Array, jax.Array]:
        """One population's network on prepared rows: parameters of the distribution, and values."""
        network = self._fast_network(arrays)
        policy = network.network if self.view else network
        parameters, value = policy(seen) if plan is None else policy(seen, plan)
        return parameters, self._evaluate(network, value, view)

    def _evaluate(self, network: Any, value: jax.Array, view: jax.Array | None) -> jax.Array:
        """The central critic's value if there is one; zeros without a view, as in play."""
        if not self.view:
            return value
        return jnp.zeros_like(value) if view is None else network.critic(view)

    def _guess(self, arrays: Any, seen: Any) -> tuple[jax.Array, jax.Array, jax.Array]:
        """As `_call`, and the log odds (B, n) of the guess."""
        parameters, value, guess = self._fast_network(arrays).guess(seen)
        return parameters, value, guess

    def with_marks(self, observation: Mapping[str, np.ndarray], worlds: int) -> Mapping[str, np.ndarray]:
        """Adds the marks, if any, to observations (W, A_kind, ...)."""
        if self.marks is None:
            return observation
        return {**observation, MARK: np.broadcast_to(self.marks, (worlds, *self.marks.shape))}

    # -- acting -------------------------------------------------------------------------------------

    def _act(
        self,
        inference: Any,
        rows: Mapping[str, jax.Array],
        mask: jax.Array | None,
        blocks: Blocks | None,
        keys: jax.Array,
        memory: jax.Array | None = None,
        view: jax.Array | None = None,
        shards: Any = None,
        *,
        block: int,
        greedy: bool = False,
    ) -> jax.Array:
        """Samples actions for sorted rows of S shards.

        The number of shards is data, so one compiled program serves every number of workers.

        Args:
            inference: parameters from `precompute`.
            rows: observations of (S, N) rows; padding is not read.
            mask: (S, N, choices), or None.
            blocks: of each shard's rows, with a leading axis of shards; None: all rows are of the first network.
            keys: (S, M, 2) uint32 of each block's draws, see `step_keys`.
            memory: (S, N, size), or None.
            view: (S, N, size), a central critic's input; None if values are not needed.
            shards: () int32, number of the first shards to compute; None: all.
            block: rows per block; all N for a single block.
            greedy: take the most probable action.

        Returns:
            (S, N, columns + 2 + size): action, log-probability, value, and the memory after the step.
        """

        inputs = (dict(rows), mask, memory, view)
        size = jax.tree.leaves(inputs)[0].shape[1]

        def one(shard: jax.Array) -> jax.Array:
            drawn = jax.random.wrap_key_data(keys[shard])
            if blocks is None:
                own = jax.tree.map(lambda array: array[shard], inputs)
                return self._act_rows(pick(inference, 0), own, drawn[0], greedy)
            cuts = Blocks(*(part[shard] for part in blocks))
            return self._act_blocks(inference, inputs, shard, cuts, drawn, block, greedy)

        with self.placed():
            return each_shard(one, len(keys), shards, (size, self._numbers))

    def _act_rows(
        self,
        arrays: Any,
        inputs: tuple[Any, ...],
        key: jax.Array,
        greedy: bool,
    ) -> jax.Array:
        """(B, columns + 2 + size) for rows of one population; `inputs` are observations, masks, memory and views."""
        rows, legal, memory, view = inputs
        seen, after = self._read(rows), []
        if memory is None:
            parameters, value = self._call(arrays, seen, view)
        else:
            network = self._fast_network(arrays)
            policy = network.network if self.view else network
            parameters, value, kept = policy.remember(seen, memory)
            value, after = self._evaluate(network, value, view), [kept]
        action = (
            self.distribution.greedy(parameters, legal)
            if greedy or self.always_greedy
            else self.distribution.sample(parameters, key, legal)
        )
        log_prob = self.distribution.log_prob(parameters, action, legal)
        return jnp.concatenate([action, log_prob[:, None], value[:, None], *after], axis=1)

    def _act_blocks(
        self,
        inference: Any,
        inputs: tuple[Any, ...],
        shard: jax.Array,
        blocks: Blocks,
        keys: jax.Array,
        block: int,
        greedy: bool,
    ) -> jax.Array:
        """(N, columns + 2 + size) for a shard's rows of several populations, block after block."""

        def one(i: jax.Array, out: jax.Array) -> jax.Array:
            at = blocks.start[i]
            own = jax.tree.map(lambda array: _cut(array, shard, at, block), inputs)
            outputs = self._act_rows(pick(inference, blocks.population[i]), own, keys[i], greedy)
            return jax.lax.dynamic_update_slice_in_dim(out, outputs, at, 0)

        out = jnp.zeros((jax.tree.leaves(inputs)[0].shape[1], self._numbers), jnp.float32)
        return jax.lax.fori_loop(0, blocks.number, one, out)

    @property
    def _numbers(self) -> int:
        """Numbers of a row of `_act`."""
        return self.distribution.columns + 2 + self.memory

    def _probabilities(
        self, inference: Any, population: jax.Array, rows: Mapping[str, jax.Array], mask: jax.Array | None
    ) -> jax.Array:
        """Probabilities of every choice by one population's network, (B, choices)."""
        parameters, _ = self._call(pick(inference, population), self._read(rows))
        return self._odds(parameters, mask)

    def _odds(self, parameters: jax.Array, mask: jax.Array | None) -> jax.Array:
        """Probabilities of the choices, (B, choices); one-hot for a network that plays greedily."""
        odds = self.distribution.one_hot if self.always_greedy else self.distribution.probabilities
        return odds(parameters, mask)

    def _beliefs(self, inference: Any, population: jax.Array, rows: Mapping[str, jax.Array]) -> jax.Array:
        """One population's guesses of every seat, (B, n) probabilities."""
        with self.placed():
            return jax.nn.sigmoid(self._guess(pick(inference, population), self._read(rows))[2])

    @property
    def attended(self) -> tuple[str, ...]:
        """Names of the objects that the network attends to; empty without attention."""
        return tuple(getattr(self._inner, "attended", ()))

    def of_population(self, inference: Any, number: Any) -> Any:
        """One population's policy network, without its central critic, from `precompute`'s arrays."""
        network = self._fast_network(pick(inference, number))
        return network.network if self.view else network

    def _outputs(
        self,
        inference: Any,
        population: jax.Array,
        rows: Mapping[str, jax.Array],
        mask: jax.Array | None,
        memory: jax.Array | None,
    ) -> dict[str, jax.Array]:
        """All outputs of one population's network for B rows.

        Args:
            inference: parameters from `precompute`.
            population: number of the network.
            rows: observations.
            mask: (B, choices) bool, or None.
            memory: (B, size), or None.

        Returns:
            ``logits`` and ``probabilities`` (B, choices), ``mean`` and ``deviation`` (B, numbers of Boxes), the most probable ``action``
            (B, columns), ``value`` (B,) without a central critic, ``memory`` (B, size) after the step, and ``attention`` (B, heads,
            queries, keys) if the network has it. If `always_greedy`, ``logits`` are utilities and there is no value.
        """
        leaves = self.layout.read(rows)
        policy = self.of_population(inference, population)
        outputs = self.forward(policy, networks.prepare(policy, leaves), mask, memory)
        if self.attended:
            outputs["attention"] = policy.attention(leaves)
        return outputs

    def forward(
        self, policy: Any, seen: Any, mask: jax.Array | None, memory: jax.Array | None
    ) -> dict[str, jax.Array]:
        """`_outputs` of a network for prepared rows, without attention."""
        outputs = {}
        if memory is None:
            parameters, value = policy(seen)
        else:
            parameters, value, outputs["memory"] = policy.remember(seen, memory)
        if self.distribution.choices:
            outputs["logits"] = self.distribution.logits(parameters, mask)
            outputs["probabilities"] = self._odds(parameters, mask)
        if self.distribution.deviations:
            outputs["mean"], outputs["deviation"] = self.distribution.gaussians(parameters)
        if self._settings.network.critic == "own" and not self.always_greedy:
            outputs["value"] = value
        return outputs | {"action": self.distribution.greedy(parameters, mask)}


def _marked(kind: Kind, most: int) -> spaces.Dict:
    """The observation space of a kind with a leaf for one of `most` marks."""
    if MARK in kind.observation_space.spaces:
        raise UserError(
            f"agent_id = true: {kind.name} has a leaf {MARK!r} of its own; call that otherwise, or set agent_id=false"
        )
    return spaces.Dict(
        [*kind.observation_space.spaces.items(), (MARK, spaces.Box(0, 1, (most,), np.float32))]
    )


@partial(jax.jit, static_argnames="blocks")
def step_keys(keys: Any, counters: Any, blocks: int) -> jax.Array:
    """(T, S, M, 2) uint32, sampling keys for M blocks of S shards in T steps.

    Computed for many steps at once: within a step, folding in a number costs as much as a layer of a small network.

    Args:
        keys: (S, 2) uint32, data of the shards' keys.
        counters: (T,) uint32, of the steps.
        blocks: M.
    """

    def one(key: Any, counter: Any, block: Any) -> jax.Array:
        own = jax.random.fold_in(jax.random.wrap_key_data(key), counter)
        return jax.random.key_data(jax.random.fold_in(own, block))

    over_blocks = jax.vmap(one, (None, None, 0))
    over_shards = jax.vmap(over_blocks, (0, None, None))
    return jax.vmap(over_shards, (None, 0, None))(keys, counters, jnp.arange(blocks))


def each_shard(one: Callable[[Any], jax.Array], room: int, shards: Any, shape: tuple[int, ...]) -> jax.Array:
    """(S, *shape) float32, results of `one` for the first shards, zeros for the others.

    The loop's end is not a constant: XLA would merge a constant loop of one turn with the code around it, which changes bits. A run
    of one shard always has one worker and needs no loop.
    """
    if room == 1:
        return one(0)[None]

    def put(shard: Any, parts: jax.Array) -> jax.Array:
        return jax.lax.dynamic_update_index_in_dim(parts, one(shard), shard, 0)

    nothing = jnp.zeros((room, *shape), jnp.float32)
    return jax.lax.fori_loop(0, room if shards is None else shards, put, nothing)


def pick(inference: Any, number: Any) -> Any:
    """The arrays of one population."""
    return jax.tree.map(lambda leaf: leaf[0] if leaf.shape[0] == 1 else leaf[number], inference)


def _cut(array: jax.Array, shard: jax.Array, start: jax.Array, rows: int) -> jax.Array:
    """A shard's rows from `start` on, sliced from an array (S, N, numbers) without copying it."""
    sizes = (1, rows, *array.shape[2:])
    return jax.lax.dynamic_slice(array, (shard, start, *[0] * (array.ndim - 2)), sizes)[0]


def _path_name(path: Any) -> str:
    return "/".join(str(getattr(key, "name", getattr(key, "key", getattr(key, "idx", key)))) for key in path)
