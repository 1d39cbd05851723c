"""Valid ranges of a game's state (`interplay.core.ranges`); the arrays are in `state.py`.

The laws are what the kernels rely on. Abilities and acting seats follow from the table of phases; phases without a row have an
actor; the counts of living, wolves and humans are those of the seats.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.core.ranges import MOST_32, REAL, Arrays, Invariant, Range, count, index, one_of
from interplay.worlds.werewolf.config import WerewolfSettings
from interplay.worlds.werewolf.phases import LAST_SHOT, POTIONS
from interplay.worlds.werewolf.roles import (
    ABILITIES,
    BREW,
    DIVINE,
    GUARD,
    HUMAN,
    NAMES,
    NO_ABILITY,
    SHOOT,
    WITCH,
    WOLF,
)
from interplay.worlds.werewolf.rules.night import HEAL, POISON
from interplay.worlds.werewolf.rules.numbers import Tables
from interplay.worlds.werewolf.state import (
    FATES,
    IN_TABLE,
    NONE,
    POTIONS_STAGE,
    REVOTE,
    SHOT_STAGE,
    TALLY,
)

_DAYS = 2**14  # far above the days of any game


class ValidStates:
    """The valid states of one kind of game."""

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
        day, symbols = count(max(_DAYS, s.days + 1)), Range(NONE, tables.symbols - 1)
        return {
            **{
                f"tally.{name}": REAL if TALLY[name].kind == "f" else count(MOST_32)
                for name in TALLY.names or ()
            },
            "room.day": day,
            "room.dawn": day,
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
            "past_day": Range(NONE, max(_DAYS, s.days + 1)),
            "past_chosen": seat,
            "known": index(2, none=True),
            "fate": index(len(FATES), none=True),
            "fell": Range(NONE, MOST_32),
            "revealed": index(len(NAMES), none=True),
            "guarded": seat,
            "reward": REAL,
            "terms": REAL,
            "late": REAL,
        }

    def laws(self) -> list[Invariant]:
        """Invariants between fields."""
        return [
            Invariant("role", "does not match the line-up", self._wrong_crew),
            Invariant("room.living", "is not the number of living seats", self._wrong_living),
            Invariant(
                "room.wolves",
                "is not the number of living wolves",
                lambda given: self._wrong_count(given, WOLF),
            ),
            Invariant(
                "room.humans",
                "is not the number of living humans",
                lambda given: self._wrong_count(given, HUMAN),
            ),
            Invariant("room.wolves", "decides a game that is not over", self._is_decided),
            Invariant(
                "room.shots",
                "is not the number of pending hunters",
                lambda given: given["room.shots"] != given["owed"].sum(axis=1),
            ),
            Invariant("room.phase", "is not the phase of its row or stage", self._wrong_phase),
            Invariant("room.shooter", "is not the first pending hunter", self._wrong_shooter),
            Invariant("suspect", "has fewer than two living seats in a revote", self._too_few_suspects),
            Invariant("ability", "is not this seat's ability in the phase", self._wrong_ability),
            Invariant(
                "acting",
                "does not match the abilities",
                lambda given: given["acting"] != (given["ability"] != NO_ABILITY),
            ),
        ]

    def _wrong_crew(self, given: Arrays) -> Any:
        return (np.sort(given["role"], axis=1) != np.sort(self._tables.crew)).any(axis=1)

    def _wrong_living(self, given: Arrays) -> Any:
        return given["room.living"] != given["alive"].sum(axis=1)

    def _wrong_count(self, given: Arrays, species: int) -> Any:
        counted = given["alive"] & (self._tables.counts_as[given["role"]] == species)
        return given["room.wolves" if species == WOLF else "room.humans"] != counted.sum(axis=1)

    def _is_decided(self, given: Arrays) -> Any:
        """Between phases there are living wolves, and more humans than wolves, or the game is over."""
        wolves, goes_on = given["room.wolves"], ~given["room.over"] & (given["room.stage"] == IN_TABLE)
        return goes_on & ((wolves == 0) | (wolves >= given["room.humans"]))

    def _wrong_phase(self, given: Arrays) -> Any:
        """The phase matches the row or stage; a game that is over keeps its last phase."""
        stage, phase = given["room.stage"], given["room.phase"]
        named = np.choose(
            stage,
            [self._tables.phase[given["room.row"]]] * 2
            + [np.full_like(phase, POTIONS), np.full_like(phase, LAST_SHOT)],
        )
        return (phase != named) & ~given["room.over"]

    def _wrong_shooter(self, given: Arrays) -> Any:
        shooting = (given["room.stage"] == SHOT_STAGE) & ~given["room.over"]
        return shooting & (
            (given["room.shots"] == 0) | (given["room.shooter"] != given["owed"].argmax(axis=1))
        )

    def _too_few_suspects(self, given: Arrays) -> Any:
        """A revote needs two living suspects, so that every voter has a legal name."""
        again = (given["room.stage"] == REVOTE) & ~given["room.over"]
        return again & ((given["suspect"] & given["alive"]).sum(axis=1) < 2)

    def _wrong_ability(self, given: Arrays) -> Any:
        """The row's or stage's abilities of living seats, without abilities that have no target."""
        stage, alive = given["room.stage"][:, None], given["alive"]
        wanted = np.where(alive, self._tables.ability[given["room.row"][:, None], given["role"]], NO_ABILITY)
        if self._settings.extra_roles:
            wanted[(wanted == DIVINE) & ~self._can_divine(given)] = NO_ABILITY
            wanted[(wanted == GUARD) & ~self._can_guard(given)] = NO_ABILITY
            wanted = np.where(
                stage == POTIONS_STAGE, np.where(self._can_brew(given), BREW, NO_ABILITY), wanted
            )
        shoots = np.arange(alive.shape[1]) == given["room.shooter"][:, None]
        wanted = np.where(stage == SHOT_STAGE, np.where(shoots, SHOOT, NO_ABILITY), wanted)
        wanted = np.where(given["room.over"][:, None], NO_ABILITY, wanted)
        return given["ability"] != wanted

    def _can_divine(self, given: Arrays) -> Any:
        others = ~np.eye(self._settings.n_players, dtype=bool)
        return (others & given["alive"][:, None] & (given["known"] == NONE)).any(axis=2)

    def _can_guard(self, given: Arrays) -> Any:
        n = self._settings.n_players
        free = np.repeat(given["alive"][:, None], n, axis=1)
        if not self._settings.guard_self:
            free &= ~np.eye(n, dtype=bool)
        if not self._settings.guard_repeat:
            free &= given["guarded"][:, :, None] != np.arange(n)
        return free.any(axis=2)

    def _can_brew(self, given: Arrays) -> Any:
        heals = given["potions"][:, :, HEAL] & (given["room.victim"] != NONE)[:, None]
        return (given["role"] == WITCH) & given["alive"] & (heals | given["potions"][:, :, POISON])
