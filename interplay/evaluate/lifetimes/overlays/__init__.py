"""Named overlays: measures of a world and its agents as arrays with meaning and colour scale.

`compute_overlays` returns data; `interplay.view.overlay` draws PNG files. A user-defined overlay is an `Overlay` passed to
`register_overlay`, or named ``module:attribute`` on the command line.
"""

from interplay.evaluate.lifetimes.overlays.layers import Layer, OverlayData, side_by_side
from interplay.evaluate.lifetimes.overlays.registry import (
    Live,
    Overlay,
    Study,
    compute_overlays,
    find_overlay,
    list_overlays,
    register_overlay,
)

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
