"""Matches between the processes of one copy: created, joined, stepped, watched and left."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from interplay.worlds.sc2 import engine
from interplay.worlds.sc2.client import Client, call_all
from interplay.worlds.sc2.config import GameSettings
from interplay.worlds.sc2.launcher import GameProcess, free_ports, start_game

SUCCESS = 1  # error_pb2.ActionResult


class Opponent(NamedTuple):
    """One of the game's own players; names of the protocol's enumerations."""

    race: str
    difficulty: str


class MatchPlan(NamedTuple):
    """What a match is made of."""

    map: str
    races: tuple[str, ...]  # of the players that connect: Zerg, Protoss, Terran, Random
    opponent: Opponent | None = None  # besides a single player
    open: bool = False  # all see the whole map


class Match:
    """The processes of one copy, one for each player; each plays many matches.

    Attributes:
        players: the players' numbers in the game, 1 and 2.
        info: the response to game_info.
    """

    def __init__(self, settings: GameSettings, plan: MatchPlan) -> None:
        self.settings, self.plan = settings, plan
        self._map = engine.map_path(plan.map)
        self._processes: list[GameProcess] = []
        self._played = 0
        self.players: list[int] = []
        self.info: Any = None

    @property
    def clients(self) -> list[Client]:
        """The connections, in the order of the players."""
        return [process.client for process in self._processes]

    @property
    def ended(self) -> bool:
        """Whether the game has ended the match."""
        return any(client.status == engine.messages().ended for client in self.clients)

    def begin(self, seed: int) -> None:
        """Leaves the match under way and joins a new one."""
        if self._played >= self.settings.matches:
            self.close()
        while len(self._processes) < len(self.plan.races):
            self._processes.append(start_game(self.settings))
        self._leave()
        patience = self.settings.start_seconds  # a map takes seconds to load
        call_all(self.clients[:1], [{"create_game": self._creation(seed)}], patience)
        self.players = [answer.player_id for answer in call_all(self.clients, self._joins(), patience)]
        self.info = self.clients[0].call(game_info={})
        self._played += 1

    def act(self, commands: Sequence[Iterable[Any]]) -> None:
        """Each player's unit commands (`raw_pb2.ActionRawUnitCommand` or mappings of its fields)."""
        actions = [[{"action_raw": {"unit_command": command}} for command in of] for of in commands]
        going = [number for number, of in enumerate(actions) if of]
        call_all(
            [self.clients[number] for number in going],
            [{"action": {"actions": actions[number]}} for number in going],
        )

    def step(self, loops: int) -> None:
        """Plays so many game loops."""
        call_all(self.clients, [{"step": {"count": loops}}] * len(self.clients))

    def observe(self) -> list[Any]:
        """Each player's `ResponseObservation`."""
        return call_all(self.clients, [{"observation": {}}] * len(self.clients))

    def fits(self, player: int, ability: int, places: np.ndarray) -> np.ndarray:
        """(n,) bool, which places (n, 2) a building can stand at."""
        asked = [
            {"ability_id": ability, "target_pos": {"x": float(x), "y": float(y)}} for x, y in places.tolist()
        ]
        answer = self.clients[player].call(query={"placements": asked, "ignore_resource_requirements": True})
        return np.array([one.result == SUCCESS for one in answer.placements], bool)

    def data(self) -> Any:
        """Prices, times and abilities of the running game."""
        return self.clients[0].call(data={"unit_type_id": True, "upgrade_id": True})

    def debug(self, commands: Iterable[dict[str, Any]]) -> None:
        """Makes, ends and changes units, from the first player's process."""
        self.clients[0].call(debug={"debug": list(commands)})

    def close(self) -> None:
        """Ends the processes."""
        for process in self._processes:
            process.close()
        self._processes, self._played = [], 0

    def _leave(self) -> None:
        playing = engine.messages().in_game, engine.messages().ended
        inside = [client for client in self.clients if client.status in playing]
        call_all(inside, [{"leave_game": {}}] * len(inside))

    def _creation(self, seed: int) -> dict[str, Any]:
        names = engine.messages()
        setup: list[dict[str, Any]] = [{"type": names.Participant} for _ in self.plan.races]
        if (other := self.plan.opponent) is not None:
            race, level = engine.race(other.race), names.Difficulty.Value(other.difficulty)
            setup.append({"type": names.Computer, "race": race, "difficulty": level})
        return {
            "local_map": {"map_path": self._map},
            "player_setup": setup,
            "disable_fog": self.plan.open,
            "random_seed": seed,
            "realtime": False,
        }

    def _joins(self) -> list[dict[str, Any]]:
        common: dict[str, Any] = {"options": {"raw": True, "score": True}}
        if len(self.plan.races) > 1:  # ports by which the processes of a match find each other
            ports = free_ports(2 * len(self.plan.races))
            pairs = [
                {"game_port": game, "base_port": base}
                for game, base in zip(ports[::2], ports[1::2], strict=True)
            ]
            common |= {"shared_port": 0, "server_ports": pairs[0], "client_ports": pairs[1:]}
        return [{"join_game": {"race": engine.race(race), **common}} for race in self.plan.races]
