"""Blows of the naive persistent world: damage, theft, frost, immunity (specification 6)."""

from __future__ import annotations

from math import floor
from typing import TYPE_CHECKING, NamedTuple

from .mmo_things import MAGE, MELEE, RANGE, Agent

if TYPE_CHECKING:
    from .mmo import MmoTwin

CAUSES = (MELEE, RANGE, MAGE)
FREEZING = 2  # the style that freezes


class Blow(NamedTuple):
    attacker: Agent
    victim: Agent
    style: int


def shields(world: MmoTwin, blow: Blow) -> tuple[bool, bool]:
    """Whether the victim's health is safe, and whether its goods and legs are."""
    s, young = world.settings, blow.victim.life < world.settings.immunity_ticks
    if s.immunity == "full":
        return young, young
    if s.immunity == "health_only":
        return young, False
    if s.immunity == "elders":
        bully = blow.attacker.life > s.elder_age >= blow.victim.life
        return bully, bully
    return False, False


def loot(world: MmoTwin, style: int) -> int:
    """Points of food, and of water, that a blow takes."""
    return floor(world.settings.damage[style] * world.settings.steal_fraction + 0.5)


def strike(world: MmoTwin, blow: Blow) -> None:
    """One blow, at once."""
    s, (attacker, victim, style) = world.settings, blow
    safe_health, safe_goods = shields(world, blow)
    if not safe_goods:
        for goods, most in (("food", s.food), ("water", s.water)):
            has = getattr(victim, goods)
            gain = loot(world, style) if s.steal == "nominal" else min(loot(world, style), has)
            setattr(attacker, goods, min(most, getattr(attacker, goods) + gain))
            setattr(victim, goods, max(0, has - loot(world, style)))
        if style == FREEZING:
            victim.freeze = s.freeze
    if not safe_health:
        victim.health -= s.damage[style]
        victim.damage += s.damage[style]
        if victim.health <= 0:
            kill(world, blow)


def kill(world: MmoTwin, blow: Blow) -> None:
    world.die(blow.victim, CAUSES[blow.style])
    blow.attacker.kills += 1
    blow.attacker.tick.kills += 1


def strike_together(world: MmoTwin, blows: list[Blow]) -> None:
    """All blows from one state: sums, then deaths, each credited to the blow that did it in acting order."""
    steal_together(world, blows)
    fatal: list[Blow] = []
    for blow in blows:
        safe_health, safe_goods = shields(world, blow)
        victim, power = blow.victim, world.settings.damage[blow.style]
        if not safe_goods and blow.style == FREEZING:
            victim.freeze = world.settings.freeze
        if not safe_health:
            if 0 < victim.health <= power:
                fatal.append(blow)
            victim.health -= power
            victim.damage += power
    for blow in fatal:
        kill(world, blow)


def steal_together(world: MmoTwin, blows: list[Blow]) -> None:
    """Thefts from the goods as they were; conserved ones take in acting order what is left of them."""
    s = world.settings
    for goods, most in (("food", s.food), ("water", s.water)):
        left = {blow.victim.slot: getattr(blow.victim, goods) for blow in blows}
        change = {agent.slot: 0 for blow in blows for agent in (blow.attacker, blow.victim)}
        for blow in blows:
            if shields(world, blow)[1]:
                continue
            amount = loot(world, blow.style)
            if s.steal == "conserved":
                amount = min(amount, left[blow.victim.slot])
                left[blow.victim.slot] -= amount
            change[blow.attacker.slot] += amount
            change[blow.victim.slot] -= amount
        for agent in {a.slot: a for blow in blows for a in (blow.attacker, blow.victim)}.values():
            setattr(agent, goods, max(0, min(most, getattr(agent, goods) + change[agent.slot])))
