"""Heals, boxes and inventories (specification 4.2 to 4.4)."""

import numpy as np

from interplay.core.jit import phase
from interplay.kernels.philox import uniform
from interplay.planar.phases import despawn_body, spawn_body
from interplay.worlds.survival.rules.fight import DROP, GIVE, USE, change_health
from interplay.worlds.survival.state import EMPTY, NO_SIDE

TWO_PI = 6.283185307179586


@phase
def last_item(agent, slots):
    """The row of the item in the agent's last filled slot, or EMPTY."""
    return np.int64(slots[agent.held - 1] if agent.held > 0 else EMPTY)


@phase
def put_item(agent, slots, item):
    """Inventory: puts the item into the next slot; the caller checks that one is free."""
    slots[agent.held] = item
    agent.held += 1


@phase
def take_item(agent, slots):
    """Inventory: removes the last item from its slot."""
    agent.held -= 1
    slots[agent.held] = EMPTY


@phase
def drop_broken_boxes(state, rules, w):
    """ObjectItem: the items of boxes broken in the previous step appear at their centres."""
    for i in range(rules.first_box, rules.first_box + rules.boxes):
        box = state.body[w, i]
        box.placed = False
        if box.due:
            box.due = False
            spawn_body(state.body[w, i - rules.first_box + rules.first_box_item], box.x, box.y)


@phase
def place_box(room, user, box, distance):
    """Places the box of a box item ahead of its user, axis-aligned; its health follows in post_step."""
    if box.present:  # only a duplicated item (quirk) meets its own box
        return
    spawn_body(box, user.x + distance * user.cosine, user.y + distance * user.sine)
    box.placed = True
    room.boxes_placed += 1


@phase
def use_items(state, rules, w):
    """UseLast: a heal heals, a box item becomes its box; items of other groups are left to their modules."""
    for a in range(rules.agents):
        state.agent[w, a].used = EMPTY
        if not state.body[w, a].present or state.action[w, a, USE] == 0 or state.agent[w, a].held == 0:
            continue
        item = last_item(state.agent[w, a], state.inventory[w, a])
        take_item(state.agent[w, a], state.inventory[w, a])
        state.agent[w, a].used = item
        if item < rules.first_box_item:
            change_health(state, rules, w, a, rules.heal_amount, NO_SIDE)
            state.room[w].heals_used += 1
        elif item < rules.first_other:
            box = state.body[w, item - rules.first_box_item + rules.first_box]
            place_box(state.room[w], state.body[w, a], box, rules.place_distance)


@phase
def nearest_taker(state, rules, w, a):
    """The nearest other living agent within `give_radius`, a team-mate if there are teams, or -1."""
    rows = state.body[w]
    x, y = rows[a].x, rows[a].y
    best, least = np.int64(-1), rules.give_radius * rules.give_radius
    side = state.sides[a]
    for b in range(rules.agents):
        if b == a or not rows[b].present:
            continue
        if rules.teams and state.sides[b] != side:
            continue
        dx, dy = rows[b].x - x, rows[b].y - y
        distance = dx * dx + dy * dy
        if distance < least or (best < 0 and distance <= least):
            best, least = b, distance
    return best


@phase
def nearest_body(state, rules, w, a):
    """Quirk: the nearest body of any kind, walls by their centre points; only an agent that may take it counts."""
    body = state.body[w]
    x, y = body[a].x, body[a].y
    best, least = np.int64(-1), rules.give_radius * rules.give_radius
    for b in range(rules.num_bodies):
        if b == a or not body[b].present:
            continue
        dx, dy = body[b].x - x, body[b].y - y
        distance = dx * dx + dy * dy
        if distance < least or (best < 0 and distance <= least):
            best, least = b, distance
    half = 0.5 * rules.room
    for k in range(4):
        wall_x = half * ((k == 0) - (k == 1))
        wall_y = half * ((k == 2) - (k == 3))
        if (wall_x - x) ** 2 + (wall_y - y) ** 2 < least:
            return -1
    if best >= rules.agents:
        return -1
    if best >= 0 and rules.teams and state.sides[best] != state.sides[a]:
        return -1
    return best


@phase
def give_items(state, rules, w):
    """GiveLast: gives the last item to the taker; if that is full, the gift fails and the item is kept."""
    for a in range(rules.agents):
        if not state.body[w, a].present or state.action[w, a, GIVE] == 0 or state.agent[w, a].held == 0:
            continue
        taker = (
            nearest_body(state, rules, w, a)
            if rules.give_nearest_any_body
            else nearest_taker(state, rules, w, a)
        )
        if taker < 0:
            continue
        full = state.agent[w, taker].held == state.inventory.shape[2]
        if full and not rules.gift_lost_when_full:
            continue
        item = last_item(state.agent[w, a], state.inventory[w, a])
        take_item(state.agent[w, a], state.inventory[w, a])
        if not full:
            put_item(state.agent[w, taker], state.inventory[w, taker], item)


@phase
def drop_items(state, rules, w):
    """DropLast (an option): drops the last item ahead of its owner, out of pick-up reach."""
    if not rules.drop_action:
        return
    for a in range(rules.agents):
        owner = state.body[w, a]
        if not owner.present or state.action[w, a, DROP] == 0 or state.agent[w, a].held == 0:
            continue
        item = last_item(state.agent[w, a], state.inventory[w, a])
        take_item(state.agent[w, a], state.inventory[w, a])
        x = owner.x + rules.place_distance * owner.cosine
        y = owner.y + rules.place_distance * owner.sine
        wall = rules.physics.wall  # an item behind it would be out of reach for good
        spawn_body(state.body[w, item], min(max(x, -wall), wall), min(max(y, -wall), wall))


@phase
def finish_placed_boxes(state, rules, w):
    """Health: newly placed boxes become whole."""
    for i in range(rules.first_box, rules.first_box + rules.boxes):
        box = state.body[w, i]
        if box.placed:
            box.health = rules.box_health
            box.cause = NO_SIDE


@phase
def own_broken_boxes(state, rules, w):
    """OwnedObject: a vanished box leaves an item in the next step and keeps its first breaker."""
    for i in range(rules.first_box, rules.first_box + rules.boxes):
        box = state.body[w, i]
        if box.left:
            box.due = True
            box.broken = True
            if box.owner == NO_SIDE:
                box.owner = box.cause


@phase
def scatter_inventories(state, rules, w):
    """DeathDrop: scatters the items of dead agents around their last positions, on a ring or in a disc."""
    stream = state.stream[w]
    for a in range(rules.agents):
        owner = state.body[w, a]
        if not owner.left:
            continue
        for k in range(state.agent[w, a].held):
            angle = TWO_PI * uniform(stream[0], stream[1], stream[2])
            stream[2] += np.uint64(1)
            radius = rules.drop_radius
            if rules.scatter_disc:
                radius *= np.sqrt(uniform(stream[0], stream[1], stream[2]))
                stream[2] += np.uint64(1)
            item = state.body[w, np.int64(state.inventory[w, a, k])]
            spawn_body(item, owner.x + radius * np.cos(angle), owner.y + radius * np.sin(angle))
            state.inventory[w, a, k] = EMPTY
        state.agent[w, a].held = 0


@phase
def pick_up(state, rules, w):
    """AutoPickup: in agent order, picks up every item within reach while a slot is free."""
    body = state.body[w]
    reach = rules.pickup_radius * rules.pickup_radius
    for i in range(rules.first_heal, rules.num_bodies):
        body[i].left = False
    for a in range(rules.agents):
        if not body[a].present:
            continue
        x, y = body[a].x, body[a].y
        for i in range(rules.first_heal, rules.num_bodies):
            dx, dy = body[i].x - x, body[i].y - y
            if dx * dx + dy * dy > reach:
                continue
            # Quirk: an item taken by another agent in this step can still be taken.
            if not body[i].present and not (rules.duplicate_pickup and body[i].left):
                continue
            if state.agent[w, a].held < state.inventory.shape[2]:
                put_item(state.agent[w, a], state.inventory[w, a], i)
                despawn_body(body[i])
