"""9.7: MultiAgentGridSim, positions only and never done, through every builder."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.gridworld.agents import GridWorldAgent
from interplay.gridworld.grid import Grid
from interplay.sim.managers import AllStepManager
from interplay.worlds import MultiAgentGridSim

ARRAY = np.array([["A", ".", "B"], [".", "A", "."]])
REGISTRY = {
    "A": lambda n: GridWorldAgent(id=f"a{n}", encoding=1),
    "B": lambda n: GridWorldAgent(id=f"b{n}", encoding=2),
}
CELLS = {"a0": [0, 0], "b0": [0, 2], "a1": [1, 1]}


def from_array(tmp_path, **kwargs):
    return MultiAgentGridSim.build_sim_from_array(ARRAY, REGISTRY, **kwargs)


def from_file(tmp_path, **kwargs):
    path = tmp_path / "map.txt"
    path.write_text("\n".join(" ".join(row) for row in ARRAY))
    return MultiAgentGridSim.build_sim_from_file(path, REGISTRY, **kwargs)


def from_grid(tmp_path, **kwargs):
    grid = Grid(2, 3)
    grid.reset()
    for name, cell in CELLS.items():
        agent = GridWorldAgent(id=name, encoding=1, initial_position=np.array(cell))
        assert grid.place(agent, cell)
    return MultiAgentGridSim.build_sim_from_grid(grid, **kwargs)


@pytest.mark.parametrize("build", [from_array, from_file, from_grid])
def test_builders_place_agents(build, tmp_path):
    extra = {"free": GridWorldAgent(id="free", encoding=3)}
    sim = build(tmp_path, extra_agents=extra)
    sim.reset()
    assert {name: sim.agents[name].position.tolist() for name in CELLS} == CELLS
    assert next(iter(sim.agents)) == "free"
    assert sim.agents["free"].position.tolist() not in CELLS.values()


def test_agents_with_the_size_alone_stand_anywhere():
    sim = MultiAgentGridSim.build_sim(3, 4, agents={"a": GridWorldAgent(id="a", encoding=1)})
    cells = set()
    for seed in range(40):
        sim.reseed(seed)
        sim.reset()
        cells.add(tuple(sim.agents["a"].position.tolist()))
    assert len(cells) > 8
    assert all(0 <= row < 3 and 0 <= col < 4 for row, col in cells)


def test_it_is_never_over_and_says_nothing():
    sim = from_array(None, overlapping={1: 2})
    sim.reset()
    sim.step({})
    assert not sim.get_all_done()
    assert (sim.get_obs("a0"), sim.get_reward("a0"), sim.get_done("a0"), sim.get_info("a0")) == (
        {},
        0,
        False,
        {},
    )
    assert sim.grid.overlapping == {1: {2}, 2: {1}}
    assert sim.render().shape[2] == 3


def test_nobody_acts_under_a_manager():
    manager = AllStepManager(from_array(None))
    assert manager.reset(seed=1) == {}
