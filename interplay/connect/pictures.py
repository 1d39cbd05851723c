"""Pictures of a simulation under a manager, for adapters with ``render_mode="rgb_array"``."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.core.errors import UserError
from interplay.core.scene import Canvas

PIXELS = "rgb_array"


def metadata_of(manager: Any) -> dict[str, Any]:
    """The adapter's render metadata: no modes if the simulation has no ``draw(canvas)``."""
    return {"render_modes": [PIXELS] if _draws(manager) else [], "render_fps": 10}


def check_render_mode(manager: Any, render_mode: str | None) -> None:
    """Refuses a render mode that the simulation cannot serve.

    Raises:
        UserError: for another mode than ``"rgb_array"`` and None, and where the simulation has no ``draw(canvas)``.
    """
    if render_mode is None:
        return
    sim = manager.sim.unwrapped
    if render_mode != PIXELS:
        raise UserError(f'{type(sim).__name__}: render_mode = {render_mode!r}; choose "{PIXELS}", or None')
    if not _draws(manager):
        raise UserError(
            f'{type(sim).__name__}: render_mode = "{PIXELS}" needs a picture; give the simulation a method draw(canvas)'
        )


def picture_of(manager: Any) -> np.ndarray:
    """The simulation's ``draw(canvas)`` as (height, width, 3) uint8.

    Raises:
        UserError: if pictures need a package that is not installed, or `draw` draws something invalid.
    """
    from interplay.view.picture import render

    canvas = Canvas()
    manager.sim.unwrapped.draw(canvas)
    return render(canvas.scene())


def _draws(manager: Any) -> bool:
    return callable(getattr(manager.sim.unwrapped, "draw", None))
