"""Numbers of the navigation world. Source: manual 4.2.3 and 4.2.4, unless it says "own choice"."""

NAVIGATOR = "navigator"  # id of the only agent
SIDE = 2100.0  # units; the map is a square
REACH = 100.0  # units an agent may ask for along each axis in one step
STEP_SECONDS = 50.0  # simulated seconds of a step, enough to walk its vector
GAP = 0.01  # units between an obstacle and the walker whom it stopped; own choice
CELLS = 20  # rows and columns of the proxy grid
COVERED = 0.5  # share of a cell that buildings must cover to make it a barrier, if not its centre; own choice

ARRIVAL = 1.0  # reward of the waypoint
BLOCKED = -0.1  # reward of a step that an obstacle cut short, where such steps are fined; own choice
