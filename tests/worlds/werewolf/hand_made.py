"""Games put together by hand: a state in which everything that a spectator sees was written by the test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from interplay.core.scene import Canvas, Scene
from interplay.core.settings import build
from interplay.worlds.werewolf.config import WerewolfSettings
from interplay.worlds.werewolf.drawing.spectator import Moment, look
from interplay.worlds.werewolf.render import draw_moment
from interplay.worlds.werewolf.roles import NAMES
from interplay.worlds.werewolf.state import WerewolfState, allocate_state

STEP = 7  # of the episode, at which the state stands
NIGHT_TALK, NIGHT_KILL, DAY_TALK, DAY_EXECUTION = range(4)


class Game:
    """One game after some step; `roles` by name, one per seat."""

    def __init__(self, roles: Sequence[str], **options: Any) -> None:
        counts = {name: roles.count(name) for name in dict.fromkeys(roles)}
        extra = {
            name: count for name, count in counts.items() if name not in ("villager", "werewolf") and count
        }
        given = {"n_players": len(roles), "wolves": counts["werewolf"], "roles": extra, **options}
        self.settings = build(WerewolfSettings, given, "game")
        self.state: WerewolfState = allocate_state(self.settings, 1)
        self.room = self.state.room[0]
        self.state.role[0] = [NAMES.index(name) for name in roles]
        self.state.alive[0] = True
        self.state.stream[0, 2] = STEP
        for field in ("winner", "chosen", "eaten", "executed", "ended_phase", "victim", "shooter"):
            self.room[field] = -1

    def played(self, phase: int, following: int, day: int = 0, round: int = 0) -> Game:
        """Sets the phase of the last step."""
        self.room["ended_phase"], self.room["ended_day"], self.room["ended_round"] = phase, day, round
        self.room["phase"], self.room["day"] = following, day + (phase == DAY_EXECUTION)
        return self

    def board(self, names: Mapping[int, Any], words: Mapping[int, Any] | None = None) -> Game:
        """Writes the board of the phase that was played, the public one or the pack's."""
        public = self.room["ended_phase"] in (DAY_TALK, DAY_EXECUTION)
        targets, signals = (
            (self.state.public_targets, self.state.public_signals)
            if public
            else (self.state.pack_targets, self.state.pack_signals)
        )
        for seat, name in names.items():
            targets[0, seat] = name
        for seat, word in (words or {}).items():
            signals[0, seat] = word
        return self

    def died(self, seat: int, fate: int, step: int = STEP) -> Game:
        """Buries a seat."""
        self.state.alive[0, seat] = False
        self.state.fate[0, seat], self.state.fell[0, seat] = fate, step
        return self

    def over(self, winner: int) -> Game:
        """Ends the game."""
        self.room["winner"], self.room["over"] = winner, True
        return self

    def moment(self, privileged: bool = False) -> Moment:
        """What the spectator sees."""
        return look(self.state, self.settings, 0, privileged)

    def scene(self, privileged: bool = False) -> Scene:
        """What is drawn."""
        canvas = Canvas()
        draw_moment(canvas, self.moment(privileged), self.settings)
        return canvas.scene()


def drawn(scene: Scene, layer: str) -> np.ndarray:
    """(rows,) bool, which rows of a layer are drawn."""
    found = scene.layer(layer)
    return ~np.broadcast_to(found.value("absent", False), (found.rows,)).astype(bool)
