"""The evaluation wrapper: metrics of every game, and some games in full (specification 10).

A log is a folder with one file for each recorded game, written once and atomically; a file holds columns with a row
for each phase. No roles reach a player: the log is the evaluator's.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from pettingzoo.utils.wrappers import BaseParallelWrapper

from interplay.connect.werewolf.masked import MaskedEnv
from interplay.connect.werewolf.written import ByAgent, WrittenEnv
from interplay.core.errors import UserError
from interplay.core.files import os_errors_as_user_errors, replace_file
from interplay.core.reading_arrays import read_npz

LOG_EVERY = 500  # games
_SEATS = ("targets", "living", "reward", "signals", "terms")  # columns with an axis of seats
_ROWS = {
    "phase": 1,
    "round": 1,
    "day": 1,
    "chosen": 1,
    "tied": 1,
    "targets": 2,
    "living": 2,
    "reward": 2,
    "signals": 3,
    "terms": 3,
}


class EvaluatedEnv(BaseParallelWrapper[str, Any, Any]):
    """A `WrittenEnv` or `MaskedEnv` that records its games.

    Args:
        folder: of the log; None keeps none.
        log_every: records the first game in full, and each `log_every`-th after it.

    Attributes:
        games: the metrics of each finished game, in order.
    """

    def __init__(
        self, env: WrittenEnv | MaskedEnv, folder: str | Path | None = None, log_every: int = LOG_EVERY
    ) -> None:
        if log_every < 1:
            raise UserError(f"{env.world.id}: log_every = {log_every} games; give 1 or more")
        super().__init__(env)
        self.folder = None if folder is None else Path(folder)
        self.log_every = log_every
        self.games: list[dict[str, float]] = []
        self._begun = -1  # number of the game
        self._record: Record | None = None

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[ByAgent, ByAgent]:
        """Starts a game; an unfinished one is not counted."""
        answer = self.env.reset(seed, options)
        self._begun += 1
        records = self.folder is not None and self._begun % self.log_every == 0
        self._record = Record(self.world) if records else None
        return answer

    def step(self, actions: Mapping[str, Any]) -> tuple[ByAgent, ByAgent, ByAgent, ByAgent, ByAgent]:
        """Plays a phase and records it."""
        stood = bool(self.env.agents)
        answer = self.env.step(actions)
        if stood and self._record is not None:
            self._record.note()
        if stood and not self.env.agents:
            self.games.append({name: float(values[0]) for name, values in self.world.metrics.items()})
            self._write()
        return answer

    def summary(self) -> dict[str, tuple[float, float]]:
        """Metric -> (mean, standard error) over the games that have it."""
        found = {}
        for name in self.games[0] if self.games else ():
            values = np.array([game[name] for game in self.games])
            values = values[~np.isnan(values)]
            if len(values):
                spread = float(values.std(ddof=1)) if len(values) > 1 else math.nan
                found[name] = (float(values.mean()), spread / math.sqrt(len(values)))
        return found

    def _write(self) -> None:
        if self._record is None or self.folder is None:
            return
        data = io.BytesIO()
        np.savez_compressed(data, allow_pickle=False, **self._record.columns())
        with os_errors_as_user_errors("writing the log of games", self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            replace_file(self.folder / _free_name(self.folder), data.getvalue(), "log of games")
        self._record = None


class Record:
    """One game as columns: a row for each phase that was played, T in all.

    Args:
        world: just reset.
    """

    def __init__(self, world: Any) -> None:
        self._world = world
        self._role, self._key = world.state.role[0].copy(), world.state.stream[0].copy()
        self._rows: list[dict[str, Any]] = []

    def note(self) -> None:
        """Adds a row: the phase of the last step."""
        state, settings = self._world.state, self._world.settings
        room = state.room[0]
        public = int(room["ended_phase"]) == int(room["public_phase"])
        board = "public" if public else "pack"
        self._rows.append(
            {
                "phase": room["ended_phase"].copy(),
                "round": room["ended_round"].copy(),
                "day": room["ended_day"].copy(),
                "chosen": room["chosen"].copy(),
                "tied": room["tied"].copy(),
                "targets": getattr(state, f"{board}_targets")[0, :, 0].copy(),
                "signals": getattr(state, f"{board}_signals")[0, :, : settings.signal_length].copy(),
                "living": state.alive[0].copy(),
                "reward": state.reward[0].copy(),
                "terms": state.terms[0].copy(),
            }
        )

    def columns(self) -> dict[str, np.ndarray]:
        """``key`` (3,) uint64 and ``role`` (n,) of the game, the rest with T rows.

        ``phase``, ``round``, ``day``, ``chosen`` (-1: none) and ``tied`` (T,); ``targets``, ``living``, ``reward`` (T, n);
        ``signals`` (T, n, L); ``terms`` (T, n, 5), see `state.TERMS`, (T, 0, 5) where the world keeps none. ``living`` and rewards are
        those after the phase, boards as players saw them.
        """
        columns = {name: np.stack([row[name] for row in self._rows]) for name in self._rows[0]}
        return {"key": self._key, "role": self._role, **columns}


def read_log(folder: str | Path) -> list[dict[str, np.ndarray]]:
    """The recorded games of a folder in the order of writing; see `Record.columns`."""
    found = []
    paths = sorted(Path(folder).glob("game-*.npz"))
    if not paths:
        raise UserError(f"{folder}: no recorded games; name the folder of an EvaluatedEnv")
    for path in paths:
        try:
            game = read_npz(path, links=False)
        except UserError as error:
            raise UserError(f"{path}: no recorded game ({error}); remove the file") from None
        rows = {
            len(game[name]) if name in game and game[name].ndim == sides else -1
            for name, sides in _ROWS.items()
        }
        if len(rows) > 1 or -1 in rows or not _fits(game):
            raise UserError(f"{path}: no recorded game (its columns are not those of one); remove the file")
        found.append(game)
    return found


def _fits(game: Mapping[str, np.ndarray]) -> bool:
    """Whether a game's columns are the known ones, with the right number of seats."""
    key, role = game.get("key"), game.get("role")
    if (
        key is None
        or role is None
        or key.shape != (3,)
        or role.ndim != 1
        or set(game) != {"key", "role", *_ROWS}
    ):
        return False
    # Worlds that keep no terms of the reward have a column of them without seats.
    return all(game[name].shape[1] in (len(role), 0 if name == "terms" else -1) for name in _SEATS) and all(
        array.dtype.kind in "biu" or np.isfinite(array).all() for array in game.values()
    )


def _free_name(folder: Path) -> str:
    taken = [int(path.stem.partition("-")[2]) for path in folder.glob("game-*.npz")]
    return f"game-{max(taken, default=-1) + 1:08d}.npz"
