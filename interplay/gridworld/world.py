"""A declared simulation in many copies: one `World`, stepped by kernels alone."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.core import seeding
from interplay.core.chunks import Chunks
from interplay.core.controls import Controls
from interplay.core.errors import UserError
from interplay.core.fog import Visible
from interplay.core.jit import records
from interplay.core.ranges import Invariant, Range, of_space
from interplay.core.scene import Canvas
from interplay.core.spaces import action_choices
from interplay.core.world import ArrayWorld, Outputs, TimeStep
from interplay.gridworld.batch import Batch
from interplay.gridworld.board import AGENT, CELL, Array, global_state, repeated, state_space
from interplay.gridworld.draw import draw_board, visible_board
from interplay.gridworld.keys import clicked, controls_for
from interplay.gridworld.ranges import BOARD_LAWS, REPORT_LAWS, board_ranges, report_ranges
from interplay.gridworld.rules import report
from interplay.gridworld.rules.placement import shuffle_orders
from interplay.sim.batch.layout import read_layout
from interplay.sim.batch.managed import ManagedSimulation
from interplay.sim.batch.world import environment_seeds
from interplay.sim.managers import AllStepManager, SimulationManager, TurnBasedManager

if TYPE_CHECKING:
    from interplay.gridworld.smart import SmartGridWorldSimulation


class GridWorld(ArrayWorld):
    """W copies of a declared simulation under an all-step or a turn-based manager.

    Equal to `interplay.sim.adapt.SimulationWorld` of the manager, bit for bit, and far faster.

    Metrics: ``episode_length`` (W,) steps, ``episode_return`` (W, A), ``alive`` (W, A), 1 while the agent is active, and those of
    `SmartGridWorldSimulation.measure`.

    Args:
        sim: the simulation; it is not changed.
        manager: sets the acting order and the time limit.
    """

    def __init__(
        self,
        sim: SmartGridWorldSimulation,
        manager: SimulationManager,
        num_worlds: int,
        seed: int = 0,
        first_world: int = 0,
        threads: int = 1,
    ) -> None:
        layout = read_layout(ManagedSimulation(copy.deepcopy(manager)))
        self.id = layout.name
        super().__init__(num_worlds, layout.agents, [kind.kind for kind in layout.kinds], seed, first_world)
        self._layouts = layout.kinds
        self._sim = copy.deepcopy(sim)
        grid = self._sim.grid
        grid.join(self._sim.agents.values())  # also agents that were added after it was built
        self._batch = Batch(self._sim.parts, grid, repeated(grid.board, num_worlds))
        self.state_space = state_space(self._batch.board)
        self._board_ranges = board_ranges(self._batch.board, fixed=not self._sim.parts.foreign)
        self._learners = np.array([grid.slot_of(self._sim.agents[name]) for name in layout.agents], np.int32)
        self._in_turns = isinstance(manager, TurnBasedManager)
        self._shuffled = isinstance(manager, AllStepManager) and manager.randomize_action_input
        self._limit = manager.time_limit or 0
        self._chunks = Chunks(num_worlds, threads)
        self._make_buffers(num_worlds, len(layout.agents), len(grid.agents))

    def _make_buffers(self, worlds: int, learners: int, agents: int) -> None:
        self._stream = seeding.new_stream(worlds)
        self._reports = records((worlds, learners), report.LEARNER)
        self._room = records(worlds, report.ROOM)
        self.outputs = Outputs._make(
            [*(self._reports[name] for name in Outputs._fields[:-1]), self._room["over"]]
        )
        self._queried = np.zeros((worlds, agents), bool)
        self._returns = np.zeros((worlds, learners))
        self._seen = {
            kind.key("observation", leaf): np.zeros(
                (worlds, len(kind.kind.slots), *(leaf.space.shape or ())), leaf.space.dtype
            )
            for kind in self._layouts
            for leaf in kind.observation
        }
        self._slots = {kind.kind.name: self._learners[list(kind.kind.slots)] for kind in self._layouts}
        self._encoders = self._group_encoders()
        self.action_names, self._controls = self._name_choices()
        self._viewers = [observer.supported_slots() for observer in self._sim.observers]
        observation = {
            kind.kind.name: {
                leaf.name: self._seen[kind.key("observation", leaf)] for leaf in kind.observation
            }
            for kind in self._layouts
        }
        self._legal = {
            kind.key("mask", leaf): np.ones(
                (worlds, len(kind.kind.slots), sum(action_choices(_space(kind, leaf)))), np.bool_
            )
            for kind in self._layouts
            for leaf in kind.masks
        }
        masks = {
            kind.kind.name: {leaf.name: self._legal[kind.key("mask", leaf)] for leaf in kind.masks}
            for kind in self._layouts
        }
        whole = next(iter(masks.values())) if len(masks) == 1 else masks
        only = next(iter(observation.values())) if len(observation) == 1 else observation
        self._views = TimeStep(only, *self.outputs, whole if self._legal else None)

    @property
    def metrics(self) -> Mapping[str, Array]:
        return {
            "episode_length": self._room["length"],
            "episode_return": self._returns,
            "alive": self._batch.board.agents["active"][:, self._learners],
            **self._sim.measure(self._batch.board),
        }

    def global_state(self) -> Array:
        """Place and condition of every agent, six numbers each (`global_state`)."""
        return global_state(self._batch.board)

    def controls(self, slot: int) -> Controls | None:
        """Arrows for moving agents, Space for attackers; without a key the idle choice of the actors."""
        return self._controls[slot]

    def visible(self, world: int, slot: int) -> Visible | None:
        """Cells that the observers show, with their occupants, and the agent itself; None if unknown to an observer."""
        kind = next(kind for kind in self._layouts if slot in kind.kind.slots)
        column, own = kind.kind.slots.index(slot), int(self._learners[slot])
        agent, board = self._sim.agents[self.agents[slot]], self._batch.board
        row, col = int(board.agents["row"][world, own]), int(board.agents["col"][world, own])
        seen = np.zeros(board.cells.shape[1:], bool)
        for observer in self._sim.observers:
            if not observer.supports(agent):
                continue
            leaves = {leaf.path[1:]: leaf for leaf in kind.observation if leaf.path[0] == observer.key}
            whole = (
                None if () not in leaves else self._seen[kind.key("observation", leaves[()])][world, column]
            )
            find = getattr(observer, "seen_cells", None)
            cells = None if find is None else find(agent, whole, row, col)
            if cells is None:
                return None
            seen |= cells
        return visible_board(board, self._sim.grid.agents, world, own, seen)

    def click(self, world: int, slot: int, x: float, y: float) -> dict[str, str] | None:
        """A click on a neighbouring cell moves there, or attacks if it is occupied and the agent can."""
        names = self.by_kind(self.action_names).get(next(k.name for k in self.kinds if slot in k.slots))
        board, own = self._batch.board.agents[world], self._learners[slot]
        row, col = np.floor(y), np.floor(x)
        others = (board["row"] == row) & (board["col"] == col) & board["active"] & board["placed"]
        others[own] = False
        seen = None if not others.any() else self.visible(world, slot)
        if seen is not None:  # only visible cells count: otherwise a click would reveal hidden agents
            others &= seen["ground"][int(row), int(col)]
        return clicked(names or {}, col - board["col"][own], row - board["row"][own], bool(others.any()))

    def _name_choices(self) -> tuple[dict[str, Any] | None, list[Controls | None]]:
        """Names of the choices, by kind if there are several, and the controls of each slot."""
        names: dict[str, Any] = {}
        controls: list[Controls | None] = [None] * len(self.agents)
        for kind in self._layouts:
            answers = [
                self._names_by_actor(kind, key) for key in dict.fromkeys(leaf.path[0] for leaf in kind.action)
            ]
            heads = {head: choices for part in answers for head, choices in (part or ({}, {}))[0].items()}
            if any(part is None for part in answers):
                continue
            names[kind.kind.name] = heads
            idle = {head: choice for part in answers for head, choice in (part or ({}, {}))[1].items()}
            for slot in kind.kind.slots:
                controls[slot] = controls_for(heads, idle)
        only = len(self._layouts) == 1
        return (next(iter(names.values()), None) if only else names or None), controls

    def _names_by_actor(self, kind: Any, key: Any) -> tuple[dict[str, Any], dict[str, str]] | None:
        """Names of one channel's choices by its actor, and the idle ones."""
        members = [self._sim.agents[self.agents[slot]] for slot in kind.kind.slots]
        agent = members[0]
        actor = next((one for one in self._sim.actors if one.key == key and one.supports(agent)), None)
        names = None if actor is None else actor.choice_names(agent)
        if actor is None or names is None or any(actor.choice_names(one) != names for one in members):
            return None
        parts = [leaf.path[1] for leaf in kind.action if leaf.path[0] == key and len(leaf.path) > 1]
        # Actors name a Dict's parts in their own order, the world in that of its space.
        order = [sorted(parts).index(part) for part in parts] or range(len(names))
        heads = list(names)
        return {heads[place]: names[heads[place]] for place in order}, actor.idle_choices(agent)

    def draw(self, canvas: Canvas, world: int) -> None:
        draw_board(canvas, self._batch.board, self._sim.grid.agents, world)

    def close(self) -> None:
        self._chunks.close()

    def _look_anew(self) -> None:
        self._queried[:] = False
        self._queried[:, self._learners] = self.outputs.acting
        for kind in self._layouts:  # legality follows from the board, whatever the snapshot holds
            for leaf in kind.masks:
                self._find_legal(kind, leaf, 0, self.num_worlds, None)

    def _begin(self, which: Array, seeds: Array | None) -> None:
        seeding.begin_episode(self._stream, which, seeds)
        stream = self._batch.board.stream
        stream[which, 0] = environment_seeds(self._stream)[which].astype(np.uint64)
        stream[which, 1:] = 0
        self._batch.begin(which)
        self._queried[:] = False
        report.first_report(which, self._learners, self._reports, self._room, self._queried, self._in_turns)
        self._returns[which] = 0.0
        self._look(0, self.num_worlds, which)

    def _advance(self, action: Any) -> None:
        choices = self.by_kind(action)
        for place, kind, agent, members in self._encoders:
            actor, slots = self._sim.actors[place], self._slots[kind][members]
            rows = np.zeros((self.num_worlds, len(slots), actor.width), np.int64)
            actor.encode(agent, _part(_channel(choices[kind], actor.key), members), rows)
            self._batch.codes[place][:, slots] = rows
        self._chunks.run(self._step_worlds)

    def _step_worlds(self, _thread: int, lo: int, hi: int) -> None:
        """One step of the worlds lo..hi-1, in the manager's order."""
        batch = self._batch
        order, count = batch.turn
        report.list_acting(self._learners, self._reports, self._room, order, count, lo, hi)
        if self._shuffled:
            shuffle_orders(batch.board.stream, order, count, lo, hi)
        stream = batch.board.stream
        drawn = stream[lo:hi, 2].copy()
        batch.act(lo, hi)
        # A new moment, as in `GridWorldSimulation`: the shown occupant of a cell depends on the stream's position.
        stream[lo:hi, 2] += (stream[lo:hi, 2] == drawn) & (count[lo:hi] > 0)
        batch.evaluate_dones(lo, hi)
        ends, written = (batch.done, batch.ended), (self._reports, self._room, self._queried)
        rules = self._limit, self._in_turns
        report.report(batch.board.agents, *ends, self._learners, *written, *rules, lo, hi)
        self._returns[lo:hi] += self.outputs.reward[lo:hi]
        self._look(lo, hi)

    def _refuse_illegal(self, action: Any) -> None:
        """Refuses illegal choices of acting agents, as the simulation does.

        Raises:
            UserError: naming the agent; nothing has changed then.
        """
        given = self.by_kind(action)
        for kind in self._layouts:
            for leaf in kind.masks:
                legal = self._legal[kind.key("mask", leaf)]
                choices = np.asarray(given[kind.kind.name][leaf.name]).reshape(*legal.shape[:2], -1)
                at = 0
                for head, number in enumerate(action_choices(_space(kind, leaf))):
                    picked = np.take_along_axis(
                        legal[:, :, at : at + number], choices[:, :, head, None], axis=2
                    )
                    wrong = self.outputs.acting[:, list(kind.kind.slots)] & np.logical_not(picked[:, :, 0])
                    at += number
                    if wrong.any():
                        w, column = (int(i) for i in np.argwhere(wrong)[0])
                        raise UserError(
                            f"{self.id}: world {w}, {self.agents[kind.kind.slots[column]]}: {leaf.name} action "
                            f"{choices[w, column, head]} is illegal now; choose where action_mask is True"
                        )

    def _forget(self) -> None:
        """Clears outputs and the views of agents that left an unfinished world."""
        left = (self.outputs.terminated | self.outputs.truncated) & ~self.outputs.over[:, None]
        if left.any():
            for kind in self._layouts:
                gone = left[:, list(kind.kind.slots)]
                for leaf in kind.observation:
                    self._seen[kind.key("observation", leaf)][gone] = 0
        super()._forget()

    def _look(self, lo: int, hi: int, which: Array | None = None) -> None:
        """Writes views and masks of queried agents in the worlds lo..hi-1, or only in those in `which`, (W,) bool."""
        for kind in self._layouts:
            slots = self._slots[kind.kind.name]
            board = self._batch.board
            leaves = {leaf.path: self._seen[kind.key("observation", leaf)] for leaf in kind.observation}
            for observer, users in zip(self._sim.observers, self._viewers, strict=True):
                mine = users[slots]
                if not mine.any():
                    continue
                out: Any = leaves.get((observer.key,))
                if out is None:  # the channel is nested
                    out = {path[1]: array for path, array in leaves.items() if path[0] == observer.key}
                if mine.all():
                    observer.look_all(board, slots, self._queried, out, lo, hi)
                else:
                    seen = _part(out, mine)
                    observer.look_all(board, slots[mine], self._queried, seen, lo, hi)
                    _put(out, mine, seen, lo, hi)
            for leaf in kind.masks:
                self._find_legal(kind, leaf, lo, hi, which)

    def _find_legal(self, kind: Any, leaf: Any, lo: int, hi: int, which: Array | None) -> None:
        """Writes the mask of one part of the action: the actor's entries, expanded to the choices of acting agents."""
        legal = self._legal[kind.key("mask", leaf)]
        columns = np.array(kind.kind.slots)
        for place, name, agent, members in self._encoders:
            actor = self._sim.actors[place]
            if name != kind.kind.name or actor.key != leaf.path[0]:
                continue
            slots = self._slots[name][members]
            found = np.ones((self.num_worlds, len(slots), actor.entries(agent)), bool)
            actor.find_legal(self._batch.board, self._sim.grid.overlap, slots, self._queried, found, lo, hi)
            acting = self.outputs.acting[lo:hi, columns[members]]
            entries = actor.choice_entries(agent, leaf.path[1:])
            shown = found[lo:hi][:, :, entries] | ~acting[:, :, None]
            if which is not None:  # the others were not queried, and keep their masks
                shown = np.where(which[lo:hi, None, None], shown, legal[lo:hi, members])
            legal[lo:hi, members] = shown

    def _group_encoders(self) -> list[tuple[int, str, Any, Any]]:
        """For each actor and kind, groups of agents with actions of one meaning: actor, kind, one of them, their places in the kind.

        Agents of a kind have equal spaces; the meaning of their numbers depends on the actors.
        """
        groups: dict[tuple[int, str, str], list[int]] = {}
        for kind in self._layouts:
            for member, slot in enumerate(kind.kind.slots):
                agent = self._sim.agents[self.agents[slot]]
                for place, actor in enumerate(self._sim.actors):
                    if actor.supports(agent):
                        groups.setdefault((place, kind.kind.name, actor.meaning(agent)), []).append(member)
        encoders = []
        for (place, name, _), members in groups.items():
            slots = self._slots[name]
            agent = self._sim.grid.agents[slots[members[0]]]
            whole = len(members) == len(slots)
            encoders.append((place, name, agent, slice(None) if whole else np.array(members)))
        return encoders

    def _read(self) -> TimeStep:
        return self._views

    def _arrays(self) -> dict[str, Array]:
        board = self._batch.board
        agents = {f"agents.{name}": board.agents[name] for name in AGENT.names or ()}
        cells = {f"cells.{name}": board.cells[name] for name in CELL.names or ()}
        own = {
            "stream": self._stream,
            "board.stream": board.stream,
            "line": self._room["line"],
            "episode_length": self._room["length"],
            "episode_return": self._returns,
            "finished": self._reports["finished"],
            **self.outputs._asdict(),
        }
        theirs = {
            f"{owner}.{name}": array
            for owner, part in self._batch.parts.named()
            for name, array in part.arrays().items()
        }
        return agents | cells | own | theirs | self._seen | self._legal

    def state_ranges(self) -> Mapping[str, Range]:
        theirs = {
            f"{owner}.{name}": allowed
            for owner, part in self._batch.parts.named()
            for name, allowed in part.ranges().items()
        }
        seen = {
            kind.key("observation", leaf): of_space(leaf.space)
            for kind in self._layouts
            for leaf in kind.observation
        }
        return self._board_ranges | report_ranges(len(self.agents), self._limit) | theirs | seen

    def state_laws(self) -> Sequence[Invariant]:
        return *BOARD_LAWS, *REPORT_LAWS


def _space(kind: Any, leaf: Any) -> Any:
    """The space of one part of a kind's actions."""
    return kind.kind.action_space[leaf.name]


def _part(value: Any, members: Any) -> Any:
    """The actions of some members of a kind."""
    if isinstance(value, Mapping):
        return {key: part[:, members] for key, part in value.items()}
    return value[:, members]


def _put(whole: Any, members: Any, part: Any, lo: int, hi: int) -> None:
    """Writes the views of some members of a kind."""
    if isinstance(whole, Mapping):
        for key in whole:
            _put(whole[key], members, part[key], lo, hi)
    else:
        whole[lo:hi, members] = part[lo:hi]


def _channel(choices: Mapping[str, Any], key: str) -> Any:
    """An actor's part of a kind's actions; nested parts have names with dots."""
    if key in choices:
        return choices[key]
    start = f"{key}."
    parts = {int(name[len(start) :]): value for name, value in choices.items() if name.startswith(start)}
    return dict(sorted(parts.items()))  # names are sorted as words, a space's parts as numbers
