"""Colours and shapes of all renderers.

Population colours are those of Okabe and Ito (2008), which differ under normal, protan, deutan and tritan sight; each
goes with a shape, so that no meaning depends on colour alone. Terrain colours are muted, so that agents stand out;
tests/view/test_palette.py computes the distances.
"""

from __future__ import annotations

import numpy as np

from interplay.core.fog import UNSEEN

POPULATIONS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442")
SHAPES = ("disc", "square", "triangle", "pentagon", "hexagon", "diamond", "octagon")

FOG = "#9a968c"  # of tiles hidden from the player
# Lava, water, grass, scrub, forest, stone.
TERRAIN = ("#3c2120", "#2f4f82", "#c9dabd", "#c5b592", "#8ba064", "#58514e")

# Over a ground in greys: what lies below and above the middle of a scale, which is clear, and nine steps of matplotlib's cividis.
BELOW, ABOVE = "#b25414", "#2166ac"
CIVIDIS = ("#00224e", "#1a386f", "#434e6c", "#61656f", "#7d7c78", "#9b9476", "#bcae6c", "#dec958", "#fee838")

INK = "#20242b"  # outlines and text on light ground
PAPER = "#ffffff"  # glyphs on agents, halos around text
PAGE = "#e9ecef"  # around the world
FLOOR = "#f7f8f9"  # where a world draws no ground of its own
FAINT = "#868e96"  # what is dimmed
BAR_GOOD, BAR_LOW, BAR_EMPTY, BAR_MORE = "#2b8a3e", "#d9480f", "#ced4da", "#a9e34b"
# Of agents with several bars, one each in their order: red, amber, blue, violet.
BARS = ("#c92a2a", "#fab005", "#4dabf7", "#862e9c")

# A regular polygon's corners and the angle of its first one, for the shapes that are not discs.
CORNERS = {
    "square": (4, np.pi / 4),
    "triangle": (3, np.pi / 2),
    "pentagon": (5, np.pi / 2),
    "hexagon": (6, 0.0),
    "diamond": (4, 0.0),
    "octagon": (8, np.pi / 8),
}

RGB = tuple[int, int, int]


def rgb(colour: str | int) -> RGB:
    """Red, green and blue of ``"#rrggbb"`` or of a population number, modulo seven.

    Example:
        >>> rgb(0), rgb("#ff8000")
        ((0, 114, 178), (255, 128, 0))
    """
    text = colour if isinstance(colour, str) else POPULATIONS[int(colour) % len(POPULATIONS)]
    return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)


def shape_of(colour: int) -> str:
    """The shape of a population number; shifted by one after each round of colours.

    Example:
        >>> shape_of(0), shape_of(1), shape_of(7)
        ('disc', 'square', 'square')
    """
    count = len(SHAPES)
    return SHAPES[(colour % count + colour // count) % count]


def sign_on(colour: RGB) -> RGB:
    """The colour of a sign inside a disc: light, or dark where the disc is light.

    Example:
        >>> sign_on(rgb(0)) == rgb(PAPER), sign_on(rgb(6)) == rgb(INK)
        (True, True)
    """
    return rgb(INK if 299 * colour[0] + 587 * colour[1] + 114 * colour[2] > 190_000 else PAPER)


def bar_colour(place: int, bars: int, share: float) -> str:
    """The colour of a bar: a fixed one each for several bars; of a single one by whether it is over half full.

    Example:
        >>> bar_colour(0, 1, 0.4) == BAR_LOW, bar_colour(1, 3, 0.4) == BARS[1]
        (True, True)
    """
    if bars > 1:
        return BARS[place % len(BARS)]
    return BAR_GOOD if share > 0.5 else BAR_LOW


def tile_colours(palette: str | tuple[str, ...]) -> np.ndarray:
    """The colour of each tile number, (256, 3) uint8; numbers beyond the palette repeat it, except `UNSEEN`."""
    names = TERRAIN if palette == "terrain" else tuple(palette)
    table = np.array([rgb(name) for name in names], np.uint8)
    colours = table[np.arange(256) % len(table)]
    if len(names) <= UNSEEN:
        colours[UNSEEN] = rgb(FOG)
    return colours


def mix(a: RGB, b: RGB, share: float) -> RGB:
    """`share` of b in a, from 0 to 1."""
    red, green, blue = (round(x + (y - x) * share) for x, y in zip(a, b, strict=True))
    return red, green, blue
