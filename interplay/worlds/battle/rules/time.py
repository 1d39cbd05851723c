"""Passive changes of a tick: weapons cool, shields and Zerg recover (specification 4.3)."""

from interplay.core.jit import phase
from interplay.worlds.battle.config import SHIELD_CALM, SHIELD_PER_SECOND, TICKS_PER_SECOND

CALM = round(SHIELD_CALM * TICKS_PER_SECOND)  # ticks
SHIELD_PER_TICK = SHIELD_PER_SECOND / TICKS_PER_SECOND


@phase
def pass_tick(state, body, rules, w):
    """Advances the clocks of all living units."""
    for a in range(rules.slots):
        unit, own = state.unit[w, a], body[a]
        if not unit.alive:
            continue
        unit.cooldown = max(unit.cooldown - 1.0, 0.0)
        unit.barrier_clock = max(unit.barrier_clock - 1, 0)
        unit.health = min(unit.health + own.regeneration, own.health)
        if unit.calm >= CALM:
            unit.shield = min(unit.shield + SHIELD_PER_TICK, own.shield)
        else:
            unit.calm += 1
