"""The proxy of the navigation problem and the town in its clothes (manual 4.2.4; table 1)."""

from __future__ import annotations

import gc
import itertools

import numpy as np
import psutil
import pytest

import interplay
from interplay.evaluate import play
from interplay.registry import make_policy
from interplay.sim.managers import AllStepManager
from interplay.worlds.navigation.config import CELLS, NAVIGATOR, REACH, SIDE
from interplay.worlds.navigation.policies import Guide
from interplay.worlds.navigation.proxy import (
    cell_of,
    centre_of,
    is_barrier,
    neighbours,
    proxy_map,
    steps_to_target,
)
from interplay.worlds.navigation.proxy_simulation import ProxyNavigationSim
from interplay.worlds.navigation.settings import ProxySettings
from interplay.worlds.navigation.simulation import AsProxy, NavigationSim
from interplay.worlds.navigation.town import Rectangle, load_town
from studies.direction_field import direction_field

GRID = proxy_map()
STEPS = steps_to_target(GRID)
START = tuple(int(part[0]) for part in np.nonzero(GRID == "N"))
CONFIGURATIONS = ("regional", "position", "soft")


def test_the_proxy_is_the_map():
    """4.2.4: barriers where the buildings are, start and target in their cells."""
    sim = ProxyNavigationSim.build("regional")
    sim.reset()
    walls = {tuple(agent.position) for name, agent in sim.agents.items() if name.startswith("wall")}
    assert walls == set(map(tuple, np.argwhere(GRID == "W").tolist()))
    assert tuple(sim.agents[NAVIGATOR].position) == START
    assert GRID[tuple(sim.agents["target"].position)] == "T"


def test_buildings_bar_a_cell_that_they_cover_half_of_together():
    """Strips along two sides of a cell at the corner, of which neither reaches its middle."""
    town, cell = load_town(), (CELLS - 1, 0)
    size = SIDE / CELLS
    strips = [Rectangle(0.0, 0.0, share * size, size) for share in (0.35, 0.25)]
    east = Rectangle(0.8 * size, 0.0, size, size)
    for buildings, barred in (((strips[0],), False), ((strips[0], east), True), ((strips[1], east), False)):
        assert is_barrier(cell, town._replace(buildings=buildings)) is barred


def test_table_1_says_what_is_seen_and_what_is_paid():
    """4.2.4, table 1: surroundings or position alone; +1 at the waypoint; fines in all but the soft configuration."""
    for configuration, key, fine in zip(
        CONFIGURATIONS,
        ("position_centered_encoding", "position", "position"),
        (-0.002, -0.002, 0.0),
        strict=True,
    ):
        sim = ProxyNavigationSim.build(configuration)
        sim.reset()
        assert list(sim.get_obs(NAVIGATOR)) == [key]
        wall, beside = next(
            (cell, near)
            for cell in np.argwhere(GRID == "W").tolist()
            for near in neighbours(tuple(cell))
            if near in STEPS
        )
        stand(sim, beside)
        for cell, paid in ((wall, fine), (beside, 0.0)):
            sim.step({NAVIGATOR: {"move": np.subtract(cell, beside)}})
            assert sim.get_reward(NAVIGATOR) == pytest.approx(paid)
        target = tuple(int(part[0]) for part in np.nonzero(GRID == "T"))
        before = next(near for near in neighbours(target) if near in STEPS)
        stand(sim, before)
        sim.step({NAVIGATOR: {"move": np.subtract(target, before)}})
        assert (sim.get_reward(NAVIGATOR), sim.get_done(NAVIGATOR), sim.get_all_done()) == (1.0, True, True)


def stand(sim, cell):
    """Puts the navigator into a cell."""
    navigator = sim.agents[NAVIGATOR]
    sim.grid.remove(navigator, tuple(navigator.position))
    sim.grid.place(navigator, cell)


def test_the_surroundings_are_those_in_sight():
    sim = ProxyNavigationSim.build("regional", view_range=2)
    sim.reset()
    seen = sim.get_obs(NAVIGATOR)["position_centered_encoding"]
    assert seen.shape == (5, 5)
    for (row, column), code in np.ndenumerate(seen):
        cell = START[0] + row - 2, START[1] + column - 2
        inside = all(0 <= part < CELLS for part in cell)
        assert code in ({-1} if not inside else {1} if cell == START else {-2, 3 if GRID[cell] == "W" else 0})


def test_random_starts_are_anywhere_open_but_on_the_target():
    world = interplay.make_world("navigation/proxy-soft", num_worlds=2000, random_start=True)
    cells = {tuple(cell) for cell in world.reset().observation["position"][:, 0].tolist()}
    assert cells == {cell for cell in STEPS if GRID[cell] != "T"}
    fixed = interplay.make_world("navigation/proxy-soft", num_worlds=5).reset()
    assert (fixed.observation["position"] == START).all()


def test_wrong_settings_are_refused():
    with pytest.raises(AssertionError, match="configuration 'hard'"):
        ProxyNavigationSim.build("hard")


# -- the town as the proxy -------------------------------------------------------------------------------------------


def programs() -> set[int]:
    """Navigation programs that this process has started and that still run."""
    return {
        child.pid
        for child in psutil.Process().children()
        if child.status() != psutil.STATUS_ZOMBIE and "interplay.worlds.navigation.program" in child.cmdline()
    }


def test_closing_a_world_of_programs_ends_them():
    """`World.close` reaches `NavigationSim.close` through manager and wrapper."""
    before = programs()
    world = interplay.make_world("navigation/town", num_worlds=3, as_proxy=True)
    assert len(programs() - before) == 3
    world.close()
    assert programs() == before


def test_a_look_at_a_factory_leaves_no_program_behind():
    gc.collect()
    before = programs()
    world = interplay.make_world("examples.navigation:soft", num_worlds=1)
    assert len(programs() - before) == 1
    world.close()
    assert programs() == before


def test_the_town_looks_like_its_proxy():
    """4.2.4: what was found on the proxy is a warm start, so both have the same spaces."""
    town = interplay.make_world("navigation/town", as_proxy=True)
    proxy = interplay.make_world("navigation/proxy-soft")
    assert town.observation_space == proxy.observation_space
    assert town.action_space == proxy.action_space
    assert [kind.name for kind in town.kinds] == [kind.name for kind in proxy.kinds]
    assert (town.reset().observation["position"] == START).all()
    town.close()


@pytest.fixture
def town():
    with NavigationSim() as sim:
        yield sim


def test_cells_and_vectors(town):
    """North is up: a row down is -y, a column right +x; at most 100 units along each axis."""
    wrapped, agent = AsProxy(town), town.agents[NAVIGATOR]
    for down, right in itertools.product((-1, 0, 1), repeat=2):
        move = {"move": np.array([down, right])}
        vector = wrapped.wrap_action(agent, move)
        assert vector.tolist() == [REACH * right, -REACH * down]
        assert vector in agent.action_space
        assert np.array_equal(wrapped.unwrap_action(agent, vector)["move"], move["move"])
    for cell in np.ndindex(CELLS, CELLS):
        seen = {"position": np.array(cell)}
        assert np.array_equal(
            wrapped.wrap_observation(agent, wrapped.unwrap_observation(agent, seen))["position"], cell
        )
    assert wrapped.wrap_observation(agent, np.array([SIDE, 0.0]))["position"].tolist() == [19, 19]


def test_aimed_steps_go_to_the_middle_of_the_cell_that_is_meant(town):
    manager = AllStepManager(AsProxy(town, aim=True))
    seen = manager.reset(seed=3)[NAVIGATOR]["position"]
    for _ in range(2):  # the furthest middle is more than one step away
        move = np.add(np.subtract(START, seen), (0, 1))
        seen = manager.step({NAVIGATOR: {"move": np.clip(move, -1, 1)}})[0][NAVIGATOR]["position"]
    assert tuple(seen) == (START[0], START[1] + 1)
    x, y = town.get_obs(NAVIGATOR)
    assert cell_of((x, y)) == tuple(seen)
    middle = centre_of((START[0], START[1] + 1))
    assert np.abs(np.subtract((x, y), middle)).max() < SIDE / CELLS / 2


def test_what_knows_the_way_on_the_grid_knows_it_in_the_town():
    world = interplay.make_world("navigation/town", num_worlds=2, as_proxy=True)
    table = play(world, make_policy("navigation/proxy-soft", "guide"), episodes=4)
    world.close()
    assert (table["return"] == 1.0).all()
    assert table["steps"].max() < 60  # 47 cells, each a little wider than a step


def test_the_walker_crosses_the_town():
    world = interplay.make_world("navigation/town", num_worlds=2)
    table = play(world, make_policy("navigation/town", "walker"), episodes=4)
    world.close()
    assert (table["return"] == 1.0).all()


# -- the direction field ---------------------------------------------------------------------------------------------


def test_the_field_holds_the_policys_moves():
    """4.2.4: the policy is asked in every cell."""
    field = direction_field(Guide(), ProxySettings(configuration="soft"), draws=1)
    for cell in np.ndindex(CELLS, CELLS):
        if GRID[cell] in "WT":
            assert np.isnan(field[cell]).all()
        else:
            assert STEPS[tuple(np.add(cell, field[cell]).astype(int))] == STEPS[cell] - 1
