"""What the stand-in plays: battles by the rules of `interplay.worlds.battle`, in the messages of the game."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import numpy as np
from s2clientprotocol import error_pb2, raw_pb2
from s2clientprotocol import sc2api_pb2 as sc

from interplay.core.jit import kernel
from interplay.worlds.battle.config import BattleSettings
from interplay.worlds.battle.rules.step import play_tick
from interplay.worlds.battle.state import allocate_scratch, allocate_state, bodies_of, rules_of
from interplay.worlds.sc2.ids import ATTACK, BATTLE_UNITS, LIFE, MOVE

SIZE = 64  # of the map
HALF = SIZE / 2
NAMES = {number: name for name, number in BATTLE_UNITS.items()}
BASE, WORKER = 86, 104  # a hatchery, a drone
FIRST_TAG = 1 << 32
STALEMATE = 1_500  # loops after which a match ends by itself
GRID = 4096  # steps of a length in the game's numbers, which 32 bits hold exactly


@kernel
def play_ticks(state, body, table, scratch, ticks):
    """Plays so many ticks of the only world."""
    for _ in range(ticks):
        play_tick(state, body, table[0], scratch, 0, 0)


def put_on_grid(unit: np.ndarray) -> None:
    """Rounds what messages carry, so that both ends of the line have the same numbers."""
    for name in ("x", "y", "health", "shield", "cooldown"):
        unit[name] = np.round(unit[name] * GRID) / GRID


class BattleScene:
    """Two bases with workers, and between them the units that are made by debug commands."""

    def __init__(self) -> None:
        self.over = False
        self.loops = 0
        self.made: list[Any] = []  # creations since the last battle
        self.tags: list[int] = []
        self.battles = 0
        self.state: Any = None
        self._lay_out("1 marine", "1 marine")
        play_ticks(
            self.state, self.body, self.table, self.scratch, 0
        )  # loads the kernels while the match is created
        self.state = None

    def play(self, loops: int) -> None:
        self.loops += loops
        self.over = self.loops > STALEMATE
        if self.made:
            self._muster()
        if self.state is not None:
            play_ticks(self.state, self.body, self.table, self.scratch, loops)
            put_on_grid(self.state.unit)

    def obey(self, player: int, command: Any) -> int:
        for tag in command.unit_tags:
            a = self.tags.index(tag)
            assert self.owners[a] == player, "an order to another player's unit"
            unit = self.state.unit[0, a]
            self.scratch.target[0, a] = -1
            self.scratch.goal[0, a] = unit["x"], unit["y"]
            if command.ability_id == ATTACK:
                self.scratch.target[0, a] = self.tags.index(command.target_unit_tag)
            elif command.ability_id == MOVE:
                place = command.target_world_space_pos
                self.scratch.goal[0, a] = place.x - HALF, place.y - HALF
        return int(error_pb2.Success)

    def change(self, command: Any) -> None:
        if command.HasField("create_unit"):
            self.made.append(command.create_unit)
        elif command.HasField("kill_unit"):
            for tag in command.kill_unit.tag:
                self.state.unit["alive"][0, self.tags.index(tag)] = False
        elif command.HasField("unit_value"):
            given = command.unit_value
            field = "health" if given.unit_value == LIFE else "shield"
            self.state.unit[field][0, self.tags.index(given.unit_tag)] = given.value

    def observe(self, player: int) -> Any:
        found = sc.ResponseObservation()
        found.observation.player_common.player_id = player
        raw = found.observation.raw_data
        for owner in (1, 2):
            for number, unit_type in enumerate((BASE, WORKER, WORKER)):
                self._show(
                    raw.units.add(), player, owner, number + 1000 * owner, unit_type, (5.0 * owner, 3.0)
                )
        for a, tag in enumerate(self.tags):
            unit = self.state.unit[0, a]
            if unit["alive"]:
                message = raw.units.add()
                place = HALF + unit["x"], HALF + unit["y"]
                self._show(message, player, self.owners[a], tag, BATTLE_UNITS[self.types[a]], place)
                message.health, message.shield = unit["health"], unit["shield"]
                if self.owners[a] == player:
                    message.weapon_cooldown = unit["cooldown"]
        return found

    def info(self) -> Any:
        size = {"x": SIZE, "y": SIZE}
        return sc.ResponseGameInfo(map_name="Flat64", start_raw={"map_size": size})

    def _muster(self) -> None:
        """Starts the battle of the units made."""
        order = sorted(self.made, key=lambda one: one.owner)
        self.made = []
        self.owners = [one.owner for one in order]
        self.types = [NAMES[one.unit_type] for one in order]
        sides = [
            ", ".join(f"{len(list(same))} {name}" for name, same in groupby(
                kind for kind, owner in zip(self.types, self.owners, strict=True) if owner == side
            ))
            for side in (1, 2)
        ]  # fmt: skip
        self._lay_out(*sides)
        self.battles += 1
        self.tags = [FIRST_TAG * self.battles + a for a in range(len(order))]
        unit = self.state.unit[0]
        places = np.array([(one.pos.x - HALF, one.pos.y - HALF) for one in order])
        unit["x"], unit["y"] = places.T
        unit["health"], unit["shield"] = self.body["health"], self.body["shield"]
        unit["alive"] = unit["present"] = True
        put_on_grid(unit)
        self.scratch.target[:] = -1
        self.scratch.goal[0] = np.stack([unit["x"], unit["y"]], axis=1)

    def _lay_out(self, red: str, blue: str) -> None:
        settings = BattleSettings(red=red, blue=blue, width=SIZE, height=SIZE)
        self.body, self.table = bodies_of(settings), rules_of(settings)
        self.state, self.scratch = allocate_state(settings, 1), allocate_scratch(settings, 1)

    @staticmethod
    def _show(message: Any, player: int, owner: int, tag: int, kind: int, place: tuple[float, float]) -> None:
        message.display_type = raw_pb2.Visible
        message.alliance = raw_pb2.Self if owner == player else raw_pb2.Enemy
        message.tag, message.unit_type, message.owner = tag, kind, owner
        message.pos.x, message.pos.y = place
        message.build_progress = 1.0
