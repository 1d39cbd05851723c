"""Every number of the overlays' tables and panels, recomputed from copies of every tick."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest

from interplay.core.policy import RandomPolicy
from interplay.evaluate.lifetimes.mmo.ghosts import VARIANTS, livable, value_map
from interplay.evaluate.lifetimes.mmo.ghosts import dependence as dependence_map
from interplay.evaluate.lifetimes.mmo.overlays import lives as niches_overlay
from interplay.evaluate.lifetimes.overlays import Layer, Overlay, OverlayData, compute_overlays
from interplay.evaluate.lifetimes.survival import kaplan_meier, median_life, restricted_mean
from interplay.evaluate.lifetimes.tick import STYLES
from interplay.worlds.mmo.state import CAUSES
from interplay.worlds.mmo.tiles import FOREST, GRASS, LAVA, SCRUB, WATER
from tests.evaluate.commons import common, taste

NAMES = ["values", "exploration", "dependence", "combat", "blows", "niches", "lives", "coverage"]
TICKS, POPULATIONS = 120, 2


class Diary:
    """Keeps a copy of every tick."""

    def __init__(self, _world):
        self.ticks = []

    def add(self, tick):
        ended = {name: np.array(values) for name, values in tick.ended.items()}
        copied = [np.array(part) for part in tick[:-1]]
        self.ticks.append(type(tick)(*copied, ended))


@pytest.fixture(scope="module")
def played():
    """The world, every overlay, and copies of every tick."""
    kept = {}

    def read(study):
        kept["ticks"] = study.seen("diary").ticks
        layer = Layer("a", "a", np.zeros((1, 1)), "curves", "plain", "u", "m.")
        return OverlayData("diary", "diary", (layer,))

    niches_overlay.PERMUTATIONS, before = 3, niches_overlay.PERMUTATIONS
    world = common(2, seed=3, interior=16, slots=40, health=4, prefill=40, spawn_per_tick=4, cap_draw="fixed")
    diary = Overlay("diary", "every tick", read, {"diary": Diary})
    found = compute_overlays([*NAMES, diary], world, RandomPolicy(), TICKS, value=taste, seed=5)
    niches_overlay.PERMUTATIONS = before
    return world, found, kept["ticks"]


def layers(data):
    return {layer.name: layer for layer in data.layers}


def stands(ticks):
    """(population, world, life, row, col, tile) of every agent not on lava, tick by tick."""
    for tick in ticks:
        for w, a in zip(*np.nonzero(tick.alive), strict=True):
            row, col = int(tick.row[w, a]), int(tick.col[w, a])
            if tick.tiles[w, row, col] != LAVA:
                yield (
                    int(tick.population[w, a]),
                    int(w),
                    int(tick.life[w, a]),
                    row,
                    col,
                    int(tick.tiles[w, row, col]),
                )


def attacks(ticks):
    """(population, style, row, col, share of a death) of every attack; the attacker is the slot's occupant in the tick before."""
    for before, tick in itertools.pairwise(ticks):
        for w, a in zip(*np.nonzero(tick.struck >= 0), strict=True):
            target = int(tick.struck[w, a])
            row, col, style = (int(part[w, a]) for part in (tick.struck_row, tick.struck_col, tick.style))
            alike = ((tick.struck[w] == target) & (tick.style[w] == style)).sum()
            died = tick.died[w, target] and CAUSES[tick.ended["cause"][w, target]] == STYLES[style]
            yield int(before.population[w, a]), style, row, col, died / alike


def lives(ticks):
    """(population, world, born, length, ended, cause) of every life."""
    born, found = {}, []
    for t, tick in enumerate(ticks):
        for w, a in zip(*np.nonzero(tick.died), strict=True):
            if (w, a) in born:
                _life, start, population = born.pop((w, a))
                found.append(
                    (
                        population,
                        w,
                        start,
                        int(tick.ended["life"][w, a]),
                        True,
                        int(tick.ended["cause"][w, a]),
                    )
                )
        for w, a in zip(*np.nonzero(tick.alive), strict=True):
            if (w, a) not in born or born[w, a][0] != tick.life[w, a]:
                born[w, a] = (int(tick.life[w, a]), t, int(tick.population[w, a]))
    last = ticks[-1]
    going = [
        (p, w, start, int(last.age[w, a]), False, -1)
        for (w, a), (_, start, p) in born.items()
        if last.alive[w, a]
    ]
    return found + going


@pytest.mark.parametrize("name", NAMES)
def test_every_panel_has_a_name_for_each_of_its_rows(played, name):
    for layer in played[1][name].layers:
        values = np.asarray(layer.values)
        if layer.form in ("curves", "bars"):
            assert values.shape == (len(layer.labels), len(layer.x))
        elif values.ndim == 3:
            assert len(layer.labels) == len(values)
        assert len(set(layer.labels)) == len(layer.labels)
        if layer.limits is not None and layer.scale != "diverging":
            assert layer.limits[1] >= np.nanmax(values.sum(axis=0) if values.ndim == 3 else values)


def test_attacks_by_style_and_place(played):
    world, found, ticks = played
    struck, deadly, full = Counter(), Counter(), Counter()
    counts = np.zeros((POPULATIONS, len(STYLES), 11, 11), int)  # reach 3, then both went a step away
    for population, style, row, col, died in attacks(ticks):
        struck[population, style] += 1
        full[population, style] += max(abs(row), abs(col)) == world.settings.reach[style]
        deadly[population, style] += died
        counts[population, style, row + 5, col + 5] += 1
    assert sum(struck.values()) > 50
    assert counts[:, :, [0, 1, -2, -1]].sum() > 0
    for s, style in enumerate(STYLES):
        deaths = sum((tick.ended["cause"][tick.died] == CAUSES.index(style)).sum() for tick in ticks[1:])
        assert sum(deadly[k, s] for k in range(POPULATIONS)) == pytest.approx(deaths)
    assert any(share % 1 for share in deadly.values())
    data = found["combat"]
    assert data.columns == ("population", "style", "attacks", "at full reach", "kills per attack")
    for k, style, number, reach, kills in data.rows:
        s = STYLES.index(style)
        assert number == struck[k, s]
        if number:
            assert (reach, kills) == pytest.approx((full[k, s] / number, deadly[k, s] / number))
    assert len(data.rows) == POPULATIONS * len(STYLES)
    for k, layer in enumerate(data.layers):
        assert layer.labels == STYLES
        assert (layer.values == counts[k]).all()
        assert f"{counts[k].sum():,} attacks" in layer.title


def test_whoever_died_of_a_blow_was_struck_by_somebody(played):
    """Also if the attacker died in the same tick and a newcomer has its slot."""
    world, _, ticks = played
    found, replaced = 0, 0
    for before, tick in itertools.pairwise(ticks):
        for w, a in zip(*np.nonzero(tick.died), strict=True):
            cause = world.causes[tick.ended["cause"][w, a]]
            if cause not in STYLES:
                continue
            by = np.flatnonzero((tick.struck[w] == a) & (tick.style[w] == STYLES.index(cause)))
            assert len(by)
            assert tick.ended["population"][w, a] == before.population[w, a]
            found += 1
            replaced += (tick.alive[w, by] & tick.died[w, by]).any()
    assert found > 20
    assert replaced


def test_blows_lie_where_the_targets_stood(played):
    world, found, ticks = played
    side, counts = world.settings.side, Counter()
    for before, tick in itertools.pairwise(ticks):
        for w, a in zip(*np.nonzero(tick.struck >= 0), strict=True):
            row = tick.from_row[w, a] + tick.struck_row[w, a]
            col = tick.from_col[w, a] + tick.struck_col[w, a]
            counts[int(before.population[w, a]), int(tick.style[w, a]), int(row), int(col)] += 1
            target = tick.struck[w, a]
            if tick.life[w, target] == before.life[w, target] and tick.alive[w, target]:
                # it may have moved after the blow
                assert max(abs(tick.row[w, target] - row), abs(tick.col[w, target] - col)) <= 1
    assert counts.total() > 50
    data, tiles = found["blows"], world.state.tiles[0]
    for k, layer in enumerate(data.layers):
        assert layer.values.shape == (len(STYLES), side, side)
        assert {(k, *map(int, at)): int(layer.values[tuple(at)]) for at in np.argwhere(layer.values)} == {
            key: number for key, number in counts.items() if key[0] == k
        }
    for k, what, number, drinking, eating in data.rows:
        if what == "lived":
            assert number == layers(found["exploration"])["agents"].values[k].sum()
            continue
        own = {key: n for key, n in counts.items() if key[:2] == (k, STYLES.index(what))}
        assert number == sum(own.values())
        if not number:
            assert np.isnan([drinking, eating]).all()
            continue
        wet = sum(
            n
            for (_, _, row, col), n in own.items()
            if WATER in (tiles[row - 1, col], tiles[row + 1, col], tiles[row, col - 1], tiles[row, col + 1])
        )
        assert drinking == pytest.approx(wet / number)
        assert eating == pytest.approx(
            sum(n for key, n in own.items() if tiles[key[2:]] in (FOREST, SCRUB)) / number
        )


def test_visits_are_ticks_on_ground(played):
    world, found, ticks = played
    counts = np.zeros((POPULATIONS, world.settings.side, world.settings.side), int)
    for population, _, _, row, col, _ in stands(ticks):
        counts[population, row, col] += 1
    assert (layers(found["exploration"])["agents"].values == counts).all()
    assert (layers(found["niches"])["visits"].values == counts).all()
    ground = livable(world.state.tiles[0])
    walkers = layers(found["exploration"])["walkers"].values
    for k, visits, entered, by_walkers in found["exploration"].rows:
        assert visits == counts[k].sum()
        assert entered == (counts[k] > 0).sum() / ground.sum()
        assert by_walkers == (walkers[k] > 0).sum() / ground.sum()


def test_niches_count_steps_of_populations_by_cell_block_and_ground(played):
    _, found, ticks = played
    arrays = found["niches"].arrays
    places = {"cell": lambda row, col, tile: (row, col), "4x4_block": lambda row, col, tile: (row // 4, col // 4),
              "tile_type": lambda row, col, tile: tile}  # fmt: skip
    for name, place in places.items():
        counts = [Counter() for _ in range(POPULATIONS)]
        for population, _, _, row, col, tile in stands(ticks):
            counts[population][place(row, col, tile)] += 1
        told = arrays[f"{name}.counts"]
        assert [sorted(row[row > 0].tolist()) for row in told] == [sorted(count.values()) for count in counts]
        assert ((told > 0).all(axis=0)).sum() == len(set(counts[0]) & set(counts[1]))


def test_bars_of_niches_are_the_scores_of_the_table(played):
    """Of few permutations z of I(k;x) is not that of I(k;x) / H(k): labels of long lives change H(k)."""
    data = played[1]["niches"]
    bars, columns = layers(data)["z"], list(zip(*data.rows, strict=True))
    assert (bars.x, data.columns[4], data.columns[8]) == (columns[0], "z", "z")
    np.testing.assert_array_equal(bars.values, [columns[4], columns[8]])
    for name, _, share, _, z, *_ in data.rows:
        null = data.arrays[f"{name}.share.null".replace(" ", "_")]
        assert z == pytest.approx((share - null.mean()) / null.std())


def test_tables_of_lives(played):
    _world, found, ticks = played
    data, told = found["lives"], lives(ticks)
    names = ("population", "world", "born", "length", "ended", "cause")
    columns = zip(*(data.arrays[name].tolist() for name in names), strict=True)
    assert Counter(columns) == Counter(told)
    assert sum(ended for *_, ended, _ in told) > 5
    assert data.columns[:4] == ("lives of", "lives", "ended", "median")
    for name, number, ended, median, mean, of_ended in data.rows:
        own = [life for life in told if name == "everybody" or name == f"population {life[0]}"]
        length, done = np.array([life[3] for life in own]), np.array([life[4] for life in own])
        curve, horizon = kaplan_meier(length, done), max(x[3] for x in told)
        assert (number, ended) == (len(own), sum(life[4] for life in own))
        assert (median, mean) == pytest.approx(
            (median_life(curve), restricted_mean(length[done], length[~done], horizon)), nan_ok=True
        )
        assert of_ended == pytest.approx(np.mean([life[3] for life in own if life[4]]))


def test_panels_of_lives(played):
    world, found, ticks = played
    panels, told = layers(found["lives"]), lives(ticks)
    causes = panels["causes"]
    assert set(causes.labels) == {world.causes[cause] for *_, ended, cause in told if ended}
    for label, bars in zip(causes.labels, causes.values, strict=True):
        for k, bar in zip(causes.x, bars, strict=True):
            assert bar == sum(
                ended and world.causes[cause] == label and p == k for p, _, _, _, ended, cause in told
            )
    lengths = panels["lengths"]
    width = lengths.x[1] - lengths.x[0]
    for label, bars in zip(lengths.labels, lengths.values, strict=True):
        assert label in ("ended", "going on")
        for middle, bar in zip(lengths.x, bars, strict=True):
            assert bar == sum(
                abs(life[3] - middle) <= (width - 1) / 2 and life[4] == (label == "ended") for life in told
            )
    standing = panels["standing"]
    window = round(standing.x[1] - standing.x[0])
    for label, curve in zip(standing.labels, standing.values, strict=True):
        k = int(label.removeprefix("population "))
        for i, (middle, value) in enumerate(zip(standing.x, curve, strict=True)):
            inside = ticks[i * window : (i + 1) * window]
            assert middle == i * window + len(inside) / 2
            heads = [(tick.alive & (tick.population == k)).sum() / len(tick.alive) for tick in inside]
            assert value == pytest.approx(np.mean(heads))
    for label, curve in zip(panels["survival"].labels, panels["survival"].values, strict=True):
        own = [life for life in told if label == "everybody" or label == f"population {life[0]}"]
        known = kaplan_meier(np.array([life[3] for life in own]), np.array([life[4] for life in own]))
        seen = np.asarray(panels["survival"].x) <= max(life[3] for life in own)
        assert np.isfinite(curve).tolist() == seen.tolist()
        assert curve[seen] == pytest.approx(known.at(np.asarray(panels["survival"].x)[seen]))


def test_ground_that_agents_and_lives_have_seen(played):
    world, found, ticks = played
    everybody = layers(found["coverage"])["coverage"]
    assert everybody.labels == ("agents", "random walkers")
    shares = []
    for w in range(world.num_worlds):
        steps = [(row, col) for _, at, _, row, col, _ in stands(ticks) if at == w]
        # The order of agents within a tick is the slots'; entered in a tick is entered by its last agent-step.
        ends = np.cumsum(
            [
                sum(
                    tick.tiles[w][tick.row[w, a], tick.col[w, a]] != LAVA
                    for a in np.flatnonzero(tick.alive[w])
                )
                for tick in ticks
            ]
        )
        shares.append(
            [
                len(set(steps[: max([0, *(e for e in ends if e <= s)])])) / world.state.room["ground"][w]
                for s in everybody.x
            ]
        )
    assert everybody.values[0] == pytest.approx(np.mean(shares, axis=0))
    bars = layers(found["coverage"])["lives"]
    kinds = {"all ground": None, "grass": GRASS, "scrub": SCRUB, "forest": FOREST}
    paths: dict[tuple[int, int, int], list] = {}
    for population, w, life, row, col, tile in stands(ticks):
        paths.setdefault((population, w, life), []).append((row, col, tile))
    for label, values in zip(bars.labels, bars.values, strict=True):
        for k, value in zip(bars.x, values, strict=True):
            shares = [
                len({(row, col) for row, col, tile in path if kinds[label] in (None, tile)}) / len(path)
                for (population, _, _), path in paths.items()
                if population == k
            ]
            assert value == pytest.approx(np.mean(shares))


def test_maps_of_values_and_their_tables(played):
    world, found, _ = played
    data, ground = found["values"], livable(world.state.tiles[0])
    for layer, (population, variant, mean, spread, lowest, highest) in zip(
        data.layers, data.rows, strict=True
    ):
        assert layer.title == f"population {population}, {variant}"
        np.testing.assert_array_equal(layer.values, value_map(world, taste, population, variant))
        here = layer.values[ground & np.isfinite(layer.values)]
        assert (mean, spread) == pytest.approx((here.mean(), here.std()))
        assert (lowest, highest) == (here.min(), here.max())
        assert layer.limits == pytest.approx((mean - 4 * spread, mean + 4 * spread))
        assert (layer.dim == ~ground).all()
    one = compute_overlays(["values"], world, RandomPolicy(), 1, value=taste, population=1)["values"]
    assert [row[:2] for row in one.rows] == [(1, variant) for variant in VARIANTS]


def test_windows_of_dependence_and_their_tables(played):
    world, found, _ = played
    data = found["dependence"]
    assert [row[:2] for row in data.rows] == [
        (k, whose) for k in range(POPULATIONS) for whose in ("own", "other")
    ]
    top = max(np.abs(layer.values).max() for layer in data.layers)
    for layer, (population, whose, mean, lowest, highest) in zip(data.layers, data.rows, strict=True):
        assert layer.name == f"population_{population}_{whose}"
        known = dependence_map(world.settings, taste, population, same=whose == "own")
        np.testing.assert_array_equal(layer.values, known)
        assert (mean, lowest, highest) == pytest.approx((known.mean(), known.min(), known.max()))
        assert layer.limits == (-top, top)
