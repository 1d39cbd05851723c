"""Players with a purpose for the twin's comparisons: they know everything and make things happen.

Random play rarely picks up, gives, breaks or kills; these do all of it within a few hundred steps.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

from .things import Agent, Body
from .world import SurvivalTwin

TEMPERS = ("collector", "breaker", "hunter", "helper", "random")


def targets(world: SurvivalTwin, agent: Agent, temper: str) -> Sequence[Body]:
    """What this agent runs after."""
    others = [other for other in world.living() if other is not agent]
    if temper == "collector":
        return world.items_on_ground()
    if temper == "breaker":
        return [box for box in world.boxes if box.present] or world.box_items
    if temper == "helper":
        return world.items_on_ground() if len(agent.inventory) < min(2, world.settings.slots) else others
    return others


def act(world: SurvivalTwin, agent: Agent, temper: str, rng: random.Random) -> list[int]:
    """One action; `rng` adds a slip in one step of ten."""
    s = world.settings
    top = s.motion_levels - 1
    heads = [top + 1, top + 1, top + 1, 2, 2, 2] + [2] * s.drop_action
    aims = targets(world, agent, temper)
    if temper == "random" or not aims or rng.random() < 0.1:
        return [rng.randrange(n) for n in heads]
    aim = min(aims, key=agent.distance)
    bearing = math.atan2(aim.y - agent.y, aim.x - agent.x) - agent.angle
    bearing = (bearing + math.pi) % (2.0 * math.pi) - math.pi - 0.3 * agent.spin
    turn = 0 if bearing < -0.05 else top if bearing > 0.05 else top // 2
    pace = math.hypot(agent.vx, agent.vy)
    ahead = top if abs(bearing) < 0.5 and pace < 4.0 else top // 2
    attack = int(temper in ("hunter", "breaker") or rng.random() < 0.2)
    use = int(rng.random() < (0.05 if temper == "helper" else 0.01))
    give = int(temper == "helper" or rng.random() < 0.05)
    drop = [int(rng.random() < 0.02)] * s.drop_action
    return [ahead, top // 2, turn, attack, use, give, *drop]
