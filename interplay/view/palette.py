"""Colours and shapes of all renderers.

Population colours are those of Okabe and Ito (2008), which differ under normal, protan, deutan and tritan sight; each
goes with a shape, so that no meaning depends on colour alone. Terrain colours are muted, so that agents stand out;
tests/view/test_palette.py computes the distances.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from interplay.core.fog import UNSEEN
from interplay.core.reading import read_json

# The page imports the same file (interplay/view/web/src/palette.ts).
_FILE: dict[str, Any] = read_json(Path(__file__).with_suffix(".json"))

POPULATIONS: tuple[str, ...] = tuple(_FILE["populations"])
SHAPES: tuple[str, ...] = tuple(_FILE["shapes"])
# Of the shapes that are no discs: number of corners of a regular polygon, and angle of the first one.
CORNERS = {name: (int(count), np.pi * turn) for name, (count, turn) in _FILE["corners"].items()}

FOG: str = _FILE["fog"]  # of tiles hidden from the player
TERRAIN: tuple[str, ...] = tuple(_FILE["terrain"])  # lava, water, grass, scrub, forest, stone

INK: str = _FILE["ink"]  # outlines and text on light ground
PAPER: str = _FILE["paper"]  # glyphs on agents, halos around text
PAGE: str = _FILE["page"]  # around the world
FLOOR: str = _FILE["floor"]  # of worlds without a ground
FAINT: str = _FILE["faint"]  # dimmed things
BAR_GOOD, BAR_LOW, BAR_EMPTY, BAR_MORE = (
    str(_FILE[f"bar_{name}"]) for name in ("good", "low", "empty", "more")
)
BARS: tuple[str, ...] = tuple(_FILE["bars"])  # of agents with several bars: red, amber, blue, violet

MARKS: dict[str, Any] = (
    _FILE  # sizes of drawn marks, in pixels; rays of cones; limits of legends; colours of the page alone
)

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
