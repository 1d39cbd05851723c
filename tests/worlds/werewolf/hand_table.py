"""A table set by hand (roles, living players, boards), and what scripted players do there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from interplay.core.policy import Policy
from interplay.core.settings import build
from interplay.core.world import TimeStep
from interplay.worlds.werewolf.config import WerewolfSettings
from interplay.worlds.werewolf.phases import DAY_EXECUTION, DAY_TALK, NIGHT_KILL, NIGHT_TALK
from interplay.worlds.werewolf.roles import ATTACK, NO_ABILITY, SPEAK, SPEAK_IN_PACK, VILLAGER, VOTE, WEREWOLF
from interplay.worlds.werewolf.state import IN_TABLE, REVOTE
from interplay.worlds.werewolf.world import WerewolfWorld

ABILITIES = {
    NIGHT_TALK: (NO_ABILITY, SPEAK_IN_PACK),
    NIGHT_KILL: (NO_ABILITY, ATTACK),
    DAY_TALK: (SPEAK, SPEAK),
    DAY_EXECUTION: (VOTE, VOTE),
}


class HandTable:
    """Games of villagers and wolves in one situation, seen by the world's own kernels.

    Args:
        roles: a letter each seat, ``"vvvW"``.
        worlds: copies of the game.
        **options: of the world.
    """

    def __init__(self, roles: str, worlds: int = 1, **options: Any) -> None:
        given = {"n_players": len(roles), "wolves": roles.count("W"), **options}
        self.world = WerewolfWorld(build(WerewolfSettings, given, "hand"), worlds)
        self.world.reset()
        self.roles = np.array([WEREWOLF if letter == "W" else VILLAGER for letter in roles], np.uint8)
        self.world.state.role[:] = self.roles
        self.world.state.room["public_phase"] = self.world.state.room["pack_phase"] = -1

    def show(
        self,
        phase: int,
        dead: Sequence[int] = (),
        names: Sequence[Any] | None = None,
        words: Sequence[Any] | None = None,
        board: int = DAY_TALK,
        tied: Sequence[int] | None = None,
        day: int = 0,
        eaten: int = -1,
        over: bool = False,
    ) -> TimeStep:
        """The same moment in all worlds.

        Args:
            phase: which comes next.
            dead: seats.
            names: a new board's names, one each seat or a list each seat; -1 none.
            words: its words, a list each seat.
            board: the phase that it is of.
            tied: seats that a revote is about.
            day: executions held.
            eaten: the last player who was killed at night.
            over: the game is.
        """
        state = self.world.state
        alive = ~np.isin(np.arange(len(self.roles)), dead)
        state.alive[:] = alive
        room = state.room
        room["phase"] = room["row"] = phase
        room["day"], room["eaten"], room["over"], room["living"] = day, eaten, over, alive.sum()
        room["stage"] = IN_TABLE if tied is None else REVOTE
        state.suspect[:] = np.isin(np.arange(len(self.roles)), () if tied is None else tied)
        abilities = np.array(ABILITIES[phase])[(self.roles == WEREWOLF).astype(int)]
        state.ability[:] = np.where(alive & (not over), abilities, NO_ABILITY)
        state.acting[:] = state.ability != NO_ABILITY
        if names is not None or words is not None:
            self._write(board, names, words)
        return self.world.refresh()

    def _write(self, board: int, names: Any, words: Any) -> None:
        state, public = self.world.state, board in (DAY_TALK, DAY_EXECUTION)
        targets = state.public_targets if public else state.pack_targets
        signals = state.public_signals if public else state.pack_signals
        targets[:] = -1
        signals[:] = -1
        if names is not None:
            targets[:] = np.asarray(names).reshape(1, len(self.roles), -1)
        if words is not None:
            signals[:] = np.asarray(words).reshape(1, len(self.roles), -1)
        state.room["public_phase" if public else "pack_phase"] = board
        state.room["block_phase"] = board


def start(policy: Policy, table: HandTable, seed: int = 0) -> Policy:
    """The policy, ready to play at a table."""
    policy.start(table.world, seed)
    return policy


def named(policy: Policy, timestep: TimeStep, seat: int) -> dict[int, float]:
    """Share of each first name of a seat, over the worlds of the batch: name -> share."""
    names, counts = np.unique(policy.act(timestep)[:, seat, 0], return_counts=True)
    return dict(zip(names.tolist(), (counts / counts.sum()).tolist(), strict=True))


def even(shares: dict[int, float], seats: Sequence[int], worlds: int) -> bool:
    """Whether exactly these seats were named, each about as often: within 5 standard errors."""
    p = 1 / len(seats)
    error = 5 * np.sqrt(p * (1 - p) / worlds)
    return sorted(shares) == sorted(seats) and all(abs(share - p) <= error for share in shares.values())
