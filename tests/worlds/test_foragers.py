"""Foragers and hunters, sentence by sentence of specification 9.6, and the worlds made of them."""

from __future__ import annotations

import numpy as np
import pytest

import interplay
from interplay.evaluate import play
from interplay.registry import make_policy
from interplay.worlds import (
    ForagerAgent,
    ForagingSim,
    HunterAgent,
    HunterForagerSim,
    PredatorAgent,
    PredatorPreyResourcesSim,
    PreyAgent,
    ResourceAgent,
)
from interplay.worlds.foragers.config import VARIANTS, ForagersSettings
from interplay.worlds.foragers.simulation import manager, mean_distance

IDS = [f"gridworld/{name}" for name in VARIANTS]
STAY = {"move": np.zeros(2, int), "attack": 0}
TAKE = {**STAY, "attack": 1}


def go(down, right):
    return {**STAY, "move": np.array([down, right])}


def sim_of(*agents, rules=HunterForagerSim, rows=6, cols=6, **kwargs):
    """A simulation that was reset; each agent is given as (class, id, cell)."""
    made = {name: kind(id=name, initial_position=np.array(cell)) for kind, name, cell in agents}
    sim = rules.build_sim(rows, cols, agents=made, **kwargs)
    sim.reseed(1)
    sim.reset()
    return sim


def trio(resource=(5, 5), forager=(0, 0), hunter=(0, 3), **kwargs):
    return sim_of(
        (ResourceAgent, "r", resource), (ForagerAgent, "f", forager), (HunterAgent, "h", hunter), **kwargs
    )


def earned(sim):
    return {name: round(value, 6) for name, value in sim.rewards.items()}


def test_encodings_and_ranges():
    """9.6: resource 1, forager 2, hunter 3; view 3, move 1, reach 1 and 2; strength and accuracy 1."""
    resource, forager, hunter = ResourceAgent(id="r"), ForagerAgent(id="f"), HunterAgent(id="h")
    assert [agent.encoding for agent in (resource, forager, hunter)] == [1, 2, 3]
    for agent, reach in ((forager, 1), (hunter, 2)):
        assert (agent.view_range, agent.move_range, agent.attack_range) == (3, 1, reach)
        assert agent.attack_strength == agent.attack_accuracy == 1
    sim = trio()
    assert sim.agents["f"].action_space["attack"].n == 2, "binary attack"
    assert ForagerAgent(id="far", view_range=5).view_range == 5


@pytest.mark.parametrize(("cell", "takes"), [((1, 1), True), ((0, 2), False)])
def test_a_forager_collects_within_one_cell(cell, takes):
    """9.6: forage range 1; +1 for a kill, -0.1 for a failed attack, -0.01 entropy."""
    sim = trio(resource=cell, hunter=(5, 5))
    sim.step({"f": TAKE})
    assert sim.agents["r"].active is not takes
    assert earned(sim)["f"] == (0.99 if takes else -0.11)
    assert "r" not in earned(sim), "resources do not learn, so the killed one is not paid"


@pytest.mark.parametrize(("cell", "takes"), [((0, 2), True), ((2, 2), True), ((0, 3), False)])
def test_a_hunter_catches_within_two_cells(cell, takes):
    """9.6: attack range 2; -1 for the killed if it learns."""
    sim = trio(hunter=cell)
    sim.step({"h": TAKE, "f": STAY})
    assert sim.get_done("f") is takes
    assert earned(sim) == ({"f": -1.01, "h": 0.99} if takes else {"f": -0.01, "h": -0.11})


def test_nobody_attacks_others_than_its_prey():
    """9.6: attacks 2 -> 1, 3 -> 2."""
    sim = trio(resource=(1, 1), forager=(4, 4), hunter=(0, 0))
    sim.step({"h": TAKE})
    assert sim.agents["r"].active
    sim = trio(forager=(0, 0), hunter=(0, 1))
    sim.step({"f": TAKE})
    assert sim.agents["h"].active


@pytest.mark.parametrize(
    ("kinds", "free"),
    [
        ((ForagerAgent, ResourceAgent), True),
        ((HunterAgent, ResourceAgent), True),
        ((ForagerAgent, ForagerAgent), True),
        ((ForagerAgent, HunterAgent), True),
        ((HunterAgent, HunterAgent), False),
    ],
)
def test_who_shares_a_cell(kinds, free):
    """9.6: 1 overlaps 2, 3; 2 overlaps 1, 2, 3; a failed move costs 0.1."""
    others = [(kind, f"x{i}", (5, i)) for i, kind in enumerate((ResourceAgent, ForagerAgent, HunterAgent))]
    sim = sim_of((kinds[0], "a", (0, 0)), (kinds[1], "b", (0, 1)), *others)
    sim.step({"a": go(0, 1)})
    assert tuple(sim.agents["a"].position) == ((0, 1) if free else (0, 0))
    assert earned(sim)["a"] == (-0.01 if free else -0.11)


def test_a_step_off_the_map_fails():
    """9.6: -0.1 for a failed move, -0.01 entropy."""
    sim = trio()
    sim.step({"f": go(-1, 0)})
    assert earned(sim)["f"] == -0.11


def test_attacks_come_before_moves():
    sim = trio(hunter=(0, 2))
    sim.step({"f": go(1, 0), "h": TAKE})
    assert not sim.agents["f"].active
    assert tuple(sim.agents["f"].position) == (0, 0), "the dead do not move"


def test_foragers_win_when_the_resources_are_gone():
    """9.6: TargetEncodingInactiveDone with the attack mapping."""
    sim = trio(resource=(0, 1), hunter=(5, 5))
    sim.step({"f": TAKE})
    assert sim.get_all_done()
    assert (sim.get_done("f"), sim.get_done("h")) == (True, False)


def test_hunters_win_when_the_foragers_are_gone():
    sim = trio(hunter=(0, 1))
    sim.step({"h": TAKE})
    assert sim.get_all_done()
    assert (sim.get_done("f"), sim.get_done("h")) == (True, True), "the forager is dead, the hunter has won"


def test_a_dead_forager_is_done_and_the_others_go_on():
    """9.6: ActiveDone."""
    sim = sim_of(
        (ForagerAgent, "f0", (0, 0)),
        (ForagerAgent, "f1", (5, 5)),
        (HunterAgent, "h", (0, 1)),
        (ResourceAgent, "r", (3, 3)),
    )
    sim.step({"h": TAKE})
    assert sim.get_done("f0")
    assert not sim.get_done("f1")
    assert not sim.get_all_done()


def test_the_names_of_the_release_follow_the_same_rules():
    """9.6: PredatorPreyResourcesSim, PreyAgent, PredatorAgent."""
    sim = sim_of(
        (ResourceAgent, "r", (5, 5)),
        (PreyAgent, "f", (0, 0)),
        (PredatorAgent, "h", (0, 2)),
        rules=PredatorPreyResourcesSim,
    )
    sim.step({"h": TAKE})
    assert earned(sim)["h"] == 0.99
    assert sim.get_all_done()


def test_listed_components_and_mapping_may_be_replaced():
    sim = trio(hunter=(0, 1), observers={"AbsoluteEncodingObserver"}, attack_mapping={3: {1, 2}})
    assert sim.get_obs("f").keys() == {"absolute_encoding"}
    sim.step({"f": TAKE, "h": STAY})
    assert earned(sim)["f"] == -0.11, "foragers have nothing to attack"


def test_the_reference_map():
    """9.6: 20 x 20, 11 resources, 5 foragers, 2 hunters, shuffled actions; without hunters one or many foragers."""
    under = manager(ForagersSettings(**VARIANTS["hunters-foragers"]))
    encodings = [agent.encoding for agent in under.agents.values()]
    assert (under.sim.grid.rows, under.sim.grid.cols) == (20, 20)
    assert [encodings.count(encoding) for encoding in (1, 2, 3)] == [11, 5, 2]
    assert under.randomize_action_input
    assert type(under.sim) is HunterForagerSim
    assert type(manager(ForagersSettings(foragers=1)).sim) is ForagingSim


def test_hunters_and_foragers_are_two_kinds():
    """9.6: two policies, although the spaces are equal."""
    world = interplay.make_world("gridworld/hunters-foragers")
    assert [(kind.name, len(kind.slots)) for kind in world.kinds] == [("forager", 5), ("hunter", 2)]
    assert world.kinds[0].observation_space == world.kinds[1].observation_space
    assert len(interplay.make_world("gridworld/foragers").kinds) == 1


@pytest.mark.parametrize("world_id", IDS)
def test_the_greedy_player_beats_chance(world_id):
    world = interplay.make_world(world_id, num_worlds=32)
    greedy, chance = (play(world, make_policy(world_id, name), 32) for name in ("greedy", "random"))
    assert greedy["return"].mean() > chance["return"].mean() + 5
    assert greedy["steps"].mean() < chance["steps"].mean() - 50


def test_the_greedy_player_reads_layers_too():
    world = interplay.make_world("gridworld/foragers", num_worlds=16, sight="stacked")
    table = play(world, make_policy("gridworld/foragers", "greedy"), 16)
    assert table["resources"].sum() == 0


def test_a_batch_counts_what_is_left():
    world = interplay.make_world("gridworld/foragers", num_worlds=3, foragers=2, rows=1, cols=3, resources=1)
    world.reset()
    board = world._batch.board.agents
    columns = [world._sim.grid.slot_of(world._sim.agents[f"forager{i}"]) for i in (0, 1)]
    apart = abs(board["col"][:, columns[0]] - board["col"][:, columns[1]])
    assert world.metrics["distance"].tolist() == apart.tolist()
    assert world.metrics["resources"].tolist() == [1, 1, 1]
    assert world.metrics["foragers"].tolist() == [2, 2, 2]


def test_the_mean_distance_is_that_of_pairs_who_are_left():
    kind = np.dtype([("active", bool), ("encoding", np.int32), ("row", np.int32), ("col", np.int32)])
    agents = np.zeros((2, 4), kind)
    agents["active"], agents["encoding"] = [[True] * 4, [True, False, True, True]], [2, 2, 2, 3]
    agents["row"], agents["col"] = [0, 3, 0, 9], [0, 1, 6, 9]
    assert mean_distance(agents, 2).tolist() == [(3 + 6 + 5) / 3, 6.0]
    assert mean_distance(agents, 3).tolist() == [0.0, 0.0]
