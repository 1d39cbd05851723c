"""Battles once more, slowly: units as objects, one battle, written from specification 4 and 5. Sums run in its order, so results are equal to the bit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from interplay.kernels.philox import integer_below, uniform
from interplay.worlds.battle.config import BattleSettings

# HP, shield, armour, damage, strikes, bonus, against, range, period in ticks, speed, radius, attributes (specification 4.2).
NUMBERS: dict[str, tuple[Any, ...]] = {
    "immortal": (200, 100, 1, 20, 1, 30, "armoured", 6, 1.45 * 16, 2.25, 0.75, "armoured"),
    "zealot": (100, 50, 1, 8, 2, 0, "", 0.1, 1.2 * 16, 2.25, 0.5, "light"),
    "stalker": (80, 80, 1, 13, 1, 5, "armoured", 6, 1.87 * 16, 2.953, 0.625, "armoured hits_air"),
    "mutalisk": (120, 0, 0, 9, 1, 0, "", 3, 1.525 * 16, 4.0, 0.5, "light hits_air flies zerg"),
    "hydralisk": (90, 0, 0, 12, 1, 0, "", 5, 0.825 * 16, 2.25, 0.625, "light hits_air zerg"),
    "roach": (145, 0, 1, 16, 1, 0, "", 4, 2.0 * 16, 2.25, 0.5, "armoured zerg"),
    "zergling": (35, 0, 0, 5, 1, 0, "", 0.1, 0.696 * 16, 2.953, 0.375, "light zerg"),
    "baneling": (30, 0, 0, 16, 1, 19, "light", 0.25, 0.0, 2.5, 0.375, "zerg"),
    "marine": (45, 0, 0, 6, 1, 0, "", 5, 0.861 * 16, 2.25, 0.375, "light hits_air"),
    "marauder": (125, 0, 1, 10, 1, 10, "armoured", 6, 1.5 * 16, 2.25, 0.5625, "armoured"),
}
SIGHTS = {"zergling": 8, "baneling": 8, "stalker": 10, "marauder": 10, "mutalisk": 11}  # others 9
STATE_COOLDOWNS = {"stalker": 35, "zealot": 22, "hydralisk": 10, "zergling": 11, "baneling": 1, "marine": 15}
STATE_COOLDOWNS |= {"marauder": 25, "immortal": 24, "roach": 32, "mutalisk": 25}
PROTOSS = ("immortal", "zealot", "stalker")
SLANT = math.sqrt(0.5)
HEADINGS = [(0.0, 1.0), (0.0, -1.0), (1.0, 0.0), (-1.0, 0.0)]
DIAGONALS = [(SLANT, SLANT), (SLANT, -SLANT), (-SLANT, -SLANT), (-SLANT, SLANT)]


@dataclass
class Unit:
    """One unit."""

    kind: str
    side: int
    slot: int
    x: float = 0.0
    y: float = 0.0
    health: float = 0.0
    shield: float = 0.0
    cooldown: float = 0.0
    barrier: float = 0.0
    barrier_clock: int = 0
    calm: int = 0
    last: int = -1
    look: int = 0  # direction
    seer: Unit | None = None  # who saw it first
    known: set[int] = field(default_factory=set)  # slots of the enemies that it has noticed
    alive: bool = False
    present: bool = False
    target: Unit | None = None
    goal: tuple[float, float] = (0.0, 0.0)
    attributes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        names = [
            "max_health",
            "max_shield",
            "armour",
            "damage",
            "strikes",
            "bonus",
            "against",
            "range",
            "period",
            "speed",
            "radius",
        ]
        *numbers, attributes = NUMBERS[self.kind]
        for name, value in zip(names, numbers, strict=True):
            setattr(self, name, value)
        self.attributes = attributes.split()

    def way(self, other: Unit) -> float:
        return math.sqrt((other.x - self.x) * (other.x - self.x) + (other.y - self.y) * (other.y - self.y))

    def gap(self, other: Unit) -> float:
        return self.way(other) - (self.range + self.radius + other.radius)

    def can_hit(self, other: Unit) -> bool:
        return "hits_air" in self.attributes or "flies" not in other.attributes

    def damage_to(self, other: Unit) -> float:
        return self.damage + (self.bonus if self.against in other.attributes else 0)

    @property
    def sign(self) -> float:
        return -1.0 if self.side else 1.0


class BattleTwin:
    """One battle.

    Attributes:
        units: of both sides, red's first.
    """

    def __init__(self, settings: BattleSettings) -> None:
        self.settings = settings
        names = [(side, kind) for side, kinds in enumerate(settings.sides) for kind in kinds]
        self.units = [Unit(kind, side, slot) for slot, (side, kind) in enumerate(names)]
        self.sides = [[unit for unit in self.units if unit.side == side] for side in (0, 1)]
        self.most = max(map(len, self.sides))
        self.first_look = 6 + self.most + (4 if settings.diagonals else 0)
        self.actions = self.first_look + settings.look_directions
        self.half = (settings.width / 2, settings.height / 2)
        self.seed, self.episode, self.draws = 0, -1, 0

    # -- chance -----------------------------------------------------------------------------------

    def chance(self) -> float:
        self.draws += 1
        return float(uniform(np.uint64(self.seed), np.uint64(self.episode), np.uint64(self.draws - 1)))

    def below(self, bound: int) -> int:
        self.draws += 1
        return int(
            integer_below(np.uint64(self.seed), np.uint64(self.episode), np.uint64(self.draws - 1), bound)
        )

    # -- the beginning ----------------------------------------------------------------------------

    def reset(self, seed: int | None = None) -> None:
        self.seed, self.episode = (self.seed, self.episode + 1) if seed is None else (seed, 0)
        self.draws, self.steps, self.over, self.outcome = 0, 0, False, 0
        self.reward = [0.0] * len(self.units)
        self.terminated = [False] * len(self.units)
        self.truncated = [False] * len(self.units)
        present = self.who_takes_part()
        for number, unit in enumerate(self.units):
            unit.present = unit.alive = present[number]
            unit.x = unit.y = unit.health = unit.shield = unit.cooldown = unit.barrier = 0.0
            unit.barrier_clock, unit.calm, unit.last = 0, 0, -1
            unit.look, unit.seer, unit.known = 0, None, set()
        begin = self.draws
        for side in self.sides:
            first = self.draws
            if self.settings.mirror:
                self.draws = begin
            for number, unit in enumerate(side):
                if unit.present:
                    self.equip(unit, number)
            self.draws = max(first, self.draws)
        if self.settings.randomize != "nothing" or self.is_crowded():
            for _ in range(40):
                self.push_apart()
        for side in self.sides:
            self.put_in_order(side)
        self.notice()

    def who_takes_part(self) -> list[bool]:
        if not self.settings.drawn:
            return [True] * len(self.units)
        red: list[bool] = []
        for many in self.settings.armies[0].values():
            taken = 1 + self.below(many)
            red += [number < taken for number in range(many)]
        return red * 2

    def equip(self, unit: Unit, number: int) -> None:
        if self.settings.randomize == "nothing":
            unit.x, unit.y = self.formation(unit, number)
        else:
            unit.x = unit.sign * self.half[0] * (self.chance() * (2 / 3) - 1)
            unit.y = self.half[1] * (self.chance() * 2 - 1)
        unit.health, unit.shield = float(unit.max_health), float(unit.max_shield)
        if self.settings.randomize == "all":
            unit.health *= 0.5 + 0.5 * self.chance()
            unit.shield *= 0.5 + 0.5 * self.chance()
            unit.cooldown = unit.period * self.chance()

    def formation(self, unit: Unit, number: int) -> tuple[float, float]:
        rows = min(8, int(self.settings.height / 1.6))
        column = number // rows
        together = min(rows, len(self.sides[unit.side]) - column * rows)
        x = max(-self.half[0] / 2 - column * 1.6, -self.half[0])
        return unit.sign * x, (number % rows - (together - 1) / 2) * 1.6

    def is_crowded(self) -> bool:
        """Whether units on the ground would overlap in formation, all of the scenario's."""
        places = [
            (self.formation(unit, number), unit.radius)
            for side in self.sides
            for number, unit in enumerate(side)
            if "flies" not in unit.attributes
        ]
        return any(
            (one[0] - other[0]) * (one[0] - other[0]) + (one[1] - other[1]) * (one[1] - other[1])
            < (radius + another) * (radius + another)
            for k, (one, radius) in enumerate(places)
            for other, another in places[:k]
        )

    def put_in_order(self, side: list[Unit]) -> None:
        for kind in {unit.kind for unit in side}:
            alike = [unit for unit in side if unit.kind == kind and unit.present]
            places = sorted((unit.sign * unit.x, unit.y) for unit in alike)
            for unit, (x, y) in zip(alike, places, strict=True):
                unit.x, unit.y = unit.sign * x, y

    # -- a decision -------------------------------------------------------------------------------

    def step(self, actions: list[int]) -> None:
        self.reward = [0.0] * len(self.units)
        self.terminated = [False] * len(self.units)
        self.truncated = [False] * len(self.units)
        if self.over:
            return
        for unit, action in zip(self.units, actions, strict=True):
            self.order(unit, action)
        before = [self.strength(side) for side in self.sides]
        for _ in range(8):
            self.tick()
        self.finish(before)
        self.notice()

    def order(self, unit: Unit, action: int) -> None:
        unit.last = action if unit.alive else 0
        unit.target, unit.goal = None, (unit.x, unit.y)
        heading = self.heading(unit, action)
        if heading:
            goal = unit.x + 2 * heading[0], unit.y + 2 * heading[1]
            unit.goal = self.on_field(*goal)
        elif action >= self.first_look and unit.alive:
            unit.look = action - self.first_look
        elif 6 <= action < self.first_look:
            target = self.sides[1 - unit.side][action - 6]
            unit.target = target if not self.settings.attack_anyone or self.may_shoot(unit, target) else None

    def heading(self, unit: Unit, action: int) -> tuple[float, float] | None:
        headings = {2 + k: heading for k, heading in enumerate(HEADINGS)}
        if self.settings.diagonals:
            headings |= {6 + self.most + k: heading for k, heading in enumerate(DIAGONALS)}
        if action not in headings:
            return None
        right, up = headings[action]
        return unit.sign * right, up

    def on_field(self, x: float, y: float) -> tuple[float, float]:
        return min(max(x, -self.half[0]), self.half[0]), min(max(y, -self.half[1]), self.half[1])

    def strength(self, side: list[Unit]) -> tuple[int, float]:
        points = 0.0
        for unit in side:
            points += unit.health + unit.shield
        return sum(unit.alive for unit in side), points

    def tick(self) -> None:
        attackers = []
        for unit in self.living():
            if unit.target is not None and not unit.target.alive:
                unit.target, unit.goal = None, (unit.x, unit.y)
            if unit.target is not None and unit.gap(unit.target) <= 1e-9 and unit.cooldown < 1:
                attackers.append(unit)
        gaps = {unit.slot: unit.gap(unit.target) for unit in self.living() if unit.target is not None}
        for unit in attackers:
            self.attack(unit)
        while dying := [unit for unit in self.living() if unit.health <= 0]:
            for unit in dying:
                unit.alive = False
                unit.health = unit.shield = unit.cooldown = unit.barrier = 0.0
            for unit in dying:
                if unit.kind == "baneling":
                    self.burst(unit)
        self.walk(gaps)
        for _ in range(2):
            self.push_apart()
        for unit in self.living():
            self.pass_time(unit)

    def living(self) -> list[Unit]:
        return [unit for unit in self.units if unit.alive]

    def attack(self, unit: Unit) -> None:
        assert unit.target is not None
        unit.cooldown += unit.period
        if self.settings.jitter:
            unit.cooldown = max(unit.cooldown + self.below(4) - 1, 0.0)
        if unit.kind == "baneling":
            unit.health = 0.0
            return
        for _ in range(unit.strikes):
            self.hurt(unit.target, unit.damage_to(unit.target))
        if unit.kind == "mutalisk" and self.settings.bounce_radius > 0:
            hit = [unit.target]
            for damage in (3.0, 1.0):
                others = [
                    (hit[-1].way(other) - other.radius, other.slot, other)
                    for other in self.sides[1 - unit.side]
                    if other.alive and other not in hit
                ]
                near = [each for each in others if each[0] <= self.settings.bounce_radius]
                if not near:
                    return
                hit.append(min(near, key=lambda each: each[:2])[2])
                self.hurt(hit[-1], damage)

    def hurt(self, unit: Unit, damage: float) -> None:
        left = damage
        for pool in [*self.barrier(unit), "shield"]:
            kept = min(getattr(unit, pool), left)
            setattr(unit, pool, getattr(unit, pool) - kept)
            left -= kept
        if left > 0:
            done = damage - left
            unit.health -= max(left - unit.armour, 0.5 - done, 0.0)
        unit.calm = 0

    def barrier(self, unit: Unit) -> list[str]:
        """What absorbs before the shield: an open barrier."""
        if not self.settings.barrier or unit.kind != "immortal":
            return []
        if unit.barrier_clock == 0:
            unit.barrier_clock, unit.barrier = 717, 100.0
        return ["barrier"] if unit.barrier_clock > 717 - 45 else []

    def burst(self, baneling: Unit) -> None:
        for unit in self.sides[1 - baneling.side]:
            near = baneling.way(unit) - unit.radius <= 2.2
            if unit.alive and near and "flies" not in unit.attributes:
                self.hurt(unit, baneling.damage_to(unit))

    def walk(self, gaps: dict[int, float]) -> None:
        places = []
        for unit in self.living():
            x, y = unit.goal if unit.target is None else (unit.target.x, unit.target.y)
            way = math.sqrt((x - unit.x) * (x - unit.x) + (y - unit.y) * (y - unit.y))
            room = way if unit.target is None else gaps[unit.slot] if unit.target.alive else 0.0
            share = min(unit.speed / 16, room) / way if room > 1e-9 else 0.0
            places.append((unit, unit.x + share * (x - unit.x), unit.y + share * (y - unit.y)))
        for unit, x, y in places:
            unit.x, unit.y = self.on_field(x, y)

    def push_apart(self) -> None:
        places = []
        for unit in self.living():
            x, y = unit.x, unit.y
            if "flies" not in unit.attributes:
                for right, up in self.pushes(unit):
                    x, y = x + right, y + up
            places.append((unit, x, y))
        for unit, x, y in places:
            unit.x, unit.y = self.on_field(x, y)

    def pushes(self, unit: Unit) -> Iterator[tuple[float, float]]:
        for other in [*self.sides[unit.side], *self.sides[1 - unit.side]]:
            if other is unit or not other.alive or "flies" in other.attributes:
                continue
            reach = unit.radius + other.radius
            right, up = unit.x - other.x, unit.y - other.y
            square = right * right + up * up
            if square == 0:
                half = 0.5 * reach
                if other.side != unit.side:
                    yield -unit.sign * half, 0.0
                else:
                    yield 0.0, half if unit.slot > other.slot else -half
            elif square < reach * reach:
                way = math.sqrt(square)
                share = 0.5 * (reach - way) / way
                yield share * right, share * up

    def pass_time(self, unit: Unit) -> None:
        unit.cooldown = max(unit.cooldown - 1, 0.0)
        unit.barrier_clock = max(unit.barrier_clock - 1, 0)
        heals = 0.27 if "zerg" in unit.attributes else 0.0
        if unit.kind == "mutalisk" and self.settings.mutalisk_regeneration:
            heals = 1.0
        unit.health = min(unit.health + heals / 16, unit.max_health)
        if unit.calm >= 160:
            unit.shield = min(unit.shield + 2 / 16, unit.max_shield)
        else:
            unit.calm += 1

    # -- the end ----------------------------------------------------------------------------------

    def finish(self, before: list[tuple[int, float]]) -> None:
        after = [self.strength(side) for side in self.sides]
        self.steps += 1
        decided = 0 in (after[0][0], after[1][0])
        cut = not decided and self.steps >= self.settings.limit
        self.over = decided or cut
        self.outcome = (after[0][0] > 0) - (after[1][0] > 0) if decided else 0
        for side in (0, 1):
            result = self.outcome if side == 0 else -self.outcome
            pay = self.pay(side, result, before, after) + (self.settings.timeout if cut else 0)
            for unit in self.sides[side]:
                self.reward[unit.slot] = pay if unit.present else 0.0
        self.terminated = [decided and unit.present for unit in self.units]
        self.truncated = [cut and unit.present for unit in self.units]

    def pay(self, side: int, result: int, before: Any, after: Any) -> float:
        own, enemy = side, 1 - side
        lost, felled = before[own][0] - after[own][0], before[enemy][0] - after[enemy][0]
        taken, given = before[enemy][1] - after[enemy][1], before[own][1] - after[own][1]
        full = 200.0 + sum(
            10 + unit.max_health + unit.max_shield for unit in self.sides[enemy] if unit.present
        )
        match self.settings.reward:
            case "result":
                return result
            case "losses":
                return result + 0.1 * (felled - lost)
            case "smac_sparse":
                return result * 20 / full if self.settings.exact_smac else result
        points = taken + 10 * felled
        if self.settings.negatives:
            points -= 0.5 * (given + 10 * lost)
        else:
            points = abs(points) if self.settings.exact_smac else max(points, 0)
        points += 200 if result > 0 else -self.settings.defeat if result < 0 else 0
        return points * 20 / full

    # -- what is seen -----------------------------------------------------------------------------

    def legal(self, unit: Unit) -> list[bool]:
        legal = [False] * self.actions
        if not unit.alive:
            legal[0] = True
            return legal
        legal[1] = True
        for action in range(2, self.actions):
            if heading := self.heading(unit, action):
                x, y = unit.x + heading[0], unit.y + heading[1]
                legal[action] = abs(x) <= self.half[0] and abs(y) <= self.half[1]
        for j, other in enumerate(self.sides[1 - unit.side]):
            near = self.settings.attack_anyone or self.may_shoot(unit, other)
            legal[6 + j] = other.alive and near and unit.can_hit(other)
        for look in range(self.settings.look_directions):
            legal[self.first_look + look] = True
        return legal

    def may_shoot(self, unit: Unit, other: Unit) -> bool:
        reach = max(unit.range, 2.0) if self.settings.unit_ranges else 6.0
        near = unit.way(other) <= reach and self.faces(unit, other)
        return other.alive and near and unit.can_hit(other)

    def facing(self, unit: Unit) -> list[float]:
        if not self.settings.look_directions:
            return []
        turn = 2 * math.pi * unit.look / self.settings.look_directions
        return [math.cos(turn), math.sin(turn)]

    def faces(self, unit: Unit, other: Unit) -> bool:
        """Whether a unit has another one in its cone."""
        if not self.settings.look_directions:
            return True
        right, up = self.facing(unit)
        along = unit.sign * (other.x - unit.x) * right + (other.y - unit.y) * up
        return along >= math.cos(math.pi / self.settings.look_directions) * unit.way(other)

    def in_sight(self, unit: Unit, other: Unit) -> bool:
        sight = SIGHTS.get(unit.kind, 9) if self.settings.unit_ranges else 9
        return other.alive and unit.way(other) < sight and self.faces(unit, other)

    def notice(self) -> None:
        """Who has not been seen yet is noticed by the first who sees it, and by the others by chance."""
        if self.settings.notice_chance == 1:
            return
        fallen = [unit for unit in self.units if not unit.alive]
        for unit in self.units:
            if unit in fallen:
                unit.known.clear()
            if unit in fallen or unit.seer in fallen:
                unit.seer = None
                for other in self.units:
                    other.known.discard(unit.slot)
        first = self.draws
        for side in (0, 1):
            if side == 0 or self.settings.mirror:
                self.draws = first
            for j in range(self.most):
                chances = [self.chance() for _ in range(self.most)]
                for other in self.sides[1 - side][j : j + 1]:
                    seeing = [unit for unit in self.sides[side] if unit.alive and self.in_sight(unit, other)]
                    if other.seer is None and seeing:
                        other.seer = seeing[0]
                        for unit, chance in zip(self.sides[side], chances, strict=False):
                            lucky = chance < self.settings.notice_chance
                            if unit.alive and (unit is seeing[0] or lucky):
                                unit.known.add(other.slot)

    def observe(self, unit: Unit) -> list[float]:
        s, legal = self.settings, self.legal(unit)
        sight = SIGHTS.get(unit.kind, 9) if s.unit_ranges else 9
        row = [float(move) for move in legal[2:6]]
        if s.see_pathing:
            around = [(4 * x, 4 * y) for x, y in HEADINGS] + [(2, 2), (-2, -2), (2, -2), (-2, 2)]
            row += [
                float(abs(unit.x + unit.sign * x) <= self.half[0] and abs(unit.y + y) <= self.half[1])
                for x, y in around
            ]
        row += [1.0] * (9 if s.see_heights else 0)
        for other in self.sides[1 - unit.side]:
            seen = self.other(unit, other, sight, float(self.may_shoot(unit, other)))
            unnoticed = s.notice_chance < 1 and other.slot not in unit.known
            row += [0.0] * len(seen) if unnoticed else seen
        for other in self.sides[unit.side]:
            if other is unit:
                continue
            seen = self.other(unit, other, sight, 1.0)
            last = [0.0] * (self.actions if s.see_last_action else 0)
            if any(seen) and last and other.last >= 0:
                last[other.last] = 1.0
            row += seen + last
        row += [unit.health / unit.max_health, *self.nature(unit)]
        if s.see_position:
            row += [unit.sign * unit.x / s.width, unit.y / s.height]
        row += self.facing(unit)
        if s.see_time:
            row += [self.steps / s.limit]
        return row if unit.alive else [0.0] * len(row)

    def other(self, unit: Unit, other: Unit, sight: float, first: float) -> list[float]:
        way = unit.way(other)
        row = [first, way / sight, unit.sign * (other.x - unit.x) / sight, (other.y - unit.y) / sight]
        row += [other.health / other.max_health, *self.nature(other)]
        return row if self.in_sight(unit, other) else [0.0] * len(row)

    def nature(self, unit: Unit) -> list[float]:
        """Shield and type, as far as they are told."""
        shields = any(other.kind in PROTOSS for other in self.sides[unit.side])
        shield = [unit.shield / unit.max_shield if unit.max_shield else 0.0] if shields else []
        types = self.settings.types
        return shield + [float(unit.kind == kind) for kind in types if len(types) > 1]

    def state(self, side: int) -> list[float]:
        s, row = self.settings, []
        for of in (side, 1 - side):
            for unit in self.sides[of]:
                place = [(-1 if side else 1) * unit.x / s.width, unit.y / s.height]
                cooldown = [unit.cooldown / STATE_COOLDOWNS[unit.kind]] if of == side else []
                part = [unit.health / unit.max_health, *cooldown, *place, *self.nature(unit)]
                part += self.facing(unit) if of == side else []
                row += part if unit.alive else [0.0] * len(part)
        if s.state_last_action:
            for unit in self.sides[side]:
                row += [float(action == unit.last) for action in range(self.actions)]
        return row + ([self.steps / s.limit] if s.state_time else [])
