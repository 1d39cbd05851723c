"""The navigation simulator: an external program driven over a socket (`docs/remote.md`).

It needs only Python's standard library. `NavigationSim` starts it; or start it by hand, with a token of your choice::

    INTERPLAY_REMOTE_TOKEN=secret python -m interplay.worlds.navigation.program --port 5005

Source: manual 4.2.3, whose simulator was a C++ program.
"""

from __future__ import annotations

import argparse
import random
import sys
from typing import Any

from interplay.core.errors import UserError
from interplay.sim.remote.messages import AgentSpaces, Range, Report
from interplay.sim.remote.server import serve
from interplay.worlds.navigation.config import ARRIVAL, NAVIGATOR, REACH, SIDE, STEP_SECONDS
from interplay.worlds.navigation.geometry import Segment, distance_to, sort_by_place, walk
from interplay.worlds.navigation.town import MAP, Town, load_town

_PLACES = 20
_PLACE = SIDE / _PLACES  # units; at least REACH, so that a walk ends at most one place away


class Navigation:
    """One walker, which observes its position and acts with a vector to walk along.

    A step lasts `STEP_SECONDS`. It arrives when its path comes within the waypoint's radius, for a reward of `ARRIVAL`.
    Info: ``blocked``, whether an obstacle shortened the step, and ``seconds`` since the start.

    Args:
        town: the map.

    Attributes:
        position: of the walker, in units.
    """

    program = "navigation 1"
    agents = {  # noqa: RUF012 - read only
        NAVIGATOR: AgentSpaces(
            observation=Range([0.0, 0.0], [SIDE, SIDE]), action=Range([-REACH, -REACH], [REACH, REACH])
        )
    }

    def __init__(self, town: Town) -> None:
        self.town = town
        self._near = sort_by_place(town.walls, _PLACE, _PLACES)
        self._luck = random.Random()
        self.position = town.start
        self.arrived = False
        self.seconds = 0.0

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> dict[str, Report]:
        """Places the walker uniformly in the square around the start."""
        if seed is not None:
            self._luck = random.Random(seed)
        (x, y), spread = self.town.start, self.town.spread
        self.position = (x + self._luck.uniform(-spread, spread), y + self._luck.uniform(-spread, spread))
        self.arrived = False
        self.seconds = 0.0
        return self._report(False, 0.0)

    def step(self, actions: dict[str, Any]) -> dict[str, Report]:
        """Walks along the vector, unless the walker has arrived."""
        if self.arrived:
            return self._report(False, 0.0)
        across, along = map(float, actions.get(NAVIGATOR, (0.0, 0.0)))
        before = self.position
        walls = self._near[int(before[0] / _PLACE)][int(before[1] / _PLACE)]
        self.position, blocked = walk(before, (across, along), walls)
        self.seconds += STEP_SECONDS
        path: Segment = (*before, *self.position)
        self.arrived = distance_to(self.town.waypoint, path) <= self.town.radius
        return self._report(blocked, ARRIVAL if self.arrived else 0.0)

    def _report(self, blocked: bool, reward: float) -> dict[str, Report]:
        info = {"blocked": blocked, "seconds": self.seconds}
        return {NAVIGATOR: Report(self.position, reward, self.arrived, info)}


def main(arguments: list[str] | None = None) -> int:
    """Serves one driver; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m interplay.worlds.navigation.program", description=__doc__
    )
    parser.add_argument("--map", default=str(MAP), help="a JSON file of buildings and fences")
    parser.add_argument("--port", type=int, help="listen on this port, if the program was started by hand")
    options = parser.parse_args(arguments)
    try:
        serve(Navigation(load_town(options.map)), options.port)
    except UserError as error:
        print(f"navigation: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
