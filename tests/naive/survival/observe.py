"""What an agent is told (specification, section 6). A mask of 1 hides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .things import Agent, Body, Box

if TYPE_CHECKING:
    from .world import SurvivalTwin

Row = list[float]


def vertices(box: Box, rotated: bool) -> Row:
    """Counter-clockwise from (-w/2, -h/2); once broken, from (+w/2, -h/2) where the quirk is on."""
    x, y = box.half
    corners = [(-x, -y), (x, -y), (x, y), (-x, y)]
    if rotated and box.broken_once:
        corners = corners[1:] + corners[:1]
    return [number for corner in corners for number in corner]


def agent_row(agent: Agent) -> Row:
    names = [agent.id] if agent.team is None else [agent.id, agent.team]
    if not agent.present:
        return [*names, 0, 0, 0, 0, 0, 0, 0]
    return [*names, agent.health, agent.x, agent.y, agent.angle, agent.vx, agent.vy, agent.spin]


def rows(world: SurvivalTwin, agent: Agent, bodies: list, count: int, width: int, row) -> tuple[list, list]:
    """`count` rows of `width` numbers and their mask; row k belongs to the body with ``row == k``."""
    s = world.settings
    present = [body for body in bodies if body.present]
    if s.compact_rows:
        placed = dict(enumerate(sorted(present, key=lambda body: body.row)))
    else:
        placed = {body.row: body for body in present}
    table, mask = [], []
    for k in range(count):
        body = placed.get(k)
        table.append([0.0] * width if body is None else row(body))
        known = body is not None and agent.present and (s.omniscient or sees(world, agent, body))
        mask.append(0 if known else 1)
    return table, mask


def sees(world: SurvivalTwin, agent: Agent, body: Body) -> bool:
    return id(body) in world.seen.get(agent.id, ())


def observe(world: SurvivalTwin, agent: Agent) -> dict[str, list]:
    s = world.settings
    others = [other for other in world.agents if other is not agent]
    told: dict[str, list] = {
        "agent": agent_row(agent),
    }
    if s.zone:
        told["zone"] = [*world.zone.now, *world.zone.next]
    if s.cameras:
        told["others"] = [agent_row(other) for other in others]
        told["others_mask"] = [
            0 if agent.present and other.present and sees(world, agent, other) else 1 for other in others
        ]
    last = agent.inventory[-1] if agent.inventory else None
    told_of_things = s.cameras or s.omniscient
    if s.heals and told_of_things:
        told["heals"], told["heals_mask"] = rows(
            world, agent, world.heals, s.heals, 2, lambda heal: [heal.x, heal.y]
        )
    if s.heals and s.inventory:
        holds = last is not None and last.box is None
        told["heal_slot"] = [[s.heal_amount if holds else 0]]
        told["heal_slot_mask"] = [0 if holds else 1]
    rotated = s.rotated_vertices
    if s.boxes and told_of_things:
        told["boxes"], told["boxes_mask"] = rows(
            world,
            agent,
            world.boxes,
            s.boxes,
            11,
            lambda box: [*vertices(box, rotated), box.x, box.y, box.angle],
        )
        told["box_items"], told["box_items_mask"] = rows(
            world,
            agent,
            world.box_items,
            s.boxes,
            10,
            lambda item: [*vertices(item.box, rotated), item.x, item.y],
        )
    if s.boxes and s.inventory:
        holds = last is not None and last.box is not None
        told["box_slot"] = [vertices(last.box, rotated) if holds else [0] * 8]
        told["box_slot_mask"] = [0 if holds else 1]
    return told
