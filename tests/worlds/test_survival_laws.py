"""What the rule book promises of the survival world, rule by rule, in hand-furnished rooms (specification 3 to 8)."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from interplay.registry import make_world
from interplay.worlds.survival.config import DEMO, READ_BY
from interplay.worlds.survival.state import arrays_of
from tests.worlds.survival_scene import Scene

EAST, NORTH, WEST = 0.0, math.pi / 2, math.pi
COOLDOWN = {"melee": "cooldown", "melee_damage": 20, "melee_cooldown": 40}


def steps_until_over(scene: Scene) -> int:
    for count in range(1, 3000):
        if scene.step().over[0]:
            return count
    raise AssertionError("the episode does not end")


# -- time and the safe zone ---------------------------------------------------------------------------------


@pytest.mark.parametrize("heals", [0, 1, 2])
def test_who_is_never_hurt_lives_exactly_1500_steps_and_75_more_with_each_heal(heals: int) -> None:
    scene = Scene("1v1-heals-low", heals=2)
    scene.put(0, 1e-3, 0.0)
    scene.hold(0, *[("heal", k) for k in range(heals)])
    for step in range(1, 1501 + 75 * heals):
        told = scene.step(a0="use")
        assert scene.alive(0), f"dead in step {step}"
        assert not told.over[0]
    assert scene.step().over[0]
    assert scene.world.metrics["episode_length"][0] == 1501 + 75 * heals


def test_the_class_default_ends_at_900() -> None:
    without_boxes = {name: value for name, value in DEMO.items() if name not in ("boxes", *READ_BY["boxes"])}
    scene = Scene("1v1-heals-mid", **without_boxes | {"end": "alldead"})
    scene.put(0, 1e-3, 0.0)
    assert steps_until_over(scene) == 901


def test_nobody_outlives_the_endgame_at_its_very_centre() -> None:
    scene = Scene("1v1-heals-low", zone_cooldown=2)
    scene.put(0, 0.0, 0.0)
    assert steps_until_over(scene) == 7 * 2 * 2 + 100 + 1


def test_the_zone_stands_then_moves_in_a_straight_line() -> None:
    cooldown, radii = 10, (12.5, 10.0, 7.5, 5.0, 4.0, 2.0, 1.0, 0.0)
    world = make_world("survival/1v1-heals-low", 1, 3, zone_cooldown=cooldown, health=100_000)
    world.reset()
    centres = world.state.zone_centres[0].copy()
    idle = np.ones((1, 2, 6), np.int64) * (1, 1, 1, 0, 0, 0)
    for tick in range(1, 16 * cooldown):
        zone = world.step(idle).observation["zone"][0, 0]
        phase = min(tick // (2 * cooldown), 7)
        moved = max(0, tick % (2 * cooldown) - cooldown) / cooldown if phase < 7 else 0.0
        after = min(phase + 1, 7)
        circle = [*((1 - moved) * centres[phase] + moved * centres[after])]
        circle.append((1 - moved) * radii[phase] + moved * radii[after])
        ahead = [*centres[after], radii[after]] if phase < 7 else [0, 0, 0]
        np.testing.assert_allclose(zone, [*circle, *ahead], atol=1e-5)


def test_zone_centres_keep_every_zone_in_the_room() -> None:
    world = make_world("survival/1v1-heals-low", 400, 3)
    world.reset()
    free = 12.5 - np.array([12.5, 10.0, 7.5, 5.0, 4.0, 2.0, 1.0, 0.0])
    spread = np.abs(world.state.zone_centres).max(axis=(0, 2))
    assert (spread <= free).all()
    assert (spread[1:] > 0.98 * free[1:]).all()


def test_zone_damage_of_this_step_kills_in_the_next() -> None:
    scene = Scene()
    scene.put(0, 11.5, 11.5)
    scene.state.health[0, 0] = 1
    scene.step()
    assert (scene.health(0), scene.alive(0)) == (0, True)
    scene.step()
    assert not scene.alive(0)


def test_a_heal_used_in_the_last_moment_saves() -> None:
    scene = Scene()
    scene.put(0, 11.5, 11.5)
    scene.state.health[0, 0] = 1
    scene.hold(0, ("heal", 0))
    scene.step()
    scene.step(a0="use")
    assert (scene.health(0), scene.alive(0)) == (0 + 75 - 1, True)


@pytest.mark.parametrize(("action", "kills"), [("attack", 1), ("", 0)])
def test_a_hit_in_the_last_moment_takes_the_credit(action: str, kills: int) -> None:
    scene = Scene("1v1-all-high")
    scene.put(0, 11.5, 11.5)
    scene.put(1, 11.5, 10.0, NORTH)
    scene.state.health[0] = [1, 50, *scene.state.health[0, 2:]]
    scene.step()
    told = scene.step(a1=action)
    assert not scene.alive(0)
    assert scene.world.metrics["kills"][0].tolist() == [0, kills]
    assert told.reward[0].tolist() == [-101, 1 + 100 * kills]


# -- melee ------------------------------------------------------------------------------------------------------


def duel(distance: float = 1.5, variant: str = "1v1-heals-low", **options: object) -> Scene:
    """Agent 0 at the origin faces east towards agent 1, which faces back."""
    scene = Scene(variant, **options)
    scene.put(0, 0.0, 0.0, EAST)
    scene.put(1, distance, 0.0, WEST)
    return scene


def test_twenty_hits_kill() -> None:
    scene = duel()
    for hit in range(1, 20):
        scene.step(a0="attack")
        assert scene.health(1) == 100 - 5 * hit
    scene.step(a0="attack")
    assert not scene.alive(1)
    assert scene.world.metrics["kills"][0].tolist() == [1, 0]


@pytest.mark.parametrize(("distance", "hurt"), [(2.49, 5), (2.51, 0)])
def test_the_melee_reaches_two_metres_from_the_centre(distance: float, hurt: int) -> None:
    scene = duel(distance)
    scene.step(a0="attack")
    assert scene.health(1) == 100 - hurt


@pytest.mark.parametrize(("blocks", "hurt"), [(True, 0), (False, 5)])
def test_an_item_stops_the_melee_where_items_block_rays(blocks: bool, hurt: int) -> None:
    scene = duel(2.2, items_block_rays=blocks)
    scene.lay_heal(0, 1.0, 0.0)
    scene.step(a0="attack")
    assert scene.health(1) == 100 - hurt


def test_a_cooldown_blocks_39_steps() -> None:
    scene = duel(**COOLDOWN)
    healths = []
    for _ in range(81):
        scene.step(a0="attack")
        healths.append(scene.health(1))
    assert healths == [80] * 40 + [60] * 40 + [40]


@pytest.mark.parametrize(("x", "fired"), [(11.0, True), (9.0, False)])
def test_a_cooldown_begins_only_if_something_is_in_the_way_even_a_wall(x: float, fired: bool) -> None:
    scene = Scene(**COOLDOWN)
    scene.put(0, x, 0.0, EAST)
    scene.step(a0="attack")
    assert scene.state.cooldown[0, 0] == (39 if fired else 0)


def test_team_mates_do_not_hurt_each_other() -> None:
    scene = Scene("2v2-heals-mid")
    scene.put(0, 0.0, 0.0, EAST)
    scene.put(1, 1.5, 0.0, WEST)
    scene.put(2, 0.0, 1.5, -NORTH)
    scene.step(a0="attack", a2="attack")
    assert [scene.health(a) for a in range(4)] == [95, 100, 100, 100]


def test_of_several_killers_the_last_in_order_takes_the_credit() -> None:
    scene = Scene("1v1-heals-low", agents=3)
    scene.put(0, 0.0, 1.5, -NORTH)
    scene.put(1, 1.5, 0.0, WEST)
    scene.put(2, 0.0, 0.0)
    scene.state.health[0, 2] = 3
    scene.step(a0="attack", a1="attack")
    assert scene.world.metrics["kills"][0].tolist() == [0, 1, 0]


@pytest.mark.parametrize(("quirk", "reward"), [(False, -1 + 100 - 100), (True, -101)])
def test_mutual_kills_count_for_both_unless_the_quirk_is_on(quirk: bool, reward: int) -> None:
    scene = duel(variant="1v1-all-high", dead_killer_no_credit=quirk)
    scene.state.health[0, :2] = 5
    told = scene.step(a0="attack", a1="attack")
    assert told.reward[0].tolist() == [reward, reward]


def test_immunity_protects_agents_but_not_boxes() -> None:
    scene = duel(variant="1v1-all-mid", immunity=2)
    box = scene.rules.first_box
    scene.stand_box(0, 8.0, 6.5)
    scene.put(1, 8.0, 8.0, -NORTH)
    scene.step(a1="attack")
    assert not scene.state.bodies.present[0, box]
    scene.put(1, 1.5, 0.0, WEST)
    for expected in (100, 95):
        scene.step(a0="attack")
        assert scene.health(1) == expected


# -- boxes --------------------------------------------------------------------------------------------------------


def test_a_broken_box_becomes_an_item_in_the_next_step() -> None:
    scene = Scene("1v1-all-mid")
    scene.put(0, 0.0, 0.0, EAST)
    scene.stand_box(3, 2.0, 0.0)
    box, item = scene.rules.first_box + 3, scene.rules.first_box_item + 3
    present = scene.state.bodies.present[0]
    scene.step(a0="attack")
    assert (present[box], present[item]) == (False, False)
    told = scene.step()
    assert (present[box], present[item]) == (False, True)
    assert scene.place(item) == (2.0, 0.0)
    assert told.observation["box_items_mask"][0, 0, 3] == 0


def test_a_box_placed_in_this_step_stops_a_blow_unharmed() -> None:
    scene = duel(2.4, "1v1-all-mid", ownership=False)
    box = scene.rules.first_box
    scene.stand_box(0, 5.0, 5.0)
    scene.state.bodies.present[0, box] = False
    scene.hold(0, ("box", 0))
    scene.step(a0="use", a1="attack")
    assert scene.state.bodies.present[0, box]
    assert scene.place(box) == (0.75, 0.0)
    assert (scene.health(0), scene.health(box)) == (100, 5)
    scene.step(a1="attack")
    assert not scene.state.bodies.present[0, box]


@pytest.mark.parametrize(("breaker", "breaks"), [("a0", True), ("a1", False)])
def test_only_its_owner_breaks_a_placed_box(breaker: str, breaks: bool) -> None:
    scene = Scene("1v1-all-mid")
    box = scene.rules.first_box
    scene.put(0, 0.0, 0.0, EAST)
    scene.stand_box(0, 2.0, 0.0)
    scene.step(a0="attack")
    scene.step()
    scene.put(0, 2.0, 0.0, EAST)
    scene.step()
    assert scene.held(0) == [("box", 0)]
    scene.step(a0="use")
    scene.put(0, 1.0, 0.0, EAST)
    scene.put(1, 4.6, 0.0, WEST)
    scene.put(box, 2.75, 0.0)
    scene.step(**{breaker: "attack"})
    assert bool(scene.state.bodies.present[0, box]) is not breaks


def test_a_box_remembers_who_broke_it_first_also_where_everybody_may_break_it() -> None:
    scene = Scene("1v1-all-mid", ownership=False)
    box = scene.rules.first_box
    scene.put(0, 0.0, 0.0, EAST)
    scene.stand_box(0, 2.0, 0.0)
    scene.step(a0="attack")
    assert scene.world.state.body["owner"][0, box] == 0
    scene.step()
    scene.put(0, 2.0, 0.0, EAST)
    scene.step()
    scene.step(a0="use")
    scene.put(0, -8.0, 8.0, EAST)
    scene.put(1, 4.6, 0.0, WEST)
    scene.put(box, 2.75, 0.0)
    scene.step(a1="attack")
    assert not scene.state.bodies.present[0, box]
    assert scene.world.state.body["owner"][0, box] == 0


# -- items ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("distance", "taken"), [(0.5, True), (0.5001, False)])
def test_items_within_half_a_metre_are_picked_up(distance: float, taken: bool) -> None:
    scene = Scene()
    scene.put(0, 0.0, 0.0)
    scene.lay_heal(4, 0.0, distance)
    scene.step()
    assert scene.held(0) == ([("heal", 4)] if taken else [])


def test_a_full_inventory_leaves_items_on_the_ground() -> None:
    scene = Scene()
    scene.put(0, 0.0, 0.0)
    for k in range(6):
        scene.lay_heal(k, 0.05 * k, 0.1)
    scene.step()
    assert len(scene.held(0)) == 4
    assert scene.state.bodies.present[0, scene.rules.first_heal :].sum() == 2


def test_an_item_is_usable_in_the_step_after_its_pick_up() -> None:
    scene = Scene()
    scene.put(0, 0.0, 0.0)
    scene.lay_heal(0, 0.3, 0.0)
    told = scene.step(a0="use")
    assert (scene.health(0), told.observation["heal_slot"][0, 0, 0, 0]) == (100, 75)
    told = scene.step(a0="use")
    assert (scene.health(0), told.observation["heal_slot_mask"][0, 0, 0]) == (175, 1)


@pytest.mark.parametrize(("cap", "health"), [("off", 175), (120, 120), (100, 100)])
def test_heals_go_beyond_100_unless_capped(cap: object, health: int) -> None:
    scene = Scene(health_cap=cap)
    scene.hold(0, ("heal", 0))
    scene.step(a0="use")
    assert scene.health(0) == health


def test_the_last_item_is_used_first() -> None:
    scene = Scene("1v1-all-mid")
    scene.put(0, 0.0, 0.0)
    scene.stand_box(2, 9.0, 9.0)
    scene.state.bodies.present[0, scene.rules.first_box + 2] = False
    scene.hold(0, ("heal", 1), ("box", 2))
    scene.step(a0="use")
    assert scene.held(0) == [("heal", 1)]
    assert scene.world.metrics["boxes_placed"][0] == 1


@pytest.mark.parametrize(("distance", "given"), [(1.99, True), (2.01, False)])
def test_gifts_reach_two_metres(distance: float, given: bool) -> None:
    scene = duel(distance)
    scene.hold(0, ("heal", 0), ("heal", 1))
    scene.step(a0="give")
    assert scene.held(1) == ([("heal", 1)] if given else [])
    assert len(scene.held(0)) == (1 if given else 2)


@pytest.mark.parametrize("lost", [False, True])
def test_a_gift_to_a_full_inventory_fails_and_is_lost_with_the_quirk_alone(lost: bool) -> None:
    scene = duel(gift_lost_when_full=lost)
    scene.hold(0, ("heal", 4))
    scene.hold(1, ("heal", 0), ("heal", 1), ("heal", 2), ("heal", 3))
    scene.step(a0="give")
    assert (len(scene.held(0)), len(scene.held(1))) == (0 if lost else 1, 4)


def test_gifts_stay_in_the_team() -> None:
    scene = Scene("2v2-heals-mid")
    scene.put(0, 0.0, 0.0)
    scene.put(1, 0.0, 1.9)
    scene.put(2, 0.0, -1.2)
    scene.hold(0, ("heal", 0))
    scene.step(a0="give")
    assert (scene.held(1), scene.held(2)) == ([("heal", 0)], [])


@pytest.mark.parametrize("nearest_any", [False, True])
@pytest.mark.parametrize("distance", [1.5, 2.0])
def test_of_equal_takers_the_lower_row_gets_the_gift(nearest_any: bool, distance: float) -> None:
    """Also at exactly two metres, which is within reach; an agent that is a little nearer goes before it."""
    for nearer in (0.0, 0.001):
        scene = Scene("1v1-heals-low", agents=4, give_nearest_any_body=nearest_any)
        scene.put(1, 0.0, 0.0, EAST)
        scene.put(0, 0.0, distance, WEST)
        scene.put(2, distance, 0.0, WEST)
        scene.put(3, 0.0, -(distance - nearer), WEST)
        scene.hold(1, ("heal", 0))
        scene.step(a1="give")
        takers = [scene.held(agent) for agent in (0, 2, 3)]
        assert takers == ([[("heal", 0)], [], []] if nearer == 0.0 else [[], [], [("heal", 0)]])


@pytest.mark.parametrize("kind", ["heal", "box"])
def test_of_two_who_could_take_an_item_the_lower_row_does(kind: str) -> None:
    """Equally near or not: rows come one after the other, each item goes once."""
    for shift in (0.0, 0.05, -0.05):
        scene = Scene("1v1-all-mid", pickup_radius=0.7)
        scene.put(0, -0.6 + shift, 0.0, EAST)
        scene.put(1, 0.6 + shift, 0.0, WEST)
        rules = scene.rules
        scene.put({"heal": rules.first_heal, "box": rules.first_box_item}[kind] + 3, 0.0, 0.0)
        scene.step()
        assert (scene.held(0), scene.held(1)) == ([(kind, 3)], [])


def test_who_is_full_leaves_the_item_to_the_next() -> None:
    scene = duel(1.2, pickup_radius=0.7)
    scene.hold(0, ("heal", 0), ("heal", 1), ("heal", 2), ("heal", 3))
    scene.lay_heal(4, 0.6, 0.0)
    scene.step()
    assert (len(scene.held(0)), scene.held(1)) == (4, [("heal", 4)])


@pytest.mark.parametrize("angle", [0.0, 0.5, 1.0, 1.5, 0.25, 0.75, 1.25, 1.75])
def test_a_drop_beyond_the_wall_lies_at_the_wall(angle: float) -> None:
    """In units of pi; an item behind a wall would be lost for ever. In the open it lies ahead."""
    scene = Scene("1v1-heals-low", drop_action=True)
    wall, ahead = scene.rules.physics.wall, scene.rules.place_distance
    east, north = (round(float(f(angle * np.pi)), 12) for f in (np.cos, np.sin))
    for near in (True, False):
        x, y = ((wall - 0.505) * np.sign(east), (wall - 0.505) * np.sign(north)) if near else (1.0, -2.0)
        scene.put(0, x, y, angle * np.pi)
        scene.hold(0, ("heal", 2))
        scene.step(a0="drop")
        assert scene.held(0) == []
        goal = np.clip((x + ahead * east, y + ahead * north), -wall, wall)
        assert np.allclose(scene.place(scene.rules.first_heal + 2), goal)
        assert near == bool((np.abs(goal) == wall).any())


def test_any_nearer_body_swallows_the_gift_with_the_quirk() -> None:
    scene = duel(1.9, give_nearest_any_body=True)
    scene.lay_heal(3, 0.0, 1.0)
    scene.hold(0, ("heal", 0))
    scene.step(a0="give")
    assert (scene.held(0), scene.held(1)) == ([("heal", 0)], [])


@pytest.mark.parametrize("scatter", ["ring", "disc"])
def test_the_dead_scatter_their_inventory(scatter: str) -> None:
    scene = Scene(death_scatter=scatter, heals=60, slots=16)
    scene.put(0, 3.0, 2.0)
    scene.hold(0, *[("heal", k) for k in range(16)])
    scene.state.health[0, 0] = 0
    scene.put(1, 0.0, 2.0, EAST)
    told = scene.step()
    spots = scene.state.bodies.position[0, scene.rules.first_heal :][:16]
    radii = np.hypot(*(spots - (3.0, 2.0)).T)
    assert scene.state.bodies.present[0, scene.rules.first_heal :].sum() == 16
    assert (radii <= 0.5 + 1e-12).all()
    assert np.allclose(radii, 0.5) == (scatter == "ring")
    assert told.observation["heals_mask"][0, 1].all()  # hidden in the step of the death
    assert not scene.step().observation["heals_mask"][0, 1, :16].all()


def test_scattered_items_are_picked_up_in_the_same_step() -> None:
    scene = duel(1.1, pickup_radius=1.7)
    scene.hold(0, ("heal", 0), ("heal", 1))
    scene.state.health[0, 0] = 0
    scene.step()
    assert len(scene.held(1)) == 2


# -- sight ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "y", "seen"),
    [
        (5.0, 0.0, True),
        (-5.0, 0.0, False),
        (9.99, 0.0, True),
        (10.01, 0.0, False),
        (5.0, 5.0 * math.tan(math.radians(35.9)), True),
        (5.0, 5.0 * math.tan(math.radians(36.1)), False),
        (
            9.95 * math.cos(math.radians(20)),
            9.95 * math.sin(math.radians(20)),
            False,
        ),  # a quadrilateral, no disc
    ],
)
def test_the_cone_of_vision(x: float, y: float, seen: bool) -> None:
    scene = Scene(view_depth=10.0)
    scene.put(0, -1.0, -1.0)
    scene.put(1, x - 1.0, y - 1.0)
    scene.lay_heal(0, x - 1.0, y - 1.0)
    scene.state.bodies.present[0, 1] = False
    told = scene.step().observation
    assert told["heals_mask"][0, 0, 0] == (0 if seen else 1)
    np.testing.assert_allclose(told["heals"][0, 0, 0], [x - 1.0, y - 1.0], rtol=1e-6)  # true though hidden


@pytest.mark.parametrize("blocks", [True, False])
def test_an_agent_behind_a_heal_is_hidden_where_items_block_rays(blocks: bool) -> None:
    scene = duel(5.0, items_block_rays=blocks)
    scene.lay_heal(0, 2.0, 0.0)
    told = scene.step().observation
    assert told["others_mask"][0, 0, 0] == (1 if blocks else 0)
    assert told["heals_mask"][0, 0, 0] == 0


def test_a_box_hides_what_is_behind_it_and_a_wall_of_the_observer_hides_nothing() -> None:
    scene = duel(8.0, "1v1-all-mid")
    scene.stand_box(0, 4.0, 0.0)
    told = scene.step().observation
    assert (told["others_mask"][0, 0, 0], told["boxes_mask"][0, 0, 0]) == (1, 0)
    scene.put(scene.rules.first_box, 4.0, 3.0)
    assert scene.step().observation["others_mask"][0, 0, 0] == 0


def test_omniscience_unmasks_what_exists_but_never_others_nor_anything_for_the_dead() -> None:
    scene = Scene("1v1-all-mid", omniscient=True, end="alldead")
    scene.put(0, 0.0, 0.0, EAST)
    scene.put(1, -5.0, 0.0, WEST)
    scene.lay_heal(0, -3.0, 1.0)
    scene.stand_box(5, -3.0, 5.0)
    told = scene.step().observation
    assert told["heals_mask"][0, 0].tolist() == [0] + [1] * 14
    assert told["boxes_mask"][0, 0].tolist() == [1] * 5 + [0] + [1] * 2
    assert told["others_mask"][0, 0].tolist() == [1]
    scene.state.health[0, 0] = 0
    told = scene.step().observation
    assert all(mask[0, 0].all() for name, mask in told.items() if name.endswith("_mask"))
    assert told["agent"][0, 0].tolist() == [0] * 8
    assert told["others"][0, 1].tolist() == [[0] * 8]
    np.testing.assert_allclose(told["heals"][0, 0, 0], [-3.0, 1.0])


# -- reward and end -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variant", "rewards"),
    [("2v2-heals-mid", [1, 1, 1, 1]), ("2v2-all-high", [1 - 100, 1 - 100, 1 + 100, 1 + 100])],
)
def test_a_team_shares_every_reward(variant: str, rewards: list[int]) -> None:
    scene = Scene(variant)
    scene.put(0, 0.0, 0.0)
    scene.put(2, 1.5, 0.0, WEST)
    scene.state.health[0, 0] = 5
    assert scene.step().reward[0].tolist() == [1, 1, 1, 1]
    assert scene.step(a2="attack").reward[0].tolist() == rewards
    assert scene.step().reward[0].tolist() == [1, 1, 1, 1]


def test_a_lost_member_costs_where_each_member_earns() -> None:
    scene = Scene("2v2-heals-mid", team_reward="each")
    scene.state.health[0, 0] = 0
    assert scene.step().reward[0].tolist() == [0, 0, 1, 1]


def test_the_dead_go_on_earning_until_the_world_is_over() -> None:
    scene = Scene("1v1-heals-mid", end="alldead", heals=0)
    scene.put(1, 1e-3, 0.0)
    scene.state.health[0, 0] = 0
    for _ in range(5):
        told = scene.step()
        assert told.reward[0].tolist() == [-1, 1]
        assert told.acting[0].tolist() == [False, True]
        assert not told.terminated.any()
    scene.state.health[0, 1] = 0
    told = scene.step()
    assert told.reward[0].tolist() == [-1, -1]
    assert told.over.all()
    assert told.terminated.all()
    told = scene.step()
    assert not told.reward.any()
    assert not told.terminated.any()
    assert not told.acting.any()


def test_a_step_limit_truncates() -> None:
    scene = Scene(max_steps=3)
    for _ in range(2):
        assert not scene.step().over.any()
    told = scene.step()
    assert told.truncated.all()
    assert told.over.all()
    assert not told.terminated.any()


# -- laws that hold however one plays --------------------------------------------------------------------------------------

CROWDED = {"room": 12.0, "spawn_grid": 6, "zone_radii": (6.0, 5.0, 4.0), "zone_cooldown": 60}


def eager_actions(world, rng: np.random.Generator) -> np.ndarray:
    """Random actions that run forward, hit, use and give more than chance would."""
    shape = (world.num_worlds, len(world.agents))
    ahead, left, turn = (
        rng.choice(3, shape, p=p) for p in ((0.1, 0.2, 0.7), (0.2, 0.6, 0.2), (0.3, 0.4, 0.3))
    )
    pushes = [rng.random(shape) < p for p in (0.7, 0.05, 0.05)]
    return np.stack([ahead, left, turn, *pushes], axis=-1).astype(np.int64)


def test_nothing_is_lost_and_nothing_appears() -> None:
    world = make_world("survival/2v2-all-low", 16, 5, heals=15, **CROWDED)
    world.reset()
    rng, rules = np.random.default_rng(5), world.rules
    state, present = SimpleNamespace(**arrays_of(world.state)), world.state.bodies.present
    heals = slice(rules.first_heal, rules.first_box_item)
    boxes, items = slice(rules.first_box, rules.first_heal), slice(rules.first_box_item, rules.first_other)
    placed = used = 0
    for _ in range(600):
        over = world.step(eager_actions(world, rng)).over
        slots = np.arange(state.inventory.shape[2]) < state.held[..., None]
        carried = [np.sort(rows[mask]) for rows, mask in zip(state.inventory, slots, strict=True)]
        for rows in carried:
            assert len(set(rows)) == len(rows)
        carried_heals = np.array([(rows < rules.first_box_item).sum() for rows in carried])
        carried_boxes = np.array([len(rows) for rows in carried]) - carried_heals
        assert (present[:, heals].sum(1) + carried_heals + state.heals_used == 15).all()
        boxes_in_all = (
            present[:, boxes].sum(1) + state.due[:, boxes].sum(1) + present[:, items].sum(1) + carried_boxes
        )
        assert (boxes_in_all == 8).all()
        if over.any():
            placed, used = placed + state.boxes_placed[over].sum(), used + state.heals_used[over].sum()
            world.reset(over.copy())
    assert placed > 10
    assert used > 10


def test_health_changes_by_heals_and_by_the_zone_alone_where_nobody_attacks() -> None:
    world = make_world(
        "survival/1v1-heals-low", 16, 6, room=12.0, spawn_grid=6, zone_radii=(6.0, 3.0), zone_cooldown=30
    )
    before = {name: field.copy() for name, field in world.reset().observation.items()}
    used = np.zeros(16, np.int64)
    rng = np.random.default_rng(6)
    for _ in range(400):
        action = eager_actions(world, rng)
        action[..., 3] = 0
        told = world.step(action)
        now = told.observation
        lives = told.acting.all(axis=1)
        outside = (
            np.hypot(*np.moveaxis(now["agent"][..., 2:4] - before["zone"][..., :2], -1, 0))
            > before["zone"][..., 2]
        )
        change = now["agent"][..., 1] - before["agent"][..., 1]
        heals = world.metrics["heals_used"] - used
        assert (change.sum(1) == 75 * heals - outside.sum(1))[lives].all()
        if told.over.any():
            world.reset(told.over.copy())
        used = world.metrics["heals_used"].copy()
        before = {name: field.copy() for name, field in world.timestep.observation.items()}


def test_the_two_returns_of_the_competitive_duel_differ_by_at_most_two() -> None:
    world = make_world("survival/1v1-heals-mid", 32, 8, zone_cooldown=10)
    world.reset()
    rng, over = np.random.default_rng(8), np.zeros(32, bool)
    while not over.all():
        over = world.step(eager_actions(world, rng)).over
    returns = world.metrics["episode_return"]
    assert (np.abs(returns[:, 0] - returns[:, 1]) <= 2).all()
    assert (np.abs(returns.max(axis=1) - world.metrics["episode_length"]) <= 2).all()
