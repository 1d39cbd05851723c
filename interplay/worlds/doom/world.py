"""Doom as a world: spaces, reset, step, rewards, metrics, lost matches."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np

from interplay.core import seeding
from interplay.core.controls import Controls
from interplay.core.errors import CannotSave, UserError
from interplay.core.overdue import print_line
from interplay.core.scene import Canvas
from interplay.core.world import ArrayWorld, Kind, TimeStep
from interplay.sim.batch.layout import place, size_of
from interplay.sim.batch.world import environment_seeds
from interplay.worlds.doom.buttons import ACTION_SETS, action_space, buttons_of, names_of, press_table
from interplay.worlds.doom.config import HISTORY, LOST_IN_A_ROW, TICS_PER_SECOND, DoomSettings
from interplay.worlds.doom.host import STEP
from interplay.worlds.doom.match import Matches
from interplay.worlds.doom.observe import PICTURES, observation_space, shared_shapes
from interplay.worlds.doom.outcome import outcomes
from interplay.worlds.doom.post_rules import post_rule
from interplay.worlds.doom.render import draw_screens, keys_of
from interplay.worlds.doom.rewards import NAVIGATION, enter_room, reward_vector
from interplay.worlds.doom.variables import COLUMN, FRAGS_OF, scaled

_COUNTED = ("frags", "deaths", "hits", "hits_taken", "kills")  # metrics of an episode, by variable


class DoomWorld(ArrayWorld):
    """W matches of A players, each match with its engines in processes of its own.

    A dead player does not act until the engine lets it respawn. A match that ends by its length, with several sides, is
    terminated; `doom/basic` is terminated by the kill and truncated by its length. A match whose engine has died, or has not
    answered within `deadline`, is truncated, and its next reset starts new engines.

    Attributes:
        rewards: (W, A, 10) float64, the last step's components (`interplay.worlds.doom.config.COMPONENTS`); zeros where the
            engine's own reward is paid.
    """

    version = 1

    def __init__(
        self, settings: DoomSettings, num_worlds: int = 1, seed: int = 0, first_world: int = 0
    ) -> None:
        names = [f"player_{a}" for a in range(settings.players)]
        kind = Kind(
            "agent", tuple(range(settings.players)), observation_space(settings), action_space(settings)
        )
        super().__init__(num_worlds, names, [kind], seed, first_world)
        self.settings = settings
        self.action_names = names_of(settings)
        self.tick_seconds = settings.frames / TICS_PER_SECOND
        shapes = shared_shapes(settings, num_worlds)
        memory = multiprocessing.get_context("spawn").RawArray("b", size_of(shapes))
        self._shared = place(shapes, memory)
        self._matches = Matches(settings, num_worlds, memory)
        self._stream = seeding.new_stream(num_worlds)
        slots = (num_worlds, settings.players)
        self.rewards = np.zeros((*slots, len(settings.weights)))
        self._before = self._shared["variables"].copy()
        self._first = self._before.copy()  # variables at the episode's beginning
        self._steps = np.zeros(num_worlds, np.int64)
        self._drift = np.zeros(num_worlds, np.int64)
        self._restarts = np.zeros(num_worlds, np.int64)
        self._outcome = np.full(slots, np.nan)
        self._rooms: dict[tuple[int, int], set[tuple[int, int]]] = {}
        self._past: dict[tuple[int, int], deque[int]] = {}
        self._choices = () if settings.actions == "buttons" else ACTION_SETS[settings.actions]
        self._buttons = buttons_of(settings)
        self._table = press_table(self._choices, self._buttons)

    @property
    def metrics(self) -> Mapping[str, np.ndarray]:
        """Counts of the episode (W, A), ``outcome`` at its end, ``tic_drift`` and ``engine_restarts`` (W,).

        ``tic_drift`` is the largest difference of the players' tics; ``engine_restarts`` counts lost matches of the world's life.
        """
        since = self._shared["variables"] - self._first
        counts = {name: since[..., COLUMN[name]] for name in _COUNTED}
        return counts | {
            "outcome": self._outcome,
            "tic_drift": self._drift,
            "engine_restarts": self._restarts,
        }

    def controls(self, slot: int) -> Controls | None:
        return keys_of(self.settings)

    def draw(self, canvas: Canvas, world: int) -> None:
        shared = self._shared
        draw_screens(canvas, shared["screen"][world], self.agents, shared["variables"][world])

    def save(self) -> dict[str, np.ndarray]:
        """Refused: the state is in the engines.

        Raises:
            CannotSave: always.
        """
        raise CannotSave(
            f"{self.id}: the state of a match is in the engine and cannot be saved; reset it instead"
        )

    def load(self, snapshot: Mapping[str, np.ndarray]) -> TimeStep:
        """Refused, as `save` is."""
        raise CannotSave(f"{self.id}: a match cannot be restored; reset it instead")

    def close(self) -> None:
        self._matches.close()

    def _begin(self, which: np.ndarray, seeds: np.ndarray | None) -> None:
        seeding.begin_episode(self._stream, which, seeds)
        self._shared["seed"][:] = environment_seeds(self._stream)[:, None]
        self._start_matches(np.flatnonzero(which).tolist())
        for name in ("_steps", "_drift"):
            getattr(self, name)[which] = 0
        self.rewards[which] = 0
        self._outcome[which] = np.nan
        self._first[which] = self._before[which] = self._shared["variables"][which]
        for w in np.flatnonzero(which).tolist():
            for a in range(len(self.agents)):
                self._forget_life(w, a)
        self.outputs.acting[which] = ~self._shared["dead"][which]

    def _start_matches(self, worlds: list[int]) -> None:
        """Begins an episode in each world; a match that is lost on the way is started anew."""
        for _ in range(LOST_IN_A_ROW):
            lost = self._matches.reset(worlds)
            for w, trouble in lost.items():
                self._restarts[w] += 1
                print_line(f"{self.id}: world {w}: {trouble} as its episode began; it is started anew")
            worlds = list(lost)
            if not worlds:
                return
        raise UserError(f"{self.id}: world {worlds[0]}: {lost[worlds[0]]}, {LOST_IN_A_ROW} times in a row")

    def _advance(self, action: np.ndarray) -> None:
        shared = self._shared
        going = ~self.outputs.over
        shared["presses"][:] = self._presses(action) * self.outputs.acting[..., None]
        self._before[:] = shared["variables"]
        was_alive = ~shared["dead"]
        lost = self._matches.command(STEP, np.flatnonzero(going).tolist())
        self._steps[going] += 1
        whole = going.copy()
        whole[list(lost)] = False
        self._pay(whole, was_alive & ~shared["dead"])
        if self.settings.players > 1:
            self._drift[whole] = np.maximum(self._drift, np.ptp(shared["tic"], axis=1))[whole]
        self.outputs.acting[whole] = ~shared["dead"][whole]
        self._end_matches(whole)
        self._cut(lost)

    def _presses(self, action: np.ndarray) -> np.ndarray:
        """(W, A, buttons): the value of each button."""
        if self.settings.actions == "buttons":
            return action
        if not self.settings.post_rules:
            return self._table[action]
        presses = np.zeros((*action.shape, len(self._buttons)))
        for w, a in np.argwhere(self.outputs.acting).tolist():
            past, choice = self._past[w, a], int(action[w, a])
            held = post_rule(self._choices, tuple(past), choice, self.settings.navigate)
            for name, value in held.items():
                presses[w, a, self._buttons.index(name)] = value
            past.append(choice)
        return presses

    def _pay(self, whole: np.ndarray, alive: np.ndarray) -> None:
        """Writes the rewards of the worlds in `whole`; `alive` (W, A) lived throughout the step."""
        shared, settings = self._shared, self.settings
        if shared["dead"].any():
            for w, a in np.argwhere(whole[:, None] & shared["dead"]).tolist():
                self._forget_life(w, a)
        if settings.reward == "engine":
            self.outputs.reward[whole] = shared["paid"][whole]
            return
        self.rewards[:] = reward_vector(self._before, shared["variables"], alive)
        for w, a in np.argwhere(whole[:, None] & alive).tolist():
            x, y = shared["variables"][w, a, [COLUMN["x"], COLUMN["y"]]]
            self.rewards[w, a, NAVIGATION] = enter_room(self._rooms[w, a], x, y)
        self.rewards[~whole] = 0
        self.outputs.reward[whole] = (self.rewards @ np.array(settings.weights))[whole]

    def _end_matches(self, whole: np.ndarray) -> None:
        """Ends matches by the map's rules or their length, and writes their outcomes."""
        settings, outputs = self.settings, self.outputs
        by_rule = whole & self._shared["ended"].any(axis=1)
        by_length = whole & ~by_rule & (self._steps * settings.frames >= settings.tics)
        if not (by_rule | by_length).any():
            return
        outputs.over[by_rule | by_length] = True
        played = by_rule | by_length if settings.together else by_rule
        outputs.terminated[played] = True
        outputs.truncated[by_length & ~played] = True
        outputs.acting[outputs.over] = False
        if settings.together:
            for w in np.flatnonzero(played).tolist():
                self._rank(w)

    def _rank(self, w: int) -> None:
        """Writes the outcome of a match, which takes the place of navigation in the last reward (specification 7.5)."""
        settings, outcome = self.settings, self._outcome[w]
        frags = self._shared["variables"][w, :, COLUMN["frags"]]
        numbers = self._shared["variables"][w, :, COLUMN["number"]].astype(int).tolist()
        of_all = self._shared["variables"][w, 0, FRAGS_OF][: settings.players + settings.bots]
        bots = [n for n in range(len(of_all)) if n not in numbers]
        outcome[:] = outcomes(np.concatenate([frags, of_all[bots]]))[: settings.players]
        if settings.reward == "vector":
            self.rewards[w, :, NAVIGATION] = outcome
            self.outputs.reward[w] = self.rewards[w] @ np.array(settings.weights)

    def _cut(self, lost: Mapping[int, str]) -> None:
        """Truncates the episodes of lost matches."""
        for w, trouble in lost.items():
            self._restarts[w] += 1
            outputs = self.outputs
            outputs.truncated[w], outputs.acting[w], outputs.over[w] = True, False, True
            print_line(
                f"{self.id}: world {w}: {trouble} at step {self._steps[w]}; its episode is cut, the next starts new engines"
            )

    def _forget_life(self, w: int, a: int) -> None:
        """Clears what a player's life has gathered: rooms and decisions."""
        self._rooms[w, a] = set()
        self._past[w, a] = deque(maxlen=HISTORY)

    def _read(self) -> TimeStep:
        observation: dict[str, Any] = {
            name: _read_only(self._shared[name]) for name in PICTURES if name in self._shared
        }
        observation["variables"] = scaled(self._shared["variables"], self.settings.variables)
        return TimeStep(observation, *self.outputs)


def _read_only(array: np.ndarray) -> np.ndarray:
    view = array.view()
    view.flags.writeable = False
    return view
