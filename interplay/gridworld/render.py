"""The manual's `render`: a grid world as pixels, or in a matplotlib figure.

A figure shows the picture of the common scene as one image, which is replaced and never redrawn.
"""

from __future__ import annotations

from typing import Any

from interplay.core.loading import load
from interplay.core.scene import Canvas


def render(sim: Any, fig: Any = None, gridlines: bool = True, background_color: str = "w") -> Any:
    """Draws the present state; see `GridWorldSimulation.render`."""
    canvas = Canvas()
    sim.draw(canvas)
    scene = canvas.scene()
    rows, cols = sim.grid.rows, sim.grid.cols
    longest = max(rows, cols)
    size = (max(64, 512 * cols // longest), max(64, 512 * rows // longest))
    # Imported by name: pictures are a layer above simulations.
    picture = load("interplay.view.picture:render")(scene, size)
    if fig is None:
        return picture
    axes = fig.gca()
    if axes.images:
        axes.images[0].set_data(picture)
    else:
        axes.imshow(picture, extent=(0, cols, rows, 0))
        axes.set_facecolor(background_color)
        axes.set_xticks(range(cols + 1), labels=[])
        axes.set_yticks(range(rows + 1), labels=[])
        axes.grid(gridlines)
    fig.canvas.draw_idle()
    return fig
