"""Named overlays: what is measured of a world and its agents, as arrays with their meaning and colour scale.

A viewer asks `compute_overlays` for data and draws it as it likes; `interplay.view.overlay` draws PNG files. A user's own
overlay is an `Overlay` given to `register_overlay`, or named ``module:attribute`` on the command line.
"""

from interplay.evaluate.lifetimes.overlays.beside import side_by_side
from interplay.evaluate.lifetimes.overlays.layers import Layer, OverlayData
from interplay.evaluate.lifetimes.overlays.live import Live
from interplay.evaluate.lifetimes.overlays.registry import (
    Overlay,
    compute_overlays,
    find_overlay,
    list_overlays,
    register_overlay,
)
from interplay.evaluate.lifetimes.overlays.study import Study

__all__ = [
    "Layer",
    "Live",
    "Overlay",
    "OverlayData",
    "Study",
    "compute_overlays",
    "find_overlay",
    "list_overlays",
    "register_overlay",
    "side_by_side",
]
