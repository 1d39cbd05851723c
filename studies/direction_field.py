"""The direction that a policy takes in every cell of the proxy: the decision field analysis of manual 4.2.4."""

from __future__ import annotations

import numpy as np

from interplay.core.policy import Policy
from interplay.worlds.navigation.config import CELLS, NAVIGATOR
from interplay.worlds.navigation.proxy import TARGET, WALL, Cell, proxy_map
from interplay.worlds.navigation.proxy_simulation import proxy_manager
from interplay.worlds.navigation.settings import ProxySettings


def direction_field(policy: Policy, settings: ProxySettings, draws: int = 64, seed: int = 0) -> np.ndarray:
    """Asks a policy for its move in every open cell.

    Args:
        policy: of the proxy; it is started anew.
        settings: of the proxy that it knows.
        draws: moves asked for per cell, of which the mean is taken; 1 suffices for who always moves the same.
        seed: names the policy's stream.

    Returns:
        (20, 20, 2) float64, rows down and columns right; NaN in walls and on the target.
    """
    grid = proxy_map()
    cells = [
        (row, column) for row, column in np.ndindex(CELLS, CELLS) if grid[row, column] not in (WALL, TARGET)
    ]
    world = proxy_manager(settings).vectorize(len(cells))
    seen = {
        name: np.stack([view[name] for view in _views(settings, cells)])[:, None]
        for name in world.observation_space
    }
    policy.start(world, seed)
    timestep = world.reset()._replace(observation=seen)
    moves = np.full((CELLS, CELLS, 2), np.nan)
    asked = np.mean([policy.act(timestep)["move"][:, 0] for _ in range(draws)], axis=0)
    moves[tuple(np.transpose(cells))] = asked
    world.close()
    return moves


def _views(settings: ProxySettings, cells: list[Cell]) -> list[dict[str, np.ndarray]]:
    """What the navigator sees from each cell."""
    from interplay.worlds.navigation.proxy_simulation import ProxyNavigationSim

    sim = ProxyNavigationSim.build(settings.configuration, settings.view_range)
    sim.reset()
    navigator, views = sim.agents[NAVIGATOR], []
    for cell in cells:
        sim.grid.remove(navigator, tuple(navigator.position))
        sim.grid.place(navigator, cell)
        views.append(sim.get_obs(NAVIGATOR))
    return views
