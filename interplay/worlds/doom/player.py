"""One player: its engine, what the engine reports, and what the rules remember of its life."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from interplay.worlds.doom.config import AFTER_SHOT, DoomSettings
from interplay.worlds.doom.engine import aims_at_barrel, classes_of, enemies_of, shows_enemy
from interplay.worlds.doom.variables import COLUMN, scaled

DEAD = COLUMN["dead"]
AHEAD = 2  # tics


def calls_of(settings: DoomSettings) -> list[int]:
    """Tics of each call of a decision. An engine that is three tics ahead of another player's makes both wait for ever.

    Example:
        >>> calls_of(DoomSettings(players=2, frames=5)), calls_of(DoomSettings(players=1, frames=5))
        ([2, 2, 1], [5])
    """
    if settings.players == 1:
        return [settings.frames]
    pairs, rest = divmod(settings.frames, AHEAD)
    return [AHEAD] * pairs + [rest] * (rest > 0)


class Player:
    """One player of a match.

    Args:
        rows: field of the observation -> this player's row.

    Attributes:
        game: of vizdoom; None where no engine runs.
        values: the engine's variables after the last decision, in the order of `COLUMN`.
        before, first: those of the decision before, and of the episode's beginning.
        paid: the engine's own reward of the last decision.
        tic: of the episode, where there are several players.
        dead, was_dead: after and before the decision; a dead player waits to respawn, or its episode has ended.
        ended: the map's rules have ended the episode.
        holds_fire: its next shot is dropped, by the options and the labels of the picture.
        rooms: places entered since the last death.
        past, running: the newest choices since then, and how many in a row were equal.
    """

    def __init__(self, settings: DoomSettings, rows: Mapping[str, np.ndarray]) -> None:
        self.game: Any = None
        self.values = self.before = self.first = [0.0] * len(COLUMN)
        self.paid, self.tic = 0.0, 0
        self.dead = self.was_dead = self.ended = self.holds_fire = False
        self.forget()
        self._calls, self._names = calls_of(settings), settings.variables
        self._suppress_fire, self._avoid_barrel = settings.suppress_fire, settings.avoid_barrel
        self._counts_tics = settings.players > 1
        self._columns = [COLUMN[name] for name in settings.variables]
        self._raw: list[float] = []  # what `variables` of the observation was made from
        self._rows = {name: row[..., 0] if row.shape[-1] == 1 else row for name, row in rows.items()}
        self._screen, self._shown = self._rows.pop("screen"), rows["variables"]
        del self._rows["variables"]

    def forget(self) -> None:
        """Clears what a life has gathered."""
        self.rooms: set[tuple[int, int]] = set()
        self.past: deque[int] = deque(maxlen=AFTER_SHOT)
        self.running = 0

    def begin(self) -> None:
        """Reads the first state of an episode."""
        self.forget()
        self.read()
        self.before, self.first, self.was_dead = self.values, self.values, self.dead

    def gained(self, name: str) -> float:
        """The change of a variable since the episode's beginning."""
        return self.values[COLUMN[name]] - self.first[COLUMN[name]]

    def play(self, held: list[float], meet: Callable[[], object]) -> None:
        """Plays a decision.

        Args:
            held: the value of each button, in the order of `buttons_of`.
            meet: waits for the match's other players.
        """
        self.before, self.was_dead = self.values, self.dead
        first, *others = self._calls
        self.paid = self.game.make_action(held, first)
        for tics in others:
            meet()
            self.paid += self.game.make_action(held, tics)
        self.read()

    def read(self) -> None:
        """Writes the rows; after the episode's end the engine has no state, and the last pictures stay."""
        game = self.game
        state = game.get_state()
        self.ended = state is None
        if state is None:
            self.values = [game.get_game_variable(one) for one in game.get_available_game_variables()]
        else:
            self._screen[:] = state.screen_buffer
            self.values = state.game_variables.tolist()
            if self._rows:
                self._read_others(state)
        self.dead = self.values[DEAD] > 0
        raw = [self.values[column] for column in self._columns]
        if raw != self._raw:
            self._raw, self._shown[:] = raw, scaled(self.values, self._names)
        if self._counts_tics:
            self.tic = game.get_episode_time()

    def _read_others(self, state: Any) -> None:
        """The pictures that are options; the engine leaves them out with `no_cheat`."""
        rows = self._rows
        if state.labels_buffer is not None:
            if "labels" in rows:
                rows["labels"][:] = classes_of(state)
            if "enemies" in rows:
                rows["enemies"][:] = enemies_of(state)
            if self._suppress_fire or self._avoid_barrel:
                x, y = self.values[COLUMN["x"]], self.values[COLUMN["y"]]
                unseen = self._suppress_fire and not shows_enemy(state)
                self.holds_fire = unseen or (self._avoid_barrel and aims_at_barrel(state, x, y))
        if "depth" in rows and state.depth_buffer is not None:
            rows["depth"][:] = state.depth_buffer
        if "automap" in rows and state.automap_buffer is not None:
            rows["automap"][:] = state.automap_buffer
