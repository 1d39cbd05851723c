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
    render_mode: str | None
    _window: Any = None

    def render(self) -> Any:
        """A (512, 512, 3) uint8 picture for ``"rgb_array"``; for ``"human"`` a window shows it."""
        if self.render_mode is None:
            raise UserError(f'{self.world.id}: no render_mode; make it with render_mode="rgb_array"')
        return self._picture(self.render_mode)

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


class SimulationPictures:
    """Pictures of the simulation under an adapter's manager `sim`, by its ``draw(canvas)``.

    Args:
        render_mode: ``"rgb_array"`` makes `render` give pixels; None leaves it to the simulation's own `render`.
    """

    sim: Any

    def _set_render_mode(self, render_mode: str | None) -> None:
        """Sets the mode and the metadata, without modes if the simulation draws no pictures."""
        sim = self.sim.sim.unwrapped
        modes = [PIXELS] if callable(getattr(sim, "draw", None)) else []
        if render_mode not in (None, PIXELS):
            raise UserError(f'{type(sim).__name__}: render_mode = {render_mode!r}; choose "{PIXELS}" or None')
        if render_mode is not None and not modes:
            raise UserError(
                f'{type(sim).__name__}: render_mode = "{PIXELS}" needs a picture; give the simulation a method draw(canvas)'
            )
        self.render_mode = render_mode
        self.metadata: dict[str, Any] = {"render_modes": modes, "render_fps": 10}

    def render(self) -> Any:
        """A (height, width, 3) uint8 picture for ``"rgb_array"``; otherwise what the simulation's own `render` gives."""
        if self.render_mode is None:
            return self.sim.render()
        from interplay.view.picture import render

        canvas = Canvas()
        self.sim.sim.unwrapped.draw(canvas)
        return render(canvas.scene())
