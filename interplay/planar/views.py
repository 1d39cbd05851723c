"""Views and Canvas (appendix A of the paper): optional rendering, extensible as the simulation itself.

A `View` draws one thing; a `Canvas` holds a list of views and renders them, in order, into a scene that every
renderer reads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from interplay.core import scene

# Draws one thing of world `w` of a batch: view(canvas, state, rules, w).
View = Callable[[scene.Canvas, Any, Any, int], None]


class Canvas:
    """Holds the views of a simulation.

    Args:
        views: in painting order; the list may be changed between frames.

    Example:
        >>> from interplay.registry import make_world
        >>> world = make_world("survival/1v1-heals-low")
        >>> _ = world.reset()
        >>> frame = Canvas(world.views).render(world.state, world.rules, 0)
        >>> frame.layer("agents").rows
        2
    """

    def __init__(self, views: Sequence[View]) -> None:
        self.views = list(views)
        self.clear()

    def clear(self) -> None:
        """An empty scene."""
        self.scene = scene.Canvas()

    def render(self, state: Any, rules: Any, w: int) -> scene.Scene:
        """Draws all views of world `w` into an empty scene and returns it."""
        self.clear()
        for view in self.views:
            view(self.scene, state, rules, w)
        return self.scene.scene()
