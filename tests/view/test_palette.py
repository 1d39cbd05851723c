"""Colours can be told apart by people with each kind of colour vision."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from interplay.view import palette
from interplay.worlds.survival import render

# Machado, Oliveira and Fernandes (2009), severity 1.0, on linear RGB.
SIGHT = {
    "normal": np.eye(3),
    "protan": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deutan": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritan": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def lab(colour: str, sight: str) -> np.ndarray:
    """CIE Lab (D65) of a colour as somebody with that sight sees it."""
    share = np.array(palette.rgb(colour)) / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    xyz = XYZ @ np.clip(np.asarray(SIGHT[sight]) @ linear, 0, 1) / [0.9505, 1.0, 1.089]
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def distance(a: str, b: str, sight: str) -> float:
    return float(np.linalg.norm(lab(a, sight) - lab(b, sight)))


@pytest.mark.parametrize("sight", SIGHT)
def test_agents_differ_from_every_ground_and_grounds_from_each_other(sight):
    pairs = [(a, b) for a in palette.POPULATIONS for b in palette.TERRAIN]
    pairs += combinations(palette.TERRAIN, 2)
    least = min(pairs, key=lambda pair: distance(*pair, sight))
    assert distance(*least, sight) > 12, (least, distance(*least, sight))


@pytest.mark.parametrize("sight", SIGHT)
def test_survival_sides_and_floors_differ(sight):
    sides, floors = palette.POPULATIONS[:4], (render.INSIDE, render.OUTSIDE)
    for a, b in [*combinations(sides[:2], 2), *((a, b) for a in sides for b in floors)]:
        assert distance(a, b, sight) > 20, (a, b)
    assert distance(*floors, sight) > 6
    for item in (render.HEAL, render.BOX_ITEM, render.CRATE, render.STRIKING, render.RIM):
        assert min(distance(item, floor, sight) for floor in floors) > 20, item


def test_each_colour_goes_with_a_shape_and_repeats_with_another():
    signs = [(palette.rgb(number), palette.shape_of(number)) for number in range(49)]
    assert len(set(signs)) == 49


def test_tile_numbers_beyond_the_palette_repeat_it():
    colours = palette.tile_colours(("#000000", "#ffffff"))
    assert colours.shape == (256, 3)
    assert colours[255].tolist() == [255, 255, 255]
