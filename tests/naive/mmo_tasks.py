"""Tasks of the naive persistent world, agent by agent (specification 8)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from interplay.worlds.mmo.tiles import FOREST, GRASS, LAVA, SCRUB, STONE, WATER

from .mmo_sight import neighbours

if TYPE_CHECKING:
    from .mmo import MmoTwin
    from .mmo_things import Agent

NAMES = {"lava": LAVA, "water": WATER, "grass": GRASS, "scrub": SCRUB, "forest": FOREST, "stone": STONE}


def progress(world: MmoTwin, agent: Agent) -> float:
    """How far an agent, alive or dead, has come with the world's task."""
    text = world.settings.task
    return either(world, agent, re.findall(r"\w+|[()]", text)) if text else 0.0


def either(world: MmoTwin, agent: Agent, words: list[str]) -> float:
    """``a or b or ...``; takes the words that it reads."""
    found = both(world, agent, words)
    while words and words[0] == "or":
        words.pop(0)
        found = max(found, both(world, agent, words))
    return found


def both(world: MmoTwin, agent: Agent, words: list[str]) -> float:
    found = one(world, agent, words)
    while words and words[0] == "and":
        words.pop(0)
        found = min(found, one(world, agent, words))
    return found


def one(world: MmoTwin, agent: Agent, words: list[str]) -> float:
    word = words.pop(0)
    if word == "not":
        return 1 - one(world, agent, words)
    if word == "(":
        found = either(world, agent, words)
        words.pop(0)
        return found
    inside = []
    while words.pop(0) != ")":
        inside += [words[0]] if words[0] != ")" else []
    return condition(world, agent, word, inside[0] if inside else "")


def condition(world: MmoTwin, agent: Agent, name: str, inside: str) -> float:
    counts = {"survive": "survived", "defeat": "kills", "harm": "harm", "eat": "eaten", "drink": "drunk"}
    if name in counts:
        return min(1.0, getattr(agent, counts[name]) / int(inside))
    if not agent.alive:
        return 0.0
    if name in ("health", "food", "water"):
        return min(1.0, getattr(agent, name) / int(inside))
    if name == "centre":
        middle = (world.settings.side - 1) / 2
        farthest = (world.settings.interior - 1) / 2
        return max(0.0, 1 - max(abs(agent.row - middle), abs(agent.col - middle)) / farthest)
    return condition_of_sight(world, agent, name, inside)


def condition_of_sight(world: MmoTwin, agent: Agent, name: str, inside: str) -> float:
    v = world.settings.vision
    if name == "stand":
        return float(world.tile(agent.row, agent.col) == NAMES[inside])
    if name == "see":
        steps = range(-v, v + 1)
        return float(
            any(world.tile(agent.row + r, agent.col + c) == NAMES[inside] for r in steps for c in steps)
        )
    others = neighbours(world, agent)
    if name == "company":
        return min(1.0, sum(other.population == agent.population for other in others) / int(inside))
    return min([1.0, *(agent.distance(other) / int(inside) for other in others)])
