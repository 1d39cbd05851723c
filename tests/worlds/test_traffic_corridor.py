"""Traffic corridor, sentence by sentence (specification 9.4), and as a registered world."""

from __future__ import annotations

import numpy as np
import pytest

import interplay
from interplay.evaluate import play
from interplay.gridworld.actors import CrossMoveActor, MoveActor
from interplay.gridworld.dones import TargetAgentOverlapDone
from interplay.registry import make_policy
from interplay.worlds import TrafficAgent, TrafficCorridorSimulation
from interplay.worlds.reach_the_target import TargetAgent as OtherTargetAgent
from interplay.worlds.traffic_corridor import TargetAgent, WallAgent
from interplay.worlds.traffic_corridor.config import TrafficCorridorSettings
from interplay.worlds.traffic_corridor.simulation import corridor, manager

ID = "gridworld/traffic-corridor"


@pytest.fixture
def sim():
    made = corridor(TrafficCorridorSettings())
    made.reset()
    return made


def go(sim, **steps):
    """Steps down and right, by id, in this order."""
    sim.step({name: {"move": np.array(step)} for name, step in steps.items()})
    return {name: sim.get_reward(name) for name in steps}


def where(sim, name):
    return tuple(int(number) for number in sim.agents[name].position)


def test_the_reference_setting(sim):
    assert (sim.grid.rows, sim.grid.cols) == (3, 5)
    assert {name: where(sim, name) for name in sim.agents} == {
        "left0": (0, 0),
        "left1": (2, 0),
        "right0": (0, 4),
        "right1": (2, 4),
        "right_target": (1, 0),
        "left_target": (1, 4),
        **{f"wall{i}": (i // 3 * 2, 1 + i % 3) for i in range(6)},
    }
    travellers = [agent for agent in sim.agents.values() if isinstance(agent, TrafficAgent)]
    assert {(agent.move_range, agent.view_range) for agent in travellers} == {(1, 3)}
    assert [type(part) for part in (*sim.actors, *sim.dones)] == [MoveActor, TargetAgentOverlapDone]
    assert manager(TrafficCorridorSettings()).randomize_action_input


def test_a_failed_move_costs_and_waiting_is_free(sim):
    rewards = go(sim, left0=(-1, 0), left1=(0, 1), right0=(0, 0))
    assert rewards == {"left0": pytest.approx(-0.1), "left1": pytest.approx(-0.1), "right0": 0}


def test_nobody_passes_in_the_corridor(sim):
    go(sim, left0=(1, 1), right0=(1, -1))
    assert go(sim, left0=(0, 1), right0=(0, -1)) == {"left0": 0, "right0": pytest.approx(-0.1)}
    assert where(sim, "left0") == (1, 2)
    # Team-mates may share a cell, the other team's target may not be entered.
    assert go(sim, left1=(-1, 0)) == {"left1": pytest.approx(-0.1)}


def test_on_the_own_target_one_is_paid_and_done(sim):
    go(sim, left0=(1, 1))
    for _ in range(2):
        assert go(sim, left0=(0, 1)) == {"left0": 0}
    assert go(sim, left0=(0, 1)) == {"left0": 1}
    assert (sim.get_done("left0"), sim.get_done("left1"), sim.get_all_done()) == (True, False, False)
    go(sim, left1=(-1, 1))
    for _ in range(3):
        go(sim, left1=(0, 1), right0=(0, 0))
    assert where(sim, "left1") == where(sim, "left0") == (1, 4)
    for name, down in (("right0", 1), ("right1", -1)):
        go(sim, **{name: (down, -1)})
        for _ in range(3):
            go(sim, **{name: (0, -1)})
    assert sim.get_all_done()


def test_every_team_has_one_target():
    agents = {"a": TrafficAgent(id="a", encoding=1)}
    with pytest.raises(AssertionError, match=r"agent a: its team, encoding 1, has no target"):
        TrafficCorridorSimulation.build_sim(2, 2, agents=agents)
    agents |= {name: TargetAgent(id=name, encoding=1) for name in ("b", "c")}
    with pytest.raises(AssertionError, match=r"team 1 has two targets, b and c"):
        TrafficCorridorSimulation.build_sim(2, 2, agents=agents)


def test_components_can_be_others():
    """Section 3, row 26."""
    agents = {
        "a": TrafficAgent(id="a", encoding=1, initial_position=np.array([0, 0])),
        "b": TargetAgent(id="b", encoding=1, initial_position=np.array([0, 1])),
        "w": WallAgent(id="w", encoding=2, initial_position=np.array([0, 2])),
    }
    sim = TrafficCorridorSimulation.build_sim(
        1, 3, agents=agents, overlapping={1: {1}}, actors=[CrossMoveActor], rewards=[]
    )
    sim.reset()
    sim.step({"a": {"move": 3}})
    assert (sim.get_reward("a"), sim.get_done("a"), sim.get_all_done()) == (0, True, True)
    assert agents["w"].blocking


def test_classes_of_one_name_are_not_mixed_up():
    """Section 1: they live in their world's folder."""
    assert TargetAgent is not OtherTargetAgent
    with pytest.raises(ImportError):
        from interplay.worlds import TargetAgent as nobody  # noqa: F401


@pytest.mark.parametrize("cols", [3, 5, 9])
def test_the_courteous_take_turns(cols):
    world = interplay.make_world(ID, num_worlds=2, cols=cols)
    table = play(world, make_policy(ID, "courteous"), episodes=6)
    assert (table["episode_return"] == 1).all()
    assert table["episode_length"].max() < 60
