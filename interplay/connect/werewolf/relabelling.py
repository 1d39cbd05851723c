"""Seats under other names: observations go through the forward map, actions through the inverse.

Two defects of an early version of the original (specification 13, number 13) were here: the forward map in place of the
inverse, and rows that stayed in place while their entries changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from interplay.worlds.werewolf.config import WerewolfSettings

# field -> the axis whose rows are players, or None; entries of ENTRIES are players
ROWS = {
    "status_map": 0,
    "public_targets": 0,
    "public_signals": 0,
    "public_claims": 0,
    "pack_targets": 0,
    "pack_signals": 0,
    "pack_claims": 0,
    "targets": 0,
    "signal": 0,
    "claims": 0,
    "pack": 0,
    "private_info": 0,
    "revealed": 0,
    "past_targets": 1,
    "past_signals": 1,
    "past_claims": 1,
}
ENTRIES = (
    "own_id",
    "public_targets",
    "pack_targets",
    "targets",
    "past_targets",
    "last_eaten",
    "last_executed",
    "past_chosen",
)
SUBJECT = 1  # of a claim: verb, subject, role


class Relabelling:
    """One game's public ids.

    Args:
        ids: (n,) a permutation, the public id of each seat.

    Attributes:
        ids: the forward map, seat -> id.
        seats: the inverse, id -> seat.
    """

    def __init__(self, settings: WerewolfSettings, ids: np.ndarray) -> None:
        self.ids = np.asarray(ids, np.int64)
        self.seats = np.argsort(self.ids)
        n, names = settings.n_players, settings.names
        # "No player" is -1 on a board (the table's last entry) and n in an action; both stay.
        self._out = np.append(self.ids, -1)
        self._in = np.append(self.seats, n)
        subject = names + settings.signal_length + SUBJECT
        self._named = (
            [*range(names), subject] if settings.claims else list(range(names))
        )  # heads that name players

    def seen(self, observation: Mapping[str, Any]) -> dict[str, Any]:
        """One player's observation, from seats to ids."""
        return {name: self.field(name, value) for name, value in observation.items()}

    def field(self, name: str, value: np.ndarray) -> np.ndarray:
        """One field of an observation, from seats to ids."""
        value = np.asarray(value)
        if name in ENTRIES:
            value = np.asarray(self._out[value], value.dtype)
        elif name.endswith("claims"):
            value = value.copy()
            value[..., SUBJECT] = self._subjects(value[..., SUBJECT])
        if name in ROWS:
            value = np.take(value, self.seats, axis=ROWS[name])
        return value

    def action_in(self, action: Any) -> np.ndarray:
        """A player's action, from ids to seats."""
        row = np.array(action, np.int16)
        row[self._named] = self._in[row[self._named]]
        return row

    def action_out(self, action: Any) -> np.ndarray:
        """The inverse of `action_in`: an action from seats to ids."""
        row = np.array(action, np.int16)
        row[self._named] = np.append(self.ids, len(self.ids))[row[self._named]]
        return row

    def mask(self, mask: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
        """A mask in gymnasium's form, from seats to ids; the last choice, pass, stays last."""
        return tuple(part[self._in] if head in self._named else part for head, part in enumerate(mask))

    def _subjects(self, subjects: np.ndarray) -> np.ndarray:
        n = len(self.ids)
        table = np.concatenate([self.ids, [n, -1]])  # n: no subject; -1: no claim
        return np.asarray(table[subjects], subjects.dtype)
