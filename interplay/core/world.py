"""A world is a batch: W independent copies of one world, stepped together.

`World` is the protocol that trainers, connectors, tournaments and viewers read. Authors subclass it and
write `_reset` and `_step`; the public `reset` and `step` check what callers hand in, so that a wrong action
is one clear line and never a corrupted batch.

Axis letters, here and everywhere: W worlds, A agent slots, T time, K entities.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from gymnasium import spaces

from interplay.core import seeding
from interplay.core.copying import Remakable
from interplay.core.errors import UserError
from interplay.core.guides import Guides
from interplay.core.hashing import hash_rows
from interplay.core.ranges import Law, Range, check_state
from interplay.core.spaces import check_action
from interplay.core.transcript import Line, line

if TYPE_CHECKING:
    from interplay.core.controls import Controls
    from interplay.core.fog import Visible
    from interplay.core.scene import Canvas

Array = np.ndarray
Tree = Mapping[str, Any]


NAMED_BEFOREHAND = (
    'an environment names numbers of its infos beforehand by metadata["metrics"] = {"success": "last"}'
)


class Kind(NamedTuple):
    """Agents of one world that share their spaces.

    Attributes:
        name: the kind's name, e.g. ``"hunter"``; worlds with one kind call it ``"agent"``.
        slots: the columns of the (W, A) arrays that belong to this kind, ascending.
        observation_space: of ONE agent; a `spaces.Dict` of array leaves.
        action_space: of ONE agent; Discrete, MultiDiscrete, MultiBinary, Box, or a Dict of those.
    """

    name: str
    slots: tuple[int, ...]
    observation_space: spaces.Dict
    action_space: spaces.Space


class TimeStep(NamedTuple):
    """What a world says after `reset` or `step`: views of its own buffers, valid until its next call.

    Attributes:
        observation: field name -> (W, A, ...), as the agent's observation space declares. A world with
            several kinds gives kind name -> field name -> (W, A_kind, ...); see `World.by_kind`.
        reward: (W, A) float32, earned since this agent last acted. A dead but present agent may still earn.
        acting: (W, A) bool, whose action the next step reads.
        terminated: (W, A) bool, true exactly in the time step in which this slot's life ended by the rules.
        truncated: (W, A) bool, true exactly in the time step in which this slot's life was cut by a limit.
        over: (W,) bool, this world's episode has ended; it stands still (nobody acts, rewards are 0) until `reset`.
        action_mask: legal choices (True = legal), or None where every choice of the action space is legal.
            Discrete(n): ``{"action": (W, A, n)}``; MultiDiscrete: ``{"action": (W, A, sum(nvec))}``, the
            heads one after another; Dict: one entry per masked key. Several kinds: kind name -> such a mapping.
    """

    observation: Tree
    reward: Array
    acting: Array
    terminated: Array
    truncated: Array
    over: Array
    action_mask: Tree | None = None


class World(Remakable, ABC):
    """W copies of one world, stepped together.

    `copy.deepcopy`, `copy.copy` and `pickle` give an independent batch that goes on in the same way (`interplay.core.copying`).

    Args:
        num_worlds: W, at least 1.
        agents: the slot names, length A; unique.
        kinds: the agents' kinds; together they cover every slot once.
        seed: with the world's index it names each world's random stream (`seeding.world_seeds`).
        first_world: index of the batch's first world among all worlds of `seed`, where the batch is a part.

    Attributes:
        id: the registry id it was made from, or the class name.
        version: raised whenever the world's behaviour changes.
        persistent: True if its worlds may run for ever (no episode needs to end; at times nobody may live).
        respawns: True if a slot whose life ended may begin another life before the world is over.
            The old life may end and the new one begin in one step: the reward is the old one's then, the observation the new one's.
        dead_stay: True if who dies keeps its slot, and is paid, until its world is over: it acts no more, but its life ends
            (``terminated``) only then. Who lives acts in every step.
        ignores_illegal: True if an illegal choice does nothing, even where no legal choice does nothing.
        first_world: index of the batch's first world among all worlds of its seed.
        num_populations: how many populations, which share no weights, the world's agents are born into; see `population`.
        population_names: what they are called, each once, letters, digits, ``_``, ``-`` and dots; None calls them pop0, pop1, ...
        teams: slots that win and lose together, one tuple per team; None = everybody plays for itself.
        later_metrics: further per-agent metrics may appear in play: numbers in the infos of an environment that names none beforehand.
        per_team: names of metrics whose value for an agent is that of its whole team.
        team_names: names of `teams`; None calls them team0, team1, ...
        privileged_view: whether `draw` and `describe` show what the public may not know (hidden roles); None = nothing is hidden.
            `draw` declares the same layers either way.
        state_space: the space of one row of `global_state`, one float32 Box of one axis; None = this world offers no global state.
        frames_per_step: how many frames of a video a step stays in view; worlds of words need time to be read.
        tick_seconds: how long a step lasts in the world's own time, for people who watch and play it live; None = it has none, and
            lasts a tenth of a second, or as long as it stays in view in a video where that is longer.
        action_names: what choices are called, for people: head -> names of its choices (of a Box: of its numbers), heads in the order of
            the action space; worlds with several kinds give kind name -> such a mapping. None = nobody has named them.
        instruments: what reads this world for instruments of `interplay.evaluate`, by name, as worlds import nothing from there:
            ``ticks`` (see `lifetimes.tick.tick_reader`), ``moments`` (`lifetimes.survival_world.moments`) and ``talk`` (see `communication.reading.Reader`) -> ``module:attribute``.
    """

    id: str = ""
    version: int = 1
    persistent: bool = False
    respawns: bool = False
    dead_stay: bool = False
    ignores_illegal: bool = False
    num_populations: int = 1
    population_names: tuple[str, ...] | None = None
    teams: tuple[tuple[int, ...], ...] | None = None
    team_names: tuple[str, ...] | None = None
    per_team: tuple[str, ...] = ()
    later_metrics: bool = False
    privileged_view: bool | None = None
    state_space: spaces.Box | None = None
    frames_per_step: int = 1
    tick_seconds: float | None = None
    action_names: Mapping[str, Any] | None = None
    instruments: Mapping[str, str] = MappingProxyType({})

    def __init__(
        self,
        num_worlds: int,
        agents: Sequence[str],
        kinds: Sequence[Kind],
        seed: int = 0,
        first_world: int = 0,
    ) -> None:
        if num_worlds < 1:
            raise UserError(
                f"num_worlds = {num_worlds}: a batch has at least one world; pass num_worlds >= 1"
            )
        self.num_worlds = int(num_worlds)
        self.agents = tuple(agents)
        self.kinds = tuple(kinds)
        self.id = self.id or type(self).__name__
        if len(set(self.agents)) < len(self.agents):
            raise UserError(f"{self.id}: agents = {self.agents}: each slot needs a name of its own")
        for kind in self.kinds:
            if not isinstance(kind.observation_space, spaces.Dict):
                raise UserError(
                    f"{self.id}: kind {kind.name} observes a {type(kind.observation_space).__name__}; make it a spaces.Dict of named leaves"
                )
        covered = sorted(slot for kind in self.kinds for slot in kind.slots)
        if covered != list(range(len(self.agents))):
            raise UserError(
                f"{self.id}: kinds cover the slots {covered}, agents need each of 0..{len(self.agents) - 1} once"
            )
        self._seeds: Array | None = seeding.world_seeds(seed, self.num_worlds, first_world)
        self.first_world = int(first_world)
        self._last: TimeStep | None = None

    # -- what callers use -------------------------------------------------------------------------

    @property
    def observation_space(self) -> spaces.Dict:
        """The observation space of one agent; only for worlds with one kind."""
        return self._only_kind().observation_space

    @property
    def action_space(self) -> spaces.Space:
        """The action space of one agent; only for worlds with one kind."""
        return self._only_kind().action_space

    @property
    def timestep(self) -> TimeStep:
        """The latest time step.

        Raises:
            RuntimeError: if the world was never reset.
        """
        if self._last is None:
            raise RuntimeError(f"{self.id}: no time step yet; call reset() first")
        return self._last

    @property
    def metrics(self) -> Mapping[str, Array]:
        """What the seed's authors counted, per world (W,) or per agent (W, A), of the current episode.

        When an episode ends its final values stand until the world is reset. A share of something that did not happen is NaN,
        and means leave it out.
        """
        return {}

    @property
    def lasting_metrics(self) -> Mapping[str, Array]:
        """`metrics` without those that come in play, see `later_metrics`."""
        return self.metrics

    @property
    def population(self) -> Array:
        """(W, A) uint8, the population of each slot's occupant, below `num_populations`; slots without one keep an old number.

        It may change with every birth. Worlds with one population say 0.
        """
        return np.zeros((self.num_worlds, len(self.agents)), np.uint8)

    def reset(self, which: Array | None = None, seeds: int | Array | None = None) -> TimeStep:
        """Restarts the worlds that `which` names and leaves the others untouched.

        Args:
            which: (W,) bool mask, or indices of worlds; None restarts all.
            seeds: None goes on with each world's own stream (its next episode); an int names new streams
                (`seeding.world_seeds`), of a part of a batch those of its worlds; an array (W,) of uint64 gives each world its seed directly, so that
                a world's trajectory does not depend on its position in the batch.

        Returns:
            The time step of the whole batch. Restarted worlds have reward 0 and no ended lives.
        """
        mask = self._mask(which)
        if self._last is None and not mask.all():
            raise RuntimeError(
                f"{self.id}: the first reset must restart all worlds; call reset() without `which`"
            )
        if seeds is None:
            # The first reset uses the seeds given at construction; later ones continue the streams.
            given = self._seeds
        elif isinstance(seeds, int | np.integer):
            given = seeding.world_seeds(int(seeds), self.num_worlds, self.first_world)
        else:
            given = np.asarray(seeds)
            if given.shape != (self.num_worlds,) or given.dtype.kind not in "ui" or (given < 0).any():
                raise UserError(
                    f"{self.id}: seeds has shape {given.shape} and dtype {given.dtype}; pass ({self.num_worlds},) unsigned integers"
                )
            given = given.astype(np.uint64)
        self._last = self._reset(mask, given)
        self._seeds = None  # only the first reset may use them, whatever seeds it was given
        return self._last

    def step(self, action: Any) -> TimeStep:
        """Steps every world that is not over.

        Args:
            action: (W, A, ...) of the action space's dtype family, or a mapping for Dict spaces; with several
                kinds a mapping kind name -> that kind's actions. Rows of agents that are not acting are ignored
                (any value in range).

        Raises:
            ValueError: for a wrong shape, dtype, range or NaN, in one line; the batch is unchanged then.
            RuntimeError: if the world was never reset.
        """
        if self._last is None:
            raise RuntimeError(f"{self.id}: step before the first reset; call reset() first")
        if len(self.kinds) == 1:
            checked: Any = check_action(
                self.id, self.kinds[0].action_space, action, self.num_worlds, len(self.agents)
            )
        else:
            if not isinstance(action, Mapping) or set(action) != {kind.name for kind in self.kinds}:
                raise UserError(
                    f"{self.id}: actions must be a mapping with the kinds {', '.join(k.name for k in self.kinds)}"
                )
            checked = {
                kind.name: check_action(
                    f"{self.id} {kind.name}",
                    kind.action_space,
                    action[kind.name],
                    self.num_worlds,
                    len(kind.slots),
                )
                for kind in self.kinds
            }
        self._last = self._step(checked)
        return self._last

    def step_unchecked(self, action: Any) -> TimeStep:
        """`step` without checks, for actions that are C-contiguous arrays of the action space's dtype, in range."""
        self._last = self._step(action)
        return self._last

    def by_kind(self, tree: Tree | None) -> Mapping[str, Any]:
        """Reads an observation, action or mask as kind name -> value, also for worlds with one kind."""
        if len(self.kinds) == 1:
            return {self.kinds[0].name: tree}
        return tree if tree is not None else {kind.name: None for kind in self.kinds}

    def global_state(self) -> Array:
        """What a critic may see of each world that its agents may not: (W, n) float32, each row in `state_space`.

        A new array, computed from what `save` holds alone. Worlds that declare a `state_space` write it.

        Raises:
            UserError: if the world offers none.
        """
        raise UserError(
            f"{self.id}: it offers no global state (state_space is None); use what the agents see, or write global_state"
        )

    def team_states(self) -> Array:
        """The global state as each team sees it: (W, T, m) float32, in the order of `teams`; (W, 1, n) where it is everybody's.

        A new array. The first is `global_state`; what is shorter than the longest ends in zeros. Worlds whose state is one team's
        view write it.

        Raises:
            UserError: as `global_state`.
        """
        return self.global_state()[:, None]

    def hash(self) -> Array:
        """A 64-bit hash of each world's whole state, streams included: (W,) uint64."""
        return hash_rows(self.save())

    def close(self) -> None:
        """Frees processes and windows, where a world holds any."""

    # -- what authors write -----------------------------------------------------------------------

    @abstractmethod
    def _reset(self, which: Array, seeds: Array | None) -> TimeStep:
        """Restarts the worlds in the (W,) bool mask `which`; `seeds` is (W,) uint64 or None (next episode)."""

    @abstractmethod
    def _step(self, action: Any) -> TimeStep:
        """Steps every world that is not over with checked actions."""

    @abstractmethod
    def save(self) -> dict[str, Array]:
        """Copies the whole state, every random stream included: name -> array with the world axis first.

        An array may be longer in one snapshot than in another, its rows then padded with zeros at their ends; `hash` has to
        be overridden then, because it must not depend on the padding.
        """

    @abstractmethod
    def load(self, snapshot: Mapping[str, Array]) -> TimeStep:
        """Restores what `save` gave; from there on the trajectory is the same, bit for bit.

        Raises:
            ValueError: if a name, shape or dtype does not fit, in one line.
        """

    def draw(self, canvas: Canvas, world: int) -> None:
        """Draws one world's scene in primitives; worlds without geometry get a table of their agents."""
        step = self.timestep
        columns = ["agent", "acting", "reward"]
        rows = [
            [name, bool(step.acting[world, a]), float(step.reward[world, a])]
            for a, name in enumerate(self.agents)
        ]
        for name, values in self.lasting_metrics.items():
            if np.ndim(values) == 2:
                columns.append(name)
                for a, row in enumerate(rows):
                    row.append(float(values[world, a]))
        canvas.table("agents", columns, rows)

    def controls(self, slot: int) -> Controls | None:
        """Which keys mean which choices of a slot, by the names of `action_names`; None: people choose from a form."""
        return None

    @property
    def takes_clicks(self) -> bool:
        """Whether clicks mean anything to who plays here."""
        return type(self).click is not World.click

    def click(self, world: int, slot: int, x: float, y: float) -> Mapping[str, str] | None:
        """What a click at a place of the scene means for a slot: head -> choice, by name; None: nothing."""
        return None

    def stand_at(self, world: int, slot: int, x: float, y: float) -> bool:
        """Sets an agent down elsewhere, all else alike, and makes anew what it observes: for questions about places, asked of a copy.

        Args:
            world: number in the batch.
            slot: of the agent.
            x, y: the place, in the units of `draw`.

        Returns:
            Whether it stands there; False where it has no room or does not live, and nothing has changed.
        """
        raise UserError(f"{self.id}: it sets nobody down elsewhere; write stand_at for your world")

    def visible(self, world: int, slot: int) -> Visible | None:
        """What of the layers that `draw` declares a slot observes, for people who play it (`interplay.core.fog`).

        `interplay.core.fog.EVERYTHING` where nothing is hidden; layers that are not named are hidden; None: it is not said, and who
        plays sees all.
        """
        return None

    def describe(self, world: int) -> list[Line]:
        """What one world's last step did, in words; worlds without words of their own give their scene in characters."""
        from interplay.core.scene import scene_of
        from interplay.core.scene_text import scene_lines

        return [line(text) for text in scene_lines(scene_of(self, world))]

    def phase(self, world: int) -> str | None:
        """What part of the episode the last step belonged to, in a word (night, day): the time line has a mark where another one begins.

        After a reset that of the step to come; None: episodes have no parts.
        """
        return None

    def observation_guides(self, world: int, slot: int) -> Guides:
        """How people read what a slot observes now: field -> its parts; fields without are told as they are.

        Args:
            world: number in the batch.
            slot: of the agent.
        """
        return {}

    # -- helpers ----------------------------------------------------------------------------------

    def _only_kind(self) -> Kind:
        if len(self.kinds) > 1:
            raise UserError(
                f"{self.id}: {len(self.kinds)} kinds of agents; read world.kinds instead of a single space"
            )
        return self.kinds[0]

    def _mask(self, which: Array | None) -> Array:
        if which is None:
            return np.ones(self.num_worlds, bool)
        array = np.asarray(which)
        if array.dtype == bool:
            if array.shape != (self.num_worlds,):
                raise UserError(
                    f"{self.id}: which has shape {array.shape}; a mask over {self.num_worlds} worlds has shape ({self.num_worlds},)"
                )
            return array.copy()  # callers pass timestep.over, the world's own buffer
        if array.size and (array.dtype.kind not in "iu" or array.min() < 0 or array.max() >= self.num_worlds):
            raise UserError(
                f"{self.id}: which = {array.tolist()}; name worlds by 0..{self.num_worlds - 1} or by a bool mask"
            )
        mask = np.zeros(self.num_worlds, bool)
        mask[array.astype(np.int64)] = True
        return mask


class Outputs(NamedTuple):
    """What a time step says besides what is seen, see `TimeStep`: ``TimeStep(observation, *outputs, action_mask)``."""

    reward: Array  # (W, A) float32
    acting: Array  # (W, A) bool
    terminated: Array  # (W, A) bool
    truncated: Array  # (W, A) bool
    over: Array  # (W,) bool


class ArrayWorld(World):
    """A world whose whole state is arrays with the world axis first: its outputs, and a NamedTuple of the others.

    Subclasses set `self.state` and write `_begin`, `_advance` and `_read`; saving, loading and hashing follow. What numbers
    may be they declare in `state_ranges` and `state_laws`. One that writes `_reset` and `_step` itself, as any `World` may,
    clears what it tells by itself.

    Attributes:
        outputs: buffers that the rules write to. They are cleared before: in a restarted world everybody acts and nobody has
            earned anything, in every step rewards and ended lives of the last one are past. Where kernels keep them in records,
            a subclass puts views of those here, and `_arrays` says under which names they are saved.
    """

    state: Any

    def __init__(
        self,
        num_worlds: int,
        agents: Sequence[str],
        kinds: Sequence[Kind],
        seed: int = 0,
        first_world: int = 0,
    ) -> None:
        super().__init__(num_worlds, agents, kinds, seed, first_world)
        slots = (self.num_worlds, len(self.agents))
        acting, terminated, truncated = np.zeros((3, *slots), bool)
        over = np.zeros(self.num_worlds, bool)
        self.outputs = Outputs(np.zeros(slots, np.float32), acting, terminated, truncated, over)

    def _reset(self, which: Array, seeds: Array | None) -> TimeStep:
        for array in self.outputs:
            array[which] = 0
        self.outputs.acting[which] = True
        self._begin(which, seeds)
        return self._read()

    def _step(self, action: Any) -> TimeStep:
        self._refuse_illegal(action)
        self._forget()
        self._advance(action)
        return self._read()

    def refresh(self) -> TimeStep:
        """The time step after `state` was written from outside, with everything that is seen made anew."""
        self._look_anew()
        self._last = self._read()
        return self._last

    def save(self) -> dict[str, Array]:
        return {name: array.copy() for name, array in self._arrays().items()}

    def load(self, snapshot: Mapping[str, Array]) -> TimeStep:
        """Restores what `save` gave, or refuses it and leaves everything as it was.

        Raises:
            UserError: if a name, shape or dtype does not fit, or a number is not what `state_ranges` and `state_laws` allow.
        """
        fitting = self.check_fields(snapshot)
        check_state(self.id, fitting, self.state_ranges(), self.state_laws())
        for name, array in self._arrays().items():
            np.copyto(array, fitting[name])
        self._seeds = None
        return self.refresh()

    def check_fields(self, snapshot: Mapping[str, Array]) -> dict[str, Array]:
        """The arrays of a snapshot, if their names, shapes and dtypes are those of this world, which need not have begun.

        Raises:
            UserError: if one does not fit.
        """
        arrays = self._arrays()
        if set(snapshot) != set(arrays):
            odd = sorted(set(snapshot) ^ set(arrays))
            raise UserError(
                f"{self.id}: snapshot of another world or version (fields {', '.join(odd)} do not match); save it again"
            )
        fitting = {}
        for name, array in arrays.items():
            given = np.asarray(snapshot[name])
            if given.shape != array.shape or given.dtype != array.dtype:
                raise UserError(
                    f"{self.id}: snapshot field {name} is {given.dtype}{given.shape}, this world needs {array.dtype}{array.shape}; "
                    "load it into a world with the same settings and num_worlds"
                )
            fitting[name] = given
        return fitting

    def state_ranges(self) -> Mapping[str, Range]:
        """What each field that `save` gives may hold: name -> range; bool fields need none (`interplay.core.ranges`).

        Everything that the rules can reach lies inside; what they would read or write out of bounds with lies outside.
        """
        return {}

    def state_laws(self) -> Sequence[Law]:
        """What fields owe each other, in the order in which they are asked: links without circles, counts of what is there."""
        return ()

    def _begin(self, which: Array, seeds: Array | None) -> None:
        """Begins an episode in the worlds of the (W,) bool mask `which`; `seeds` is (W,) uint64 or None (next episode)."""
        raise NotImplementedError

    def _advance(self, action: Any) -> None:
        """Steps every world that is not over with checked actions."""
        raise NotImplementedError

    @abstractmethod
    def _read(self) -> TimeStep:
        """The time step: what is seen, and `outputs`."""

    def _refuse_illegal(self, action: Any) -> None:
        """Raises `UserError` for choices that no space can refuse; nothing has happened then."""

    def _forget(self) -> None:
        """What the last step told is past, also in worlds that are over."""
        for array in (self.outputs.reward, self.outputs.terminated, self.outputs.truncated):
            array.fill(0)

    def _look_anew(self) -> None:
        """Makes anew what follows from the state and is kept beside it: what is seen, what is legal."""

    def _arrays(self) -> dict[str, Array]:
        """What a snapshot holds: the state, and those outputs that it does not keep itself."""
        arrays = self.state._asdict()
        return arrays | {name: array for name, array in self.outputs._asdict().items() if name not in arrays}
