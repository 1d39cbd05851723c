"""Reach the target, sentence by sentence (specification 9.4), and as a registered world."""

from __future__ import annotations

import numpy as np
import pytest

import interplay
from interplay.evaluate import play
from interplay.gridworld.dones import ActiveDone
from interplay.registry import make_policy
from interplay.worlds import BarrierAgent, OnlyAgentLeftDone, ReachTheTargetSim, RunningAgent, TargetDone
from interplay.worlds.reach_the_target import TargetAgent
from interplay.worlds.reach_the_target.config import ReachTheTargetSettings
from interplay.worlds.reach_the_target.simulation import chase

ID = "gridworld/reach-the-target"
HOLD = np.zeros((3, 3), int)


def scene(cells, **kwargs):
    """A map of lines: T the target, R runners, B barriers."""
    registry = {
        "T": lambda n: TargetAgent(
            id="target", view_range=7, attack_range=1, attack_strength=1, initial_health=1
        ),
        "R": lambda n: RunningAgent(id=f"r{n}", move_range=2, view_range=3, initial_health=1),
        "B": lambda n: BarrierAgent(id=f"b{n}"),
    }
    sim = ReachTheTargetSim.build_sim_from_array(
        np.array([list(line) for line in cells]),
        registry,
        overlapping={2: {3}, 3: {1, 2, 3}},
        attack_mapping={2: {3}},
        **kwargs,
    )
    sim.reset()
    return sim


def shot(*cells):
    """The target's attack on cells, as steps from it."""
    attack = HOLD.copy()
    for down, right in cells:
        attack[down + 1, right + 1] = 1
    return {"attack": attack}


def run(down, right):
    return {"move": np.array([down, right])}


def test_the_reference_setting():
    sim = chase(ReachTheTargetSettings())
    sim.reset()
    assert (sim.grid.rows, sim.grid.cols) == (7, 7)
    kinds = [type(agent).__name__ for agent in sim.agents.values()]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {
        "BarrierAgent": 10,
        "TargetAgent": 1,
        "RunningAgent": 4,
    }
    assert tuple(sim.target.position) == (3, 3)
    starts = {tuple(sim.agents[f"runner{i}"].position) for i in range(4)}
    assert starts == {(0, 0), (0, 6), (6, 0), (6, 6)}
    assert (sim.target.view_range, sim.target.attack_range, sim.target.attack_strength) == (7, 1, 1)
    assert (sim.agents["runner0"].move_range, sim.agents["runner0"].view_range) == (2, 3)
    assert sim.grid.overlapping == {1: {3}, 2: {3}, 3: {1, 2, 3}}
    assert sim.actors[0].attack_mapping == {2: {3}}
    assert {agent.encoding: agent.blocking for agent in sim.agents.values()} == {1: True, 2: False, 3: False}


def test_barriers_stand_anywhere():
    sim = chase(ReachTheTargetSettings())
    cells = set()
    for seed in range(40):
        sim.reseed(seed)
        sim.reset()
        cells |= {tuple(agent.position) for name, agent in sim.agents.items() if name.startswith("barrier")}
    assert len(cells) == 7 * 7 - 1, "all but the target's, whom they may not overlap"


def test_attacks_come_before_moves():
    sim = scene(["TR__R", "____R"])
    sim.step({"r0": run(0, -1), "target": shot((0, 1))})
    assert not sim.agents["r0"].active
    assert tuple(sim.agents["r0"].position) == (0, 1)
    assert sim.get_reward("target") == 1
    assert sim.get_reward("r0") == pytest.approx(-1 - 0.01)
    assert sim.get_done("r0")


def test_what_fails_costs_and_the_target_pays_no_entropy():
    sim = scene(["T__R", "___R"])
    sim.step({"target": shot((1, 1)), "r0": run(-1, 0), "r1": run(0, 0)})
    assert sim.get_reward("target") == pytest.approx(-0.1)
    assert sim.get_reward("r0") == pytest.approx(-0.1 - 0.01)
    assert sim.get_reward("r1") == pytest.approx(-0.01)
    sim.step({"target": shot()})
    assert sim.get_reward("target") == 0


def test_a_runner_on_the_targets_cell_is_paid_leaves_and_is_done():
    sim = scene(["T_R", "__R"])
    sim.step({"target": shot(), "r0": run(0, -2), "r1": run(0, 0)})
    assert sim.get_reward("r0") == pytest.approx(1 - 0.01)
    assert list(sim.grid[0, 0]) == ["target"], "it has left"
    assert (sim.get_done("r0"), sim.get_done("r1"), sim.get_done("target")) == (True, False, False)
    assert not sim.get_all_done()
    sim.step({"target": shot((0, 0)), "r1": run(0, 0)})
    assert sim.get_reward("target") == pytest.approx(-0.1), "it cannot be attacked any more"
    assert sim.get_reward("r0") == 0


def test_runners_reach_the_target_one_after_another_in_a_step():
    sim = scene(["T_R", "__R"])
    sim.step({"target": shot(), "r1": run(-1, -2), "r0": run(0, -2)})
    assert [sim.get_reward(name) for name in ("r0", "r1")] == pytest.approx([0.99, 0.99])


def test_a_runner_shot_on_its_way_is_not_paid():
    sim = scene(["TR", "_R"])
    sim.step({"target": shot((0, 1), (1, 1)), "r0": run(0, -1), "r1": run(-1, -1)})
    assert [sim.get_reward(name) for name in ("r0", "r1")] == pytest.approx([-1.01, -1.01])
    assert sim.get_reward("target") == 2


def test_a_runner_shot_where_it_began_on_the_targets_cell_is_not_paid():
    """It stood there, and did not come."""
    strong = {"attack_range": 1, "attack_strength": 1, "initial_health": 1}
    cells = {"target": (0, 0), "r0": (0, 0), "r1": (2, 2)}
    at = {name: {"id": name, "initial_position": np.array(cell)} for name, cell in cells.items()}
    runners = {
        name: RunningAgent(move_range=2, view_range=3, initial_health=1, **at[name]) for name in ("r0", "r1")
    }
    sim = ReachTheTargetSim.build_sim(
        3,
        3,
        agents={"target": TargetAgent(view_range=7, **strong, **at["target"]), **runners},
        overlapping={2: {3}, 3: {1, 2, 3}},
        attack_mapping={2: {3}},
    )
    sim.reset()
    sim.step({"target": shot((0, 0)), "r0": run(0, 0), "r1": run(0, 0)})
    assert sim.get_reward("r0") == pytest.approx(-1.01)


@pytest.mark.parametrize("last", ["shot", "arrived"])
def test_the_target_alone_is_done_and_so_is_the_simulation(last):
    sim = scene(["TR", "__"])
    assert not sim.get_all_done()
    assert not sim.get_done("target")
    sim.step({"target": shot((0, 1))} if last == "shot" else {"r0": run(0, -1)})
    assert sim.get_done("target")
    assert sim.get_all_done()


def test_runners_hide_in_and_behind_barriers():
    sim = scene(["TB_R", "____"])
    seen = sim.get_obs("target")["position_centered_encoding"]
    assert seen[7, 7:11].tolist() == [2, 1, -2, -2]
    sim.step({"r0": run(0, -2)})
    assert tuple(sim.agents["r0"].position) == (0, 1)
    sim.step({"target": shot((0, 1))})
    assert not sim.agents["r0"].active, "the barrier's own cell stays visible"


def test_the_target_is_required():
    with pytest.raises(AssertionError, match="target 'target' is not in the simulation"):
        ReachTheTargetSim.build_sim(2, 2, agents={"r": RunningAgent(id="r", move_range=1, view_range=1)})


def test_a_target_needs_no_id():
    """Release: its class has the id by which the simulation looks for it; another is taken as given."""
    given = {"view_range": 1, "attack_range": 1, "attack_strength": 1}
    target = TargetAgent(**given)
    runner = RunningAgent(id="r", move_range=1, view_range=1)
    sim = ReachTheTargetSim.build_sim(2, 2, agents={"target": target, "r": runner}, attack_mapping={2: {3}})
    assert sim.target is target
    assert (target.id, target.encoding, TargetAgent(id="goal", **given).id) == ("target", 2, "goal")


def test_components_can_be_others():
    """Section 3, row 26; and this world's own dones beside others."""
    sim = scene(["TR_"], dones=[TargetDone], rewards=[])
    assert not sim.get_all_done()
    sim.step({"r0": run(0, -1)})
    assert sim.get_reward("r0") == 0
    assert sim.get_all_done()
    sim = scene(["TR_"], dones=[OnlyAgentLeftDone, ActiveDone])
    sim.step({"target": shot((0, 1))})
    assert sim.get_all_done()


def test_one_runner_of_the_actor_moves_as_in_the_batch():
    """The object face of the world's own actor: `process_action`."""
    sim = scene(["T_R", "__R"])
    runner, other = sim.agents["r0"], sim.agents["r1"]
    assert sim.actors[1].process_action(runner, run(0, 1)) is False
    assert sim.actors[1].process_action(runner, run(0, -2)) is True
    assert (runner.active, other.active) == (False, True)
    assert sim.actors[1].process_action(sim.target, run(0, 1)) is None
    assert sim.dones[1].get_done(runner)


def test_the_leaper_beats_random_play():
    world = interplay.make_world(ID, num_worlds=16)
    runners = np.array(["runner" in name for name in world.agents])
    returns = {
        name: play(world, make_policy(ID, name), episodes=32)["episode_return"][:, runners].mean()
        for name in ("leaper", "random")
    }
    assert returns["leaper"] > 0.5 > -0.5 > returns["random"]
