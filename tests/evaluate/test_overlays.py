"""Overlays by name, as data: one play for all, described arrays, user-defined overlays."""

from __future__ import annotations

import json

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.core.policy import RandomPolicy
from interplay.evaluate.lifetimes.coverage import VisitRecorder, WalkerRecorder, against_control
from interplay.evaluate.lifetimes.mmo.attacks import AttackRecorder
from interplay.evaluate.lifetimes.mmo.overlays import lives as niches_overlay
from interplay.evaluate.lifetimes.mmo.overlays import recorders
from interplay.evaluate.lifetimes.mmo.overlays.ground import life_coverage
from interplay.evaluate.lifetimes.mmo.overlays.recorders import visits
from interplay.evaluate.lifetimes.overlays import (
    Layer,
    Overlay,
    OverlayData,
    compute_overlays,
    find_overlay,
    list_overlays,
    register_overlay,
    side_by_side,
)
from interplay.evaluate.lifetimes.tick import watch
from interplay.evaluate.lifetimes.tracks import TrackRecorder
from interplay.worlds.mmo.tiles import FOREST
from tests.evaluate.commons import common, taste
from tests.evaluate.ticks import tick
from tests.view.scenes import WalkWorld

NAMES = ["values", "exploration", "dependence", "combat", "blows", "niches", "lives", "coverage"]
TICKS = 120


def heights(study):
    """A user's overlay."""
    layer = Layer(
        "ids", "tile ids", study.tiles.astype(float), "map", "diverging", "id", "What lies there.", (0, 5)
    )
    return OverlayData("ids", f"seen {study.seen('steps').steps.sum()}", (layer,))


IDS = Overlay("ids", "ids of the tiles", heights, {"steps": visits})


@pytest.fixture(scope="module")
def found():
    """Every overlay of one play."""
    niches_overlay.PERMUTATIONS, kept = 20, niches_overlay.PERMUTATIONS
    world = common(2, seed=3)
    yield world, compute_overlays(list_overlays(world), world, RandomPolicy(), TICKS, value=taste, seed=5)
    niches_overlay.PERMUTATIONS = kept


def test_the_overlays_that_are_promised_exist(found):
    there = [overlay.name for overlay in list_overlays(found[0])]
    assert [
        name for name in there if name in NAMES
    ] == NAMES  # documentation that was run may have added its own


@pytest.mark.parametrize("name", NAMES)
def test_data_describe_themselves(found, name):
    data = found[1][name]
    described = json.loads(json.dumps(data.describe(), default=str))
    assert described["title"]
    arrays = data.all_arrays()
    for layer in described["layers"]:
        assert layer["meaning"].endswith(".")
        assert layer["unit"]
        assert arrays[layer["name"]].size
    assert all(len(row) == len(data.columns) for row in data.rows)
    assert data.rows


def test_overlays_of_one_play_agree_with_each_other(found):
    world, data = found
    visited = data["exploration"].layers[0].values
    standing = data["lives"].arrays["standing.each_tick"]
    assert visited.sum() == standing.sum() * world.num_worlds == data["niches"].layers[0].values.sum()
    assert data["exploration"].layers[1].values.sum() == visited.sum()
    assert data["lives"].arrays["length"].size == world.state.room["births"].sum()
    reached = (visited.sum(axis=0) > 0) & ~world.state.reachable[0]
    assert not reached.any()


def test_coverage_at_the_end_is_the_share_of_tiles_that_were_entered(found):
    world, data = found
    recorder = VisitRecorder(2, 2, world.settings.side)
    watch(common(2, seed=3), RandomPolicy(), [recorder], TICKS, seed=5)
    entered = (recorder.first[:, -1] >= 0).sum(axis=1) / world.state.room["ground"]
    assert recorder.counts.sum() == data["exploration"].layers[0].values.sum()
    last = int(recorder.steps[:, -1].min())
    assert data["coverage"].rows[0][1] == last
    assert data["coverage"].rows[0][2] == pytest.approx(entered.mean(), rel=0.05)


def test_one_population_only(found):
    world = found[0]
    data = compute_overlays(
        ["values", "combat"], world, RandomPolicy(), 5, value=taste, population=1, burn_in=7
    )
    assert data["values"].title.endswith(" tick 12")
    assert [layer.title for layer in data["values"].layers][:2] == [
        "population 1, full",
        "population 1, no food",
    ]
    assert len(data["combat"].layers) == 1


def test_agents_that_move_as_walkers_do_cover_as_much():
    """The null of the control: no deaths, no lava, uniform legal moves."""
    world = common(6, seed=1, interior=40, slots=24, drain=0, combat=False, mask_lava=True, cap_draw="fixed")
    agents, control = (VisitRecorder(6, 2, 58) for _ in range(2))
    watch(world, RandomPolicy(), [agents, WalkerRecorder(control, seed=2)], 200)
    found = against_control(agents, control, world.state.room["ground"], [500, 2000, 4000])
    np.testing.assert_allclose(found.ratio, 1, atol=0.06)


def test_burn_in_is_not_recorded():
    recorder, late = (VisitRecorder(1, 2, 42) for _ in range(2))
    watch(common(), RandomPolicy(), [recorder], 40, seed=1)
    watch(common(), RandomPolicy(), [late], 10, seed=1, burn_in=30)
    assert 0 < late.counts.sum() < recorder.counts.sum()


def test_kills_belong_to_the_style_that_the_victim_died_of():
    recorder = AttackRecorder(1, (1, 2, 3), (5, 6, 7))
    recorder.add(tick(slots=4))
    ended = {"cause": np.array([[0, 6, 0, 0]])}
    recorder.add(tick(slots=4, struck=[1, -1, 1, 1], style=[2, 0, 1, 0], died=[0, 1, 0, 0], ended=ended))
    assert recorder.kills.tolist() == [[0, 1, 0]]
    recorder.add(tick(slots=4, struck=[1, -1, 1, 1], style=[1, 0, 1, 1], died=[0, 1, 0, 0], ended=ended))
    assert recorder.kills[0].tolist() == pytest.approx([0, 2, 0])  # three attacks, one death


def test_a_reach_beyond_the_view_ends_with_the_view():
    recorder = recorders.attacks(common(reach=(1, 2, 300)))
    assert recorder.counts.shape[2:] == (19, 19)  # vision 7, then a move of both


def test_ground_of_one_life():
    recorder = TrackRecorder()
    for col in (0, 1, 0, 2):
        now = tick(slots=1, col=[col])
        now.tiles[0, 0, 2] = FOREST
        recorder.add(now)
    found = life_coverage(recorder.tracks())
    assert found.share.tolist() == [0.75]
    assert {name: share[0] for name, share in found.by_ground.items()} == {
        "grass": 0.5,
        "scrub": 0,
        "forest": 0.25,
    }


def test_a_users_own_overlay():
    register_overlay(IDS)
    register_overlay(IDS)
    assert find_overlay("ids") is IDS
    assert find_overlay("tests.evaluate.test_overlays:IDS").name == "ids"
    data = compute_overlays(["ids"], common(), RandomPolicy(), 10)["ids"]
    assert data.title != "seen 0"
    with pytest.raises(UserError, match="is taken"):
        register_overlay(Overlay("ids", "another", heights))
    with pytest.raises(UserError, match="is taken"):
        register_overlay(Overlay("lives", "another", heights))


def test_homes_stand_beside_each_other_on_one_scale_and_lose_nothing():
    asked = ["exploration", "blows", "lives"]
    alone = {
        home: compute_overlays(asked, common(1, seed), RandomPolicy(), 60, seed=seed)
        for home, seed in (("small", 3), ("large", 4))
    }
    for name in asked:
        both = side_by_side({home: data[name] for home, data in alone.items()})
        kept = both.all_arrays()
        for home, data in alone.items():
            for key, array in data[name].all_arrays().items():
                np.testing.assert_array_equal(kept[f"{home}.{key}"], array)
        assert both.rows == tuple((home, *row) for home, data in alone.items() for row in data[name].rows)
        assert both.columns == ("home", *alone["small"][name].columns)
        apart = [layer for data in alone.values() for layer in data[name].layers]
        for shown, own in zip(both.layers, apart, strict=True):
            assert shown.title.endswith(f": {own.title}")
            if own.limits is None:
                assert shown.limits is None
            else:
                alike = [
                    layer.limits for layer in apart if (layer.form, layer.scale) == (own.form, own.scale)
                ]
                assert shown.limits == (min(low for low, _ in alike), max(high for _, high in alike))
        assert both.panels_across == len(alone["small"][name].layers)


def test_different_overlays_are_not_set_beside_each_other():
    found = compute_overlays(["blows", "lives"], common(), RandomPolicy(), 5)
    with pytest.raises(UserError, match="blows and lives are different overlays"):
        side_by_side({"a": found["blows"], "b": found["lives"]})


def test_visits_of_a_world_without_tiles_are_counted_where_agents_are_drawn():
    world = WalkWorld(length=12)
    (layer,) = compute_overlays(["visits"], world, RandomPolicy(), 8, seed=1)["visits"].layers
    assert layer.values.sum() == 2 * 9  # two agents, the reset and 8 steps


@pytest.mark.parametrize(
    ("lengths", "burn_in", "states"), [((5, 9), 0, 6), ((5, 9), 3, 3), ((9, 5), 0, 9), ((2, 9), 3, 0)]
)
def test_visits_end_with_the_first_world(lengths, burn_in, states):
    """8 ticks are watched while any world goes on; a world that is over stands still and counts no more."""
    world = WalkWorld(2, length=np.array(lengths))
    found = compute_overlays(["visits"], world, RandomPolicy(), 8, burn_in=burn_in, seed=1)["visits"]
    assert found.layers[0].values.sum() == found.rows[0][0] == 2 * states
    assert found.layers[0].limits == (0.0, found.layers[0].values.max())
    assert f" {max(states - 1, 0)} ticks" in found.title


def test_a_study_holds_the_ticks_that_were_played_and_those_before():
    def read(study):
        layer = Layer("a", "a", np.zeros((1, 1)), "curves", "plain", "u", "m.")
        return OverlayData("a", "a", (layer,), {}, ("burn-in", "ticks"), ((study.burn_in, study.ticks),))

    asked = Overlay("a", "a", read, reader=lambda world: lambda now: None)
    for length, ticks in ((20, 9), (5, 2)):
        found = compute_overlays([asked], WalkWorld(2, length), RandomPolicy(), ticks=9, burn_in=3)
        assert found["a"].rows == ((3, ticks),)


def test_lives_that_the_end_of_their_world_cuts_go_on():
    """As in a world without an end, but for the births of the last tick."""
    cut, uncut = (
        compute_overlays(["lives"], common(2, seed=3, max_ticks=end), RandomPolicy(), ticks, seed=5)[
            "lives"
        ].arrays
        for end, ticks in ((40, 60), (None, 40))
    )
    there = uncut["born"] < 40
    assert not cut["ended"].all()
    for name in ("length", "ended", "population", "world", "born", "cause"):
        assert cut[name].tolist() == uncut[name][there].tolist()
