"""The persistent world: spaces, reset, step, metrics (specification 2 and 5 to 8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from interplay.core import seeding
from interplay.core.controls import ARROWS, Controls, arrows, direction_to
from interplay.core.errors import UserError
from interplay.core.fog import Visible
from interplay.core.guides import Guide
from interplay.core.jit import records
from interplay.core.kernel_world import KernelWorld, read_only
from interplay.core.ranges import Invariant, Range
from interplay.core.scene import Canvas
from interplay.core.world import Kind, Outputs, TimeStep
from interplay.worlds.mmo import global_state, tasks, terrain
from interplay.worlds.mmo.config import MmoSettings
from interplay.worlds.mmo.ghosts import look_as_ghosts
from interplay.worlds.mmo.guides import guides_of
from interplay.worlds.mmo.ranges import laws_of, ranges_of
from interplay.worlds.mmo.render import draw, visible
from interplay.worlds.mmo.rules import tick
from interplay.worlds.mmo.rules.numbers import rules_of
from interplay.worlds.mmo.spaces import STYLE_NAMES, action_names, action_space, fields_of, observation_space
from interplay.worlds.mmo.state import (
    BLOW,
    CAUSES,
    NONE,
    MmoState,
    allocate_scratch,
    allocate_sight,
    allocate_state,
)

KEYS = {"ArrowUp": "north", "ArrowDown": "south", "ArrowLeft": "west", "ArrowRight": "east"}
_BY_STEP = {step: KEYS[key] for key, step in ARROWS.items()}
_ENDED = ("life", "cause", "population", "kills", "food", "water", "harm", "id")


class MmoWorld(KernelWorld):
    """W tile worlds in which agents are born, eat, drink, fight, die and are replaced.

    A slot holds one agent after another; ``acting`` marks slots with a living one.

    Attributes:
        state: the arrays (`state.MmoState`); after writing to them call `refresh`.
    """

    frames_per_step = 6  # five ticks a second: fights can be followed
    tick_seconds = 0.6  # docs/specs/viewer.md 7
    version = 1
    persistent = True
    respawns = True
    ignores_illegal = True
    causes = CAUSES  # names of the numbers in ``ended["cause"]``
    instruments = MappingProxyType({"ticks": "interplay.evaluate.lifetimes.mmo.ticks:read_tick"})

    def __init__(
        self,
        settings: MmoSettings,
        num_worlds: int = 1,
        seed: int = 0,
        threads: int = 1,
        first_world: int = 0,
    ) -> None:
        self.settings = settings
        self.num_populations = settings.npop
        self.persistent = settings.max_ticks is None
        slots = tuple(range(settings.slots))
        kind = Kind("agent", slots, observation_space(settings), action_space(settings))
        super().__init__(num_worlds, [f"slot_{i}" for i in slots], [kind], seed, first_world, threads)
        self.action_names = action_names(settings)
        self.state: MmoState = allocate_state(settings, num_worlds)
        self.state_space = global_state.space_of(settings)
        self._sight = allocate_sight(settings, self.state, num_worlds, settings.slots)
        self._scratch = allocate_scratch(settings, self._chunks.threads)
        self._fallen = records((num_worlds, settings.slots), BLOW)
        self._table = rules_of(settings)
        self._terrain = terrain.terrain_numbers(settings)
        self._task = settings.read_task()
        s = self.state
        self.outputs = Outputs(s.reward, s.acting, s.terminated, s.truncated, s.room["over"])
        fields = {name: read_only(array) for name, array in fields_of(self._sight, settings).items()}
        self._views = TimeStep(fields, *self.outputs, {"action": read_only(self._sight.mask)})

    # -- queries -----------------------------------------------------------------------------------------------------

    @property
    def population(self) -> np.ndarray:
        """(W, N) uint8, the population of each slot's occupant."""
        return self.state.agent["population"]

    @property
    def ended(self) -> dict[str, np.ndarray]:
        """Each slot's last ended life, (W, N): this tick's where ``timestep.terminated`` or ``truncated``.

        ``life`` ticks survived, ``cause`` (see `state.CAUSES`), ``population``, ``kills``, ``food`` and ``water`` taken up,
        ``harm`` damage dealt, ``id`` the life's number in its world; with a `task` also ``task``, its progress.
        """
        found = {name: self.state.tally[f"ended_{name}"] for name in _ENDED}
        return found if self._task is None else {**found, "task": self._progress()}

    @property
    def blows(self) -> dict[str, np.ndarray]:
        """The attacks that landed in this tick, by the attacker's slot, (W, N), also of attackers that died in it.

        ``struck`` the slot that was hit, or -1; ``style`` (see `config.STYLES`); ``row`` and ``col`` of the attacker;
        ``struck_row`` and ``struck_col`` of the target, relative to it.
        """
        s = self.state
        found = {name: np.where(s.terminated, self._fallen[name], s.agent[name]) for name in BLOW.names or ()}
        # A finished world keeps the attacks of its last tick, in which lives ended.
        past = s.room["over"] & ~(s.terminated | s.truncated).any(axis=1)
        found["struck"][past] = NONE
        return found

    @property
    def metrics(self) -> Mapping[str, np.ndarray]:
        """Of the episode so far, per world (W,): living agents, births, deaths, deaths by cause, and two more.

        ``mean_life``: ticks, of the lives that ended by death; NaN without any. With `count_visits` ``coverage``: the share of
        reachable tiles visited.
        """
        room, causes = self.state.room, self.state.causes
        found = {
            "living": room["living"].astype(np.int64),
            "births": room["births"].copy(),
            "deaths": room["deaths"].copy(),
            "mean_life": room["life_ticks"] / np.where(room["deaths"], room["deaths"], np.nan),
        }
        for number, name in enumerate(CAUSES[1:-1], 1):
            found[f"deaths_{name.replace(' ', '_')}"] = causes[:, number].copy()
        if self.settings.count_visits:
            seen = (self.state.visits > 0).any(axis=1) & self.state.reachable
            found["coverage"] = seen.sum(axis=(1, 2)) / np.maximum(room["ground"], 1)
        return found

    def observe_ghosts(
        self,
        world: int,
        rows: np.ndarray,
        cols: np.ndarray,
        population: int = 0,
        health: int | None = None,
        food: int | None = None,
        water: int | None = None,
    ) -> dict[str, np.ndarray]:
        """Observations of imaginary newcomers at places of a world as it is now; they are invisible to all agents.

        Args:
            world: number in the batch.
            rows, cols: (K,) places of the array of side T, not in the outer `vision` rows of lava.
            population: theirs.
            health, food, water: theirs; None is the maximum.

        Returns:
            Observation fields of shape (1, K, ...), and ``"action_mask"`` (1, K, choices).

        Raises:
            UserError: for a place with a view beyond the map, or an unknown world or population.
        """
        s = self.settings
        places = np.stack([np.asarray(rows, np.int64).ravel(), np.asarray(cols, np.int64).ravel()], axis=1)
        if not 0 <= world < self.num_worlds:
            raise UserError(f"world {world} is not one of worlds 0..{self.num_worlds - 1}")
        if not 0 <= population < s.npop:
            raise UserError(f"population {population} is not one of populations 0..{s.npop - 1}")
        if len(places) and (places.min() < s.vision or places.max() >= s.side - s.vision):
            raise UserError(
                f"places {places.min()}..{places.max()} are outside of {s.vision}..{s.side - s.vision - 1}, where views fit"
            )
        full = ((health, s.health), (food, s.food), (water, s.water))
        stats = [most if given is None else given for given, most in full]
        # At least two places: views of one would be of another type for Numba.
        sight = allocate_sight(s, self.state, 1, max(len(places), 2))
        look_as_ghosts(self.state, sight, self._table, self._scratch, world, places, population, *stats)
        found = {**fields_of(sight, s), "action_mask": sight.mask}
        return {name: array[:, : len(places)] for name, array in found.items()}

    def global_state(self) -> np.ndarray:
        """Place and condition of every agent, seven numbers per slot (`global_state`)."""
        return global_state.global_state(self.state, self.settings)

    def controls(self, slot: int) -> Controls:
        """Arrows move, 1 to 3 choose the style; without a key the agent stays."""
        styles = {str(number): {"attack": name} for number, name in enumerate(STYLE_NAMES, 1)}
        idle = {"move": "stay"} | ({"attack": "none"} if self.settings.no_attack else {})
        return Controls({**arrows("move", KEYS), **styles}, idle)

    def click(self, world: int, slot: int, x: float, y: float) -> dict[str, str] | None:
        """A click on a neighbouring tile moves there; the rules choose the targets of attacks."""
        agent = self.state.agent[world, slot]
        step = direction_to(np.floor(x) - agent["col"], np.floor(y) - agent["row"])
        return None if step is None else {"move": _BY_STEP[step]}

    def observation_guides(self, world: int, slot: int) -> dict[str, tuple[Guide]]:
        """A crop of tiles, and rows of the agent and those in view."""
        return guides_of(self, world, slot)

    def visible(self, world: int, slot: int) -> Visible:
        """The crop around the agent and the agents in it; empty for an empty slot."""
        return visible(self, world, slot)

    def draw(self, canvas: Canvas, world: int) -> None:
        draw(canvas, self, world)

    # -- reset and step -----------------------------------------------------------------------------------------------

    def _begin(self, which: np.ndarray, seeds: np.ndarray | None) -> None:
        seeding.begin_episode(self.state.stream, which, seeds)
        for table in (self.state.agent, self.state.tally, self.state.depleted):
            table[which] = np.zeros((), table.dtype)  # empty rows, which hashes include
        room = self.state.room
        map_seed, cap = room["map_seed"].copy(), room["cap"].astype(np.int64)
        tick.draw_world(self.state.stream, self._table, which, map_seed, cap)
        room["map_seed"], room["cap"] = map_seed, cap
        self._make_ground(np.flatnonzero(which))
        quotas = self.settings.quotas
        share = -(-cap // self.settings.npop)[:, None] if quotas is None else np.asarray(quotas)[None, :]
        self.state.quota[which] = np.broadcast_to(share, self.state.quota.shape)[which]
        self._run(tick.begin_worlds, self.state, self._sight, self._table, self._scratch, which)

    def _make_ground(self, which: np.ndarray) -> None:
        """Makes the maps of these worlds from their seeds."""
        state, total = self.state, terrain.allocate_scratch(self.settings)
        for w in which:
            seed = state.room["map_seed"][w]
            found = terrain.make_terrain(seed, *self._terrain, state.tiles[w], state.reachable[w], *total)
            terrain.check_ground(self.settings, found, int(seed))
            state.room["ground"][w] = found

    def _advance(self, action: np.ndarray) -> None:
        if self._task is None:
            self._tick(action)
            return
        took_part, before = self.state.acting.copy(), self._progress()
        self._tick(action)
        s, gone = self.state, self.state.terminated
        change = np.where(took_part, self.settings.reward_task * (self._progress() - before), 0.0)
        population = np.where(gone, s.tally["ended_population"], s.agent["population"])
        s.reward[:] += tasks.share_among(change, population, took_part, self.settings.team_spirit)

    def _progress(self) -> np.ndarray:
        """(W, N) progress with the task: of the life that ended in this tick, else of the current one."""
        assert self._task is not None
        ground = self.settings.side, self.settings.border
        living = tasks.progress(self._task, tasks.living(self.state, self._sight), *ground)
        ended = tasks.progress(self._task, tasks.ended(self.state), *ground)
        return np.where(self.state.terminated, ended, living)

    def _tick(self, action: np.ndarray) -> None:
        state, sight, table, scratch = self.state, self._sight, self._table, self._scratch
        self._run(tick.step_worlds, state, sight, self._fallen, table, scratch, action)

    def _look_anew(self) -> None:
        for name in BLOW.names or ():  # a snapshot does not hold attackers that were replaced
            self._fallen[name] = self.state.agent[name]
        self._run(tick.look_at_worlds, self.state, self._sight, self._table, self._scratch)

    def state_ranges(self) -> Mapping[str, Range]:
        return ranges_of(self.settings)

    def state_laws(self) -> Sequence[Invariant]:
        return laws_of(self.settings)
