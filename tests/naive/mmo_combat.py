"""Blows of the naive persistent world: damage, theft, frost, immunity (specification 6)."""

from __future__ import annotations

from math import floor
from typing import TYPE_CHECKING, NamedTuple

from .mmo_things import MAGE, MELEE, RANGE, Agent

if TYPE_CHECKING:
    from .mmo import MmoTwin

CAUSES = (MELEE, RANGE, MAGE)
FREEZING = 2  # the style that freezes


class Attack(NamedTuple):
    attacker: Agent
    victim: Agent
    style: int


def shields(world: MmoTwin, attack: Attack) -> tuple[bool, bool]:
    """Whether the victim's health is safe, and whether its goods and legs are."""
    s, young = world.settings, attack.victim.life < world.settings.immunity_ticks
    if s.immunity == "full":
        return young, young
    if s.immunity == "health_only":
        return young, False
    if s.immunity == "elders":
        bully = attack.attacker.life > s.elder_age >= attack.victim.life
        return bully, bully
    return False, False


def loot(world: MmoTwin, style: int) -> int:
    """Points of food, and of water, that an attack takes."""
    return floor(world.settings.damage[style] * world.settings.steal_fraction + 0.5)


def resolve(world: MmoTwin, attack: Attack) -> None:
    """One attack, at once."""
    s, (attacker, victim, style) = world.settings, attack
    safe_health, safe_goods = shields(world, attack)
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
        attacker.harm += s.damage[style]
        if victim.health <= 0:
            kill(world, attack)


def kill(world: MmoTwin, attack: Attack) -> None:
    world.die(attack.victim, CAUSES[attack.style])
    attack.attacker.kills += 1
    attack.attacker.tick.kills += 1


def resolve_together(world: MmoTwin, attacks: list[Attack]) -> None:
    """All attacks from one state: sums, then deaths, each credited to the attack that did it in acting order."""
    steal_together(world, attacks)
    fatal: list[Attack] = []
    for attack in attacks:
        safe_health, safe_goods = shields(world, attack)
        victim, power = attack.victim, world.settings.damage[attack.style]
        if not safe_goods and attack.style == FREEZING:
            victim.freeze = world.settings.freeze
        if not safe_health:
            if 0 < victim.health <= power:
                fatal.append(attack)
            victim.health -= power
            victim.damage += power
            attack.attacker.harm += power
    for attack in fatal:
        kill(world, attack)


def steal_together(world: MmoTwin, attacks: list[Attack]) -> None:
    """Thefts from the goods as they were; conserved ones take in acting order what is left of them."""
    s = world.settings
    for goods, most in (("food", s.food), ("water", s.water)):
        left = {attack.victim.slot: getattr(attack.victim, goods) for attack in attacks}
        change = {agent.slot: 0 for attack in attacks for agent in (attack.attacker, attack.victim)}
        for attack in attacks:
            if shields(world, attack)[1]:
                continue
            amount = loot(world, attack.style)
            if s.steal == "conserved":
                amount = min(amount, left[attack.victim.slot])
                left[attack.victim.slot] -= amount
            change[attack.attacker.slot] += amount
            change[attack.victim.slot] -= amount
        for agent in {a.slot: a for attack in attacks for a in (attack.attacker, attack.victim)}.values():
            setattr(agent, goods, max(0, min(most, getattr(agent, goods) + change[agent.slot])))
