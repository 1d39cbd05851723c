"""Pictures of worlds, and of simulations under managers, for adapters with render modes."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.core.errors import UserError
from interplay.core.scene import Canvas

PIXELS, HUMAN = "rgb_array", "human"


class WorldPictures:
    """Pictures of an environment's `world`, returned or in a window; a copy of the environment opens its own window."""

    world: Any
    _window: Any = None

    def _picture(self, mode: str) -> np.ndarray | None:
        """(512, 512, 3) uint8 for ``"rgb_array"``; for ``"human"`` the window shows it."""
        from interplay.view.picture import render_world

        picture = render_world(self.world, 0)
        if mode == PIXELS:
            return picture
        if self._window is None:
            from interplay.view.window import Window

            self._window = Window(self.world.id, picture.shape[1], picture.shape[0])
        self._window.show(picture)
        return None

    def close(self) -> None:
        """Closes the world, and the window if there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None
        self.world.close()

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_window": None}


def metadata_of(manager: Any) -> dict[str, Any]:
    """The adapter's render metadata: no modes if the simulation has no ``draw(canvas)``."""
    return {"render_modes": [PIXELS] if _draws(manager) else [], "render_fps": 10}


def check_render_mode(manager: Any, render_mode: str | None) -> None:
    """Refuses a render mode that the simulation cannot serve."""
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
    """The simulation's ``draw(canvas)`` as (height, width, 3) uint8."""
    from interplay.view.picture import render

    canvas = Canvas()
    manager.sim.unwrapped.draw(canvas)
    return render(canvas.scene())


def _draws(manager: Any) -> bool:
    return callable(getattr(manager.sim.unwrapped, "draw", None))
