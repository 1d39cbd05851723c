"""Calls at odd times and with odd values: kernels check no bounds, so all of these must be caught or work (C1).

Run with ``NUMBA_DISABLE_JIT=1`` to have Python check every index.
"""

from __future__ import annotations

import numpy as np
import pytest

from interplay.gridworld.actors import BinaryAttackActor, CrossMoveActor, MoveActor, SelectiveAttackActor
from interplay.gridworld.dones import TargetEncodingInactiveDone
from interplay.gridworld.grid import Grid
from interplay.sim.managers import AllStepManager
from tests.gridworld.boards import named, placed, soldier, thing, walker, walking

STAY = {"move": np.array([0, 0])}


def fighters(range_of_attacks=1):
    """A soldier in the middle of eight targets, with ammo for all tests and no strength."""
    one = soldier(
        "s",
        1,
        initial_position=np.array([1, 1]),
        attack_strength=0.0,
        initial_ammo=10**6,
        attack_range=range_of_attacks,
    )
    grid = Grid(3, 3)
    agents = named(one, *(thing(f"x{n}", 2) for n in range(8)))
    placed(grid, *agents.values())
    return one, agents, grid


def test_attacks_that_were_raised_after_the_actor_was_built():
    """T11, T13: results have room for what an agent can do now."""
    one, agents, grid = fighters()
    actor = BinaryAttackActor(agents=agents, grid=grid, attack_mapping={1: 2})
    assert len(actor.process_action(one, {"attack": 1})[1]) == 1
    one.simultaneous_attacks = 20
    assert len(actor.process_action(one, {"attack": 20})[1]) == 8
    actor.stacked_attacks = True
    assert len(actor.process_action(one, {"attack": 20})[1]) == 20


def test_a_range_that_was_raised_after_the_attacker_was_built():
    one, agents, grid = fighters()
    actor = SelectiveAttackActor(agents=agents, grid=grid, attack_mapping={1: 2})
    for reach in (2, "FULL"):
        one.attack_range = reach
        with pytest.raises(AssertionError, match="agent s: attack action"):
            actor.process_action(one, {"attack": np.ones((5, 5), int)})
    one.attack_range = 0
    assert actor.process_action(one, {"attack": np.ones((1, 1), int)}) == (True, [])


def test_encodings_that_came_after_the_attacker_was_built():
    one, agents, grid = fighters()
    actor = BinaryAttackActor(agents=agents, grid=grid, attack_mapping={1: 2})
    grid.remove(agents["x0"], agents["x0"].position)
    grid.place(thing("late", 3000), agents["x0"].position)
    one.simultaneous_attacks = 9
    assert len(actor.process_action(one, {"attack": 9})[1]) == 7
    one.encoding = 4000
    assert actor.process_action(one, {"attack": 9}) == (True, [])
    done = TargetEncodingInactiveDone(agents=agents, grid=grid, target_mapping={4000: 2})
    agents["x1"].encoding = 4090
    assert done.get_done(one) is False
    assert done.get_all_done() is False


@pytest.mark.parametrize("kind", [MoveActor, CrossMoveActor])
def test_who_was_never_placed_cannot_move(kind):
    agent = walker("a", move_range=2)
    grid = Grid(3, 3)
    actor = kind(agents=named(agent), grid=grid)
    actions = [np.array([1, 1]), np.array([2, 2])] if kind is MoveActor else [2, 3]
    for action in actions:
        assert actor.process_action(agent, {"move": action}) is False
    assert agent.position is None
    grid.reset()
    assert all(grid[row, col] == {} for row in range(3) for col in range(3))


@pytest.mark.parametrize("action", [np.array([2**40, 0]), np.array([0, -(2**40)]), [99, 0], "up", None, 7])
def test_odd_moves_are_refused(action):
    sim = walking(walker("a"), walker("b"), rewards=["StepPenalty"])
    sim.reset()
    with pytest.raises(AssertionError, match="agent a"):
        sim.step({"a": {"move": action}, "b": STAY})
    with pytest.raises(AssertionError, match="agent a"):
        sim.actors[0].process_action(sim.agents["a"], {"move": action})


def test_agents_who_join_a_running_simulation():
    """Every array by slot grows with the board: users, targets, payees, results."""
    sim = walking(
        soldier("a", initial_position=np.array([0, 0])),
        soldier("b", 2, initial_position=np.array([0, 2])),
        rows=2,
        cols=3,
        actors=["MoveActor", "BinaryAttackActor"],
        dones=["ActiveDone", "TargetAgentOverlapDone"],
        rewards=["StepPenalty", "MoveReward", "AttackReward", "TargetReward"],
        attack_mapping={1: 2},
        target_mapping={"a": "b"},
    )
    sim.reset()
    nothing = {**STAY, "attack": 0}
    sim.step({"a": nothing, "b": nothing})
    for n in range(3):
        assert sim.grid.place(thing(f"guest{n}", 50 + n), (1, n))
        sim.step({"a": nothing, "b": nothing})
    assert sim.get_reward("a") == pytest.approx(-0.04)
    assert sim.get_done("a") is False
    sim.step({"a": {"move": np.array([1, 0]), "attack": 0}, "b": nothing})
    assert sim.get_reward("a") == pytest.approx(-0.11)  # a guest stands there
    sim.agents["late"] = soldier("late", 2)
    sim.reset()
    assert sim.agents["late"].position is not None
    assert all("guest" not in str(list(sim.grid[row, col])) for row in range(2) for col in range(3))
    sim.step({"a": nothing, "late": nothing})
    assert sim.get_done("late") is False


def test_a_simulation_whose_agents_went_elsewhere_can_be_copied():
    """Copies are whole again: the board still has all agents, and the copies are its own."""
    sim = walking(walker("a"), walker("b"), rewards=["StepPenalty"])
    sim.reset()
    other = walking(*sim.agents.values(), rows=1, cols=2)
    other.reset()
    world = AllStepManager(sim, time_limit=3).vectorize(2, seed=1)
    world.reset()
    world.step({"move": np.zeros((2, 2, 2), int)})
    assert other.grid[0, 0].keys() | other.grid[0, 1].keys() == {"a", "b"}
