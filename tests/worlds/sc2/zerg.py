"""A small economy in the messages of the game: bases, drones, larvae, buildings, Zerglings and a fight.

Its numbers are simple ones, not the game's: a drone at a mineral field earns 1 mineral in 8 loops, everything takes `LOOPS`, units walk
one length in 4 loops and fight by taking 1 point a loop from what is within 2.
"""

from __future__ import annotations

from typing import Any

from s2clientprotocol import error_pb2, raw_pb2
from s2clientprotocol import sc2api_pb2 as sc

from interplay.worlds.sc2.ids import ATTACK, BUILDS, GATHER, NEUTRAL, UNITS, UPGRADES
from interplay.worlds.sc2.things import BUILDING, MORPH, PAIRS, THINGS, UPGRADE, Thing

SIZE = 60.0
LOOPS = 64  # to make anything
SIGHT = 12.0  # of everything
# As the game has them: with the price of the unit that is used up.
PRICES = {
    "larva": (0, 0),
    "drone": (50, 0),
    "zergling": (25, 0),
    "overlord": (100, 0),
    "extractor": (75, 0),
    "spawning_pool": (250, 0),
}
OTHERS = (100, 0)
FOOD = {"drone": 1.0, "zergling": 0.5}
NAMES = {number: name for name, number in UNITS.items()}
BUILDINGS = tuple(thing.number for thing in THINGS if thing.kind in (BUILDING, MORPH))
FIELD, GEYSER = 341, 342


def ability_of(name: str) -> int:
    """Of making a thing: the game's for the ones that are tested, else a number of its own."""
    known = {
        "hatchery": 1152,
        "spawning_pool": 1155,
        "extractor": 1154,
        "drone": 1342,
        "zergling": 1343,
        "overlord": 1344,
    }
    return known.get(name, 5000 + [thing.name for thing in THINGS].index(name))


def data() -> Any:
    """Prices of all things."""
    found = sc.ResponseData()
    for name, number in UNITS.items():
        minerals, gas = PRICES.get(name, OTHERS)
        row = found.units.add(
            unit_id=number, mineral_cost=minerals, vespene_cost=gas, food_required=FOOD.get(name, 0)
        )
        if name in {thing.name for thing in THINGS}:
            row.ability_id, row.build_time = ability_of(name), LOOPS
    found.units.add(unit_id=FIELD, has_minerals=True)
    found.units.add(unit_id=GEYSER, has_vespene=True)
    for name, number in UPGRADES.items():
        found.upgrades.add(
            upgrade_id=number,
            mineral_cost=100,
            vespene_cost=100,
            ability_id=ability_of(name),
            research_time=LOOPS,
        )
    return found


class Body:
    """One unit."""

    def __init__(self, kind: int, owner: int, x: float, y: float, points: float = 30.0) -> None:
        self.kind, self.owner, self.x, self.y = kind, owner, x, y
        self.points = self.full = points
        self.order = self.target = 0
        self.goal: tuple[float, float] | None = None
        self.left = 0  # loops until it is finished


class ZergScene:
    """Two bases in opposite corners."""

    def __init__(self) -> None:
        self.bodies: dict[int, Body] = {}
        self.minerals = {1: 50.0, 2: 50.0}
        self.spent = {1: 0.0, 2: 0.0}
        self.loop = self.born = 0
        self.results: dict[int, int] = {}
        for owner, (x, y) in ((1, (10.5, 10.5)), (2, (SIZE - 10.5, SIZE - 10.5))):
            self._base(owner, x, y, 1 if owner == 1 else -1)

    def _base(self, owner: int, x: float, y: float, away: int) -> None:
        self._add(UNITS["hatchery"], owner, x, y, 150.0)
        self._add(UNITS["overlord"], owner, x, y)
        for number in range(3):
            self._add(UNITS["larva"], owner, x + number, y - 3)
        fields = [self._add(FIELD, 16, x - 6 * away, y + number) for number in range(4)]
        self._add(GEYSER, 16, x, y - 6 * away)
        for number in range(12):
            drone = self.bodies[self._add(UNITS["drone"], owner, x - 3 * away, y)]
            drone.order, drone.target = GATHER, fields[number % 4]

    def _add(self, kind: int, owner: int, x: float, y: float, points: float = 30.0) -> int:
        self.born += 1
        tag = (1 << 32) + self.born
        self.bodies[tag] = Body(kind, owner, x, y, points)
        return tag

    def play(self, loops: int) -> None:
        for _ in range(loops):
            if not self.results:
                self.loop += 1
                for tag, body in list(self.bodies.items()):
                    self._live(tag, body)
                self._bury()

    def _live(self, tag: int, body: Body) -> None:
        if body.left:
            body.left -= 1
        elif body.kind == UNITS["drone"] and body.order == GATHER:
            self.minerals[body.owner] += 1 / 8
        elif body.kind == UNITS["hatchery"] and self.loop % LOOPS == 0:
            self._add(UNITS["larva"], body.owner, body.x, body.y - 3)
        elif body.order == ATTACK and body.goal:
            self._fight(body)

    def _fight(self, body: Body) -> None:
        for other in self.bodies.values():
            if other.owner == 3 - body.owner and abs(other.x - body.x) < 2 and abs(other.y - body.y) < 2:
                other.points -= 1
                return
        assert body.goal is not None
        for axis, goal in zip("xy", body.goal, strict=True):
            away = goal - getattr(body, axis)
            setattr(body, axis, getattr(body, axis) + max(-0.25, min(0.25, away)))

    def _bury(self) -> None:
        self.bodies = {tag: body for tag, body in self.bodies.items() if body.points > 0}
        alive = {body.owner for body in self.bodies.values() if body.kind in BUILDINGS}
        if len(alive & {1, 2}) < 2:
            self.results = {owner: 1 if owner in alive else 2 for owner in (1, 2)}

    @property
    def over(self) -> bool:
        return bool(self.results)

    def obey(self, player: int, command: Any) -> int:
        for tag in command.unit_tags:
            body = self.bodies[tag]
            assert body.owner == player, "an order to another player's unit"
            made = next((thing for thing in THINGS if ability_of(thing.name) == command.ability_id), None)
            if made is None:
                body.order, body.target = command.ability_id, command.target_unit_tag
                place = command.target_world_space_pos
                body.goal = (place.x, place.y) if command.HasField("target_world_space_pos") else None
            else:
                self._make(body, made, command)
        return int(error_pb2.Success)

    def _make(self, body: Body, thing: Thing, command: Any) -> None:
        used = (
            PRICES["drone"][0]
            if command.ability_id in BUILDS
            else PRICES.get(NAMES.get(thing.used, "larva"), OTHERS)[0]
        )
        price = PRICES.get(thing.name, OTHERS)[0] * PAIRS.get(thing.name, 1) - used
        assert price <= self.minerals[body.owner], f"{thing.name} can't be paid for"
        self.minerals[body.owner] -= price
        self.spent[body.owner] += price
        if thing.kind == UPGRADE:
            body.order = command.ability_id
            return
        if command.ability_id in BUILDS:
            body.x, body.y = command.target_world_space_pos.x, command.target_world_space_pos.y
        made = [body] if thing.used else []
        for _ in range(PAIRS.get(thing.name, 1) - len(made)):
            made.append(self.bodies[self._add(thing.number, body.owner, body.x, body.y)])
        for one in made:
            one.kind, one.left, one.order, one.points, one.full = thing.number, LOOPS, 0, 30.0, 30.0

    def change(self, command: Any) -> None:
        for tag in command.kill_unit.tag:
            self.bodies[tag].points = 0

    def observe(self, player: int) -> Any:
        found = sc.ResponseObservation()
        mine = [body for body in self.bodies.values() if body.owner == player]
        seen = found.observation
        food = sum(FOOD.get(NAMES[body.kind], 0) for body in mine)
        cap = 6 + 8 * sum(body.kind == UNITS["overlord"] and not body.left for body in mine)
        seen.player_common.CopyFrom(
            sc.PlayerCommon(
                player_id=player, minerals=int(self.minerals[player]), food_used=int(food), food_cap=cap
            )
        )
        score = seen.score.score_details
        score.spent_minerals = self.spent[player]
        score.collection_rate_minerals = 60.0 * any(body.order == GATHER for body in mine)
        for tag, body in self.bodies.items():
            near = any(abs(body.x - own.x) + abs(body.y - own.y) < SIGHT for own in mine)
            self._show(seen.raw_data.units.add(), player, tag, body, near)
        for owner, result in self.results.items():
            found.player_result.add(player_id=owner, result=result)
        return found

    @staticmethod
    def _show(message: Any, player: int, tag: int, body: Body, near: bool) -> None:
        sides = {player: raw_pb2.Self, 3 - player: raw_pb2.Enemy}
        message.display_type = raw_pb2.Visible if near else raw_pb2.Snapshot
        message.alliance = sides.get(body.owner, NEUTRAL)
        message.tag, message.unit_type, message.owner = tag, body.kind, body.owner
        message.pos.x, message.pos.y = body.x, body.y
        message.health, message.health_max = body.points, body.full
        message.build_progress = 1 - body.left / LOOPS
        message.mineral_contents = 1000 * (body.kind == FIELD and near)
        message.vespene_contents = 2000 * (body.kind == GEYSER and near)
        if body.owner == player and body.order:
            message.orders.add(ability_id=body.order, target_unit_tag=body.target)

    def info(self) -> Any:
        return sc.ResponseGameInfo(
            map_name="KairosJunctionLE", start_raw={"map_size": {"x": int(SIZE), "y": int(SIZE)}}
        )

    def data(self) -> Any:
        return data()

    def answer(self, query: Any) -> Any:
        """Buildings stand anywhere west of x = 12 or east of SIZE - 12."""
        found = {"placements": []}
        for asked in query.placements:
            good = not 12 < asked.target_pos.x < SIZE - 12
            found["placements"].append(
                {"result": error_pb2.Success if good else error_pb2.CantFindPlacementLocation}
            )
        return sc.Response(query=found).query
