"""The navigation problem as a simulation and as a world: rewards are computed here, everything else in the program.

Source: manual 4.2.3 and, for the rewards, 4.2.4, table 1.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

import interplay
from interplay.core.scene import Canvas
from interplay.core.world import World
from interplay.sim.adapt import SimulationWorld
from interplay.sim.checks import require
from interplay.sim.managers import AllStepManager
from interplay.sim.remote import Limits, RemoteSimulation, RemoteSimulator, Report
from interplay.sim.simulation import AgentBasedSimulation
from interplay.sim.spaces import Box
from interplay.sim.wrappers import SARWrapper
from interplay.worlds.navigation.config import BLOCKED, CELLS, NAVIGATOR, REACH, SIDE
from interplay.worlds.navigation.program import Navigation
from interplay.worlds.navigation.proxy import EMPTY, START, cell_of, centre_of, proxy_map
from interplay.worlds.navigation.settings import TownSettings
from interplay.worlds.navigation.town import MAP, load_town

REWARDS = ("soft", "penalties")


class NavigationSim(RemoteSimulation):
    """One agent, ``navigator``, observes its position (2 floats in 0..2100) and acts with a relative vector (2 in -100..100).

    Two of the manual's three configurations apply. ``"soft"`` (position with soft reward) pays only 1 at the waypoint;
    ``"penalties"`` (only position) also takes 0.1 for each step shortened by an obstacle. The third, regional awareness, needs the
    surroundings, which only the proxy grid observes.

    Each simulation starts its own program and ends it with `close`.

    Args:
        reward: ``"soft"`` or ``"penalties"``.
        map: a JSON file; by default `map.json`.
        argv: another program with the same messages for the same agent; by default ours.
        limits: time limits of the program.

    Raises:
        AssertionError: for another reward, or a program with other spaces.
        UserError: for an unusable map.
        RemoteSimulationError: if the program does not start.

    Example:
        >>> from interplay.sim.managers import AllStepManager
        >>> with NavigationSim() as sim:
        ...     manager = AllStepManager(sim, time_limit=500)
        ...     manager.reset(seed=1)["navigator"].round().tolist()
        [182.0, 231.0]
    """

    action_names: ClassVar = {"step": ("east", "north")}

    def __init__(
        self,
        reward: str = "soft",
        map: Path | str = MAP,
        argv: Sequence[str] | None = None,
        limits: Limits = Limits(),  # noqa: B008 - a tuple, it cannot change
    ) -> None:
        require(reward in REWARDS, f"reward {reward!r} is not one of {', '.join(REWARDS)}")
        self.reward = reward
        self.town = load_town(map)
        self._picture = proxy_map(self.town)
        command = [*program_argv(), "--map", str(map)] if argv is None else argv
        simulator = RemoteSimulator(command, environment=_find_us(), limits=limits)
        if simulator.agents != Navigation.agents:
            simulator.close()
            require(
                False,
                f"{simulator.name}: its agents are not the navigation problem's; use a RemoteSimulation",
            )
        super().__init__(simulator)

    def reward_of(self, report: Report) -> float:
        """1 at the waypoint; with penalties a fine for a shortened step."""
        fined = self.reward == "penalties" and bool(report.info.get("blocked", False))
        return report.reward + BLOCKED * fined

    def draw(self, canvas: Canvas) -> None:
        """The town: buildings, fences, the waypoint and the navigator."""
        canvas.show(0, 0, SIDE, SIDE, up="north")
        west, south, east, north = np.array(self.town.buildings).T
        middle = {"x": (west + east) / 2, "y": (south + north) / 2}
        canvas.boxes(
            "buildings", **middle, half_x=(east - west) / 2, half_y=(north - south) / 2, colour="#8a8f98"
        )
        (x0, y0), (x1, y1) = np.array(self.town.fences).reshape(-1, 2, 2).transpose(1, 2, 0)
        canvas.segments("fences", x0, y0, x1, y1, colour="#8c6239", width=8.0)
        x, y = self.town.waypoint
        canvas.circles("waypoint", [x], [y], radius=self.town.radius, colour="#3f9b52")
        report = self._reports.get(NAVIGATOR)
        seen: Any = None if report is None or isinstance(report.observation, int) else report.observation
        x, y = self.town.start if seen is None else (float(seen[0]), float(seen[1]))
        canvas.circles("agents", [x], [y], radius=30.0, colour="#3b6fc4", absent=[seen is None])

    def render(self, **kwargs: Any) -> str:
        """The proxy grid as text, with the navigator at its current place."""
        picture = self._picture.copy()
        picture[picture == START] = EMPTY
        report = self._reports.get(NAVIGATOR)
        if report is not None and not isinstance(report.observation, int):
            picture[cell_of((report.observation[0], report.observation[1]))] = START
        return "\n".join("".join(row) for row in picture)


def program_argv() -> list[str]:
    """Command line of our program: this interpreter, without the working directory on its path."""
    return [sys.executable, "-P", "-m", "interplay.worlds.navigation.program"]


def _find_us() -> dict[str, str]:
    """Environment in which the program finds this package, even if it is not installed."""
    folder = str(Path(interplay.__file__).parents[1])
    known = os.environ.get("PYTHONPATH")
    return {"PYTHONPATH": os.pathsep.join([folder, known]) if known else folder}


_SIZE = SIDE / CELLS


class AsProxy(SARWrapper):
    """A `NavigationSim` with the spaces of the proxy's two position configurations, for the warm start of manual 4.2.4.

    Policies trained on the proxy play here.

    The position becomes the row and column of its cell. A step by cells becomes a vector of as many cells, shortened to what the
    simulator accepts: 105 units to 100. With ``aim`` the vector leads to the middle of the target cell, so that errors of the position
    within a cell do not add up.

    Args:
        sim: the simulator, which may be wrapped.
        aim: towards the middle of cells; this reads the exact position.

    Example:
        >>> from interplay.worlds.navigation.simulation import NavigationSim
        >>> with NavigationSim() as town:
        ...     AsProxy(town).agents["navigator"].observation_space
        Dict('position': Box(0, 19, (2,), int64))
    """

    def __init__(self, sim: AgentBasedSimulation, aim: bool = False) -> None:
        super().__init__(sim)
        self.aim = aim
        agent = self.agents[NAVIGATOR]
        agent.observation_space = {"position": Box(0, CELLS - 1, (2,), int)}
        agent.action_space = {"move": Box(-1, 1, (2,), int)}
        self.finalize()

    def wrap_observation(self, from_agent: Any, observation: Any) -> dict[str, np.ndarray]:
        """(2,) position in units -> row and column."""
        return {"position": np.array(cell_of((float(observation[0]), float(observation[1]))))}

    def unwrap_observation(self, from_agent: Any, observation: Any) -> np.ndarray:
        """Row and column -> the middle of the cell."""
        row, column = observation["position"]
        return np.array(centre_of((int(row), int(column))))

    def wrap_action(self, from_agent: Any, action: Any) -> np.ndarray:
        """Rows down and columns right -> (2,) vector in units, x to the east and y to the north."""
        down, right = (int(part) for part in action["move"])
        if not self.aim:
            return np.clip([right * _SIZE, -down * _SIZE], -REACH, REACH)
        x, y = (float(part) for part in self.sim.get_obs(from_agent.id))
        row, column = cell_of((x, y))
        meant = centre_of((row + down, column + right))
        vector = np.subtract(meant, (x, y))
        # Scaled as a whole: clipping one axis would change the direction.
        shorter = vector * min(1.0, REACH / max(float(np.abs(vector).max()), 1e-9))
        return np.clip(shorter, -REACH, REACH)  # rounding

    def unwrap_action(self, from_agent: Any, action: Any) -> dict[str, np.ndarray]:
        """The step with the nearest vector."""
        x, y = (int(part) for part in np.rint(np.asarray(action, float) / _SIZE))
        return {"move": np.array([-y, x])}


def make_town(
    settings: TownSettings, *, num_worlds: int = 1, seed: int = 0, threads: int = 1, first_world: int = 0
) -> World:
    """Factory of the town: every copy starts a program; `World.close` ends them."""
    return SimulationWorld(
        partial(town_manager, settings), num_worlds, seed, first_world=first_world, threads=threads
    )


def town_manager(settings: TownSettings) -> AllStepManager:
    """A new town under a new manager; `close` ends its program."""
    sim = NavigationSim(settings.reward)
    return AllStepManager(
        AsProxy(sim, settings.aim) if settings.as_proxy else sim, time_limit=settings.time_limit
    )
