"""The policy of a run: the network of each agent's population chooses its actions."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import jax
import numpy as np

from interplay.core.errors import UserError
from interplay.core.policy import Policy
from interplay.core.world import Kind, TimeStep, World
from interplay.train.factored.teams import find_marks
from interplay.train.observations import Rows
from interplay.train.play.by_name import ByName, Look, look
from interplay.train.play.stored_world import StoredWorld
from interplay.train.policy_network import PolicyNetwork, step_keys
from interplay.train.populations import Blocks, Populations, cut_blocks, find_populations, sort_rows
from interplay.train.run.restoring import restore
from interplay.train.run.warm_start import read_stacks
from interplay.train.selfplay.opponents import Guest, Opponents
from interplay.train.settings import TrainSettings

if TYPE_CHECKING:
    from interplay.train.export.plain import PlainPolicy

AT_ONCE = 8_192  # rows per call; fewer are padded, so that XLA compiles one shape


class TrainedPolicy(Policy):
    """Acts with the networks of a run's populations.

    Populations are matched by name where world or settings name them. Otherwise the world's population p is played by
    network ``p mod Q``, so that several policies can share a world, each with its own range of Q numbers.

    Args:
        names: of the Q populations.
        tensors: of each, ``kind/tensor`` -> array.
        greedy: take the likeliest action instead of sampling.
        name: in tables.
        others: population -> its opponent from the training, for populations without networks.

    Attributes:
        checkpoint: checksum of the manifest, of a league with ``@`` and the player; empty: none.
        words: the run and its agent-steps as text; empty: no run.
        also: players of the training that it plays itself here; empty: none.
        absent: populations that other policies of a lineup play.
        stored: the checkpoint's description of its world (`interplay.train.play.stored_world`), or None.
    """

    checkpoint: str = ""
    words: str = ""
    also: str = ""
    absent: tuple[str, ...] = ()

    stored: Mapping[str, Any] | None = None

    # Makes its world if it was not started; None: from the run's settings.
    make_world: Callable[..., World] | None = None

    # Of the checkpoint; the opponents save their own state.
    no_memory = (
        *Policy.no_memory,
        "checkpoint",
        "words",
        "also",
        "absent",
        "stored",
        "make_world",
        "networks",
        "inference",
        "_by_name",
        "_tensors",
        "_rows",
        "_others",
        "_opponents",
        "_memory",
    )

    def __init__(
        self,
        settings: TrainSettings,
        names: Sequence[str],
        tensors: Sequence[Mapping[str, np.ndarray]],
        greedy: bool,
        name: str,
        others: Mapping[str, Policy] | None = None,
    ) -> None:
        self.settings, self.greedy, self.name = settings, greedy, name
        self.names = tuple(names)
        self._tensors = tensors
        self._others = dict(others or {})

    def __deepcopy__(self, memo: dict[int, Any]) -> TrainedPolicy:
        """A copy with a memory of its own; weights and compiled programs do not change and are shared, as jax cannot copy all of them."""
        twin = memo[id(self)] = type(self).__new__(type(self))
        for name, value in vars(self).items():
            shared = name in ("networks", "inference", "settings", "_tensors")
            twin.__dict__[name] = value if shared else copy.deepcopy(value, memo)
        return twin

    def load_weights(self, tensors: Sequence[Mapping[str, np.ndarray]]) -> None:
        """Sets other weights of the same networks, used from the next `start` on."""
        self._tensors, self.checkpoint = tensors, ""

    @property
    def actions(self) -> str:  # type: ignore[override]
        """ "greedy" or "sampled"; value factorisation is always greedy."""
        return "greedy" if self.greedy or self.settings.factored is not None else "sampled"

    @property
    def weights(self) -> Sequence[Mapping[str, np.ndarray]]:
        """Of each population, ``kind/tensor`` -> array."""
        return self._tensors

    @property
    def beside(self) -> Mapping[str, Policy]:
        """Population -> opponent that plays it instead of the run's networks."""
        return self._others

    @property
    def foreign(self) -> frozenset[int]:
        """The world's populations that others play; available after `start`."""
        return frozenset(np.flatnonzero(~self._ours).tolist())

    def twin(self) -> TrainedPolicy:
        """A greedy copy with the same weights, not started and without opponents."""
        return TrainedPolicy(self.settings, self.names, self._tensors, True, self.name)

    def start(self, world: World, seed: int = 0) -> None:
        """Prepares for playing `world`; the same world again needs no compilation.

        Raises:
            UserError: if the networks were trained for other spaces.
        """
        if getattr(self, "world", None) is not world:
            self._make_networks(world)
        super().start(world, seed)
        self._by_name: ByName | None = None
        theirs = [n for n in self._others if n in self._populations.names and n not in self.names]
        numbers = [self._populations.names.index(name) for name in theirs]
        alone = numbers if self._populations.fixed is None else [None] * len(numbers)
        guests = [Guest(name, self._others[name], number) for name, number in zip(theirs, alone, strict=True)]
        self._opponents = Opponents(world, guests, numbers, (seed, 0, 0))
        self._ours = np.array([name not in (*theirs, *self.absent) for name in self._populations.names])
        vectors = read_stacks(self.networks, [without_critic(one, self.settings) for one in self._tensors])
        self.inference = {name: network.precompute(vectors[name]) for name, network in self.networks.items()}
        self._memory = {
            name: np.zeros((world.num_worlds, len(own.kind.slots), own.memory), np.float32)
            for name, own in self.networks.items()
            if own.memory
        }

    def _make_networks(self, world: World) -> None:
        key = jax.random.key(0)  # of weights that are replaced
        own = Populations(self.names, None)
        self._populations = find_populations(self.settings.population, world)
        self._moved_by = self._match(world)
        marks = find_marks(self.settings, world, self._populations)
        for name in (kind.name for kind in world.kinds):
            if not any(tensor.startswith(f"{name}/") for tensor in self._tensors[0]):
                raise UserError(f"{world.id}: the policy was not trained for agents of kind {name}")
        weights = without_critic(self._tensors[0], self.settings)
        self.networks = {
            kind.name: PolicyNetwork(
                kind, self.settings, key, own, marks=marks.get(kind.name), weights=weights
            )
            for kind in world.kinds
        }
        self._rows: dict[tuple[str, int], Rows] = {}

    def forget(self, which: np.ndarray | str | None = None) -> None:
        """Clears memory: in the worlds of a (W,) bool mask, of the agent of that name, or everywhere.

        Raises:
            UserError: for an unknown agent.
        """
        if not hasattr(self, "world"):
            return
        if isinstance(which, str):
            self._names().forget(which)
            return
        which = np.ones(self.world.num_worlds, bool) if which is None else which
        self._by_name = None
        self._opponents.forget(which)
        for memory in self._memory.values():
            memory[which] = 0.0

    def save(self) -> dict[str, np.ndarray]:
        """The random stream, memory, and the state of opponents."""
        theirs = {f"others/{name}": array for name, array in self._opponents.save().items()}
        return super().save() | theirs | {f"memory/{kind}": m.copy() for kind, m in self._memory.items()}

    def load(self, arrays: Mapping[str, np.ndarray]) -> None:
        theirs = {k.removeprefix("others/"): a for k, a in arrays.items() if k.startswith("others/")}
        kept = {f"memory/{kind}": memory for kind, memory in self._memory.items()}
        own = {n: a for n, a in arrays.items() if not n.startswith("others/") and n not in kept}
        super().load(own)
        restore(kept, arrays, self.name)
        self._opponents.load(theirs)

    @overload
    def act(self, timestep: TimeStep) -> Any: ...

    @overload
    def act(self, timestep: Mapping[Any, Any], infos: Mapping[Any, Any] | None = None) -> dict[Any, Any]: ...

    def act(self, timestep: TimeStep | Mapping[Any, Any], infos: Mapping[Any, Any] | None = None) -> Any:
        """Actions for every slot of a batch; or, by name, for the agents of one PettingZoo environment.

        Args:
            timestep: of the batch; or agent -> its observation, of all agents or of some. Missing agents keep their
                memory: call `forget` after each reset, and ``forget(agent)`` when an agent begins another life in an episode.
            infos: of the environment, if they hold action masks. Observations may hold masks as well.

        Returns:
            As for `World.step`; or agent -> its action.

        Raises:
            UserError: for an unknown agent, a wrong observation, or a missing mask.
        """
        if isinstance(timestep, Mapping):
            self.settle()
            return self._names().act(timestep, infos)
        if not isinstance(timestep, TimeStep):
            raise UserError(
                f"{self.name}: act got {type(timestep).__name__}; pass {{agent: observation}}, "
                "or a single observation to look"
            )
        if not hasattr(self, "world"):
            raise UserError(f"{self.name}: act got a batch; call start(world) first")
        observations = self.world.by_kind(timestep.observation)
        masks = self.world.by_kind(timestep.action_mask)
        population = self._populations.of(self.world)
        acting = timestep.acting & self._ours[population]
        self._forget_the_dead(timestep)
        seed, actions = self.next_seed(), {}
        for name, network in self.networks.items():
            slots = list(network.kind.slots)
            index = np.flatnonzero(acting[:, slots])
            actions[name] = self.choose(
                name,
                network.with_marks(observations[name], self.world.num_worlds),
                masks[name],
                index,
                self._moved_by[population[:, slots].reshape(-1)[index]],
                seed,
                self._memory.get(name),
            )
        ours = actions if len(actions) > 1 else next(iter(actions.values()))
        return self._opponents.act(ours, timestep, population)

    def next_seed(self) -> np.uint32:
        """The seed of one call of `act`, from the policy's random stream."""
        return np.uint32(self.rng.integers(2**32))

    def choose(
        self,
        name: str,
        observation: Mapping[str, np.ndarray],
        masks: Any,
        index: np.ndarray,
        moved_by: np.ndarray,
        seed: np.uint32,
        memory: np.ndarray | None,
    ) -> Any:
        """Actions of one kind's agents, as for `World.step`; arbitrary outside `index`.

        Args:
            observation: key -> (W, A, ...).
            masks: as `TimeStep.action_mask`, or None.
            index: (n,) positions among the W A agents.
            moved_by: (n,) number of the network.
            seed: of sampled actions.
            memory: W A rows, updated in place, or None.
        """
        network = self.networks[name]
        shape = _lead(observation, network)
        mask = network.distribution.flat_mask(masks, shape)
        flat_mask = None if mask is None else mask.reshape(shape[0] * shape[1], -1)
        outputs = self._ask(name, observation, index, moved_by, flat_mask, seed, memory)
        flat = np.zeros((shape[0] * shape[1], network.distribution.columns), np.float32)
        flat[index] = outputs[:, :-2]
        return network.distribution.to_world(flat.reshape(*shape, -1))

    def look(
        self,
        observation: Any,
        mask: Any = None,
        memory: np.ndarray | None = None,
        agent: str | None = None,
        population: int | None = None,
    ) -> Look:
        """Network outputs for an observation.

        Args:
            observation: of one agent, as from a PettingZoo environment; or of N, every leaf with a first axis of N.
            mask: legal choices, (choices,) or (N, choices) bool, heads concatenated; None: the observation's ``action_mask``, or
                all where it has none.
            memory: of the agent, (size,) or (N, size), from the last look; None: its life begins.
            agent: name; needed where agents have different networks.
            population: current one of the agent; needed where populations change in its slot.

        Raises:
            UserError: for a wrong observation or mask, an unknown agent, a missing agent or population, or one that others play.
        """
        self.settle()
        return look(self, observation, mask, memory, agent, population)

    def export(self, path: str | Path, agent: str | None = None) -> Path:
        """Writes the network of an agent for use without this package.

        Args:
            path: ``.onnx`` (needs the extra ``onnx``), or ``.npz`` for `interplay.train.export.plain`, which needs NumPy alone.
            agent: as for `look`.

        Returns:
            The path that was written.

        Raises:
            UserError: for another suffix, a missing package, or a network that cannot be exported.
        """
        from interplay.train.export.files import write

        self.settle()
        return write(self, path, agent)

    def to_numpy(self, agent: str | None = None) -> PlainPolicy:
        """The network of an agent as a plain NumPy function; see `interplay.train.export.plain`.

        Raises:
            UserError: as `export`.
        """
        from interplay.train.export.files import to_plain

        self.settle()
        return to_plain(self, agent)

    def settle(self) -> None:
        """Starts with its own world unless it was started, for calls by name.

        The checkpoint's spaces replace a world, except with scripted opponents, which read the world.
        """
        if hasattr(self, "world"):
            return
        if self.stored is not None and not self._others:
            self.start(StoredWorld(self.stored, self.name))
            return
        from interplay.registry import make_world

        chosen = self.settings.world
        make = self.make_world or partial(make_world, chosen.id, **chosen.options)
        world = make(num_worlds=1, seed=0, first_world=0)
        world.reset()
        self.start(world)

    def _names(self) -> ByName:
        self._by_name = self._by_name or ByName(self)
        return self._by_name

    def masked_parts(self, kind: Kind) -> tuple[str, ...]:
        """The parts of a kind's action that have masks in the world that is played."""
        return tuple(self.world.by_kind(self.world.timestep.action_mask)[kind.name] or ())

    def mover(self, slot: int, population: int | None = None) -> int:
        """Number of the network that plays a slot.

        Args:
            population: current one in the slot; None: the slot's fixed one.

        Raises:
            UserError: if populations change in the slot and it is None.
        """
        if self._populations.fixed is not None:
            population = int(self._populations.fixed[slot])
        elif population is None:
            if len(set(self._moved_by)) > 1:
                raise UserError(
                    f"{self.name}: the network of {self.world.agents[slot]} changes between episodes; load it with populations=[NAME]"
                )
            population = 0
        elif not 0 <= population < len(self._moved_by):
            raise UserError(
                f"{self.name}: population {population}; {self.world.id} has {len(self._moved_by)}, numbered from 0"
            )
        return int(self._moved_by[population])

    def plays(self, slot: int) -> bool:
        """Whether the run's networks, not an opponent, play a slot of its first world now."""
        return bool(self._ours[self._populations.of(self.world)[0, slot]])

    def values(
        self, observation: Mapping[str, np.ndarray], population: np.ndarray, kind: str = "agent"
    ) -> np.ndarray:
        """The value of each observation by the network of its population.

        Args:
            observation: key -> (N, ...).
            population: (N,) of the world's populations.

        Returns:
            (N,) float32.

        Raises:
            UserError: for a central critic, value factorisation, or networks with memory.
        """
        if self.settings.factored is not None:
            raise UserError(
                f"{self.name}: {self.settings.algorithm} values teams, so an observation alone has no value; "
                "train with algorithm=ppo"
            )
        if self.settings.network.critic != "own":
            raise UserError(
                f"{self.name}: its critic sees the {self.settings.network.critic}, so an observation alone has no value; "
                "train with network.critic=own"
            )
        self._check_alone("value")
        every, moved_by = np.arange(len(population)), self._movers(population)
        return self._ask(kind, observation, every, moved_by, None)[:, -1]

    @property
    def guesses(self) -> bool:
        """Whether its networks have a belief head, for `beliefs`."""
        return bool(self.settings.belief.about)

    def beliefs(
        self, observation: Mapping[str, np.ndarray], population: np.ndarray, kind: str = "agent"
    ) -> np.ndarray:
        """Probability of every seat to be of the population ``belief.about``.

        Args:
            observation: key -> (N, ...).
            population: (N,) of the world's populations.

        Returns:
            (N, n) float32.

        Raises:
            UserError: if the run has no belief head.
        """
        if not self.guesses:
            raise UserError(f"{self.name}: this run has no belief head; train one with belief.about=werewolf")
        network, out = (
            self.networks[kind],
            np.zeros((len(population), len(self.networks[kind].kind.slots)), np.float32),
        )
        for number, picked, rows in self._pieces(observation, population, kind):
            outputs = network.beliefs(self.inference[kind], np.int32(number), rows)
            out[picked] = np.asarray(outputs)[: len(picked)]
        return out

    def probabilities(
        self,
        observation: Mapping[str, np.ndarray],
        mask: np.ndarray | None = None,
        population: np.ndarray | None = None,
        kind: str = "agent",
    ) -> np.ndarray:
        """Probability of every choice, action heads concatenated.

        Args:
            observation: key -> (N, ...).
            mask: (N, choices) bool, legal ones; None: all.
            population: (N,) of the world's populations; None: the first.

        Returns:
            (N, choices) float32.

        Raises:
            UserError: for networks with memory or ``agent_id``.
        """
        self._check_alone("probabilities")
        network = self.networks[kind]
        if population is None:
            population = np.zeros(len(next(iter(observation.values()))), np.int64)
        out = np.zeros((len(population), network.distribution.choices), np.float32)
        for number, picked, rows in self._pieces(observation, population, kind):
            legal = None if mask is None else pad_rows(np.asarray(mask, bool)[picked], AT_ONCE)
            outputs = network.probabilities(self.inference[kind], np.int32(number), rows, legal)
            out[picked] = np.asarray(outputs)[: len(picked)]
        return out

    def _check_alone(self, what: str) -> None:
        """Refuses networks that need memory or the agent besides the observation."""
        if self.settings.factored is not None and self.settings.factored.agent_id:
            raise UserError(
                f"{self.name}: its networks need the agent ({self.settings.algorithm}.agent_id), so an observation alone has no {what}; "
                "use look(observation, agent=...)"
            )
        remembers = self.settings.network.remembers
        if remembers:
            raise UserError(
                f"{self.name}: its networks have memory (network.{remembers}), so an observation alone has no {what}; "
                "train with network.memory=none and network.stack=1"
            )

    def _pieces(
        self, observation: Mapping[str, np.ndarray], population: np.ndarray, kind: str
    ) -> Iterator[tuple[int, np.ndarray, Rows]]:
        """Yields number of the network, positions and padded rows, one network and at most `AT_ONCE` rows at a time."""
        network, own = self.networks[kind], self._movers(population)
        rows = network.layout.allocate(AT_ONCE)
        for number in np.unique(own):
            index = np.flatnonzero(own == number)
            for start in range(0, len(index), AT_ONCE):
                picked = index[start : start + AT_ONCE]
                network.layout.write(observation, picked, {d: a[: len(picked)] for d, a in rows.items()})
                yield int(number), picked, rows

    def _movers(self, population: np.ndarray) -> np.ndarray:
        """(N,) number of the network of each of the world's populations in `population`."""
        return self._moved_by[np.asarray(population) % len(self._moved_by)]

    def _match(self, world: World) -> np.ndarray:
        """(N,) number of the network of each of the world's N populations."""
        theirs = self._populations.names
        named = world.population_names is not None or self.settings.population.by == "name"
        return np.array(
            [
                self.names.index(name) if named and name in self.names else number % len(self.names)
                for number, name in enumerate(theirs)
            ]
        )

    def _ask(
        self,
        name: str,
        observation: Mapping[str, np.ndarray],
        index: np.ndarray,
        moved_by: np.ndarray,
        mask: np.ndarray | None,
        seed: np.uint32 | int = 0,
        memory: np.ndarray | None = None,
    ) -> np.ndarray:
        """(n, columns + 2) outputs for the agents `index` of the observation, by the networks `moved_by`.

        Updates `memory`, (W, A_kind, size), in place; None: as at the beginning of a life.
        """
        network, count = self.networks[name], len(self.names)
        out = np.zeros((len(index), network.distribution.columns + 2), np.float32)
        most = min(AT_ONCE, int(np.prod(_lead(observation, network))))
        block = min(network.block, most)
        pieces = network.most_blocks(most, block)
        whole = most + (block if pieces > 1 else 0)
        rows = self._space(name, whole)
        kept = np.zeros((whole, network.memory), np.float32) if network.memory else None
        flat = None if memory is None else memory.reshape(-1, network.memory)
        columns = out.shape[1]
        legal = None if mask is None else np.ones((len(next(iter(rows.values()))), mask.shape[1]), bool)
        kind = np.uint32(list(self.networks).index(name))
        for number, start in enumerate(range(0, len(index), most)):
            part = slice(start, start + most)
            order, counts = sort_rows(moved_by[part], count)
            picked = index[part][order]
            network.layout.write(observation, picked, {d: a[: len(picked)] for d, a in rows.items()})
            if mask is not None and legal is not None:
                legal[: len(picked)] = mask[picked]
            if kept is not None:
                kept[: len(picked)] = 0.0 if flat is None else flat[picked]
            outputs = network.act(
                self.inference[name],
                {dtype: array[None] for dtype, array in rows.items()},
                None if legal is None else legal[None],
                Blocks(*(part[None] for part in cut_blocks(counts, block, pieces))),
                draw_keys(np.uint32(seed), kind, np.uint32(number), pieces),
                None if kept is None else kept[None],
                block=block,
                greedy=self.greedy,
            )
            own = np.asarray(outputs)[0, : len(picked)]
            out[start + order] = own[:, :columns]
            if flat is not None:
                flat[picked] = own[:, columns:]
        return out

    def _forget_the_dead(self, timestep: TimeStep) -> None:
        """Clears memory of slots with a life that ended in the last step."""
        ended = timestep.terminated | timestep.truncated
        if self._memory and ended.any():
            for name, memory in self._memory.items():
                memory[ended[:, list(self.networks[name].kind.slots)]] = 0.0

    def _space(self, name: str, rows: int) -> Rows:
        return self._rows.setdefault((name, rows), self.networks[name].layout.allocate(rows))


@partial(jax.jit, static_argnames="blocks")
def draw_keys(seed: Any, kind: Any, piece: Any, blocks: int) -> jax.Array:
    """(1, M, 2) uint32, key data for the M blocks of one call."""
    key = jax.random.fold_in(jax.random.key(seed), kind)
    return step_keys(jax.random.key_data(key)[None], piece[None], blocks)[0]


def without_critic(tensors: Mapping[str, np.ndarray], settings: TrainSettings) -> Mapping[str, np.ndarray]:
    """The tensors without those of a central critic or mixer, which play does not need."""
    if settings.network.critic == "own" and settings.factored is None:
        return tensors
    split = [(name, *name.split("/", 2)) for name in tensors]
    return {f"{kind}/{rest}": tensors[name] for name, kind, part, rest in split if part == "network"}


def pad_rows(mask: np.ndarray, rows: int) -> np.ndarray:
    """A (N, choices) mask padded to `rows` with rows of True."""
    padded = np.ones((rows, mask.shape[1]), bool)
    padded[: len(mask)] = mask
    return padded


def _lead(observation: Mapping[str, np.ndarray], network: PolicyNetwork) -> tuple[int, ...]:
    """The shape of an observation before the axes of its leaves: (W, A), or (N,)."""
    key, space = next(iter(network.kind.observation_space.spaces.items()))
    axes = len(space.shape or ())
    return tuple(np.shape(observation[key])[: np.ndim(observation[key]) - axes])
