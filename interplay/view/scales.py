"""Colour scales for maps: diverging, mixed by population, mixed by style of attack."""

from __future__ import annotations

import numpy as np

from interplay.view.palette import PAPER, POPULATIONS, rgb

# Purple to orange through white, distinct under all common forms of colour blindness (ColorBrewer's PuOr).
DIVERGING = (
    "#2d004b",
    "#542788",
    "#8073ac",
    "#b2abd2",
    "#d8daeb",
    "#f7f7f7",
    "#fee0b6",
    "#fdb863",
    "#e08214",
    "#b35806",
    "#7f3b08",
)
# Melee, range, mage; dark, so that mixtures differ from white.
STYLE_COLOURS = ("#e0301e", "#1fa03c", "#2f5fe0")
# For categories other than populations, such as causes of death (Tol's muted scheme).
CATEGORIES = (
    "#332288",
    "#88ccee",
    "#44aa99",
    "#117733",
    "#999933",
    "#ddcc77",
    "#cc6677",
    "#882255",
    "#aa4499",
)
# Lava, water, grass, scrub, forest, stone, ore: walkable tiles are light, water is the darkest within the border.
GREYS = (0.12, 0.28, 1.0, 0.94, 0.9, 0.68, 0.68)
NIGHT = "#14171c"  # no visits
ROCK = "#474d57"  # impassable or unknown, among light colours
CLIFF = "#2b2f37"  # impassable, among colours on black
EVEN = "#e9ecef"  # equal visits of all populations
MIXED_TO = 3  # channels with legible mixed hues; of more the most frequent one gives the hue
DIMMED = 0.78  # share of grey in dimmed cells
_EIGHTH = "#9100f0"  # after the seven of the palette; the paper has at most eight populations


def population_colour(number: int) -> str:
    """``"#rrggbb"`` of a population; the eighth has a colour here, because maps show no signs."""
    colours = (*POPULATIONS, _EIGHTH)
    return colours[number % len(colours)]


def diverging(values: np.ndarray, limits: tuple[float, float]) -> np.ndarray:
    """Purple for the lower limit, white for the middle, orange for the upper one; NaN is grey.

    Args:
        values: any shape.
        limits: lowest and highest; values are clipped to them.

    Returns:
        (..., 3) float, 0..1.
    """
    lowest, highest = limits
    share = np.clip((np.asarray(values, float) - lowest) / max(highest - lowest, 1e-300), 0, 1)
    stops = np.array([rgb(colour) for colour in DIVERGING]) / 255
    at = np.linspace(0, 1, len(stops))
    known = np.isfinite(share)
    colours = np.stack([np.interp(np.where(known, share, 0.5), at, stops[:, i]) for i in range(3)], axis=-1)
    colours[~known] = _unit(ROCK)
    return colours


def mixed(
    counts: np.ndarray, colours: tuple[str, ...], top: float | None = None, ground: str | np.ndarray = NIGHT
) -> np.ndarray:
    """Hue mixed by share, brightness by log(1 + v) / log(1 + max).

    Args:
        counts: (C, ...) of each channel.
        top: the max; None = of the sums.
        ground: colour of a count of 0, or of each place (..., 3).

    Returns:
        (..., 3) float, 0..1.
    """
    counts = np.asarray(counts, float)
    total = counts.sum(axis=0)
    share = counts / np.maximum(total, 1e-300)
    hue = np.tensordot(np.moveaxis(share, 0, -1), np.array([_unit(colour) for colour in colours]), axes=1)
    strength = _strength(total, top)
    below = _unit(ground) if isinstance(ground, str) else ground
    found: np.ndarray = below * (1 - strength) + hue * strength
    return found


def dim(colours: np.ndarray, cells: np.ndarray, towards: str = ROCK, share: float = DIMMED) -> np.ndarray:
    """The colours with some cells blended towards grey."""
    grey = colours * (1 - share) + _unit(towards) * share
    found: np.ndarray = np.where(np.asarray(cells)[..., None], grey, colours)
    return found


def styles(counts: np.ndarray, top: float | None = None, tiles: np.ndarray | None = None) -> np.ndarray:
    """`mixed` of melee, range and mage, on white or on tiles in greys."""
    return mixed(counts, STYLE_COLOURS, top, PAPER if tiles is None else greys(tiles))


def greys(tiles: np.ndarray) -> np.ndarray:
    """Tile ids (...) as greys (..., 3)."""
    found: np.ndarray = np.array(GREYS)[tiles][..., None].repeat(3, axis=-1)
    return found


def dominant(counts: np.ndarray, colours: tuple[str, ...], top: float | None = None) -> np.ndarray:
    """The hue of the most frequent channel, paler the more even the counts; brightness as in `mixed`, on black.

    Args:
        counts: (C, ...) of each channel, C > 1.
        top: the max; None = of the sums.

    Returns:
        (..., 3) float, 0..1.
    """
    counts = np.asarray(counts, float)
    total = counts.sum(axis=0)
    share = counts.max(axis=0) / np.maximum(total, 1e-300)
    apart = np.clip((share - 1 / len(counts)) / (1 - 1 / len(counts)), 0, 1)[..., None]
    hue = np.array([_unit(colour) for colour in colours])[counts.argmax(axis=0)]
    strength = _strength(total, top)
    found: np.ndarray = _unit(NIGHT) * (1 - strength) + (_unit(EVEN) * (1 - apart) + hue * apart) * strength
    return found


def populations(counts: np.ndarray, numbers: tuple[int, ...], top: float | None = None) -> np.ndarray:
    """`mixed` for up to `MIXED_TO` populations, `dominant` for more."""
    colours = tuple(population_colour(number) for number in numbers)
    return (mixed if len(counts) <= MIXED_TO else dominant)(counts, colours, top)


def _strength(total: np.ndarray, top: float | None) -> np.ndarray:
    """log(1 + v) / log(1 + max), (..., 1)."""
    highest = float(total.max()) if top is None else float(top)
    found: np.ndarray = (np.log1p(total) / max(np.log1p(highest), 1e-300)).clip(0, 1)[..., None]
    return found


def _unit(colour: str) -> np.ndarray:
    return np.array(rgb(colour)) / 255
