"""One copy's battles in the real game: units made, ordered and read."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.core.errors import UserError
from interplay.worlds.battle.config import TICKS
from interplay.worlds.battle.state import NONE
from interplay.worlds.sc2.client import GameLost
from interplay.worlds.sc2.config import GameBattleSettings
from interplay.worlds.sc2.ids import ATTACK, BATTLE_UNITS, LIFE, MOVE, SELF, SHIELDS, STOP
from interplay.worlds.sc2.match import Match, MatchPlan

NEAR = 1e-4  # a destination this close is the own place


class Arena:
    """One match that holds battle after battle; slots are those of `BattleWorld`.

    Args:
        types: (A,) names of the slots' units.
        sides: (A,) RED or BLUE.
    """

    def __init__(self, settings: GameBattleSettings, types: list[str], sides: np.ndarray, race: str) -> None:
        self._settings = settings
        self._types = np.array([BATTLE_UNITS[name] for name in types])
        self._sides = sides
        self._match = Match(settings, MatchPlan(settings.map, (race, race), open=True))
        self._lives = 0
        self._centre = np.zeros(2)
        self._tags = np.zeros(len(types), np.uint64)

    def begin(self, unit: np.ndarray, seed: int) -> None:
        """Starts a battle with the units (A,) UNIT of a native one, and reads back how they stand."""
        if not self._match.players or self._lives >= self._settings.lives:
            self._match.begin(seed)
            size = self._match.info.start_raw.map_size
            self._centre = np.array([size.x, size.y]) / 2
            self._lives = 0
        self._lives += 1
        self._clear()
        present = np.flatnonzero(unit["present"])
        self._match.debug([{"create_unit": self._creation(unit, a)} for a in present.tolist()])
        self._match.step(1)
        self._find(unit, present)
        self._match.debug(self._points(unit, present))
        self._match.step(1)
        self.read(unit)

    def order(self, unit: np.ndarray, target: np.ndarray, goal: np.ndarray) -> None:
        """Gives each living unit its order: a target's slot, or a destination (A, 2)."""
        commands: tuple[list[Any], list[Any]] = ([], [])
        for a in np.flatnonzero(unit["alive"]):
            command: dict[str, Any] = {"unit_tags": [int(self._tags[a])]}
            away = goal[a] - np.array([unit["x"][a], unit["y"][a]])
            if target[a] != NONE:
                command |= {"ability_id": ATTACK, "target_unit_tag": int(self._tags[target[a]])}
            elif np.abs(away).max() > NEAR:
                command |= {"ability_id": MOVE, "target_world_space_pos": self._place(*goal[a])}
            else:
                command |= {"ability_id": STOP}
            commands[self._sides[a]].append(command)
        self._match.act(commands)

    def play(self, unit: np.ndarray) -> None:
        """Plays a decision and reads the units.

        Raises:
            GameLost: if the match has ended, for instance as a stalemate.
        """
        self._match.step(TICKS)
        if self._match.ended:
            raise GameLost("StarCraft II has ended the match")
        self.read(unit)

    def read(self, unit: np.ndarray) -> None:
        """Writes place, points and cooldown of every slot; a unit that is gone is dead. Cooldowns are shown to the owner alone."""
        found: dict[int, Any] = {}
        for answer in self._match.observe():
            own = [one for one in answer.observation.raw_data.units if one.alliance == SELF]
            found |= {one.tag: one for one in own}
        for a, tag in enumerate(self._tags):
            one = found.get(int(tag)) if unit["alive"][a] else None
            if one is None:
                unit["alive"][a] = False
                unit["health"][a] = unit["shield"][a] = unit["cooldown"][a] = 0.0
                continue
            unit["x"][a], unit["y"][a] = (one.pos.x, one.pos.y) - self._centre
            unit["health"][a], unit["shield"][a] = one.health, one.shield
            unit["cooldown"][a] = one.weapon_cooldown

    def close(self) -> None:
        """Ends the processes; the next battle starts new ones."""
        self._match.close()
        self._match.players = []

    def _clear(self) -> None:
        """Removes what the last battle left. Workers stay: a match without income ends as a stalemate."""
        units = [one for answer in self._match.observe() for one in answer.observation.raw_data.units]
        tags = [one.tag for one in units if one.alliance == SELF and one.unit_type in self._types]
        if tags:
            self._match.debug([{"kill_unit": {"tag": tags}}])
            self._match.step(1)

    def _creation(self, unit: np.ndarray, a: int) -> dict[str, Any]:
        owner = self._match.players[self._sides[a]]
        place = self._place(unit["x"][a], unit["y"][a])
        return {"unit_type": int(self._types[a]), "owner": owner, "pos": place, "quantity": 1}

    def _find(self, unit: np.ndarray, present: np.ndarray) -> None:
        """The tags of the new units: each slot, in order, gets the nearest of its side and type."""
        self._tags[:] = 0
        for side, answer in enumerate(self._match.observe()):
            left = [one for one in answer.observation.raw_data.units if one.alliance == SELF]
            for a in present[self._sides[present] == side]:
                fits = [one for one in left if one.unit_type == self._types[a]]
                wanted = self._centre + np.array([unit["x"][a], unit["y"][a]])
                if not fits:
                    raise UserError(
                        f"map = {self._settings.map}: no unit appeared at {wanted}; choose a map that is flat in its middle"
                    )
                nearest = min(fits, key=lambda one: np.hypot(one.pos.x - wanted[0], one.pos.y - wanted[1]))
                self._tags[a] = nearest.tag
                left.remove(nearest)

    def _points(self, unit: np.ndarray, present: np.ndarray) -> list[dict[str, Any]]:
        """Commands that set health and shields."""
        values = [
            {"unit_value": kind, "value": float(unit[name][a]), "unit_tag": int(self._tags[a])}
            for a in present
            for kind, name in ((LIFE, "health"), (SHIELDS, "shield"))
            if unit[name][a] > 0
        ]
        return [{"unit_value": value} for value in values]

    def _place(self, x: float, y: float) -> dict[str, float]:
        return {"x": float(self._centre[0] + x), "y": float(self._centre[1] + y)}
