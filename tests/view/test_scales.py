"""Colours of measured numbers: formulas, and colours that stay apart for the colour-blind."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from interplay.view import scales
from interplay.view.palette import rgb
from tests.view.colour_blindness import SIGHTS, distance, seen


@pytest.mark.parametrize("sight", SIGHTS)
def test_low_and_high_are_told_apart_by_everybody(sight):
    steps = seen(scales.diverging(np.linspace(-1, 1, 9), (-1, 1)), sight)
    for below, above in zip(steps[:4], steps[:4:-1], strict=True):
        assert np.linalg.norm(below - above) > 0.15
    light = steps @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(light[:5]) > 0).all()  # strength is lightness: it also shows in grey print
    assert (np.diff(light[4:]) < 0).all()


def test_diverging_ends_middle_and_gaps():
    found = scales.diverging(np.array([-9.0, 0.0, 4.0, 8.0, 99.0, np.nan]), (0, 8))
    ends = [
        np.array(rgb(colour)) / 255
        for colour in (scales.DIVERGING[0], scales.DIVERGING[5], scales.DIVERGING[-1])
    ]
    np.testing.assert_allclose(found[[1, 2, 3]], ends)
    np.testing.assert_allclose(found[0], found[1])
    np.testing.assert_allclose(found[4], found[3])
    np.testing.assert_allclose(found[5], np.array(rgb(scales.ROCK)) / 255)


def test_brightness_is_the_logarithm_and_hue_the_share():
    counts = np.array([[0, 1, 7, 0], [0, 0, 0, 7]])
    found = scales.mixed(counts, ("#ff0000", "#0000ff"), top=7, ground="#000000")
    np.testing.assert_allclose(found[0], 0)
    np.testing.assert_allclose(found[1], [np.log(2) / np.log(8), 0, 0])
    np.testing.assert_allclose(found[2], [1, 0, 0])
    np.testing.assert_allclose(found[3], [0, 0, 1])
    half = scales.mixed(np.array([[4], [4]]), ("#ff0000", "#0000ff"), top=8, ground="#000000")
    np.testing.assert_allclose(half, [[0.5, 0, 0.5]])


@pytest.mark.parametrize("top", [3.0, 6.0, 24.0])
def test_brightness_is_measured_by_the_top_that_was_given(top):
    """Panels that are to be compared have one top; what lies beyond it is no brighter than full."""
    counts = np.array([[1, 2, 0, 3], [0, 1, 0, 3]])
    shares = np.log1p(counts.sum(axis=0)) / np.log1p(top)
    found = scales.mixed(counts, ("#ffffff", "#ffffff"), top, ground="#000000")
    np.testing.assert_allclose(found[:, 0], np.minimum(shares, 1.0))
    for ask in (scales.styles, lambda part, most: scales.populations(part, (0, 1, 2), most)):
        three = np.concatenate([counts, counts[:1]])
        assert not np.allclose(ask(three, 50.0), ask(three, None))


def test_the_brightest_cell_is_full_and_none_is_nothing():
    counts = np.zeros((3, 2, 2))
    assert np.isfinite(scales.styles(counts)).all()
    np.testing.assert_allclose(scales.styles(counts), 1)  # paper
    counts[1, 0, 0] = 5
    np.testing.assert_allclose(scales.styles(counts)[0, 0], np.array(rgb(scales.STYLE_COLOURS[1])) / 255)


def test_eight_populations_have_eight_colours():
    assert len({scales.population_colour(k) for k in range(8)}) == 8
    assert scales.population_colour(8) == scales.population_colour(0)


def test_dimmed_cells_are_drawn_towards_grey():
    colours = np.ones((1, 2, 3))
    found = scales.dim(colours, np.array([[True, False]]))
    np.testing.assert_allclose(found[0, 1], 1)
    assert (found[0, 0] < 0.5).all()


def test_counts_lie_on_tiles_in_greys_that_differ():
    tiles = np.arange(6)
    bare = scales.styles(np.zeros((3, 6)), 7.0, tiles)
    assert (bare == bare[:, :1]).all()  # no hue, which is what the counts have
    walked, barred = bare[[2, 3, 4], 0], bare[[0, 1, 5], 0]
    assert barred.max() < walked.min() - 0.15
    assert np.diff(np.sort(bare[:, 0])).min() > 0.02
    full = scales.styles(np.array([[7.0] * 6, [0.0] * 6, [0.0] * 6]), 7.0, tiles)
    np.testing.assert_allclose(full, np.tile(np.array(rgb(scales.STYLE_COLOURS[0])) / 255, (6, 1)))


def test_of_many_populations_the_most_frequent_gives_the_hue_and_its_share_the_strength():
    counts = np.zeros((4, 5))
    counts[2, 0] = 7  # alone
    counts[:, 1] = 7 / 4  # all alike
    counts[:, 2] = [1, 1, 4, 1]
    counts[3, 3] = 1
    found = scales.populations(counts, (0, 1, 2, 7), 7.0)
    grey, green, violet = (
        np.array(rgb(colour)) / 255
        for colour in (scales.EVEN, scales.population_colour(2), scales.population_colour(7))
    )
    np.testing.assert_allclose(found[0], green)
    np.testing.assert_allclose(found[1], grey)
    apart = (4 / 7 - 1 / 4) / (3 / 4)
    np.testing.assert_allclose(found[2], grey * (1 - apart) + green * apart)
    strength, night = np.log(2) / np.log(8), np.array(rgb(scales.NIGHT)) / 255
    np.testing.assert_allclose(found[3], violet * strength + night * (1 - strength))
    np.testing.assert_allclose(found[4], night)


@pytest.mark.parametrize("sight", SIGHTS)
def test_eight_populations_nobody_and_everybody_are_told_apart_by_everybody(sight):
    colours = [scales.population_colour(k) for k in range(8)]
    for a, b in combinations([*colours, scales.NIGHT, scales.EVEN], 2):
        assert distance(a, b, sight) > 10, (a, b)
