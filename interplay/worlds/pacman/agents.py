"""The agents of pacman's worlds. Source: specification 9.4."""

from __future__ import annotations

from typing import Any

from interplay.gridworld.agents import GridObservingAgent, GridWorldAgent, MovingAgent, OrientationAgent
from interplay.worlds.pacman import config


class WallAgent(GridWorldAgent):
    """Blocks every agent.

    Args:
        **kwargs: of `GridWorldAgent`; the encoding is 2 unless given.
    """

    def __init__(self, **kwargs: Any) -> None:
        given = {"encoding": config.WALL, "initial_health": 1.0, "render_shape": "s", "render_color": "blue"}
        super().__init__(**{**given, "render_size": 400, **kwargs})


class FoodAgent(GridWorldAgent):
    """Is eaten by pacman in the same cell.

    Args:
        **kwargs: of `GridWorldAgent`; the encoding is 3 unless given.
    """

    def __init__(self, **kwargs: Any) -> None:
        given = {"encoding": config.FOOD, "initial_health": 1.0, "render_size": 20, "render_color": "orange"}
        super().__init__(**{**given, **kwargs})


class _Drifter(MovingAgent, OrientationAgent, GridObservingAgent):
    """Drifts; drawn in the direction it faces."""

    drawn_facing = through_tunnels = True

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"initial_health": 1.0, "move_range": 1, "view_range": "FULL", **kwargs})


class PacmanAgent(_Drifter):
    """Eats; there is one, with the id ``pacman``.

    Args:
        **kwargs: of `MovingAgent`, `OrientationAgent` and `GridObservingAgent`; the encoding is 1 unless given.

    Attributes:
        kind: keeps pacman and baddies, with equal spaces, from sharing a network.
    """

    kind = "pacman"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"encoding": config.PACMAN, "render_color": "yellow", **kwargs})


class BaddieAgent(_Drifter):
    """Catches pacman.

    Args:
        **kwargs: as of `PacmanAgent`; the encoding is 4 unless given.
    """

    kind = "baddie"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"encoding": config.BADDIE, "render_color": "red", **kwargs})


class ScriptedBaddieAgent(OrientationAgent):
    """A baddie that walks fixed rounds: it neither observes nor acts, so that only pacman learns.

    Args:
        **kwargs: of `OrientationAgent`; the encoding is 4 unless given.
    """

    drawn_facing = through_tunnels = True

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            **{"encoding": config.BADDIE, "initial_health": 1.0, "render_color": "red", **kwargs}
        )
