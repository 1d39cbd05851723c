"""Declared simulations in many copies: every law of a world, snapshots, threads, places in the batch."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from interplay.checker import check_world
from interplay.core.errors import UserError
from interplay.gridworld import SmartGridWorldSimulation
from interplay.gridworld.actors import MoveActor
from interplay.gridworld.agents import GridWorldAgent, MovingAgent
from interplay.gridworld.observers import AbsolutePositionObserver
from interplay.gridworld.states import BoardState
from interplay.gridworld.world import GridWorld
from interplay.gridworld.wrappers import RavelActionWrapper
from interplay.sim.managers import AllStepManager, TurnBasedManager
from tests.gridworld.fighters import Car, declared
from tests.gridworld.lockstep import actions, assert_equal


def skirmish(num_worlds=3, seed=0, **kwargs):
    """Soldiers with everything that draws, shuffled."""
    sim = declared(
        ["BinaryAttackActor", "DriftMoveActor"],
        ["PositionCenteredEncodingObserver", "AmmoObserver"],
        people=7,
    )
    return AllStepManager(sim, randomize_action_input=True, time_limit=40).vectorize(
        num_worlds, seed=seed, **kwargs
    )


def duel(num_worlds=3, seed=0, **kwargs):
    """One after another, agents of three kinds."""
    sim = declared(
        ["EncodingBasedAttackActor", (RavelActionWrapper, "MoveActor")], ["AbsoluteEncodingObserver"]
    )
    return TurnBasedManager(sim).vectorize(num_worlds, seed=seed, **kwargs)


def maze(num_worlds=3, seed=0, **kwargs):
    """Two cars on their way through a new maze each time."""
    agents: dict[str, GridWorldAgent] = {
        name: Car(id=name, encoding=1, view_range=2, move_range=1) for name in ("car0", "car1")
    }
    agents["goal"] = GridWorldAgent(id="goal", encoding=2)
    agents |= {f"wall{i}": GridWorldAgent(id=f"wall{i}", encoding=3, blocking=True) for i in range(12)}
    sim = SmartGridWorldSimulation.build_sim(
        7,
        9,
        agents=agents,
        overlapping={1: {1, 2}},
        target_agent=agents["goal"],
        barrier_encodings={3},
        free_encodings={1, 2},
        target_mapping={"car0": "goal", "car1": "goal"},
        states=["MazePlacementState", "OrientationState"],
        actors=["DriftMoveActor"],
        observers=["StackedPositionCenteredEncodingObserver", "OrientationObserver"],
        dones=["TargetAgentOverlapDone"],
        rewards=["MoveReward", "StepPenalty", "TargetReward"],
    )
    return AllStepManager(sim, time_limit=60).vectorize(num_worlds, seed=seed, **kwargs)


def garden(num_worlds=3, seed=0, **kwargs):
    """Soldiers that are not the first on the grid: a wall comes before them in the list, a tree among them."""
    sim = declared(
        ["BinaryAttackActor", "MoveActor"],
        ["PositionCenteredEncodingObserver", "AmmoObserver", "AbsolutePositionObserver"],
        dones=["ActiveDone"],
        between=True,
    )
    return AllStepManager(sim, time_limit=40).vectorize(num_worlds, seed=seed, **kwargs)


WORLDS = [skirmish, duel, maze, garden]


@pytest.mark.parametrize("make", WORLDS)
def test_every_law_holds(make):
    """Section 7 and the protocol of worlds: determinism, save, load, hash, streams, memory, refusals, scenes."""
    report = check_world(make, steps=120)
    assert report.ok, str(report)
    assert not report.skipped


def story(worlds, steps=60, seed=0, resets=True):
    """Plays batches with the same actions; yields their time steps."""
    rng = np.random.default_rng(seed)
    now = [world.timestep for world in worlds]
    for _ in range(steps):
        yield now
        if resets and now[0].over.any():
            which = now[0].over.copy()
            now = [world.reset(which) for world in worlds]
        else:
            drawn = actions(worlds[0], rng)
            now = [world.step(drawn) for world in worlds]


@pytest.mark.parametrize("make", WORLDS)
def test_threads_change_no_bit(make):
    """ARCHITECTURE: the number of threads changes nothing, neither outputs nor state."""
    worlds = [make(5, 2), make(5, 2, threads=2), make(5, 2, threads=9)]
    for world in worlds:
        assert isinstance(world, GridWorld)
        world.reset()
    for now in story(worlds):
        for other in now[1:]:
            assert_equal(now[0], other, "with threads")
    hashes = [world.hash().tolist() for world in worlds]
    assert hashes[0] == hashes[1] == hashes[2]
    for world in worlds:
        world.close()


def test_the_simulation_and_its_manager_stay_as_they_are():
    """B4, section 7: a batch works on a copy; the objects can be played beside it."""
    sim = declared()
    manager = AllStepManager(sim)
    manager.reset(seed=4)
    twin = copy.deepcopy(sim)
    world = manager.vectorize(2)
    world.reset()
    list(story([world], 10))
    assert sim.agents == twin.agents
    assert sim.grid.board.stream.tolist() == twin.grid.board.stream.tolist()


def test_metrics_count_steps_returns_and_the_living():
    """ARCHITECTURE: metrics."""
    world = skirmish(3)
    world.reset()
    total = np.zeros((3, 7))
    for now in story([world], 25, resets=False):
        total += now[0].reward
    assert world.metrics["episode_return"] == pytest.approx(total + world.timestep.reward)
    assert (world.metrics["episode_length"] <= 25).all()
    assert world.metrics["alive"].shape == (3, 7)
    finished = world.timestep.over[:, None] | world.timestep.acting
    assert (world.metrics["alive"] <= finished).all()


@pytest.mark.parametrize("make", [skirmish, duel, garden])
def test_the_metrics_of_an_agent_are_its_own(make):
    """If the dead are done: an agent that left an unfinished world is dead, and an acting one is alive."""
    world = make(8)
    world.reset()
    left = np.zeros((8, len(world.agents)), bool)
    earned = np.zeros(left.shape)
    for step, *_ in story([world], 30, resets=False):
        left |= step.terminated & ~step.over[:, None]
        earned += step.reward
        alive = world.metrics["alive"]
        assert not alive[left].any()
        assert alive[step.acting].all()
        np.testing.assert_allclose(world.metrics["episode_return"], earned, atol=1e-5)
    assert left.sum() > len(world.agents), "who never leaves proves nothing"


def test_actions_outside_the_space_are_refused_and_change_nothing():
    """ARCHITECTURE: a batch refuses in one line and stays as it was."""
    world = skirmish(2)
    world.reset()
    drawn = actions(world, np.random.default_rng(0))
    hashed = world.hash().tolist()
    for key, wrong in (("attack", 3), ("attack", -1), ("move", 5)):
        bad = {name: array.copy() for name, array in drawn.items()}
        bad[key][1, 2] = wrong
        with pytest.raises(UserError):
            world.step(bad)
        assert world.hash().tolist() == hashed


def test_a_simulation_in_which_nobody_learns_is_no_batch():
    """Section 7: without learning agents there is nothing to step."""
    agents = {"a": MovingAgent(id="a", encoding=1, move_range=1)}
    sim = SmartGridWorldSimulation.build_sim(
        3, 3, agents=agents, states=["PositionState"], actors=[MoveActor], observers=[AbsolutePositionObserver],
        dones=["ActiveDone"],
    )  # fmt: skip
    with pytest.raises(UserError):
        AllStepManager(sim).vectorize(2)


class Fog(BoardState):
    """In every episode agents see one cell less far, or as far as they were made to."""

    def begin(self, board, which):
        clear = np.where(board.stream[which, 0] % np.uint64(2) == 0, 0, 1)
        board.agents["view_range"][which] = 2 - clear[:, None]


def test_what_a_users_component_changes_of_the_agents_is_taken_back_as_far_as_the_windows_reach():
    agents = {name: Car(id=name, encoding=1, view_range=2, move_range=1) for name in ("car0", "car1")}
    sim = SmartGridWorldSimulation.build_sim(
        5,
        5,
        agents=agents,
        states=["PositionState", Fog, "OrientationState"],
        actors=["DriftMoveActor"],
        observers=["PositionCenteredEncodingObserver"],
        dones=["ActiveDone"],
        rewards=["MoveReward"],
    )
    world = AllStepManager(sim, time_limit=20).vectorize(6, seed=3)
    world.reset()
    snapshot = world.save()
    assert set(snapshot["agents.view_range"].ravel()) == {1, 2}
    assert (world.load(snapshot).reward == 0).all()
    for wild in (3, -1):
        snapshot["agents.view_range"][4, 1] = wild
        with pytest.raises(UserError, match=rf"view_range\[1\] of world 4 = {wild} is outside 0..2"):
            world.load(snapshot)
