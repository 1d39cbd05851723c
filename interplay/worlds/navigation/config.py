"""Numbers of the navigation worlds. Source: manual 4.2.3 and 4.2.4, except where marked "own choice".

The external program imports this file, so it imports nothing heavy.
"""

from typing import Any

NAVIGATOR = "navigator"  # id of the only agent
SIDE = 2100.0  # units; the map is a square
REACH = 100.0  # units an agent may request along each axis in one step
STEP_SECONDS = 50.0  # simulated seconds of a step, enough to walk its vector
GAP = 0.01  # units between an obstacle and the walker that it stopped; own choice
CELLS = 20  # rows and columns of the proxy grid
COVERED = 0.5  # share of a cell that buildings must cover to make it a barrier, if not its centre; own choice

ARRIVAL = 1.0  # reward of the waypoint
FINE = 0.002  # for an invalid move on the proxy grid, where such moves are fined; own choice: at 0.01 and more some seeds learn to stand still
BLOCKED = -0.1  # reward of a step shortened by an obstacle, where such steps are fined; own choice

# Variants of the worlds, id -> settings: rows of the manual's table 1, and the simulator.
PROXIES: dict[str, dict[str, Any]] = {
    "proxy-regional": {"configuration": "regional"},
    "proxy-position": {"configuration": "position"},
    "proxy-soft": {"configuration": "soft"},
}
TOWNS: dict[str, dict[str, Any]] = {"town": {}}
