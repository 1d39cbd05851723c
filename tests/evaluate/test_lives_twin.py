"""`LifeWatch` against a slow twin with predetermined lives: births, ends and limits at every tick."""

from __future__ import annotations

from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interplay.evaluate.lifetimes.lives import LifeWatch, Watch

WORLDS, SLOTS, TICKS = 2, 3, 24
HOMES = np.array([0, 1, 1])  # populations 1 and 2 are one home


class Life(NamedTuple):
    world: int
    slot: int
    born: int
    end: int  # tick; beyond the play: it goes on
    died: bool  # else a limit cut it
    population: int
    cause: int


def drawn_lives(seed: int, ticks: int) -> list[Life]:
    """Consecutive lives in each slot, some born in the step in which the previous one ends."""
    rng = np.random.default_rng(seed)
    found = []
    for w in range(WORLDS):
        for a in range(SLOTS):
            born = int(rng.integers(0, 3))
            while born <= ticks:
                end = born + int(rng.integers(1, 9))
                who, cause = int(rng.integers(len(HOMES))), int(rng.integers(1, 3))
                found.append(Life(w, a, born, end, bool(rng.random() < 0.8), who, cause))
                born = end + int(rng.integers(0, 3))
    return found


def watched(lives: list[Life], watch: Watch, ticks: int):
    """Results of a `LifeWatch` of these lives."""

    def arrays(t: int):
        acting, died, cut = (np.zeros((WORLDS, SLOTS), bool) for _ in range(3))
        for life in lives:
            at = life.world, life.slot
            if life.end == t:
                died[at], cut[at] = life.died, not life.died
                world.ended["life"][at], world.ended["cause"][at] = t - life.born, life.cause
                world.ended["kills"][at] = life.born
        for life in lives:
            if life.born <= t < life.end:
                acting[life.world, life.slot] = True
                world.population[life.world, life.slot] = life.population
        return SimpleNamespace(acting=acting, terminated=died, truncated=cut)

    world = SimpleNamespace(num_worlds=WORLDS, causes=("alive", "age", "thirst"))
    world.population = np.zeros((WORLDS, SLOTS), np.uint8)
    world.ended = {name: np.zeros((WORLDS, SLOTS), np.int64) for name in ("life", "cause", "kills")}
    world.timestep = arrays(0)
    found = LifeWatch(world, HOMES, watch)
    for t in range(1, ticks + 1):
        found.step(arrays(t))
    return found


@settings(max_examples=80)
@given(st.integers(0, 2**32), st.integers(0, TICKS), st.integers(0, 9), st.integers(1, 12), st.integers(1, 9))
def test_every_life_counts_where_its_home_and_its_end_say(seed, ticks, burn_in, window, horizon):
    lives = drawn_lives(seed, ticks)
    counted = [life for life in lives if burn_in <= life.born < burn_in + window and life.born <= ticks]
    for w, row in enumerate(watched(lives, Watch(burn_in, window, horizon), ticks).results()):
        for home, told in enumerate(row["homes"]):
            mine = [life for life in counted if life.world == w and HOMES[life.population] == home]
            # Who died of itself up to the horizon has ended there; everybody else was last seen alive.
            ended = [x for x in mine if x.end <= ticks and x.died and x.end - x.born <= horizon]
            cut = [x for x in mine if x not in ended]
            assert told["ended"] == sorted(x.end - x.born for x in ended)
            assert told["cut"] == sorted(min(min(x.end, ticks) - x.born, horizon) for x in cut)
            names = ["age" if x.cause == 1 else "thirst" for x in ended]
            assert told["causes"] == {name: names.count(name) for name in sorted(set(names))}
            kills = {"kills": pytest.approx(np.mean([x.born for x in ended]))} if ended else {}
            assert told["per_life"] == kills
        assert row["populations"] == [1, 2]
        assert row["ticks"] == ticks


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.integers(1, TICKS), st.integers(0, 9), st.integers(1, 12))
def test_the_standing_is_the_mean_over_the_windows_ticks(seed, ticks, burn_in, window):
    lives = drawn_lives(seed, ticks)
    rows = watched(lives, Watch(burn_in, window, 100), ticks).results()
    looked_at = [t for t in range(burn_in, burn_in + window) if t <= ticks]
    for w, row in enumerate(rows):
        for k in range(len(HOMES)):
            heads = [
                sum(x.world == w and x.population == k and x.born <= t < x.end for x in lives)
                for t in looked_at
            ]
            assert row["standing"][k] == pytest.approx(np.mean(heads) if heads else 0.0)


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.integers(0, 5), st.integers(1, 8), st.integers(1, 9))
def test_it_is_done_when_nobody_of_the_window_is_left_below_the_horizon(seed, burn_in, window, horizon):
    lives = drawn_lives(seed, TICKS)
    for ticks in range(TICKS + 1):
        found = watched(lives, Watch(burn_in, window, horizon), ticks)
        going = [
            x
            for x in lives
            if burn_in <= x.born < burn_in + window and x.born <= ticks < x.end and ticks - x.born < horizon
        ]
        assert found.followed.sum() == len(going)
        assert found.done == (ticks >= burn_in + window and not going)
