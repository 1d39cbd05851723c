"""The navigation world: geometry against its slow twin, map against proxy grid, the program from both ends (manual 4.2)."""

from __future__ import annotations

import json
import math
import os
import random
import re
import subprocess
import sys
from collections import deque
from fractions import Fraction
from pathlib import Path

import numpy as np
import psutil
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from interplay.connect.gymnasium import GymWrapper
from interplay.core.errors import UserError
from interplay.registry import make_world
from interplay.sim.managers import AllStepManager
from interplay.sim.remote import Limits, RemoteSimulationError, RemoteSimulator
from interplay.worlds.navigation.config import CELLS, GAP, NAVIGATOR, REACH, SIDE
from interplay.worlds.navigation.geometry import side, sort_by_place, touches, walk
from interplay.worlds.navigation.policies import ShortestWay
from interplay.worlds.navigation.program import Navigation
from interplay.worlds.navigation.proxy import (
    cell_of,
    centre_of,
    is_barrier,
    neighbours,
    proxy_map,
    steps_to_target,
)
from interplay.worlds.navigation.simulation import NavigationSim, program_argv
from interplay.worlds.navigation.town import MAP, load_town
from tests.naive import navigation as naive

ROOT = Path(__file__).resolve().parents[2]
TOWN = load_town()
GRID = proxy_map(TOWN)

# Few distinct whole numbers make touching ends and walls along the way common; floats fill the rest.
part = st.integers(0, 6).map(float) | st.floats(0, 6, allow_subnormal=False)
segment = st.tuples(part, part, part, part)
vector = st.tuples(st.floats(-REACH, REACH), st.floats(-REACH, REACH))


# -- geometry --------------------------------------------------------------------------------------------------------


@given(segment, segment)
def test_touching_is_exact(one, other):
    assert touches(one, other) == (naive.contact_with_fence(one, other) is not None)
    assert touches(one, other) == touches(other, one)
    assert touches(one, other) == touches((*one[2:], *one[:2]), (*other[2:], *other[:2]))


def test_a_hair_beside_a_line_is_beside_it():
    """Points on a line as nearly as floats can be: float arithmetic alone gets the side of many of them wrong."""
    luck, wrong = random.Random(2), 0
    for _ in range(2000):
        ax, ay, bx, by = line = [luck.uniform(0, SIDE) for _ in range(4)]
        share = luck.random()
        x, y = ax + share * (bx - ax), ay + share * (by - ay)
        (eax, eay, ebx, eby), (ex, ey) = naive.exact(line), naive.exact((x, y))
        cross = (ebx - eax) * (ey - eay) - (eby - eay) * (ex - eax)
        exactly = (cross > 0) - (cross < 0)
        assert side(*line, x, y) == exactly
        rough = (bx - ax) * (y - ay) - (by - ay) * (x - ax)
        wrong += (rough > 0) - (rough < 0) != exactly
    assert wrong > 100


@given(st.tuples(part, part), st.tuples(st.floats(-6, 6), st.floats(-6, 6)), st.lists(segment, max_size=5))
def test_a_walk_never_touches_a_wall_and_stops_just_short_of_it(start, way, fences):
    assume(all(naive.contact_with_fence((*start, *start), fence) is None for fence in fences))
    end, stopped = walk(start, way, fences)
    whole = (*start, start[0] + way[0], start[1] + way[1])
    met = [(t, f) for f in fences if (t := naive.contact_with_fence(whole, f)) is not None]
    assert stopped == bool(met)
    assert all(naive.contact_with_fence((*start, *end), fence) is None for fence in fences)
    if not met:
        assert end == whole[2:]
        return
    first, fence = min(met)
    length = math.hypot(*way)
    cross = abs(way[0] * (fence[3] - fence[1]) - way[1] * (fence[2] - fence[0]))
    if cross > 1e-3 * length * math.hypot(fence[2] - fence[0], fence[3] - fence[1]):  # no grazing
        gone = math.hypot(end[0] - start[0], end[1] - start[1])
        assert gone == pytest.approx(max(0.0, float(first) * length - GAP), abs=1e-9)


@settings(max_examples=60)
@given(st.integers(0, 2**31 - 1), st.lists(vector, min_size=1, max_size=25))
def test_nobody_crosses_a_fence_or_enters_a_building(seed, vectors):
    simulator = Navigation(TOWN)
    simulator.reset(seed)
    check_walk(simulator, vectors)


def test_nobody_crosses_anything_on_a_long_random_walk():
    """From all over the town, also along walls and into corners: the last vector is often repeated."""
    luck = random.Random(4)
    simulator = Navigation(TOWN)
    for row, column in zip(*np.nonzero(GRID != "W"), strict=True):
        simulator.reset(0)
        simulator.position = centre_of((int(row), int(column)))
        way = (luck.choice((-REACH, 0.0, REACH)), luck.choice((-REACH, 0.0, REACH)))
        check_walk(simulator, [way] * 3 + [(luck.uniform(-REACH, REACH), luck.uniform(-REACH, REACH))])


def near(things, point: tuple[float, float]) -> list:
    """Those buildings or fences whose bounding box comes within `REACH` of a point along both axes."""
    return [
        box
        for box in things
        if all(
            min(box[i], box[i + 2]) <= point[i] + REACH and max(box[i], box[i + 2]) >= point[i] - REACH
            for i in (0, 1)
        )
    ]


def check_walk(simulator: Navigation, vectors: list[tuple[float, float]]) -> None:
    """Every step against the slow twin, which looks at everything in the walker's reach."""
    for way in vectors:
        before = simulator.position
        report = simulator.step({NAVIGATOR: list(way)})[NAVIGATOR]
        buildings, fences = near(TOWN.buildings, before), near(TOWN.fences, before)
        assert naive.contact((*before, *simulator.position), buildings, fences, Fraction(SIDE)) is None
        whole = (*before, before[0] + way[0], before[1] + way[1])
        met = naive.contact(whole, buildings, fences, Fraction(SIDE))
        assert report.info["blocked"] == (met is not None)
        assert 0 < simulator.position[0] < SIDE
        assert 0 < simulator.position[1] < SIDE
        if report.done:
            return
        if met is None:
            assert simulator.position == whole[2:]


# -- map and proxy grid ----------------------------------------------------------------------------------------------


def test_the_grid_has_walls_where_buildings_are():
    """4.2.4: a cell is a barrier where a building covers its centre, or buildings cover half of it."""
    assert GRID.shape == (CELLS, CELLS)
    assert set(GRID.ravel()) == set("W.NT")
    assert (GRID == "N").sum() == (GRID == "T").sum() == 1
    size, grain = SIDE / CELLS, 3.0
    offsets = np.arange(grain / 2, size, grain)
    for row in range(CELLS):
        for column in range(CELLS):
            x = column * size + offsets[:, None]
            y = SIDE - (row + 1) * size + offsets[None, :]
            inside = np.zeros((len(offsets), len(offsets)), bool)
            for west, south, east, north in TOWN.buildings:
                inside |= (west <= x) & (x <= east) & (south <= y) & (y <= north)
            middle = len(offsets) // 2
            wall = bool(inside[middle, middle] or inside.mean() >= 0.5)
            assert (GRID[row, column] == "W") == wall, (row, column)


def test_half_a_cell_of_buildings_is_a_barrier(tmp_path):
    town = load_map(tmp_path, buildings=[[0, 0, 52, 105], [53.5, 0, 105, 20]])
    assert is_barrier((19, 0), town)  # 5,460 + 1,030 of 11,025 square units, the centre is free
    assert not is_barrier((19, 0), load_map(tmp_path, buildings=[[0, 0, 52, 105]]))
    assert is_barrier((19, 0), load_map(tmp_path, buildings=[[50, 50, 55, 55]]))  # the centre


def test_open_cells_hold_no_piece_of_a_wall():
    """So a way on the grid, through sides of cells, is a way in the town."""
    size = SIDE / CELLS
    for row, column in np.ndindex(CELLS, CELLS):
        if GRID[row, column] == "W":
            continue
        west, north = column * size, SIDE - row * size
        inner = (west + 1e-6, north - size + 1e-6, west + size - 1e-6, north - 1e-6)
        for building in TOWN.buildings:
            assert (
                building.east <= inner[0]
                or building.west >= inner[2]
                or (building.north <= inner[1] or building.south >= inner[3])
            )
        for fence in TOWN.fences:
            assert naive.contact_with_building(fence, inner) is None


def test_there_are_several_ways_on_the_grid():
    steps = steps_to_target(GRID)
    start = tuple(int(part[0]) for part in np.nonzero(GRID == "N"))
    assert cell_of(TOWN.start) == start
    assert steps[start] > 40  # 33 as the crow walks
    for cell in steps:
        if GRID[cell] == ".":
            closed = GRID.copy()
            closed[cell] = "W"
            assert start in steps_to_target(closed), f"everybody must pass {cell}"


def test_there_is_a_way_in_the_town_that_the_grid_knows_nothing_of():
    """Flood fill of the free plane on a lattice of 15 units, by the slow twin's rules for single edges."""
    step, near = 15.0, sort_by_place(TOWN.walls, SIDE / CELLS, CELLS)
    begin = (15.0 * round(TOWN.start[0] / 15), 15.0 * round(TOWN.start[1] / 15))
    seen, waiting = {begin}, deque([begin])
    while waiting:
        x, y = waiting.popleft()
        if math.dist((x, y), TOWN.waypoint) <= TOWN.radius:
            return
        for to in ((x + step, y), (x - step, y), (x, y + step), (x, y - step)):
            if to in seen or not (0 < to[0] < SIDE and 0 < to[1] < SIDE):
                continue
            walls = near[int(x * CELLS / SIDE)][int(y * CELLS / SIDE)]
            if not any(touches((x, y, *to), wall) for wall in walls):
                seen.add(to)
                waiting.append(to)
    pytest.fail("no way")


@pytest.mark.parametrize("share", np.linspace(0.0, 1.0, 9))
def test_straight_lines_fail(share):
    """North-east, more or less, is not enough: a straight walk gets stuck."""
    simulator = Navigation(TOWN)
    simulator.reset(1)
    way = (REACH * min(1.0, 2 * share), REACH * min(1.0, 2 - 2 * share))
    for _ in range(60):
        report = simulator.step({NAVIGATOR: way})[NAVIGATOR]
    assert not report.done
    assert report.info["blocked"]


def test_cells_and_points_agree():
    for cell in np.ndindex(CELLS, CELLS):
        assert cell_of(centre_of((cell[0], cell[1]))) == cell
    assert set(neighbours((0, 0))) == {(0, 1), (1, 0)}


def load_map(folder: Path, **changes: object):
    data = json.loads(MAP.read_text()) | {"buildings": [], "fences": []} | changes
    path = folder / "map.json"
    path.write_text(json.dumps({name: value for name, value in data.items() if value is not None}))
    return load_town(path)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"buildings": None}, "buildings is None; give a list"),
        ({"buildings": [[1, 2, 3]]}, r"buildings\[0\] is \[1, 2, 3\]; give 4 numbers"),
        ({"buildings": [[5, 2, 3, 4]]}, "give west, south, east, north"),
        ({"fences": [[0, 0, "a", 1]]}, r"fences\[0\] is .*; give 4 numbers"),
        ({"fences": [[0, 0, 2101, 1]]}, r"0\.\.2100"),
        ({"buildings": [[100, 100, 400, 400]]}, "stands where episodes start"),
        ({"fences": [[150, 0, 150, 400]]}, "stands where episodes start"),
        ({"buildings": [[1900, 1900, 2000, 2000]]}, "stands on the waypoint"),
        ({"start": [1]}, "start is .*; give 2 numbers"),
        ({"radius": 0}, "radius is 0.0"),
    ],
)
def test_maps_that_cannot_be_used(tmp_path, changes, complaint):
    with pytest.raises(UserError, match=complaint) as error:
        load_map(tmp_path, **changes)
    assert "\n" not in str(error.value)


def test_maps_that_cannot_be_read(tmp_path):
    for text in (None, "{", "[]"):
        path = tmp_path / "broken.json"
        if text is not None:
            path.write_text(text)
        with pytest.raises(UserError, match=r"broken.json: (cannot be read|is no object)"):
            load_town(path)


# -- the rules -------------------------------------------------------------------------------------------------------


def test_the_waypoint_counts_along_the_whole_way(tmp_path):
    town = load_map(tmp_path, start=[1000, 1000], spread=0, waypoint=[1060, 1010], radius=15)
    simulator = Navigation(town)
    simulator.reset(1)
    report = simulator.step({NAVIGATOR: [100, 0]})[NAVIGATOR]  # ends 41 units behind it
    assert (report.observation, report.reward, report.done) == ((1100.0, 1000.0), 1.0, True)
    assert report.info == {"blocked": False, "seconds": 50.0}
    report = simulator.step({NAVIGATOR: [100, 0]})[NAVIGATOR]
    assert (report.observation, report.reward, report.done) == ((1100.0, 1000.0), 0.0, True)


def test_a_building_and_a_fence_stop_a_walker_just_short(tmp_path):
    town = load_map(
        tmp_path,
        start=[1000, 1000],
        spread=0,
        buildings=[[1050, 990, 1060, 1010]],
        fences=[[990, 950, 1010, 950]],
    )
    simulator = Navigation(town)
    for way, end in (
        ([100, 0], (1050 - GAP, 1000)),
        ([0, -100], (1000, 950 + GAP)),
        ([100, 100], (1100, 1100)),
        ([-100, 0], (900, 1000)),
    ):
        simulator.reset(1)
        report = simulator.step({NAVIGATOR: way})[NAVIGATOR]
        assert report.observation == pytest.approx(end, abs=1e-9)
        assert report.info["blocked"] == (math.dist(end, (1000, 1000)) < 100)


# -- through the socket ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def soft():
    with NavigationSim() as sim:
        yield sim


def test_spaces_are_the_manuals(soft):
    """4.2.3: the position in 0..2100, a relative vector in -100..100; one agent."""
    agent = soft.agents[NAVIGATOR]
    assert list(soft.agents) == [NAVIGATOR]
    assert agent.observation_space.low.tolist() == [0, 0]
    assert agent.observation_space.high.tolist() == [2100, 2100]
    assert agent.action_space.low.tolist() == [-100, -100]
    assert agent.action_space.high.tolist() == [100, 100]


@pytest.mark.parametrize("seed", range(5))
def test_the_shortest_way_of_the_grid_leads_to_the_waypoint(soft, seed):
    manager, policy = AllStepManager(soft, time_limit=100), ShortestWay()
    observations = manager.reset(seed=seed)
    earned, blocked = 0.0, False
    for _ in range(100):
        assert observations[NAVIGATOR] in soft.agents[NAVIGATOR].observation_space
        action = policy.compute_action(observations[NAVIGATOR])
        observations, rewards, dones, infos = manager.step({NAVIGATOR: action})
        earned += rewards[NAVIGATOR]
        blocked |= infos[NAVIGATOR]["blocked"]
        if dones["__all__"]:
            break
    assert dones[NAVIGATOR]
    assert not manager.truncated
    assert (earned, blocked) == (1.0, False)


@pytest.mark.parametrize(("reward", "fine"), [("soft", 0.0), ("penalties", -0.1)])
def test_rewards_are_those_of_table_1(reward, fine):
    """4.2.4: soft reward pays at the waypoint alone, "only position" also fines invalid moves."""
    with NavigationSim(reward=reward) as sim:
        manager = AllStepManager(sim)
        manager.reset(seed=1)
        got = [manager.step({NAVIGATOR: [0, -100]})[1][NAVIGATOR] for _ in range(5)]
        assert got == [0.0, 0.0, fine, fine, fine]  # 231 units to the border
        free = manager.step({NAVIGATOR: [0, 5]})
        assert free[1:] == (
            {NAVIGATOR: 0.0},
            {NAVIGATOR: False, "__all__": False},
            {NAVIGATOR: {"blocked": False, "seconds": 300.0}},
        )


def test_the_same_seed_is_the_same_episode_in_every_process(monkeypatch):
    told = []
    for hash_seed in ("0", "1"):
        monkeypatch.setenv("PYTHONHASHSEED", hash_seed)
        with NavigationSim() as sim:
            manager, luck = AllStepManager(sim), np.random.default_rng(3)
            rows = [manager.reset(seed=7)[NAVIGATOR]]
            rows += [manager.step({NAVIGATOR: luck.uniform(-100, 100, 2)})[0][NAVIGATOR] for _ in range(50)]
            rows.append(manager.reset()[NAVIGATOR])
            rows.append(manager.reset(seed=7)[NAVIGATOR])
        told.append(np.array(rows))
    assert np.array_equal(told[0], told[1])
    assert np.array_equal(told[0][0], told[0][-1])
    assert not np.array_equal(told[0][0], told[0][-2])


def test_the_picture_shows_where_the_navigator_is(soft):
    soft.reseed(1)
    soft.reset()
    lines = soft.render().split("\n")
    assert lines == ["".join(row) for row in GRID]
    soft.step({NAVIGATOR: [-60, 100]})
    moved = "".join(soft.render().split("\n"))
    row, column = divmod(moved.index("N"), CELLS)
    assert (row, column) == cell_of(tuple(soft.get_obs(NAVIGATOR)))
    assert moved.count("N") == 1


def test_a_program_that_dies_is_an_error_that_names_it():
    sim = NavigationSim(limits=Limits(10, 2, 1))
    sim.reset()
    psutil.Process(sim.simulator.pid).kill()
    with pytest.raises(RemoteSimulationError, match=r"navigation\.program.* was ended by SIGKILL after .*; "):
        sim.step({NAVIGATOR: [1.0, 1.0]})
    assert not psutil.pid_exists(sim.simulator.pid)


def test_another_program_is_refused():
    raw = ROOT / "tests" / "sim" / "raw_program.py"
    with pytest.raises(AssertionError, match="its agents are not the navigation problem's"):
        NavigationSim(argv=[sys.executable, "-S", str(raw)])
    with pytest.raises(AssertionError, match="reward 'regional'"):
        NavigationSim(reward="regional")
    living = [child for child in psutil.Process().children() if child.status() != psutil.STATUS_ZOMBIE]
    assert not any("raw_program" in " ".join(child.cmdline()) for child in living)


def test_the_program_runs_alone(monkeypatch):
    monkeypatch.setenv("INTERPLAY_REMOTE_TOKEN", "secret")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    program = subprocess.Popen(
        [*program_argv(), "--port", "0"], stdout=subprocess.PIPE, text=True, env=dict(os.environ)
    )
    assert program.stdout is not None
    port = re.search(r":(\d+)$", program.stdout.readline().strip())
    assert port
    with RemoteSimulator.connect(int(port[1])) as simulator:
        assert simulator.program == "navigation 1"
        first = simulator.reset(seed=1)[NAVIGATOR]
        second = simulator.step({NAVIGATOR: [3, 4]})[NAVIGATOR]
        assert math.dist(first.observation, second.observation) == pytest.approx(5)
    assert program.wait(5) == 0
    program.stdout.close()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [(["--map", "nowhere.json"], "map nowhere.json: cannot be read"), ([], "give it a port")],
)
def test_the_program_says_what_is_wrong_in_one_line(monkeypatch, arguments, complaint):
    monkeypatch.setenv("INTERPLAY_REMOTE_TOKEN", "secret")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    ended = subprocess.run([*program_argv(), *arguments], capture_output=True, text=True, timeout=20)
    assert ended.returncode == 2
    assert complaint in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_the_program_loads_nothing_heavy():
    code = "import interplay.worlds.navigation.program, sys; sys.exit(bool({'numpy', 'gymnasium'} & set(sys.modules)))"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_gymnasium_and_the_batch_know_it_too():
    with NavigationSim() as sim:
        env = GymWrapper(AllStepManager(sim, time_limit=20))
        env.reset(seed=1)
        assert env.step(np.array([10.0, 0.0]))[1:4] == (0.0, False, False)
    world = make_world("examples.navigation:soft", num_worlds=2)
    world.reset()
    step = world.step(np.full((2, 1, 2), 10.0))
    assert step.acting.all()
    assert step.observation["observation"].shape == (2, 1, 2)
