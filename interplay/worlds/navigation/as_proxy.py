"""The town with the spaces of its proxy, so that policies trained there play here: the warm start of manual 4.2.4."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.sim.simulation import AgentBasedSimulation
from interplay.sim.spaces import Box
from interplay.sim.wrappers import SARWrapper
from interplay.worlds.navigation.config import CELLS, NAVIGATOR, REACH, SIDE
from interplay.worlds.navigation.proxy import cell_of, centre_of

_SIZE = SIDE / CELLS


class AsProxy(SARWrapper):
    """A `NavigationSim` with the spaces of the proxy's two position configurations.

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
