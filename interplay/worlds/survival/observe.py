"""State -> observation (specification 6). One float32 row per agent, the fields one after another.

Mask 1 = hidden or absent, 0 = visible. Masked rows still hold the true values: the network does the masking.
Entity rows are the same for all agents; only masks and own fields differ.
"""

from __future__ import annotations

import numpy as np

from interplay.core.jit import phase
from interplay.worlds.survival.config import SurvivalSettings

SHOWN, HIDDEN = np.float32(0.0), np.float32(1.0)


def fields_of(settings: SurvivalSettings) -> dict[str, tuple[int, ...]]:
    """Name -> shape of each field of one agent's observation, in the order of its row."""
    row = 9 if settings.teams else 8
    cameras, inventory = settings.cameras == "on", settings.inventory == "on"
    others, heals, boxes = settings.agents - 1, settings.heals, settings.boxes
    known = cameras or settings.omniscient  # omniscience covers things, never other agents
    fields: dict[str, tuple[int, ...]] = {"agent": (row,)}
    if settings.zone == "on":
        fields |= {"zone": (6,)}
    if others and cameras:
        fields |= {"others": (others, row), "others_mask": (others,)}
    if heals and known:
        fields |= {"heals": (heals, 2), "heals_mask": (heals,)}
    if boxes and known:
        fields |= {"boxes": (boxes, 11), "boxes_mask": (boxes,)}
        fields |= {"box_items": (boxes, 10), "box_items_mask": (boxes,)}
    if heals and inventory:
        fields |= {"heal_slot": (1, 1), "heal_slot_mask": (1,)}
    if boxes and inventory:
        fields |= {"box_slot": (1, 8), "box_slot_mask": (1,)}
    return fields


@phase
def write_agent(state, rules, w, a, out, k):
    """Writes the row of agent a at out[k], only id and team if it is dead; returns the next free place."""
    body = state.body[w, a]
    out[k] = np.float32(a)
    k += 1
    if rules.teams:
        out[k] = np.float32(state.sides[a])
        k += 1
    if not body.present:
        for i in range(7):
            out[k + i] = np.float32(0.0)
        return k + 7
    out[k] = np.float32(body.health)
    out[k + 1] = np.float32(body.x)
    out[k + 2] = np.float32(body.y)
    out[k + 3] = np.float32(body.angle)
    out[k + 4] = np.float32(body.vx)
    out[k + 5] = np.float32(body.vy)
    out[k + 6] = np.float32(body.spin)
    return k + 7


@phase
def write_zone(state, rules, w, out, k):
    """The circle now, and the next stationary one (zeros in the endgame)."""
    phases = state.zone_centres.shape[1]
    following = state.room[w].steps // (2 * rules.zone_cooldown) + 1
    out[k] = np.float32(state.room[w].zone_x)
    out[k + 1] = np.float32(state.room[w].zone_y)
    out[k + 2] = np.float32(state.room[w].zone_r)
    for i in range(3, 6):
        out[k + i] = np.float32(0.0)
    if following < phases:
        out[k + 3] = np.float32(state.zone_centres[w, following, 0])
        out[k + 4] = np.float32(state.zone_centres[w, following, 1])
        out[k + 5] = np.float32(state.zone_radii[following])
    return k + 6


@phase
def write_vertices(state, rules, w, box, out, k):
    """The box's corners in its own frame, counter-clockwise from (-w/2, -h/2), or (+w/2, -h/2) by the quirk."""
    body = state.body[w, box]
    half_x, half_y = body.half_x, body.half_y
    start = 1 if rules.rotated_vertices and body.broken else 0
    for corner in range(4):
        turned = (corner + start) % 4
        out[k + 2 * corner] = np.float32(half_x if turned == 1 or turned == 2 else -half_x)
        out[k + 2 * corner + 1] = np.float32(half_y if turned >= 2 else -half_y)
    return k + 8


@phase
def write_entity(state, rules, w, i, out, k):
    """The row of heal, box or box item i at out[k]; returns its length."""
    body = state.body[w, i]
    start = k
    if i < rules.first_heal:
        k = write_vertices(state, rules, w, i, out, k)
    elif i >= rules.first_box_item:
        k = write_vertices(state, rules, w, i - rules.first_box_item + rules.first_box, out, k)
    out[k] = np.float32(body.x)
    out[k + 1] = np.float32(body.y)
    k += 2
    if i < rules.first_heal:
        out[k] = np.float32(body.angle)
        k += 1
    return k - start


@phase
def write_group(state, rules, w, first, count, width, k):
    """Writes rows and masks of one group of entities for all agents; returns the next free place."""
    rows = state.body[w]
    everyone = state.observation[w]
    leader = everyone[0]
    mask = k + count * width
    row = 0
    for n in range(count):
        i = first + n
        if rows[i].present:
            write_entity(state, rules, w, i, leader, k + row * width)
            for a in range(rules.agents):
                seen = state.body[w, a].present and (
                    rules.omniscient or state.visible[w, row_of_sight(state, rules, w, a), i]
                )
                everyone[a, mask + row] = SHOWN if seen else HIDDEN
        if rows[i].present or not rules.compact_rows:
            if not rows[i].present:
                for c in range(width):
                    leader[k + row * width + c] = np.float32(0.0)
                for a in range(rules.agents):
                    everyone[a, mask + row] = HIDDEN
            row += 1
    for empty in range(row, count):
        for c in range(width):
            leader[k + empty * width + c] = np.float32(0.0)
        for a in range(rules.agents):
            everyone[a, mask + empty] = HIDDEN
    for a in range(1, rules.agents):
        for c in range(k, mask):
            everyone[a, c] = leader[c]
    return mask + count


@phase
def row_of_sight(state, rules, w, a):
    """The row of `visible` that agent a reads: its own, or by the quirk that of its place in the shortened list."""
    if not rules.vision_row_shift:
        return a
    rank = 0
    for b in range(a):
        rank += state.body[w, b].present
    for b in range(rules.agents):
        if state.body[w, b].present or state.agent[w, b].died:
            if rank == 0:
                return b
            rank -= 1
    return a


@phase
def write_others(state, rules, w, a, out, k):
    """The other agents in id order, with their mask."""
    width = 9 if rules.teams else 8
    mask = k + (rules.agents - 1) * width
    row = row_of_sight(state, rules, w, a)
    n = 0
    for b in range(rules.agents):
        if b == a:
            continue
        write_agent(state, rules, w, b, out, k + n * width)
        seen = state.body[w, a].present and state.body[w, b].present and state.visible[w, row, b]
        out[mask + n] = SHOWN if seen else HIDDEN
        n += 1
    return mask + n


@phase
def write_slots(state, rules, w, a, out, k):
    """The last item held: the amount of a heal, or the corners of a box."""
    item = state.inventory[w, a, state.agent[w, a].held - 1] if state.agent[w, a].held > 0 else -1
    alive = state.body[w, a].present
    if rules.heals > 0:
        holds = alive and rules.first_heal <= item < rules.first_box_item
        out[k] = np.float32(rules.heal_amount if holds else 0)
        out[k + 1] = SHOWN if holds else HIDDEN
        k += 2
    if rules.boxes > 0:
        holds = alive and rules.first_box_item <= item < rules.first_other
        if holds:
            write_vertices(state, rules, w, item - rules.first_box_item + rules.first_box, out, k)
        else:
            for i in range(8):
                out[k + i] = np.float32(0.0)
        out[k + 8] = SHOWN if holds else HIDDEN
        k += 9
    return k


@phase
def observe(state, rules, w):
    """Writes the observation of every agent of world w."""
    # Numba types plain literals differently: each would compile the helper once more.
    start = np.int64(0)
    for a in range(rules.agents):
        out = state.observation[w, a]
        k = write_agent(state, rules, w, a, out, np.int64(0))
        if rules.zone:
            k = write_zone(state, rules, w, out, k)
        start = write_others(state, rules, w, a, out, k) if rules.agents > 1 and rules.cameras else k
    known = rules.cameras or rules.omniscient
    if rules.heals > 0 and known:
        start = write_group(state, rules, w, rules.first_heal, rules.heals, np.int64(2), start)
    if rules.boxes > 0 and known:
        start = write_group(state, rules, w, rules.first_box, rules.boxes, np.int64(11), start)
        start = write_group(state, rules, w, rules.first_box_item, rules.boxes, np.int64(10), start)
    if rules.inventory:
        for a in range(rules.agents):
            write_slots(state, rules, w, a, state.observation[w, a], start)
