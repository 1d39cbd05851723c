"""Allowed values of a game's state (`interplay.core.ranges`); the arrays are in `state.py`.

The kernels rely on these laws: acting seats and their abilities follow from the table of phases, stages without a row have a seat to
act, and the counts of living, wolves and humans are those of the seats.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.core.ranges import MOST_32, REAL, Arrays, Law, Range, count, index, one_of
from interplay.worlds.werewolf.config import WerewolfSettings
from interplay.worlds.werewolf.phases import LAST_SHOT, POTIONS
from interplay.worlds.werewolf.roles import (
    ABILITIES,
    BREW,
    DIVINE,
    GUARD,
    HUMAN,
    NAMES,
    NONE,
    SHOOT,
    WITCH,
    WOLF,
)
from interplay.worlds.werewolf.rules.night import HEAL, POISON
from interplay.worlds.werewolf.rules.numbers import Tables
from interplay.worlds.werewolf.state import (
    FATES,
    IN_TABLE,
    NOBODY,
    POTIONS_STAGE,
    REVOTE,
    SHOT_STAGE,
    TALLY,
)

_DAYS = 2**14  # days pass one at a time, and even a late truncation is far below


class Sound:
    """The valid states of one kind of game.

    Args:
        settings: of the game.
        tables: made from them.
    """

    def __init__(self, settings: WerewolfSettings, tables: Tables) -> None:
        self._settings, self._tables = settings, tables
        roles = set(settings.roles_in_play)
        self._stages = [IN_TABLE]
        self._stages += [REVOTE] * (settings.tie == "revote")
        self._stages += [POTIONS_STAGE] * ("witch" in roles) + [SHOT_STAGE] * ("hunter" in roles)

    def ranges(self) -> dict[str, Range]:
        """Name -> range of every field of `jit.arrays_of`."""
        s, tables = self._settings, self._tables
        seat, seats = index(s.n_players, none=True), count(s.n_players)
        phases = index(len(tables.talks), none=True)
        day, symbols = count(max(_DAYS, s.days + 1)), Range(NOBODY, tables.symbols - 1)
        return {
            **{
                f"tally.{name}": REAL if TALLY[name].kind == "f" else count(MOST_32)
                for name in TALLY.names or ()
            },
            "room.day": day,
            "room.row": index(len(tables.phase)),
            "room.phase": index(len(tables.talks)),
            "room.talk_round": count(100),
            "room.stage": one_of(*self._stages),
            "room.revotes": count(s.revotes),
            "room.eaten": seat,
            "room.executed": seat,
            "room.public_phase": phases,
            "room.pack_phase": phases,
            "room.block_phase": phases,
            "room.winner": index(2, none=True),
            "room.living": seats,
            "room.wolves": seats,
            "room.humans": seats,
            "room.victim": seat,
            "room.shooter": seat,
            "room.shots": seats,
            "room.ended_phase": phases,
            "room.ended_round": count(100),
            "room.ended_day": day,
            "room.chosen": seat,
            "stream": Range(np.zeros(3, np.uint64), np.array([2**64 - 1, 2**64 - 1, MOST_32], np.uint64)),
            "role": index(len(NAMES)),
            "ability": index(len(ABILITIES)),
            "public_targets": seat,
            "public_signals": symbols,
            "pack_targets": seat,
            "pack_signals": symbols,
            "last_votes": seat,
            "past_targets": seat,
            "past_signals": symbols,
            "past_phase": phases,
            "past_day": Range(NOBODY, max(_DAYS, s.days + 1)),
            "past_chosen": seat,
            "known": index(2, none=True),
            "fate": index(len(FATES), none=True),
            "fell": Range(NOBODY, MOST_32),
            "revealed": index(len(NAMES), none=True),
            "guarded": seat,
            "reward": REAL,
            "terms": REAL,
            "late": REAL,
        }

    def laws(self) -> list[Law]:
        """Invariants between fields."""
        return [
            Law("role", "disagrees with the line-up", self._dealt_otherwise),
            Law("room.living", "is not the number of those alive", self._lives_otherwise),
            Law(
                "room.wolves",
                "is not the number of living wolves",
                lambda given: self._counts_otherwise(given, WOLF),
            ),
            Law(
                "room.humans",
                "is not the number of living humans",
                lambda given: self._counts_otherwise(given, HUMAN),
            ),
            Law("room.wolves", "leaves a decided game unfinished", self._is_decided),
            Law(
                "room.shots",
                "is not the number of hunters with a shot left",
                lambda given: given["room.shots"] != given["owed"].sum(axis=1),
            ),
            Law("room.phase", "is not the phase of its row or stage", self._stands_elsewhere),
            Law("room.shooter", "is not the shooting hunter", self._asks_another),
            Law("suspect", "names no candidate", self._suspects_nobody),
            Law("ability", "is not this seat's present ability", self._does_otherwise),
            Law(
                "acting",
                "disagrees with the ability",
                lambda given: given["acting"] != (given["ability"] != NONE),
            ),
        ]

    def _dealt_otherwise(self, given: Arrays) -> Any:
        return (np.sort(given["role"], axis=1) != np.sort(self._tables.crew)).any(axis=1)

    def _lives_otherwise(self, given: Arrays) -> Any:
        return given["room.living"] != given["alive"].sum(axis=1)

    def _counts_otherwise(self, given: Arrays, species: int) -> Any:
        counted = given["alive"] & (self._tables.counts_as[given["role"]] == species)
        return given["room.wolves" if species == WOLF else "room.humans"] != counted.sum(axis=1)

    def _is_decided(self, given: Arrays) -> Any:
        """Between phases an unfinished game needs a wolf to vote out and a human to eat."""
        wolves, goes_on = given["room.wolves"], ~given["room.over"] & (given["room.stage"] == IN_TABLE)
        return goes_on & ((wolves == 0) | (wolves >= given["room.humans"]))

    def _stands_elsewhere(self, given: Arrays) -> Any:
        """The row of the table sets the phase; a finished game keeps its last phase."""
        stage, phase = given["room.stage"], given["room.phase"]
        named = np.choose(
            stage,
            [self._tables.phase[given["room.row"]]] * 2
            + [np.full_like(phase, POTIONS), np.full_like(phase, LAST_SHOT)],
        )
        return (phase != named) & ~given["room.over"]

    def _asks_another(self, given: Arrays) -> Any:
        asks = (given["room.stage"] == SHOT_STAGE) & ~given["room.over"]
        return asks & ((given["room.shots"] == 0) | (given["room.shooter"] != given["owed"].argmax(axis=1)))

    def _suspects_nobody(self, given: Arrays) -> Any:
        """A vote among the tied needs two living candidates: each voter must have a name to vote for."""
        again = (given["room.stage"] == REVOTE) & ~given["room.over"]
        return again & ((given["suspect"] & given["alive"]).sum(axis=1) < 2)

    def _does_otherwise(self, given: Arrays) -> Any:
        """The row or the stage sets the ability of the living; seats without a valid target have none."""
        stage, alive = given["room.stage"][:, None], given["alive"]
        asked = np.where(alive, self._tables.ability[given["room.row"][:, None], given["role"]], NONE)
        if self._settings.extra_roles:
            asked[(asked == DIVINE) & ~self._can_divine(given)] = NONE
            asked[(asked == GUARD) & ~self._can_guard(given)] = NONE
            asked = np.where(stage == POTIONS_STAGE, np.where(self._can_brew(given), BREW, NONE), asked)
        shoots = np.arange(alive.shape[1]) == given["room.shooter"][:, None]
        asked = np.where(stage == SHOT_STAGE, np.where(shoots, SHOOT, NONE), asked)
        asked = np.where(given["room.over"][:, None], NONE, asked)
        return given["ability"] != asked

    def _can_divine(self, given: Arrays) -> Any:
        others = ~np.eye(self._settings.n_players, dtype=bool)
        return (others & given["alive"][:, None] & (given["known"] == NOBODY)).any(axis=2)

    def _can_guard(self, given: Arrays) -> Any:
        n = self._settings.n_players
        free = np.repeat(given["alive"][:, None], n, axis=1)
        if not self._settings.guard_self:
            free &= ~np.eye(n, dtype=bool)
        if not self._settings.guard_repeat:
            free &= given["guarded"][:, :, None] != np.arange(n)
        return free.any(axis=2)

    def _can_brew(self, given: Arrays) -> Any:
        heals = given["potions"][:, :, HEAL] & (given["room.victim"] != NOBODY)[:, None]
        return (given["role"] == WITCH) & given["alive"] & (heals | given["potions"][:, :, POISON])
