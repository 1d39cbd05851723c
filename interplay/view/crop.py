"""Crops scenes to a part of the world: around a place, or around an agent."""

from __future__ import annotations

import math
from collections.abc import Sequence

from interplay.core.errors import UserError
from interplay.core.scene import Bounds, Scene

NEAR = 24.0  # of the world's units (tiles, metres): the side that is shown around a focus; half the world at most


class Crop:
    """Crops scenes in their order; around an absent agent, the last place where it was seen is shown.

    Args:
        focus: row of the layer ``agents``, or a place (x, y); None = the middle of the world.
        zoom: the shorter side of the part, in the world's units; None = `NEAR`.
    """

    def __init__(self, focus: int | Sequence[float] | None = None, zoom: float | None = None) -> None:
        if isinstance(focus, int):
            valid = focus >= 0
        else:
            valid = focus is None or (len(focus) == 2 and all(map(math.isfinite, focus)))
        if not valid:
            raise UserError(f"focus = {focus!r}; name an agent by its number, from 0, or a place as x,y")
        self.focus = focus if focus is None or isinstance(focus, int) else (float(focus[0]), float(focus[1]))
        if zoom is not None and not (math.isfinite(zoom) and zoom > 0):
            raise UserError(f"zoom = {zoom:g}; pass how many tiles or metres a side to show, above 0")
        self.zoom = zoom
        self._last: tuple[float, float] | None = None

    @property
    def cuts(self) -> bool:
        """Whether only a part is shown."""
        return self.focus is not None or self.zoom is not None

    @property
    def missed(self) -> str:
        """A warning if the agent to follow was in none of the scenes, else empty."""
        if not isinstance(self.focus, int) or self._last is not None:
            return ""
        return (
            f"focus = {self.focus}: that slot was empty in all steps shown, so the picture shows the middle of the map; name another "
            "agent, or play more steps: the slot may be filled later (in mmo/... one agent is born a tick)"
        )

    def __call__(self, scene: Scene) -> Scene:
        """The scene with the bounds of the part."""
        if not self.cuts:
            return scene
        if scene.bounds is None or scene.picture is not None:
            raise UserError("focus, zoom: this world has no map to crop; leave them out")
        x0, y0, x1, y1 = scene.bounds
        middle = self._middle(scene, scene.bounds)
        side = self.zoom or min(NEAR, min(x1 - x0, y1 - y0) / 2)
        scale = side / min(x1 - x0, y1 - y0)  # in the world's proportions, to fit the picture's size
        spans = (x1 - x0) * min(scale, 1.0), (y1 - y0) * min(scale, 1.0)
        # Near its edge the world fills the picture, and the focus leaves the middle.
        left = min(max(middle[0] - spans[0] / 2, x0), x1 - spans[0])
        low = min(max(middle[1] - spans[1] / 2, y0), y1 - spans[1])
        return scene._replace(bounds=(left, low, left + spans[0], low + spans[1]))

    def _middle(self, scene: Scene, bounds: Bounds) -> tuple[float, float]:
        x0, y0, x1, y1 = bounds
        centre = ((x0 + x1) / 2, (y0 + y1) / 2)
        if self.focus is None:
            return centre
        if isinstance(self.focus, tuple):
            if not (x0 <= self.focus[0] <= x1 and y0 <= self.focus[1] <= y1):
                raise UserError(
                    f"focus = {self.focus[0]:g},{self.focus[1]:g} lies outside of the world; "
                    f"choose x from {x0:g} to {x1:g} and y from {y0:g} to {y1:g}"
                )
            return self.focus
        agents = next((layer for layer in scene.layers if layer.name == "agents"), None)
        if agents is None or agents.kind not in ("circles", "boxes", "polygons"):
            raise UserError(f"focus = {self.focus}: this world draws no agents; name a place as x,y")
        if self.focus >= agents.rows:
            raise UserError(f"focus = {self.focus}: no such agent; choose 0 to {agents.rows - 1}")
        if not agents.value("absent", False)[self.focus]:
            x, y = (float(agents.columns[key][self.focus].mean()) for key in ("x", "y"))
            self._last = (x, y)
        return self._last or centre
