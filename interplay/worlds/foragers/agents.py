"""The agents: resources, foragers, hunters. Source: manual 4.1, specification 9.6."""

from __future__ import annotations

from typing import Any, ClassVar

from interplay.gridworld.agents import AttackingAgent, GridObservingAgent, GridWorldAgent, MovingAgent
from interplay.worlds.foragers import config


class ResourceAgent(GridWorldAgent):
    """Stands on a cell until it is collected.

    Args:
        **kwargs: of `GridWorldAgent`; the encoding is 1 unless given.

    Example:
        >>> ResourceAgent(id="resource0").encoding
        1
    """

    def __init__(self, **kwargs: Any) -> None:
        given = {"encoding": config.RESOURCE, "initial_health": 1.0, "render_color": "green"}
        super().__init__(**{**given, "render_shape": "s", "render_size": 120, **kwargs})


class _Walker(MovingAgent, AttackingAgent, GridObservingAgent):
    """The shared defaults of foragers and hunters."""

    GIVEN: ClassVar[dict[str, Any]] = {}

    def __init__(self, **kwargs: Any) -> None:
        shared: dict[str, Any] = {
            "initial_health": 1.0,
            "view_range": config.VIEW_RANGE,
            "move_range": config.MOVE_RANGE,
            "attack_strength": 1.0,
            "attack_accuracy": 1.0,
        }
        super().__init__(**{**shared, **self.GIVEN, **kwargs})


class ForagerAgent(_Walker):
    """Collects resources.

    Args:
        **kwargs: of `MovingAgent`, `AttackingAgent` and `GridObservingAgent`; they replace the reference values.

    Attributes:
        kind: separates foragers from hunters, which have the same spaces, so that they do not share a network.
    """

    kind = "forager"
    GIVEN: ClassVar[dict[str, Any]] = {
        "encoding": config.FORAGER,
        "attack_range": config.FORAGE_RANGE,
        "render_color": "blue",
    }


class HunterAgent(_Walker):
    """Chases foragers; arguments as of `ForagerAgent`."""

    kind = "hunter"
    GIVEN: ClassVar[dict[str, Any]] = {
        "encoding": config.HUNTER,
        "attack_range": config.HUNT_RANGE,
        "render_color": "red",
        "render_shape": "D",
    }


class PreyAgent(ForagerAgent):
    """A forager under the name of the Abmarl release."""


class PredatorAgent(HunterAgent):
    """A hunter under the name of the Abmarl release."""
