"""What is switched off leaves survival's spaces, and only its own numbers change; teams of any sizes (specification 14, 4.6)."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from interplay.checker import check_world
from interplay.core.policy import RandomPolicy
from interplay.core.scene import scene_of
from interplay.registry import make_policy, make_world
from interplay.worlds.survival.config import READ_BY
from tests.worlds.survival_scene import Scene
from tests.worlds.test_survival_laws import CROWDED, WEST, eager_actions

WORLD = "survival/2v2-all-high"
MODULES = ("zone", "melee", "inventory", "cameras")
COMBINATIONS = [off for count in range(5) for off in itertools.combinations(MODULES, count)]
SHORT = CROWDED | {"max_steps": 40}
FIELDS = {
    "zone": {"zone"},
    "cameras": {name + mask for name in ("others", "heals", "boxes", "box_items") for mask in ("", "_mask")},
    "inventory": {"heal_slot", "heal_slot_mask", "box_slot", "box_slot_mask"},
    "melee": set(),
}
HEADS = {"melee": 1, "inventory": 2}


def left_out(off: tuple[str, ...], given: dict) -> dict:
    """Options with modules switched off, without the settings that these alone read."""
    unread = {name for module in off for name in READ_BY[module]}
    return {name: value for name, value in given.items() if name not in unread} | dict.fromkeys(off, "off")


def options(off: tuple[str, ...]) -> dict:
    return left_out(off, SHORT)


@pytest.mark.parametrize("off", COMBINATIONS, ids=lambda off: "-".join(off) or "none")
def test_what_is_off_is_in_no_space(off: tuple[str, ...]) -> None:
    whole = make_world(WORLD, 2, 3, **SHORT)
    world = make_world(WORLD, 2, 3, **options(off))
    gone = set().union(*(FIELDS[name] for name in off))
    assert set(world.observation_space) == set(whole.observation_space) - gone
    assert len(world.action_space.nvec) == 6 - sum(HEADS.get(name, 0) for name in off)
    world.reset()
    lost = {"zone": 3 + 2 * whole.settings.phases, "melee": 4, "inventory": 4}
    expected = whole.state_space.shape[0] - sum(lost.get(name, 0) for name in off)
    assert world.state_space.shape == world.global_state().shape[1:] == (expected,)
    names = {layer.name for layer in scene_of(world).layers}
    assert ("zone" in names) == ("zone" not in off)
    assert ("melee" in names) == ("melee" not in off)
    assert ("carried" in names) == ("inventory" not in off)


@pytest.mark.slow
@pytest.mark.parametrize("off", COMBINATIONS[1:], ids="-".join)
def test_every_combination_keeps_the_laws_of_the_protocol(off: tuple[str, ...]) -> None:
    """It steps, draws, saves, loads and refuses wild numbers, as the checker requires of every world."""
    report = check_world(lambda count, seed: make_world(WORLD, count, seed, **options(off)), steps=60)
    assert report.ok, str(report)
    assert not report.skipped


@pytest.mark.parametrize("off", COMBINATIONS[1:], ids="-".join)
@pytest.mark.parametrize("player", ["zone", "collector", "hunter"])
def test_scripted_players_play_with_the_heads_there_are(player: str, off: tuple[str, ...]) -> None:
    world = make_world(WORLD, 2, 3, **options(off))
    policy = make_policy(WORLD, player)
    policy.start(world)
    seen = world.reset()
    for _ in range(40):
        seen = world.step(policy.act(seen))
    assert seen.over.all()


def test_players_strike_and_use_by_the_right_heads() -> None:
    """Without the inventory the last head is the attack; without the melee the fourth is use."""
    scene = Scene("1v1-heals-low", inventory="off")
    scene.put(0, 0.0, 0.0)
    scene.put(1, 1.5, 0.0, WEST)
    hunter = make_policy("survival/1v1-heals-low", "hunter")
    hunter.start(scene.world)
    scene.world.step(hunter.act(scene.world.refresh()))
    seen = scene.world.step(hunter.act(scene.world.timestep))
    assert seen.observation["agent"][0, :, 1].tolist() == [95, 95]
    scene = Scene("1v1-heals-low", melee="off")
    scene.hold(0, ("heal", 0))
    collector = make_policy("survival/1v1-heals-low", "collector")
    collector.start(scene.world)
    scene.world.step(collector.act(scene.world.refresh()))
    assert scene.health(0) == 175


@pytest.mark.parametrize("off", COMBINATIONS[1:], ids="-".join)
def test_what_is_left_goes_on_as_with_everything_until_the_module_would_have_acted(
    off: tuple[str, ...],
) -> None:
    """Agents that neither attack nor take, in a harmless zone: the worlds are alike, draw for draw and bit for bit."""
    quiet = {"max_steps": 60, "pickup_radius": 0.0, "zone_damage": 0}
    whole, part = (make_world(WORLD, 3, 5, **given) for given in (quiet, left_out(off, quiet)))
    whole.reset()
    part.reset()
    motion = np.random.default_rng(1).integers(0, 3, (50, 3, 4, 3))
    for step in motion:
        idle = [
            np.concatenate([step, np.zeros((3, 4, len(w.action_space.nvec) - 3), int)], -1)
            for w in (whole, part)
        ]
        told = [w.step(action) for w, action in zip((whole, part), idle, strict=True)]
    assert np.array_equal(*(w.save()["bodies.position"] for w in (whole, part)))
    assert np.array_equal(told[0].reward, told[1].reward)
    for name, field in told[1].observation.items():
        assert np.array_equal(field, told[0].observation[name]), name


def test_nobody_burns_without_a_zone_and_nobody_bleeds_without_melee() -> None:
    world = make_world(WORLD, 8, 1, zone="off", melee="off", max_steps=300)
    world.reset()
    rng = np.random.default_rng(0)
    for _ in range(300):
        action = np.delete(eager_actions(world, rng), 3, axis=-1)
        seen = world.step(action)
    assert seen.truncated.all()
    assert (seen.observation["agent"][..., 2] >= 100).all()
    assert world.metrics["episode_length"].tolist() == [300] * 8
    assert not world.metrics["team_kills"].any()


def test_without_an_inventory_items_lie_where_they_are() -> None:
    scene = Scene(inventory="off")
    scene.put(0, 0.0, 0.0)
    scene.lay_heal(0, 0.1, 0.0)
    scene.world.refresh()
    scene.world.step(np.ones((1, 2, 4), int) * (1, 1, 1, 0))
    assert scene.held(0) == []
    assert scene.state.bodies.present[0, scene.rules.first_heal]


def test_without_cameras_things_are_known_by_omniscience_alone_and_others_never() -> None:
    world = make_world("survival/1v1-all-mid", 1, 2, cameras="off", omniscient=True)
    seen = world.reset().observation
    assert "others" not in seen
    assert not seen["heals_mask"].any()
    assert not seen["boxes_mask"].any()
    assert seen["box_items_mask"].all()


# -- teams of any sizes -------------------------------------------------------------------------------------------


def test_two_equal_teams_named_by_their_sizes_are_the_papers_bit_for_bit() -> None:
    worlds = [make_world(WORLD, 4, 9, teams=teams, **CROWDED) for teams in (True, [2, 2])]
    rngs = [np.random.default_rng(2) for _ in worlds]
    for world in worlds:
        world.reset()
    for _ in range(200):
        for world, rng in zip(worlds, rngs, strict=True):
            over = world.step(eager_actions(world, rng)).over
            if over.any():
                world.reset(over.copy())
        assert worlds[0].hash().tolist() == worlds[1].hash().tolist()
    assert worlds[0].teams == worlds[1].teams == ((0, 1), (2, 3))


def test_teams_of_one_each_play_as_agents_by_themselves() -> None:
    """They observe a team beside their number, and have no mates to give to; nothing else differs."""
    alone, teams = (
        make_world("survival/1v1-all-high", 4, 9, agents=3, teams=given, give_radius=0.0, **CROWDED)
        for given in (False, [1, 1, 1])
    )
    rngs = [np.random.default_rng(2) for _ in range(2)]
    for world in (alone, teams):
        world.reset()
    for _ in range(200):
        told = [
            world.step(eager_actions(world, rng)) for world, rng in zip((alone, teams), rngs, strict=True)
        ]
        assert np.array_equal(told[0].reward, told[1].reward)
        over = told[0].over.copy()
        assert np.array_equal(over, told[1].over)
        if over.any():
            alone.reset(over)
            teams.reset(over)
    saved = [world.save() for world in (alone, teams)]
    assert all(np.array_equal(saved[0][name], saved[1][name]) for name in saved[0] if name != "observation")
    assert np.array_equal(teams.timestep.observation["agent"][..., 1], [[0, 1, 2]] * 4)


def test_three_uneven_teams_share_blows_gifts_and_rewards() -> None:
    scene = Scene("2v2-all-high", agents=6, teams=[2, 1, 3], boxes=0, end="lastalive")
    assert scene.world.teams == ((0, 1), (2,), (3, 4, 5))
    for agent in range(6):
        scene.put(agent, 3.0 * agent - 8.0, 8.0)
    scene.put(0, 0.0, 0.0)
    scene.put(1, 1.5, 0.0, WEST)  # strikes its mate: nothing
    scene.put(2, 0.0, 1.5, -np.pi / 2)  # strikes 0
    scene.hold(3, ("heal", 0))
    scene.put(3, 6.0, 0.0)
    scene.put(2 + 2, 7.5, 0.0)
    scene.state.health[0, 0] = 5
    told = scene.step(a1="attack", a2="attack", a3="give")
    assert scene.held(4) == [("heal", 0)]
    assert not scene.alive(0)
    assert scene.world.metrics["team_kills"][0].tolist() == [0, 0, 1, 0, 0, 0]
    assert "kills" not in scene.world.metrics  # the attacking member of a team is not recorded
    assert told.reward[0].tolist() == [1 - 100, 1 - 100, 1 + 100, 1, 1, 1]
    scene.state.health[0, [1, 2]] = 0
    told = scene.step()
    assert told.over[0]
    assert told.terminated[0].all()


def test_each_member_earns_its_share_of_a_team_of_any_size() -> None:
    scene = Scene("2v2-heals-mid", agents=6, teams=[2, 1, 3], team_reward="each")
    scene.state.health[0, 5] = 0
    assert np.allclose(scene.step().reward[0], [1, 1, 1, 1 / 3, 1 / 3, 1 / 3])


def test_a_world_of_uneven_teams_keeps_the_laws() -> None:
    report = check_world(
        lambda count, seed: make_world(WORLD, count, seed, agents=6, teams=[2, 1, 3], **SHORT), steps=60
    )
    assert report.ok, str(report)


def test_random_play_goes_on_where_all_is_off() -> None:
    world = make_world(WORLD, 2, 0, **options(MODULES))
    policy = RandomPolicy()
    policy.start(world)
    seen = world.reset()
    while not seen.over.all():
        seen = world.step(policy.act(seen))
    assert set(seen.observation) == {"agent"}
