"""Every phase of the survival world by number, and the kernel that runs a list of them.

Groups and modules compose the list in the order of specification section 3 (`modules.py`).
"""

from interplay.core.jit import kernel
from interplay.planar import phases as general
from interplay.worlds.survival.observe import observe
from interplay.worlds.survival.rules import fight, items, score, setup

(
    BEGIN_EPISODE,
    SHAPE_BOXES,
    PLACE_ZONE,
    QUEUE_ACTIONS,
    DROP_BROKEN_BOXES,
    USE_ITEMS,
    GIVE_ITEMS,
    DROP_ITEMS,
    ATTACK,
    FINISH_PLACED_BOXES,
    OWN_BROKEN_BOXES,
    SCATTER_INVENTORIES,
    CLEAR_KILLS,
    CREDIT_KILLS,
    PICK_UP,
    BURN_OUTSIDE,
    MOVE_ZONE,
    OBSERVE,
    GIVE_REWARDS,
    DECIDE_END,
    COUNT_STEP,
) = range(general.FIRST_OWN_PHASE, general.FIRST_OWN_PHASE + 21)
NAMES = general.NAMES | general.names_of(globals())

# Kernels call kernels by name: short names of the phases.
clear_room, shuffle_cells, spawn_on_cells = general.clear_room, general.shuffle_cells, general.spawn_on_cells
index_bodies, forget_indices = general.index_bodies, general.forget_indices
fill_health, bury_dead = general.fill_health, general.bury_dead
clear_deaths, record_deaths = general.clear_deaths, general.record_deaths
look_around, drive_motors, move_bodies = general.look_around, general.drive_motors, general.move_bodies
begin_episode, shape_boxes, place_zone = setup.begin_episode, setup.shape_boxes, setup.place_zone
queue_actions, attack = fight.queue_actions, fight.attack
clear_kills, credit_kills = fight.clear_kills, fight.credit_kills
drop_broken_boxes, use_items, give_items, drop_items = (
    items.drop_broken_boxes,
    items.use_items,
    items.give_items,
    items.drop_items,
)
finish_placed_boxes, own_broken_boxes = items.finish_placed_boxes, items.own_broken_boxes
scatter_inventories, pick_up = items.scatter_inventories, items.pick_up
burn_outside, move_zone, count_step = score.burn_outside, score.move_zone, score.count_step
give_rewards, decide_end = score.give_rewards, score.decide_end


@kernel
def run_phases(state, table, scratch, plan, active, thread, first_world, end_world):
    """Runs a plan in every active world of the range, world by world, so that its rows stay in cache.

    `plan` is (P, 3) int64: phase number, first body row, end row. Inactive worlds do not change.
    `table` holds the rules in its one row: passing an array is five times as fast as passing a record.
    """
    rules = table[0]
    for w in range(first_world, end_world):
        if not active[w]:
            continue
        for p in range(plan.shape[0]):
            number, first, end = plan[p, 0], plan[p, 1], plan[p, 2]
            if number == general.CLEAR_ROOM:
                clear_room(state, w)
            elif number == general.SHUFFLE_CELLS:
                shuffle_cells(state, w)
            elif number == general.SPAWN_ON_CELLS:
                spawn_on_cells(state, rules, w, first, end)
            elif number == general.INDEX_BODIES:
                index_bodies(state, w, first, end)
            elif number == general.FORGET_INDICES:
                forget_indices(state, w, first, end)
            elif number == general.FILL_HEALTH:
                fill_health(state, rules, w, first, end)
            elif number == general.BURY_DEAD:
                bury_dead(state, w, first, end)
            elif number == general.CLEAR_DEATHS:
                clear_deaths(state, w)
            elif number == general.RECORD_DEATHS:
                record_deaths(state, w, first, end)
            elif number == general.LOOK_AROUND:
                look_around(state, rules, w, first, end)
            elif number == general.DRIVE_MOTORS:
                drive_motors(state, first, w)
            elif number == general.MOVE_BODIES:
                move_bodies(state, rules, scratch, thread, w)
            elif number == BEGIN_EPISODE:
                begin_episode(state, w)
            elif number == SHAPE_BOXES:
                shape_boxes(state, rules, w)
            elif number == PLACE_ZONE:
                place_zone(state, rules, w)
            elif number == QUEUE_ACTIONS:
                queue_actions(state, rules, w)
            elif number == DROP_BROKEN_BOXES:
                drop_broken_boxes(state, rules, w)
            elif number == USE_ITEMS:
                use_items(state, rules, w)
            elif number == GIVE_ITEMS:
                give_items(state, rules, w)
            elif number == DROP_ITEMS:
                drop_items(state, rules, w)
            elif number == ATTACK:
                attack(state, rules, w)
            elif number == FINISH_PLACED_BOXES:
                finish_placed_boxes(state, rules, w)
            elif number == OWN_BROKEN_BOXES:
                own_broken_boxes(state, rules, w)
            elif number == SCATTER_INVENTORIES:
                scatter_inventories(state, rules, w)
            elif number == CLEAR_KILLS:
                clear_kills(state, w)
            elif number == CREDIT_KILLS:
                credit_kills(state, rules, w)
            elif number == PICK_UP:
                pick_up(state, rules, w)
            elif number == BURN_OUTSIDE:
                burn_outside(state, rules, w)
            elif number == MOVE_ZONE:
                move_zone(state, rules, w)
            elif number == OBSERVE:
                observe(state, rules, w)
            elif number == GIVE_REWARDS:
                give_rewards(state, rules, w)
            elif number == DECIDE_END:
                decide_end(state, rules, w)
            elif number == COUNT_STEP:
                count_step(state, w)
