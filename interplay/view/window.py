"""A window that shows pictures, for ``render_mode="human"``. Needs the extra ``render`` and a display."""

from __future__ import annotations

import os
import sys

import numpy as np

from interplay.core.errors import UserError
from interplay.view.extras import load_pygame


class Window:
    """One window.

    Args:
        title: of the window.
        width, height: pixels.
        frames_per_second: `show` waits so that no more than these are shown; 0 = never waits.

    Raises:
        UserError: where there is no display, or pygame is not installed.
    """

    def __init__(self, title: str, width: int, height: int, frames_per_second: int = 30) -> None:
        self._pygame = load_pygame("windows")
        if not has_display():
            raise UserError(
                'no display here for render_mode="human"; use render_mode="rgb_array" or `interplay record`'
            )
        try:
            self._pygame.display.init()
            self._surface = self._pygame.display.set_mode((width, height))
        except self._pygame.error as error:
            raise UserError(
                f'the display cannot be opened ({error}); use render_mode="rgb_array" or `interplay record`'
            ) from error
        self._pygame.display.set_caption(title)
        self._clock = self._pygame.time.Clock()
        self._frames_per_second = frames_per_second

    @property
    def open(self) -> bool:
        """False once `close` was called or a person closed the window."""
        return self._surface is not None

    def show(self, picture: np.ndarray) -> None:
        """Shows a (height, width, 3) uint8 picture; does nothing once the window is closed."""
        if self._surface is None:
            return
        for event in self._pygame.event.get():
            if event.type == self._pygame.QUIT:
                self.close()
                return
        self._pygame.surfarray.blit_array(self._surface, picture.swapaxes(0, 1))
        self._pygame.display.flip()
        if self._frames_per_second:
            self._clock.tick(self._frames_per_second)

    def close(self) -> None:
        """Closes the window; may be called twice."""
        if self._surface is not None:
            self._surface = None
            self._pygame.display.quit()


def has_display() -> bool:
    """Whether a window can be expected to open: on Linux a display is named in the environment."""
    if not sys.platform.startswith(("linux", "freebsd")):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"))
