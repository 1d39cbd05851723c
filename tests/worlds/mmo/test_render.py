"""What a picture of the persistent world shows: rows of the layers against the state."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from interplay.core.scene import Scene, scene_of
from interplay.registry import make_world
from interplay.view.picture import render
from interplay.worlds.mmo.policies import Fighter


def played(ticks: int, **options: Any) -> Any:
    """A crowded little world some ticks on, and what each of its frames showed."""
    given = {"interior": 18, "slots": 32, "npop": 4, "cap_draw": "fixed", "prefill": 24} | options
    world = make_world("mmo/combat", num_worlds=2, seed=3, **given)
    policy, timestep = Fighter(), world.reset()
    policy.start(world, 0)
    frames = [scene_of(world, 1)]
    for _ in range(ticks):
        timestep = world.step(policy.act(timestep))
        frames.append(scene_of(world, 1))
    return world, frames


def shown(scene: Scene, layer: str) -> np.ndarray:
    return ~scene.layer(layer).columns["absent"]


def test_all_frames_have_the_same_layers_and_the_agents_are_where_the_state_says() -> None:
    world, frames = played(60)
    for frame in frames[1:]:
        frame.check_follows(frames[0])
    agent, layer = world.state.agent[1], frames[-1].layer("agents")
    alive = agent["alive"]
    assert (shown(frames[-1], "agents") == alive).all()
    assert (np.floor(layer.columns["x"]) == agent["col"])[alive].all()
    assert (np.floor(layer.columns["y"]) == agent["row"])[alive].all()
    assert (layer.columns["colour"] == agent["population"])[alive].all()
    assert (layer.columns["bar.water"] == agent["water"])[alive].all()


def test_those_who_share_a_tile_do_not_hide_each_other() -> None:
    world, _ = played(10)
    agent = world.state.agent[1]
    who = np.flatnonzero(agent["alive"])[:4]
    agent["row"][who], agent["col"][who] = 15, 16
    layer = scene_of(world, 1).layer("agents")
    spots = {(round(layer.columns["x"][i], 3), round(layer.columns["y"][i], 3)) for i in who}
    assert len(spots) == 4
    assert all((int(x), int(y)) == (16, 15) for x, y in spots)
    assert (layer.columns["radius"][who] < layer.columns["radius"].max()).all()


def test_every_landed_blow_is_a_line_of_its_style_from_attacker_to_where_the_target_stood() -> None:
    world, _ = played(0)
    policy, timestep, seen = Fighter(), world.timestep, set()
    policy.start(world, 0)
    fallen = 0
    for _ in range(200):
        timestep = world.step(policy.act(timestep))
        frame, agent = scene_of(world, 1), {name: column[1] for name, column in world.blows.items()}
        fallen += (agent["struck"] != world.state.agent["struck"][1]).sum()
        for number, style in enumerate(("melee", "range", "mage")):
            landed = np.flatnonzero((agent["style"] == number) & (agent["struck"] >= 0))
            line, ring = frame.layer(style).columns, frame.layer(f"{style} hits").columns
            assert (np.floor(line["x0"]) == agent["col"][landed]).all()  # a line for each, and no other
            assert (np.floor(line["y0"]) == agent["row"][landed]).all()
            assert (line["x1"] == ring["x"]).all()
            assert (line["y1"] == ring["y"]).all()
            assert line["jump"].all()  # this row held another agent a tick ago
            assert ring["jump"].all()
            reach = np.maximum(
                abs(np.floor(line["x1"]) - np.floor(line["x0"])),
                abs(np.floor(line["y1"]) - np.floor(line["y0"])),
            )
            assert (reach <= number + 3).all()  # both may have gone a tile since the attack was aimed
            seen |= {style} if len(landed) else set()
    assert seen == {"melee", "range", "mage"}
    assert fallen  # an attacker that died in the same tick, with a newcomer in its slot


def test_births_are_ringed_and_nobody_glides_into_them() -> None:
    world, frames = played(1, prefill=0)
    births, agents = (frames[-1].layer(name).columns for name in ("births", "agents"))
    assert (births["x"].tolist(), births["y"].tolist()) == ([agents["x"][0]], [agents["y"][0]])
    assert births["jump"].all()
    assert frames[-1].layer("agents").columns["jump"].tolist() == [True] + [False] * 31
    assert world.state.agent[1, 0]["life"] == 0


def test_deaths_are_crossed_and_tell_their_cause() -> None:
    world, _ = played(0, prefill=8, respawn="none", combat=False)
    world.state.agent["food"][1, 0] = world.state.agent["health"][1, 0] = 1
    world.refresh()
    world.step(np.zeros((2, 32, 2), np.int64))
    frame = scene_of(world, 1)
    row, column = (int(world.state.agent[name][1, 0]) for name in ("row", "col"))
    (cross,) = np.column_stack([frame.layer("deaths").columns[name] for name in ("x0", "y0", "x1", "y1")])
    assert cross.tolist() == pytest.approx([column + 0.15, row + 0.15, column + 0.85, row + 0.85])
    assert frame.layer("causes").text == ("hunger",)
    for name in ("deaths", "deaths, crossed", "causes"):  # the row of the next tick is another agent
        assert frame.layer(name).columns["jump"].tolist() == [True]
    world.step(np.zeros((2, 32, 2), np.int64))
    assert [scene_of(world, 1).layer(name).rows for name in ("deaths", "causes")] == [0, 0]


def test_the_frozen_and_the_immune_carry_signs() -> None:
    world, _ = played(0, prefill=2)
    world.state.agent["freeze"][1, 0] = 2
    world.state.agent["life"][1, 1] = 15
    marks = scene_of(world, 1).layer("agents").columns
    assert marks["mark.frozen"][:2].tolist() == [True, False]
    assert marks["mark.immune"][:2].tolist() == [True, False]
    free, _ = played(0, prefill=2, immunity="off")
    assert not scene_of(free, 1).layer("agents").columns["mark.immune"].any()


def test_the_ground_is_one_layer_and_agents_of_large_maps_can_still_be_seen() -> None:
    world, frames = played(0, interior=300)
    ground = frames[0].layer("ground").columns["tile"]
    assert ground.shape == (304, 304)
    assert (ground == world.state.tiles[1, 7:-7, 7:-7]).all()
    assert frames[0].bounds == (7.0, 7.0, 311.0, 311.0)
    radius = frames[0].layer("agents").columns["radius"][shown(frames[0], "agents")]
    assert radius.max() == pytest.approx(
        0.45
    )  # less than a pixel of a small picture: the renderer draws it larger
    ground, *others = frames[0].layers
    agents = frames[0]._replace(layers=tuple(layer for layer in others if layer.name == "agents"))
    seen = (render(agents, 256) != render(agents._replace(layers=()), 256)).any(axis=2).sum()
    assert seen > 12 * len(radius)


def test_the_caption_counts() -> None:
    world, frames = played(30)
    room = world.state.room[1]
    ((tick, living, births, deaths, _),) = frames[-1].layer("status").text
    assert (tick, living, births, deaths) == (30, room["living"], room["births"], births - living)
    assert [row[1] for row in frames[-1].layer("populations").text] == world.state.standing[1].tolist()


@pytest.mark.parametrize(("deaths", "mean"), [(0, "-"), (1, 40.0), (3, 13.3)])
def test_the_caption_tells_the_mean_of_the_lives_that_have_ended(deaths: int, mean: float | str) -> None:
    world, _ = played(0)
    numbers = {"tick": 90, "living": 5, "births": 8, "deaths": deaths, "life_ticks": 40 * (deaths > 0)}
    for name, number in numbers.items():
        world.state.room[name][1] = number
    status = scene_of(world, 1).layer("status")
    assert status.options["titles"] == ("tick", "living", "births", "deaths", "mean life")
    assert status.text == ((90, 5, 8, deaths, mean),)
