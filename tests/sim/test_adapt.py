"""Simulations as worlds: many copies step together, and a snapshot brings every one of them back exactly."""

from __future__ import annotations

import numpy as np
import pytest

import interplay
from examples.corridor import foremost_first, in_turns, together
from interplay.checker import check_world
from interplay.checker.bench import Players
from interplay.checker.outputs import copy_fields, first_difference
from interplay.core.errors import CannotRestore, UserError
from interplay.sim.adapt import SimulationWorld
from interplay.sim.managers import AllStepManager
from tests.sim.odd_simulations import Locked, Zoo, zoo, zoo_in_turns

CORRIDOR, ODD = "examples.corridor:", "tests.sim.odd_simulations:"


def played(world, steps, seed=1):
    """Copies of the time steps of random play; worlds that are over restart at the next step."""
    players, story = Players(world, seed, range(world.num_worlds)), []
    for _ in range(steps):
        if world.timestep.over.any():
            world.reset(world.timestep.over)
        world.step(players.act(world.timestep))
        story.append(copy_fields(world, world.timestep))
    return story


def same(one, two):
    rows = range(len(one[0]["over"].array))
    return all(first_difference(a, b, rows, rows) is None for a, b in zip(one, two, strict=True))


@pytest.mark.parametrize("make", [zoo, zoo_in_turns, together, in_turns, foremost_first])
def test_every_law_holds_under_every_manager(make):
    report = check_world(lambda num_worlds, seed: SimulationWorld(make, num_worlds, seed), steps=120)
    assert report.ok, str(report)
    assert not report.skipped


def test_what_stands_in_the_rows_of_who_is_not_asked_is_no_part_of_the_state():
    quiet, loud = (SimulationWorld(zoo_in_turns, 2, seed=4) for _ in range(2))
    players = [Players(world, seed, range(2)) for world, seed in ((quiet, 1), (quiet, 2))]
    for world in (quiet, loud):
        world.reset()
    ignored = 0
    for _ in range(12):
        told, noise = (player.act(quiet.timestep) for player in players)
        acting = {kind.name: quiet.timestep.acting[:, list(kind.slots)] for kind in quiet.kinds}
        mixed = {name: _mixed(acting[name], told[name], noise[name]) for name in told}
        ignored += sum(int((~rows).sum()) for rows in acting.values())
        quiet.step(told)
        loud.step(mixed)
        assert np.array_equal(quiet.hash(), loud.hash())
    assert ignored > 12
    assert all(np.array_equal(array, loud.save()[name]) for name, array in quiet.save().items())


def _mixed(acting, told, noise):
    if isinstance(told, dict):
        return {name: _mixed(acting, told[name], noise[name]) for name in told}
    return np.where(acting.reshape(*acting.shape, *[1] * (told.ndim - 2)), told, noise)


@pytest.mark.parametrize("processes", [0, 2])
@pytest.mark.parametrize("name", ["zoo", "zoo_in_turns"])
def test_a_snapshot_goes_on_bit_for_bit_into_the_next_episodes(name, processes):
    world = SimulationWorld(ODD + name, 3, seed=4, processes=processes)
    other = SimulationWorld(ODD + name, 3, seed=5)
    try:
        world.reset()
        played(world, 23)
        snapshot, hashed = world.save(), world.hash()
        story = played(world, 60, seed=2)
        assert not np.array_equal(world.hash(), hashed)
        for copy in (other, world):
            copy.load(snapshot)
            assert np.array_equal(copy.hash(), hashed)
            assert same(story, played(copy, 60, seed=2))
    finally:
        world.close()


def test_a_world_that_stands_still_comes_back_standing():
    world = SimulationWorld(together, 2, kwargs={"time_limit": 4})
    timestep = world.reset()
    for steps in range(6):
        timestep = world.step(np.ones((2, 5), int))
        snapshot, ended = world.save(), (timestep.truncated | timestep.terminated).copy()
        assert ended.all() == (steps == 3)
        again = SimulationWorld(together, 2, kwargs={"time_limit": 4}).load(snapshot)
        assert np.array_equal(again.truncated | again.terminated, ended)
        assert np.array_equal(again.reward, timestep.reward)


def test_equal_states_have_equal_hashes_whatever_the_others_of_the_batch():
    pair, single = SimulationWorld(zoo, 2), SimulationWorld(zoo, 1)
    seeds = np.array([8, 9], np.uint64)
    pair.reset(seeds=seeds)
    action = {kind.name: pair_action(kind) for kind in pair.kinds}
    pair.step(action)
    pair.reset([1])
    single.reset(seeds=seeds[1:])
    single.reset()
    assert pair.hash()[1] == single.hash()[0]
    assert pair.save()["walker/action/action"].shape[1] == 1
    assert single.save()["walker/action/action"].shape[1] == 0


def test_the_hash_looks_at_the_order_of_what_was_done():
    """The same two moves the other way round are another history, though they may lead to the same place."""
    hashes = []
    for moves in ((0, 1), (1, 0)):
        world = SimulationWorld(together, 1, seed=3, kwargs={"num_agents": 1, "end": 40})
        world.reset()
        world._lengths[:] = 2
        for kind, leaf in world._history._leaves():
            world._history._actions[kind.key("action", leaf)][0, :2, 0] = moves
        hashes.append(int(world.hash()[0]))
    assert len(set(hashes)) == 2


def pair_action(kind):
    if kind.name == "walker":
        return np.ones((2, 2, 2), int)
    return {"jump": np.ones((2, 1, 2), np.float32), "hue": np.zeros((2, 1), int)}


def test_histories_are_small_and_end_with_their_episode():
    world = SimulationWorld(zoo, 2)
    world.reset()
    played(world, 200)
    saved = world.save()
    lengths = saved["episode_length"]
    assert saved["walker/action/action"].dtype == np.uint8
    assert saved["painter/action/hue"].dtype == np.int16
    assert saved["painter/action/jump"].dtype == np.float32
    assert saved["walker/action/action"].shape == (2, lengths.max(), 2, 2)
    assert (saved["painter/action/hue"][lengths.argmin(), lengths.min() :] == 0).all()
    assert world._history._actions["walker/action/action"].shape[1] == 64, "no episode is longer"


def test_long_episodes_are_kept_whole():
    world = SimulationWorld(together, 1, kwargs={"time_limit": 300, "num_agents": 2})
    timestep = world.reset()
    for _ in range(200):
        timestep = world.step(np.array([[0, 1]]))
    assert np.array_equal(
        SimulationWorld(together, 1, kwargs={"num_agents": 2, "time_limit": 300}).load(world.save()).reward,
        timestep.reward,
    )


def test_kinds_are_the_agents_with_equal_spaces():
    world = SimulationWorld(zoo, 2)
    assert [(kind.name, kind.slots) for kind in world.kinds] == [("walker", (0, 2)), ("painter", (1,))]
    assert world.agents == ("walker_0", "painter", "walker_1"), "the tree does not play"
    timestep = world.reset()
    assert set(timestep.observation["painter"]) == {"sum", "luck.0", "luck.1"}
    assert timestep.action_mask["walker"]["action"].shape == (2, 2, 7)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.pop("stream"), "fields stream do not match"),
        (lambda s: s.update(odd=s["over"]), "fields odd do not match"),
        (lambda s: s.update(over=s["over"].astype(int)), "field over is int64"),
        (lambda s: s.update({name: a[:1] for name, a in s.items()}), "options and num_worlds"),
        (lambda s: s.update(episode_length=s["episode_length"] + 1), "field agent/action/action is uint8"),
        (
            lambda s: s.update(episode_length=-s["episode_length"]),
            "episode_length of world 0 = -7 is outside",
        ),
        (lambda s: s["agent/action/action"].fill(7), "holds actions outside Discrete"),
    ],
)
def test_a_snapshot_that_does_not_fit_is_refused_in_one_line_and_changes_nothing(change, message):
    world = SimulationWorld(together, 2)
    world.reset()
    played(world, 7)
    snapshot, hashed = world.save(), world.hash()
    change(snapshot)
    with pytest.raises(UserError, match=message) as caught:
        world.load(snapshot)
    assert "\n" not in str(caught.value)
    assert np.array_equal(world.hash(), hashed)


def goes_on(steps):
    """A history that says that everybody went to the right for so long."""

    def change(snapshot):
        for name, array in list(snapshot.items()):
            if "/action/" in name:
                snapshot[name] = np.full((len(array), steps, *array.shape[2:]), 2, array.dtype)
        snapshot["episode_length"][:] = steps

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (goes_on(90_000), "it is over after"),
        (lambda s: s["reward"].fill(3.0), "reward comes out otherwise"),
        (lambda s: s["episode_return"].fill(np.inf), "episode_return comes out otherwise"),
        (lambda s: s["stream"].fill(9), "comes out otherwise"),
        (lambda s: s["stood"].fill(True), "though its world is not over"),
    ],
)
def test_a_history_that_comes_out_otherwise_is_refused_and_the_batch_goes_on_as_it_was(change, message):
    options = {"num_agents": 2, "time_limit": None}
    world, twin = (SimulationWorld(together, 2, seed=3, kwargs=options) for _ in range(2))
    for each in (world, twin):
        each.reset()
        played(each, 5)
    other = SimulationWorld(together, 2, seed=8, kwargs=options)
    other.reset()
    played(other, 9)
    snapshot, hashed = other.save(), world.hash()
    change(snapshot)
    with pytest.raises(UserError, match=message) as caught:
        world.load(snapshot)
    assert "\n" not in str(caught.value)
    assert np.array_equal(world.hash(), hashed)
    assert same(played(world, 30, seed=2), played(twin, 30, seed=2))


def test_a_history_with_moves_that_the_simulation_refuses_is_one_line():
    """Within their space, and yet illegal at that moment: the simulation says so, the batch stays."""
    world = SimulationWorld(zoo, 2, seed=4)
    world.reset()
    played(world, 6)
    snapshot, hashed = world.save(), world.hash()
    snapshot["walker/action/action"][...] = 1 - np.minimum(snapshot["walker/action/action"], 1)
    with pytest.raises(UserError) as caught:
        world.load(snapshot)
    assert "\n" not in str(caught.value)
    assert np.array_equal(world.hash(), hashed)


@pytest.mark.parametrize("processes", [0, 1])
def test_randomness_from_elsewhere_is_named_and_a_reset_goes_on(processes):
    world = SimulationWorld(ODD + "forgetful", 2, processes=processes)
    try:
        world.reset()
        played(world, 5)
        with pytest.raises(
            CannotRestore, match=r"does not come from self\.rng; draw from self\.rng"
        ) as caught:
            world.load(world.save())
        assert "\n" not in str(caught.value)
        with pytest.raises(RuntimeError, match="call reset"):
            world.timestep  # noqa: B018
        assert world.reset().acting.all()
    finally:
        world.close()


def test_vectorize_copies_a_manager_and_leaves_it_alone():
    manager = together(num_agents=3)
    manager.reset(seed=3)
    before = {name: agent.position for name, agent in manager.agents.items()}
    world, named = (
        manager.vectorize(4, seed=6),
        SimulationWorld(together, 4, seed=6, kwargs={"num_agents": 3}),
    )
    for each in (world, named):
        each.reset()
    assert same(played(world, 80), played(named, 80))
    assert {name: agent.position for name, agent in manager.agents.items()} == before
    part = manager.vectorize(2, seed=6, first_world=2)
    assert np.array_equal(part.reset(seeds=None).observation["position"], named_first(manager)[2:])


def named_first(manager):
    return manager.vectorize(4, seed=6).reset().observation["position"]


def test_every_manager_can_be_copied_in_the_middle_of_an_episode():
    for make in (together, in_turns, foremost_first):
        manager = make()
        manager.reset(seed=1)
        assert manager.vectorize(2).reset().acting.any(axis=1).all()


def test_what_cannot_be_copied_is_made_by_a_function():
    assert SimulationWorld(lambda: AllStepManager(Locked()), 2).reset().acting.all()


@pytest.mark.parametrize("processes", [0, 1])
def test_a_failing_simulation_is_called_a_simulation(processes):
    world = interplay.make_world(ODD + "failing", num_worlds=2, processes=processes)
    world.reset()
    with pytest.raises(
        UserError,
        match=r"world 0, (reset|step \d+): ZeroDivisionError: no money \(.*odd_simulations.py, line 94.*\); mend the simulation",
    ):
        played(world, 5)


def test_a_name_gives_a_simulation_world_with_that_id():
    world = interplay.make_world(ODD + "zoo", num_worlds=2, threads=3)
    assert isinstance(world, SimulationWorld)
    assert world.id == ODD + "zoo"
    assert SimulationWorld(zoo).id == "Zoo"
    assert AllStepManager(Zoo()).vectorize(1).id == "Zoo"


def test_the_simulations_choice_acts():
    world = interplay.make_world(CORRIDOR + "foremost_first", num_worlds=3)
    timestep, walking = world.reset(), np.ones((3, 3), bool)
    for _ in range(30):
        going = ~timestep.over
        assert (timestep.acting.sum(axis=1) == going).all()
        walking &= ~timestep.terminated
        position = np.where(walking, timestep.observation["position"][..., 0], -1)
        assert timestep.acting[going, position.argmax(axis=1)[going]].all()
        timestep = world.step(np.full((3, 3), 2))
    assert timestep.over.all()
