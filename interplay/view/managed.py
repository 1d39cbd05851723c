"""Draws simulations under a manager, in a window or as an animation.

A simulation with ``draw(canvas)`` is painted like a world. For any other, ``render(fig=...)`` is called with a figure of
matplotlib without a backend; it may return a text or a picture instead. Source: specification simulations 6.2, fault F27.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from interplay.core.errors import UserError
from interplay.core.scene import Canvas
from interplay.sim.managers import SimulationManager
from interplay.view.encode import write_video
from interplay.view.extras import load
from interplay.view.output import writing
from interplay.view.picture import render
from interplay.view.window import Window, has_display

SIDE = 480  # pixels
DOTS = 80  # per inch of a figure, which is then 6 inches wide as the manual's are
FONT = 14  # points, of simulations that draw themselves in words


class Artist:
    """Draws the states of one simulation."""

    def __init__(self) -> None:
        self._figure: Any = None

    def picture(self, manager: SimulationManager) -> np.ndarray:
        """The present state, (height, width, 3) uint8."""
        sim: Any = manager.sim.unwrapped
        if callable(getattr(sim, "draw", None)):
            canvas = Canvas()
            sim.draw(canvas)
            return render(canvas.scene(), SIDE, 2)
        if self._figure is None:
            load("matplotlib", "plot", "pictures of simulations")
            from matplotlib.backends.backend_agg import FigureCanvasAgg
            from matplotlib.figure import Figure

            self._figure = Figure(figsize=(SIDE / DOTS, SIDE / DOTS), dpi=DOTS)
            FigureCanvasAgg(self._figure)
        takes = inspect.signature(sim.render).parameters.values()
        wanted = any(p.name == "fig" or p.kind is p.VAR_KEYWORD for p in takes)
        drawn = manager.render(**({"fig": self._figure} if wanted else {}))
        if isinstance(drawn, np.ndarray) and drawn.ndim == 3:
            return np.ascontiguousarray(drawn[..., :3], np.uint8)
        if isinstance(drawn, str):
            self._figure.clear()
            self._figure.text(0.5, 0.5, drawn, ha="center", va="center", family="monospace", size=FONT)
        self._figure.canvas.draw()
        return np.array(self._figure.canvas.buffer_rgba())[..., :3]


class Stage:
    """Shows and saves episodes.

    Args:
        frame_delay: milliseconds between pictures, at least 10.
        record: pictures will be saved.
        show: opens a window if there is a display.
    """

    def __init__(self, title: str, frame_delay: int = 200, record: bool = False, show: bool = True) -> None:
        if frame_delay < 10:
            raise UserError(f"frame delay {frame_delay} ms; give at least 10, the shortest of an animation")
        if show and not record and not has_display():
            raise UserError(
                "no display here; use record_only=True (--record-only on the command line), which saves each episode as "
                "Episode_<i>.gif"
            )
        self._title, self._delay = title, frame_delay
        self._show = show and has_display()
        self._artist = Artist()
        self._window: Window | None = None
        self._next = 0.0

    def pictures(self, moments: Iterable[SimulationManager]) -> Iterator[np.ndarray]:
        """Draws and shows each moment."""
        for manager in moments:
            picture = self._artist.picture(manager)
            self._present(picture)
            yield picture

    def look(self, manager: SimulationManager) -> None:
        """Draws and shows the present moment."""
        self._present(self._artist.picture(manager))

    def save(self, path: Path, moments: Iterable[SimulationManager]) -> Path:
        """Shows the moments and writes them as an animation."""
        with writing(path, (".gif",)) as temporary:
            write_video(temporary, self.pictures(moments), Fraction(1000, self._delay))
        return path

    def close(self) -> None:
        """Closes the window."""
        if self._window is not None:
            self._window.close()

    def __enter__(self) -> Stage:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _present(self, picture: np.ndarray) -> None:
        if not self._show:
            return
        if self._window is None:
            self._window = Window(self._title, picture.shape[1], picture.shape[0], 0)
        time.sleep(max(self._next - time.monotonic(), 0.0))
        self._window.show(picture)
        self._next = time.monotonic() + self._delay / 1000


@contextlib.contextmanager
def watching(title: str, wanted: bool) -> Iterator[bool | Callable[[SimulationManager], None]]:
    """The `render` of a trainer: False, or a function that draws and, if there is a display, shows."""
    if not wanted:
        yield False
        return
    if not has_display():
        print("no display here: steps are drawn, but not shown", file=sys.stderr)
    with Stage(title, record=True) as stage:
        yield stage.look
