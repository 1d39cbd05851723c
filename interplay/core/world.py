"""A world is a batch: W independent copies of one world, stepped together.

`World` is the protocol that trainers, connectors, tournaments and viewers use. Subclasses
write `_reset` and `_step`; the public `reset` and `step` check their arguments, so that a wrong action
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
from interplay.core.ranges import Invariant, Range, check_state, fit_snapshot
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
    """The result of `reset` or `step`: views of the world's own buffers, valid until its next call.

    Attributes:
        observation: field name -> (W, A, ...), as in the agent's observation space. A world with
            several kinds gives kind name -> field name -> (W, A_kind, ...); see `World.by_kind`.
        reward: (W, A) float32, earned since this agent last acted. A dead but present agent may still earn.
        acting: (W, A) bool, slots with an action that the next step reads.
        terminated: (W, A) bool, true only in the time step in which this slot's life ended by the rules.
        truncated: (W, A) bool, true only in the time step in which this slot's life was cut by a limit.
        over: (W,) bool, this world's episode has ended; it does not change (no acting agents, rewards 0) until `reset`.
        action_mask: legal choices (True = legal), or None if every choice of the action space is legal.
            Discrete(n): ``{"action": (W, A, n)}``; MultiDiscrete: ``{"action": (W, A, sum(nvec))}``, the
            heads concatenated; Dict: one entry per masked key. Several kinds: kind name -> such a mapping.
    """

    observation: Tree
    reward: Array
    acting: Array
    terminated: Array
    truncated: Array
    over: Array
    action_mask: Tree | None = None

    def read_only(self) -> TimeStep:
        """Views through which nothing can be written, for players: the arrays are the world's own."""
        return TimeStep(*map(_read_only, self))


def _read_only(tree: Any) -> Any:
    """A tree of arrays as views through which nothing can be written."""
    if isinstance(tree, Mapping):
        return {key: _read_only(part) for key, part in tree.items()}
    if tree is None:
        return None
    view = np.asarray(tree).view()
    view.flags.writeable = False
    return view


class World(Remakable, ABC):
    """W copies of one world, stepped together.

    `copy.deepcopy`, `copy.copy` and `pickle` make an independent batch that continues in the same way (`interplay.core.copying`).

    Args:
        num_worlds: W, at least 1.
        agents: the slot names, length A; unique.
        kinds: the agents' kinds; together they cover every slot once.
        seed: of the random streams, together with each world's index (`seeding.world_seeds`).
        first_world: index of the batch's first world among all worlds of `seed`, if the batch is a part.

    Attributes:
        id: the registry id it was made from, or the class name.
        version: raised whenever the world's behaviour changes.
        persistent: True if its worlds may run for ever: episodes need not end, and at times no agent may be alive.
        respawns: True if a slot may begin another life before the world is over.
            If one step ends the old life and begins the new one, its reward is the old one's and its observation the new one's.
        dead_stay: True if dead agents keep their slots, and rewards, until their world is over: they no longer act, but their lives end
            (``terminated``) only then. Living agents act in every step.
        ignores_illegal: True if an illegal choice does nothing, even if no legal choice does nothing.
        first_world: index of the batch's first world among all worlds of its seed.
        num_populations: number of populations, which share no weights, of the world's agents; see `population`.
        population_names: unique names of letters, digits, ``_``, ``-`` and dots; None: pop0, pop1, ...
        teams: slots that win and lose together, one tuple per team; None = each agent plays for itself.
        later_metrics: further per-agent metrics may appear in play, from infos of an environment without declared metrics.
        per_team: names of metrics with one value per team, repeated for its agents.
        scripted: slots that the world plays itself; they never act.
        team_names: names of `teams`; None: team0, team1, ...
        privileged_view: whether `draw` and `describe` show secrets (hidden roles); None = the world has none.
            `draw` declares the same layers either way.
        state_space: the space of one row of `global_state`, one float32 Box of one axis; None = no global state.
        frames_per_step: frames of a video per step; worlds with texts need several, to be read.
        tick_seconds: length of a step in the world's own time, for watching and playing live; None = it has none, and a step
            lasts a tenth of a second, or as long as in a video if that is longer.
        action_names: names of choices for people: head -> names of its choices (of a Box: of its numbers), heads in the order of
            the action space; with several kinds, kind name -> such a mapping. None = no names.
        instruments: readers of this world for `interplay.evaluate`, which worlds do not import, by name:
            ``ticks`` (see `lifetimes.tick.tick_reader`), ``moments`` (`lifetimes.survival_world.moments`) and ``talk`` (see `communication.recording.Reader`) -> ``module:attribute``.
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
    scripted: tuple[int, ...] = ()
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
        """Metrics of the current episode, per world (W,) or per agent (W, A).

        When an episode ends, its final values remain until the world is reset. A share without cases is NaN, which
        means skip it.
        """
        return {}

    @property
    def lasting_metrics(self) -> Mapping[str, Array]:
        """`metrics` without those that come in play, see `later_metrics`."""
        return self.metrics

    @property
    def population(self) -> Array:
        """(W, A) uint8, the population of each slot's agent, below `num_populations`; empty slots keep an old number.

        It may change with every birth. Worlds with one population return 0.
        """
        return np.zeros((self.num_worlds, len(self.agents)), np.uint8)

    def reset(self, which: Array | None = None, seeds: int | Array | None = None) -> TimeStep:
        """Restarts the worlds in `which` and leaves the others unchanged.

        Args:
            which: (W,) bool mask, or indices of worlds; None restarts all.
            seeds: None continues each world's own stream (its next episode). An int names new streams
                (`seeding.world_seeds`), for a part of a batch those of its worlds. An array (W,) of uint64 sets each world's seed directly, so that
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
        """Converts an observation, action or mask to kind name -> value, also for worlds with one kind."""
        if len(self.kinds) == 1:
            return {self.kinds[0].name: tree}
        return tree if tree is not None else {kind.name: None for kind in self.kinds}

    def global_state(self) -> Array:
        """The state of each world for critics: (W, n) float32, each row in `state_space`.

        A new array, computed from the contents of `save` only. Worlds with a `state_space` override it.

        Raises:
            UserError: if the world has none.
        """
        raise UserError(
            f"{self.id}: it has no global state (state_space is None); use the observations, or write global_state"
        )

    def team_states(self) -> Array:
        """The global state from each team's side: (W, T, m) float32, in the order of `teams`; (W, 1, n) if all share one.

        A new array. The first is `global_state`; shorter ones are padded with zeros. Worlds with one state per team override it.
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

        The length of an array may differ between snapshots, if rows are padded with zeros; `hash` then has to
        be overridden, because it must not depend on the padding.
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
        """Keys for the choices of a slot, by the names of `action_names`; None: people choose from a form."""
        return None

    @property
    def takes_clicks(self) -> bool:
        """Whether a person who plays this world can use clicks."""
        return type(self).click is not World.click

    def click(self, world: int, slot: int, x: float, y: float) -> Mapping[str, str] | None:
        """The choice that a click at a place of the scene means for a slot: head -> choice, by name; None: none."""
        return None

    def stand_at(self, world: int, slot: int, x: float, y: float) -> bool:
        """Moves an agent and refreshes its observation, for maps of a policy's outputs by place; used on a copy.

        Args:
            x, y: the place, in the units of `draw`.

        Returns:
            Whether it was moved; False if there is no room or it is not alive, and nothing has changed.
        """
        raise UserError(f"{self.id}: it cannot move an agent elsewhere; write stand_at for your world")

    def visible(self, world: int, slot: int) -> Visible | None:
        """The parts of the layers of `draw` that a slot observes, for people who play it (`interplay.core.fog`).

        `interplay.core.fog.EVERYTHING` if nothing is hidden; layers that are not named are hidden; None: unknown, and the player
        sees all.
        """
        return None

    def describe(self, world: int) -> list[Line]:
        """One world's last step in words; the default is its scene in characters."""
        from interplay.core.scene import scene_of
        from interplay.core.scene_text import scene_lines

        return [line(text) for text in scene_lines(scene_of(self, world))]

    def phase(self, world: int) -> str | None:
        """The part of the episode of the last step, in a word (night, day), for marks on the time line.

        After a reset that of the next step; None: episodes have no parts.
        """
        return None

    def observation_guides(self, world: int, slot: int) -> Guides:
        """How people read a slot's present observation: field -> its parts; fields without parts are shown as they are."""
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
    """A time step without observation and mask: ``TimeStep(observation, *outputs, action_mask)``."""

    reward: Array  # (W, A) float32
    acting: Array  # (W, A) bool
    terminated: Array  # (W, A) bool
    truncated: Array  # (W, A) bool
    over: Array  # (W,) bool


class ArrayWorld(World):
    """A world with its whole state in arrays, the world axis first: `outputs`, and the NamedTuple `state`.

    Subclasses set `self.state` and write `_begin`, `_advance` and `_read`; save, load and hash follow. Valid
    numbers are declared in `state_ranges` and `state_laws`. A subclass that writes `_reset` and `_step` itself
    has to clear `outputs` itself.

    Attributes:
        outputs: buffers that the rules write to. Before `_begin`, all agents of a restarted world act and have reward 0; before
            `_advance`, the last step's rewards and ended lives are cleared. If kernels keep them in records,
            a subclass puts views of those here, and `_arrays` names those to save.
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
        """The time step after `state` was written from outside, with observations and masks recomputed."""
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
        """The arrays of a snapshot, if their names, shapes and dtypes are those of this world, which need not have begun."""
        return fit_snapshot(self.id, snapshot, self._arrays())

    def state_ranges(self) -> Mapping[str, Range]:
        """Valid values of each field of `save`: name -> range; bool fields need none (`interplay.core.ranges`).

        A range contains every value that the rules can reach, and none that would make them read or write out of bounds.
        """
        return {}

    def state_laws(self) -> Sequence[Invariant]:
        """Invariants between fields, in the order of the checks: links without circles, counts that match."""
        return ()

    def _begin(self, which: Array, seeds: Array | None) -> None:
        """Begins an episode in the worlds of the (W,) bool mask `which`; `seeds` is (W,) uint64 or None (next episode)."""
        raise NotImplementedError

    def _advance(self, action: Any) -> None:
        """Steps every world that is not over with checked actions."""
        raise NotImplementedError

    @abstractmethod
    def _read(self) -> TimeStep:
        """The time step: the observation, and `outputs`."""

    def _refuse_illegal(self, action: Any) -> None:
        """Raises `UserError` for illegal choices that lie in the space, before anything changes."""

    def _forget(self) -> None:
        """Clears the last step's rewards and ended lives, also in worlds that are over."""
        for array in (self.outputs.reward, self.outputs.terminated, self.outputs.truncated):
            array.fill(0)

    def _look_anew(self) -> None:
        """Recomputes what is derived from the state and stored beside it: observations, masks."""

    def _arrays(self) -> dict[str, Array]:
        """The arrays of a snapshot: the state, and those outputs that it does not contain."""
        arrays = self.state._asdict()
        return arrays | {name: array for name, array in self.outputs._asdict().items() if name not in arrays}
