"""Reader of werewolf's boards for `interplay.evaluate.communication`."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.core.world import World
from interplay.evaluate.communication.recording import Shown
from interplay.evaluate.communication.table import EXECUTION, KILL, TALK, About, Array, Games
from interplay.worlds.werewolf.config import VERBS
from interplay.worlds.werewolf.phases import phase_names
from interplay.worlds.werewolf.roles import NAMES, ROLES, WOLVES
from interplay.worlds.werewolf.state import TERMS

TEAMS = ("villagers", "wolves")
_TEAM = np.array([role.team for role in ROLES], np.int8)
_COUNTED = {"none": TALK, "kill": KILL, "execution": EXECUTION}
_SILENT = -1  # a phase without a board, e.g. a witch's potions


class WerewolfReader:
    """Reads `WerewolfWorld`s: words and names as observed, after an arm's ablation."""

    def about(self, world: Any) -> About:
        settings = world.settings
        return About(
            world=world.id,
            phases=phase_names(settings.table),
            symbols=tuple(settings.symbols),
            teams=TEAMS,
            roles=NAMES,
            terms=TERMS if settings.reward_terms else ("reward",),
            verbs=VERBS if settings.claims else (),
            wolves=WOLVES,
            arm=settings.arm,
        )

    def shown(self, world: Any) -> Shown:
        state, room = world.state, world.state.room
        counted, public = self._kinds(world)
        phase = np.asarray(room["ended_phase"]).astype(np.int64)
        held = counted[phase] != _SILENT
        seen = held & public[phase]
        names = np.where(seen[:, None, None], state.public_targets, state.pack_targets)
        words = np.where(seen[:, None, None], state.public_signals, state.pack_signals)
        names = np.where(held[:, None, None], names, -1)
        words = np.where(held[:, None, None], words, -1)
        alive = np.asarray(state.alive)
        wrote = np.asarray((names >= 0).any(axis=2) | (words >= 0).any(axis=2))
        return Shown(
            day=np.asarray(room["ended_day"]),
            phase=phase,
            round=np.asarray(room["ended_round"]),
            public=seen,
            counted=np.maximum(counted[phase], TALK),
            chosen=np.asarray(room["chosen"]),
            tied=np.asarray(room["tied"]),
            alive=alive,
            spoke=wrote,
            names=names,
            words=words,
            reward=state.terms if state.terms.shape[1] else state.reward[:, :, None],
        )

    def acting(self, world: World) -> Array:
        return np.asarray(world.timestep.acting)

    def games(self, world: Any) -> Games:
        state = world.state
        role = np.asarray(state.role)
        return Games(
            number=np.zeros(len(role), np.int64),
            stream=np.asarray(state.stream)[:, :2],
            role=role,
            team=_TEAM[role],
            winner=np.asarray(state.room["winner"]).astype(np.int8),
        )

    def _kinds(self, world: Any) -> tuple[Array, Array]:
        """By phase: the effect of its names (or `_SILENT`), and whether its board is public."""
        names = phase_names(world.settings.table)
        counted = np.full(len(names), _SILENT)
        public = np.zeros(len(names), bool)
        for row in world.settings.table:
            at = names.index(row.name)
            counted[at], public[at] = _COUNTED[row.resolver], row.audience == "public"
        return counted, public


def hiding_populations(world: World) -> set[int]:
    """Indices of the populations of the hiding team; empty for other worlds."""
    names = world.population_names or ()
    return {
        number for number, name in enumerate(names) if name in NAMES and _TEAM[NAMES.index(name)] == WOLVES
    }
