"""Every declared world in kernels is the same as its copies stepped one by one, bit for bit (section 7, batching)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from interplay.sim.managers import SimulationManager, TurnBasedManager
from interplay.worlds.broadcast.config import BroadcastSettings
from interplay.worlds.broadcast.simulation import manager as broadcast
from interplay.worlds.foragers.config import VARIANTS as FORAGERS
from interplay.worlds.foragers.config import ForagersSettings
from interplay.worlds.foragers.simulation import manager as foragers
from interplay.worlds.maze_navigation.config import MazeSettings, MultiMazeSettings
from interplay.worlds.maze_navigation.simulation import drawn_maze
from interplay.worlds.maze_navigation.simulation import manager as mazes
from interplay.worlds.navigation.proxy_simulation import CONFIGURATIONS, proxy_manager
from interplay.worlds.navigation.settings import ProxySettings
from interplay.worlds.pacman.config import VARIANTS as PACMAN
from interplay.worlds.pacman.config import PacmanSettings
from interplay.worlds.pacman.simulation import manager as pacman
from interplay.worlds.reach_the_target.config import ReachTheTargetSettings
from interplay.worlds.reach_the_target.simulation import manager as chase
from interplay.worlds.traffic_corridor.config import TrafficCorridorSettings
from interplay.worlds.traffic_corridor.simulation import manager as traffic
from tests.worlds.lockstep import march_together

pytestmark = pytest.mark.slow

# Name -> what makes a manager, steps of one world in total, episodes that end at least.
Case = tuple[Callable[[], SimulationManager], int, int]
SMALL = {"rows": 4, "cols": 5, "broadcast_range": 2, "time_limit": 60, "done_tolerance": 1e-4}
CHASES = (
    {},
    {"strength": 0.5, "accuracy": 0.6, "num_runners": 3},
    {"rows": 3, "cols": 4, "num_barriers": 5},
)
CASES: dict[str, Case] = {
    "broadcast": (lambda: broadcast(BroadcastSettings(time_limit=40, done_tolerance=0.003)), 5_000, 0),
    "broadcast, small": (lambda: broadcast(BroadcastSettings(**SMALL)), 5_000, 0),
    "maze": (lambda: mazes(MazeSettings(time_limit=300)), 10_000, 31),
    "mazes": (lambda: mazes(MultiMazeSettings(time_limit=50)), 10_000, 31),
    "mazes in turns": (
        lambda: TurnBasedManager(drawn_maze(MultiMazeSettings()), time_limit=200),
        2_000,
        0,
    ),
    "traffic": (lambda: traffic(TrafficCorridorSettings()), 5_000, 51),
    "traffic, short": (lambda: traffic(TrafficCorridorSettings(cols=3, view_range=1)), 5_000, 51),
}
CASES |= {f"chase {o}": (lambda o=o: chase(ReachTheTargetSettings(**o)), 4_000, 51) for o in CHASES}
CASES |= {
    name: (lambda o=o: foragers(ForagersSettings(**o, time_limit=90, rows=9, cols=12)), 3_400, 0)
    for name, o in FORAGERS.items()
}
CASES |= {
    name: (lambda o=o: pacman(PacmanSettings(**o, time_limit=120, view_range=2)), 5_000, 0)
    for name, o in PACMAN.items()
}
CASES |= {
    f"proxy {row}, start {start}": (
        lambda row=row, start=start: proxy_manager(
            ProxySettings(configuration=row, random_start=start, time_limit=40)
        ),
        400,
        1,
    )
    for row in CONFIGURATIONS
    for start in (False, True)
}


@pytest.mark.parametrize("name", CASES)
def test_kernels_and_objects_march_together(name):
    make, steps, least = CASES[name]
    assert march_together(make, steps) >= least
