"""Shows pictures in a window, for ``render_mode="human"``. Needs the extra ``render`` and a display."""

from __future__ import annotations

import os
import sys

import numpy as np

from interplay.core.errors import UserError
from interplay.view.extras import load_pygame


class Window:
    """One window.

    Args:
        frames_per_second: limit of `show`, which waits; 0 = no limit.
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
        """Whether the window was not closed yet."""
        return self._surface is not None

    def show(self, picture: np.ndarray) -> None:
        """Shows a (height, width, 3) uint8 picture; does nothing after the window was closed."""
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
        """Closes the window."""
        if self._surface is not None:
            self._surface = None
            self._pygame.display.quit()


def has_display() -> bool:
    """Whether a display is named in the environment; True on systems other than Linux and FreeBSD."""
    if not sys.platform.startswith(("linux", "freebsd")):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"))
