"""What agents of the naive persistent world see, may do and aim at (specification 6 and 7)."""

from __future__ import annotations

from math import floor
from typing import TYPE_CHECKING

import numpy as np

from interplay.worlds.mmo.config import COLUMNS, STYLES
from interplay.worlds.mmo.tiles import LAVA, PASSABLE

from .mmo_things import STEPS, Agent

if TYPE_CHECKING:
    from .mmo import MmoTwin


def scan(world: MmoTwin) -> list[Agent]:
    """Everybody by bucket of 8 x 8 tiles, buckets row by row, then by slot."""
    return sorted(world.living(), key=lambda agent: (agent.row // 8, agent.col // 8, agent.slot))


def neighbours(world: MmoTwin, agent: Agent) -> list[Agent]:
    """The others that get a row: in bucket order, the nearest by L1 where there are too many."""
    reach = world.settings.vision
    seen = [other for other in scan(world) if other is not agent and agent.distance(other) <= reach]
    by_distance = sorted(seen, key=lambda other: abs(other.row - agent.row) + abs(other.col - agent.col))
    kept = {other.slot for other in by_distance[: world.settings.rows - 1]}
    return [other for other in seen if other.slot in kept]


def crop(world: MmoTwin, agent: Agent) -> np.ndarray:
    """Tiles around; beyond the array is lava."""
    v = world.settings.vision
    wide = np.pad(world.tiles, v, constant_values=LAVA)
    return wide[agent.row : agent.row + 2 * v + 1, agent.col : agent.col + 2 * v + 1]


def occupancy(world: MmoTwin, agent: Agent) -> np.ndarray:
    v = world.settings.vision
    heads = np.zeros((2 * v + 1, 2 * v + 1), np.int64)
    for other in world.living():
        if agent.distance(other) <= v:
            heads[other.row - agent.row + v, other.col - agent.col + v] += 1
    return np.minimum(heads, 255).astype(np.uint8)


def scaled(x: float, top: float) -> float:
    return (x - top / 2) / top


def row_of(world: MmoTwin, agent: Agent, other: Agent) -> list[float]:
    """The eleven numbers about `other` that `agent` is told."""
    s = world.settings
    place = s.side - s.border
    return [
        scaled(other.life, 100),
        scaled(other.health, s.health),
        scaled(other.food, s.food),
        scaled(other.water, s.water),
        scaled(other.row, place),
        scaled(other.col, place),
        other.row - agent.row,
        other.col - agent.col,
        scaled(other.damage, 5),
        0.5 if other.population == agent.population else -0.5,
        scaled(other.freeze, 2),
    ]


def compact_row_of(world: MmoTwin, agent: Agent, other: Agent) -> list[int]:
    def whole_map(x: int) -> int:
        return floor(x / (world.settings.side - 1) * 254 - 127 + 0.5)

    return [
        min(other.life // 8, 127),
        min(other.health, 127),
        min(other.food, 127),
        min(other.water, 127),
        whole_map(other.row),
        whole_map(other.col),
        other.row - agent.row,
        other.col - agent.col,
        min(other.damage, 127),
        int(other.population == agent.population),
        min(other.freeze, 127),
    ]


def entities(world: MmoTwin, agent: Agent) -> tuple[np.ndarray, int]:
    """(R, 11) rows, the agent's own first, and how many are filled."""
    s = world.settings
    describe = compact_row_of if s.compact else row_of
    table = np.zeros((s.rows, COLUMNS), np.int8 if s.compact else np.float32)
    shown = [agent, *neighbours(world, agent)]
    for k, other in enumerate(shown):
        table[k] = describe(world, agent, other)
    return table, len(shown)


def observe(world: MmoTwin, agent: Agent) -> dict[str, np.ndarray | int]:
    rows, count = entities(world, agent)
    told = {"tiles": crop(world, agent), "entities": rows, "count": count}
    if world.settings.occupancy:
        told["occupancy"] = occupancy(world, agent)
    return told


def may_hit(world: MmoTwin, agent: Agent, other: Agent, style: int) -> bool:
    s = world.settings
    reach = min(s.reach[style], s.vision)  # nobody attacks whom it cannot see
    ours = not s.friendly_fire and other.population == agent.population
    return other is not agent and agent.distance(other) <= reach and not ours


def target(world: MmoTwin, agent: Agent, style: int) -> Agent | None:
    """The target of a style by rule: the weakest, or the nearest."""

    def weakest(other: Agent) -> tuple[int, ...]:
        return other.health, agent.distance(other), other.slot

    def nearest(other: Agent) -> tuple[int, ...]:
        return agent.distance(other), other.health, other.slot

    key = weakest if world.settings.targeting == "lowest_health" else nearest
    return min((o for o in world.living() if may_hit(world, agent, o, style)), key=key, default=None)


def aims(world: MmoTwin, agent: Agent) -> list[list[Agent | None]]:
    """Per style the agents that may be struck: one by rule, or by row of the table (learned), row 0 nobody."""
    if world.settings.targeting != "learned":
        return [[target(world, agent, style)] for style in range(STYLES)]
    rows = neighbours(world, agent)
    return [
        [None, *(other if may_hit(world, agent, other, style) else None for other in rows)]
        for style in range(STYLES)
    ]


def move_mask(world: MmoTwin, agent: Agent) -> list[bool]:
    allowed = [True]
    for down, right in STEPS[1:]:
        tile = world.tile(agent.row + down, agent.col + right)
        burns = world.settings.mask_lava and tile == LAVA
        allowed.append(PASSABLE[tile] and agent.freeze <= 1 and not burns)
    return allowed


def attack_mask(world: MmoTwin, aim: list[list[Agent | None]]) -> list[bool]:
    """Styles with somebody to attack; a head without any legal choice is all legal."""
    s = world.settings
    styles = [any(who is not None for who in row) for row in aim]
    if not s.combat or (not s.no_attack and not any(styles)):
        styles = [True] * STYLES
    return [True, *styles] if s.no_attack else styles


def row_masks(world: MmoTwin, aim: list[list[Agent | None]]) -> list[bool]:
    """Learned targeting: which rows each style may choose; row 0, nobody, always."""
    if world.settings.targeting != "learned":
        return []
    legal: list[bool] = []
    for row in aim:
        legal += [k == 0 or (k < len(row) and row[k] is not None) for k in range(world.settings.rows)]
    return legal


def mask(world: MmoTwin, agent: Agent, aim: list[list[Agent | None]]) -> list[bool]:
    return move_mask(world, agent) + attack_mask(world, aim) + row_masks(world, aim)
