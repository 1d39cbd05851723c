"""State -> drawing primitives (specification section 14, Views), as in the paper's figures 1 to 3.

The room with the safe zone now and next, boxes and items, agents with their field of view, melee, health, number and inventory, and a line
of counts. The layer ``agents`` has one row per slot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.core.fog import Visible
from interplay.core.scene import rgb
from interplay.planar.views import View
from interplay.worlds.survival.rules.fight import ATTACK

if TYPE_CHECKING:
    from interplay.core.scene import Canvas
    from interplay.worlds.survival.state import Rules, SurvivalState

MARGIN = 0.02  # of the room, shown around it
OUTSIDE, INSIDE = "#e3d5d0", "#f8f6f1"  # unsafe floor, safe floor
RIM, NEXT_RIM = "#1864ab", "#5a8fc0"  # edges of the zone now and next
HEAL, CRATE, BOX_ITEM, OTHER = "#2b8a3e", "#b08968", "#7f4f24", "#5f3dc4"
WALL = "#868e96"
IDLE, ATTACKING = "#343a40", "#c92a2a"  # the melee segment
SOLID, ITEMS = ("walls", "boxes", "agents"), ("heals", "box items", "other items")  # layers that block a view
CARRIED_RADIUS, CARRIED_APART, CARRIED_BELOW = 0.14, 0.36, 0.85  # m, items held, drawn below their owner


def zone_phase(state: SurvivalState, rules: Rules, w: int) -> tuple[int, bool]:
    """The zone's phase, from 0, and whether it is moving to the next one."""
    last = len(state.zone_radii) - 1
    steps = int(state.room["steps"][w])
    phase = min(steps // (2 * rules.zone_cooldown), last)
    tick = steps - 2 * rules.zone_cooldown * phase
    return phase, phase < last and tick > rules.zone_cooldown


def draw_floor(canvas: Canvas, state: SurvivalState, rules: Rules, w: int) -> None:
    """The floor, in the unsafe colour outside of the zone."""
    edge = rules.room * (0.5 + MARGIN)
    canvas.show(-edge, -edge, edge, edge, up="north")
    canvas.boxes(
        "floor",
        [0.0],
        [0.0],
        rules.physics.wall,
        rules.physics.wall,
        colour=OUTSIDE if rules.zone else INSIDE,
        legend="outside the zone" if rules.zone else "",
    )


def draw_walls(canvas: Canvas, state: SurvivalState, rules: Rules, w: int) -> None:
    """The walls, drawn above the zone: its first circle touches them."""
    thick = rules.room / 200
    half = rules.physics.wall + thick / 2
    canvas.boxes("walls", [0.0], [0.0], half, half, colour=WALL, fill=False, width=thick)


def draw_zone(canvas: Canvas, state: SurvivalState, rules: Rules, w: int) -> None:
    """The safe floor, its rim, and the rim of the next phase in dashes."""
    if not rules.zone:
        return
    x, y, radius = (state.room[name][w : w + 1] for name in ("zone_x", "zone_y", "zone_r"))
    canvas.circles("zone", x, y, radius, colour=INSIDE, outline=False, absent=radius <= 0, legend="safe zone")
    canvas.circles("zone rim", x, y, radius, colour=RIM, fill=False, width=0.1, absent=radius <= 0)
    phase, _ = zone_phase(state, rules, w)
    another = int(state.room["steps"][w]) % (2 * rules.zone_cooldown) == 0  # than the step before
    following = min(phase + 1, len(state.zone_radii) - 1)
    next_x, next_y = state.zone_centres[w, following][:, None]
    canvas.circles(
        "next zone",
        next_x,
        next_y,
        np.maximum(state.zone_radii[[following]], 0.1),  # so that the endgame's point is visible in advance
        colour=NEXT_RIM,
        fill=False,
        dashed=True,
        width=0.07,
        absent=np.array([following == phase]),
        jump=np.array([another]),
        legend="next zone",
    )


def draw_boxes(canvas: Canvas, state: SurvivalState, rules: Rules, w: int) -> None:
    """Standing boxes; those of a side have a rim in its colour."""
    if not rules.boxes:
        return
    rows = slice(rules.first_box, rules.first_box + rules.boxes)
    x, y = state.bodies.position[w, rows].T
    half_x, half_y = state.bodies.half[w, rows].T
    angle, absent, owner = (
        state.bodies.angle[w, rows],
        ~state.bodies.present[w, rows],
        state.body["owner"][w, rows],
    )
    canvas.boxes("boxes", x, y, half_x, half_y, angle, CRATE, absent=absent, glyph="crate", legend="box")
    badge = np.maximum(owner, 0).astype(np.uint8)
    unowned = absent | (owner < 0)
    canvas.boxes(
        "owners",
        x,
        y,
        half_x,
        half_y,
        angle,
        badge,
        absent=unowned,
        fill=False,
        width=0.16,
        legend="box in a team's colour: its own",
    )


def draw_items(canvas: Canvas, state: SurvivalState, rules: Rules, w: int) -> None:
    """Heals, box items and items of user-defined groups in the room."""
    for name, first, end, colour, glyph, legend in (
        ("heals", rules.first_heal, rules.first_heal + rules.heals, HEAL, "plus", "heal"),
        (
            "box items",
            rules.first_box_item,
            rules.first_box_item + rules.boxes,
            BOX_ITEM,
            "square",
            "box to pick up",
        ),
        ("other items", rules.first_other, rules.num_bodies, OTHER, "triangle", "other item"),
    ):
        if end > first:
            x, y = state.bodies.position[w, first:end].T
            radius, absent = state.bodies.radius[w, first:end], ~state.bodies.present[w, first:end]
            canvas.circles(name, x, y, radius, colour=colour, glyph=glyph, absent=absent, legend=legend)


def draw_agents(canvas: Canvas, state: SurvivalState, rules: Rules, w: int) -> None:
    """The agents; dead ones stay as a faint mark."""
    rows = slice(0, rules.agents)
    x, y = state.bodies.position[w, rows].T
    canvas.circles(
        "agents",
        x,
        y,
        state.bodies.radius[w, rows],
        state.bodies.angle[w, rows],
        state.sides.astype(np.uint8),
        dimmed=~state.bodies.present[w, rows],
        jump=np.full(rules.agents, state.room["steps"][w] == 0),
        glyph="team",
        legend=[f"team {side}" for side in range(int(state.sides.max()) + 1)],
        bars={"health": (state.body["health"][w, rows], state.full_health[rows])},
        # The quadrilateral of specification section 5 is a cone whose arc has two chords.
        sight=(
            rules.view_depth,
            2 * float(np.arctan2(rules.view_sine, rules.view_cosine)),
            2,
            (*SOLID, *ITEMS) if rules.items_block_rays else SOLID,
        )
        if rules.cameras
        else None,
        labels=[str(number) for number in range(rules.agents)],
    )


def draw_melee(canvas: Canvas, state: SurvivalState, rules: Rules, w: int) -> None:
    """The reach of each living agent's melee, from its rim; thick and red during an attack."""
    if not rules.melee:
        return
    x, y = state.bodies.position[w, : rules.agents].T
    cosine, sine = state.bodies.turn[w, : rules.agents].T
    radius, reach = state.bodies.radius[w, : rules.agents], rules.melee_range
    dead = ~state.bodies.present[w, : rules.agents]
    attacks = state.action[w, :, ATTACK] == 1
    for name, colour, width, absent, legend in (
        ("melee", IDLE, 0.06, dead | attacks, "reach of a blow"),
        ("attacks", ATTACKING, 0.14, dead | ~attacks, "blow"),
    ):
        canvas.segments(
            name,
            x + radius * cosine,
            y + radius * sine,
            x + reach * cosine,
            y + reach * sine,
            colour,
            width=width,
            absent=absent,
            legend=legend,
        )


def draw_inventories(canvas: Canvas, state: SurvivalState, rules: Rules, w: int) -> None:
    """Items of each living agent, in slot order: (A * slots) rows below the agents."""
    if not rules.inventory:
        return
    slots = state.inventory.shape[2]
    slot = np.tile(np.arange(slots), rules.agents)
    item, held = state.inventory[w].reshape(-1), np.repeat(state.agent["held"][w], slots)
    dead = np.repeat(~state.bodies.present[w, : rules.agents], slots)
    x, y = np.repeat(state.bodies.position[w, : rules.agents], slots, axis=0).T
    kind = (item >= rules.first_box_item).astype(int) + (item >= rules.first_other)
    canvas.circles(
        "carried",
        x + (slot - (held - 1) / 2) * CARRIED_APART,
        y - CARRIED_BELOW,
        radius=CARRIED_RADIUS,
        colour=np.stack([rgb(name) for name in (HEAL, BOX_ITEM, OTHER)])[kind],
        absent=(slot >= held) | dead,
    )


def draw_counts(canvas: Canvas, state: SurvivalState, rules: Rules, w: int) -> None:
    """The caption: step, zone, living agents, heals on the ground."""
    shown = {"step": state.room["steps"][w]}
    if rules.zone:
        phase, moving = zone_phase(state, rules, w)
        phases = len(state.zone_radii)
        state_of_zone = "closing" if moving else "endgame" if phase == phases - 1 else "standing"
        shown["zone"] = f"{phase + 1} of {phases}, {state_of_zone}"
    shown["alive"] = state.bodies.present[w, : rules.agents].sum()
    shown["heals"] = state.bodies.present[w, rules.first_heal : rules.first_heal + rules.heals].sum()
    canvas.table("status", list(shown), [list(shown.values())], caption=True)


def visible(state: SurvivalState, rules: Rules, w: int, slot: int) -> Visible:
    """The part of the scene that an agent sees: the room, its zone, itself, and its field of view (specification section 6)."""
    agents = np.arange(rules.agents)
    own, there = agents == slot, np.asarray(state.bodies.present[w])
    seen = there & state.visible[w, slot] if there[slot] else np.zeros_like(there)
    things = there if rules.omniscient and there[slot] else seen
    slots = state.inventory.shape[2]
    shown: dict[str, Any] = dict.fromkeys(("floor", "zone", "zone rim", "next zone", "walls"), True)
    shown |= {
        "agents": own | seen[: rules.agents],
        "melee": own,
        "attacks": own,
        "carried": np.repeat(own, slots),
    }
    groups = {"boxes": (rules.first_box, rules.boxes), "heals": (rules.first_heal, rules.heals)}
    groups |= {"box items": (rules.first_box_item, rules.boxes)}
    shown |= {name: things[first : first + count] for name, (first, count) in groups.items()}
    drawn = {"zone": rules.zone, "melee": rules.melee, "carried": rules.inventory, "boxes": rules.boxes}
    drawn |= {"zone rim": rules.zone, "next zone": rules.zone, "attacks": rules.melee}
    drawn |= {"heals": rules.heals, "box items": rules.boxes}
    return {name: mask for name, mask in shown.items() if drawn.get(name, True)}


# In painting order (specification section 14: views for bodies, ids, health, melee, zone, cameras, inventory).
VIEWS: tuple[View, ...] = (
    draw_floor,
    draw_zone,
    draw_walls,
    draw_boxes,
    draw_items,
    draw_agents,
    draw_melee,
    draw_inventories,
    draw_counts,
)
