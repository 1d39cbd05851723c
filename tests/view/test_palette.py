"""Colours are distinct with each kind of colour vision."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest

from interplay.core.fog import UNSEEN
from interplay.view import palette
from interplay.worlds.survival import render
from tests.view.colour_blindness import SIGHTS, contrast, distance, lab


@pytest.mark.parametrize("sight", SIGHTS)
def test_agents_differ_from_every_ground_and_grounds_from_each_other(sight):
    pairs = [(a, b) for a in palette.POPULATIONS for b in palette.TERRAIN]
    pairs += combinations(palette.TERRAIN, 2)
    least = min(pairs, key=lambda pair: distance(*pair, sight))
    assert distance(*least, sight) > 12.6, (least, distance(*least, sight))


@pytest.mark.parametrize("sight", SIGHTS)
def test_overlays_are_told_from_each_other_and_from_a_pale_grey_ground(sight):
    # White over greys, as the page lays it: between lava's and white.
    greys = ("#a0a0a0", "#c8c8c8", "#f0f0f0")
    ends = (palette.MARKS["below"], palette.MARKS["above"])
    cividis = palette.MARKS["cividis"]
    assert distance(*ends, sight) > 40
    for end, grey in [(end, grey) for end in (*ends, cividis[0], cividis[-1]) for grey in greys]:
        assert distance(end, grey, sight) > 15, (end, grey)
    light = [lab(colour, sight)[0] for colour in cividis]
    assert min(b - a for a, b in pairwise(light)) > 5  # it grows lighter step by step for everybody


@pytest.mark.parametrize("sight", SIGHTS)
def test_survival_sides_and_floors_differ(sight):
    sides, floors = palette.POPULATIONS[:4], (render.INSIDE, render.OUTSIDE)
    for a, b in [*combinations(sides[:2], 2), *((a, b) for a in sides for b in floors)]:
        assert distance(a, b, sight) > 20, (a, b)
    assert distance(*floors, sight) > 6
    for item in (render.HEAL, render.BOX_ITEM, render.CRATE, render.ATTACKING, render.RIM):
        assert min(distance(item, floor, sight) for floor in floors) > 20, item


def test_each_colour_goes_with_a_shape_and_repeats_with_another():
    signs = [(palette.rgb(number), palette.shape_of(number)) for number in range(49)]
    assert len(set(signs)) == 49


def test_tile_numbers_beyond_the_palette_repeat_it():
    colours = palette.tile_colours(("#000000", "#ffffff"))
    assert colours.shape == (256, 3)
    assert colours[253].tolist() == [255, 255, 255]
    assert colours[UNSEEN].tolist() == list(palette.rgb(palette.FOG))  # what is hidden from who plays


@pytest.mark.parametrize("sight", SIGHTS)
def test_bars_differ_from_each_other_and_from_what_is_empty(sight):
    for a, b in combinations((*palette.BARS, palette.BAR_EMPTY), 2):
        assert distance(a, b, sight) > 25, (a, b)


def test_signs_stand_out_from_their_discs():
    for colour in palette.POPULATIONS:
        red, green, blue = palette.sign_on(palette.rgb(colour))
        assert contrast(colour, f"#{red:02x}{green:02x}{blue:02x}") > 2, colour
