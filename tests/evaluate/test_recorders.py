"""Lives, tracks and attacks: attribution to an ended life or to the newcomer in its slot."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interplay.core.errors import UserError
from interplay.core.policy import RandomPolicy
from interplay.evaluate.lifetimes.mmo.attacks import AttackRecorder, BlowRecorder
from interplay.evaluate.lifetimes.mmo.ticks import read_tick
from interplay.evaluate.lifetimes.survival import LifeRecorder
from interplay.evaluate.lifetimes.tick import tick_reader, watch
from interplay.evaluate.lifetimes.tracks import TrackRecorder, Tracks
from tests.evaluate.nursery import Nursery
from tests.evaluate.ticks import tick
from tests.worlds.mmo.scenes import MELEE, MIDDLE, PASS, RANGE, KernelScene


def ended(**columns):
    return {name: np.array([values]) for name, values in columns.items()}


def story(recorder):
    """Slot 0 lives on, slot 1 dies in tick 2 and is reborn at once, slot 2 was alive before and dies in tick 3."""
    recorder.add(tick(age=[0, 0, 7], population=[0, 1, 0], col=[0, 0, 5]))
    recorder.add(tick(age=[1, 1, 8], population=[0, 1, 0], col=[1, 0, 5]))
    recorder.add(
        tick(
            age=[2, 0, 9],
            life=[0, 8, 2],
            population=[0, 0, 0],
            col=[1, 7, 5],
            died=[False, True, False],
            ended=ended(life=[0, 2, 0], population=[0, 1, 0], cause=[0, 3, 0], kills=[0, 4, 0]),
            struck=[-1, 0, -1],
            style=[0, 2, 0],
        )
    )
    recorder.add(
        tick(
            age=[3, 1, 0],
            life=[0, 8, 2],
            alive=[True, True, False],
            col=[2, 7, 5],
            died=[False, False, True],
            ended=ended(life=[0, 0, 10], population=[0, 0, 0], cause=[0, 0, 1], kills=[0, 0, 0]),
        )
    )
    return recorder


def test_lives_that_were_under_way_are_left_out_and_those_that_go_on_are_kept():
    table = story(LifeRecorder(2)).table()
    assert table.length.tolist() == [2, 3, 1]
    assert table.ended.tolist() == [True, False, False]
    assert table.population.tolist() == [1, 0, 0]
    assert table.born.tolist() == [0, 0, 2]
    assert table.cause.tolist() == [3, -1, -1]
    assert table.ended_columns["kills"].tolist() == [4]
    assert table.standing.tolist() == [[2, 1], [2, 1], [3, 0], [2, 0]]
    assert table.causes(2, 4).tolist() == [[0, 0, 0, 0], [0, 0, 0, 1]]
    assert table.of(1)[0].tolist() == [2]


def test_a_table_without_deaths():
    recorder = LifeRecorder(1)
    recorder.add(tick())
    assert recorder.table().ended.tolist() == [False] * 3


def test_tracks():
    tracks = story(TrackRecorder()).tracks()
    assert tracks.population.tolist() == [0, 1, 0]
    assert tracks.ended.tolist() == [False, True, False]
    assert tracks.length.tolist() == [4, 2, 2]
    assert tracks.cell[tracks.life == 0].tolist() == [0, 1, 1, 2]
    assert tracks.cell[tracks.life == 2].tolist() == [7, 7]
    assert tracks.age()[tracks.life == 0].tolist() == [0, 1, 2, 3]
    assert tracks.third()[tracks.life == 1].tolist() == [0, 1]
    assert (tracks.third()[tracks.life == 0] == -1).all()
    # The attack of tick 2 was struck by the life that ended, not by the newcomer.
    assert (tracks.attack_life.tolist(), tracks.attack_style.tolist()) == ([1], [2])
    assert tracks.blocks(4)[tracks.life == 2].tolist() == [1, 1]


def test_thirds_divide_a_life_evenly():
    recorder = TrackRecorder()
    for age in range(9):
        recorder.add(tick(slots=1, age=[age]))
    recorder.add(tick(slots=1, alive=[False], died=[True]))
    assert recorder.tracks().third().tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]


class Pond(Nursery):
    instruments: ClassVar = {"ticks": f"{__name__}:read_pond"}


def read_pond(world):
    return tick(world.num_worlds, alive=world.timestep.acting, population=world.population)


def test_a_world_says_who_reads_its_ticks():
    seen, recorder = [], LifeRecorder(1)
    recorder.add = lambda now: seen.append(now.alive.copy())
    world = Pond(2, npop=1, slots=3, cap=3)
    watch(world, RandomPolicy(), [recorder], 4)
    assert len(seen) == 5
    np.testing.assert_array_equal(seen[-1], world.timestep.acting)
    with pytest.raises(UserError, match=r"no map of tiles; .* in World\.instruments"):
        tick_reader(Nursery(1))


def test_attacks_are_counted_for_who_struck_them():
    recorder = AttackRecorder(2, (1, 2, 3), (5, 6, 7))
    story(recorder)
    assert recorder.counts.sum() == 1
    assert recorder.counts[1, 2, 5, 5] == 1  # population of the life that ended


def test_attack_profile():
    recorder = AttackRecorder(1, (1, 2, 3), (5, 6, 7))
    recorder.add(tick())
    blows = {"struck": [1, 0, 1], "style": [0, 1, 1], "struck_row": [0, -2, 1], "struck_col": [1, 0, 0]}
    recorder.add(tick(**blows, died=[0, 1, 0], ended=ended(cause=[0, 6, 0])))
    profile = recorder.profile()
    assert profile.counts[0, 0, 5, 6] == 1
    assert profile.counts[0, 1, 3, 5] == 1
    assert profile.edge_share[0, :2].tolist() == [1, 0.5]
    assert profile.kills_per_attack[0, :2].tolist() == [0, 0.5]
    assert np.isnan(profile.edge_share[0, 2])


@settings(max_examples=60)
@given(
    st.integers(1, 12),
    st.integers(1, 5),
    st.lists(st.tuples(st.integers(0, 3), st.floats(0, 0.999)), max_size=30),
)
def test_what_follows_from_tracks_step_by_step(side, size, steps):
    """Ages, thirds of ended lives and blocks of cells, also on maps that no whole number of blocks covers."""
    life, none = np.array([one for one, _ in steps], int), np.zeros(0, int)
    cell = np.array([int(at * side * side) for _, at in steps], int)
    ended = np.array([True, False, True, True])
    zeros = np.zeros(4, int)
    tracks = Tracks(zeros, zeros, ended, life, cell, cell, none, none, np.zeros((0, 2), int), side)
    seen = dict.fromkeys(range(4), 0)
    blocks = {}
    for n, (one, at) in enumerate(zip(life.tolist(), cell.tolist(), strict=True)):
        assert tracks.age()[n] == seen[one]
        length = life.tolist().count(one)
        assert tracks.length[one] == length
        assert tracks.third()[n] == (3 * seen[one] // length if ended[one] else -1)
        seen[one] += 1
        block = (at // side // size, at % side // size)
        assert blocks.setdefault(int(tracks.blocks(size)[n]), block) == block
    assert len(set(blocks.values())) == len(blocks)


def test_who_strikes_and_dies_in_one_tick_is_counted_though_somebody_is_born_into_the_slot():
    scene = KernelScene(order="seniority", respawn="flow", spawn_per_tick=1)
    for col in (MIDDLE, MIDDLE + 1):
        scene.place(MIDDLE, col, population=col - MIDDLE, life=50)
    profile, blows = AttackRecorder(2, (1, 2, 3), (5, 6, 7)), BlowRecorder(2, scene.settings.side)
    for recorder in (profile, blows):
        recorder.add(read_tick(scene.world))
    scene.act({0: (PASS, RANGE), 1: (PASS, MELEE)})  # the senior wounds the other, and dies of the answer
    assert scene.ended(0)
    assert scene.agent(0).life_id == 2
    for recorder in (profile, blows):
        recorder.add(read_tick(scene.world))
    assert profile.counts.sum() == 2
    assert profile.counts[0, RANGE, 5, 6] == profile.counts[1, MELEE, 5, 4] == 1
    assert np.argwhere(blows.counts).tolist() == [
        [0, RANGE, MIDDLE, MIDDLE + 1],
        [1, MELEE, MIDDLE, MIDDLE],
    ]


def test_a_world_that_is_over_strikes_no_more():
    scene = KernelScene(order="seniority", respawn="none", max_ticks=1)
    for col in (MIDDLE, MIDDLE + 1):
        scene.place(MIDDLE, col, life=50)
    scene.act({0: (PASS, RANGE)})
    assert scene.over()
    assert read_tick(scene.world).struck[0, 0] == 1
    scene.act()  # as a batch goes on whose other worlds are not over
    assert (read_tick(scene.world).struck == -1).all()
