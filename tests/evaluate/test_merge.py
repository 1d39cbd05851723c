"""Server merges: equal homes tie, stronger ones win, kills lose nothing."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interplay.core import files
from interplay.core.errors import UserError
from interplay.core.policy import Policy, RandomPolicy
from interplay.evaluate import Home, Watch, merge_homes
from interplay.evaluate.tournaments.merge import Merge, MergeSettings, play_merge, shares
from interplay.evaluate.tournaments.merge_results import _life_cell, bootstrap_groups, wrong_row

NURSERY = "tests.evaluate.nursery:Nursery"
SMALL = {"interior": 20}


class Always(Policy):
    def __init__(self, action):
        self.action, self.name = action, f"always {action}"

    def act(self, timestep):
        return np.full(timestep.acting.shape, self.action)


class Still(Policy):
    """Never moves, so it dies of thirst at its 36th tick unless it stands beside water."""

    name = "still"

    def act(self, timestep):
        return np.zeros((*timestep.acting.shape, 2), np.int64)


def merged(out=None, **more):
    homes = {"short": Home((Always(0),)), "long": Home((Always(1),), 2)}
    values = {"caps": (8, 12), "maps": 3, "watch": Watch(20, 80, 200), "options": {"lives": (6,)}, **more}
    return merge_homes(homes, NURSERY, out=out, **values)


def test_known_lives_come_back_in_every_company():
    found = merged()
    for cap in (8, 12):
        # Home "long" doubles its lives; who keeps it company does not matter in this world.
        assert found.life(cap).tolist() == [[6, 6], [12, 12]]
    assert found.standings.wins.tolist() == [[0, 0], [6, 0]]
    assert {(cell.home, cell.other, cell.cap) for cell in found.cells} == {
        (a, b, cap) for a in ("short", "long") for b in ("short", "long") for cap in (8, 12)
    }
    assert all(cell.interval == (cell.life, cell.life) for cell in found.cells)
    copies = [cell for cell in found.cells if cell.home == cell.other]
    assert all(cell.share == pytest.approx(0.5) for cell in copies)
    assert [len(cell.standing) for cell in copies] == [2, 2, 4, 4]


def test_one_map_tells_no_interval():
    found = merged(maps=1, caps=(8,))
    assert np.isfinite(found.life(8)).all()
    assert np.isnan([cell.interval for cell in found.cells]).all()
    assert all(cell["interval"] == [None, None] for cell in found.to_dict()["cells"])


@pytest.mark.parametrize(("quota", "places"), [("per_home", (6, 3, 3)), ("per_population", (4, 4, 4))])
def test_places_are_kept(quota, places):
    found = merged(quota=quota, caps=(12,), options={"lives": (300,)}, watch=Watch(20, 80, 150))
    (cell,) = [cell for cell in found.cells if (cell.home, cell.other) == ("long", "short")]
    assert cell.standing == pytest.approx(places[1:], abs=0.5)


def test_the_same_bits_after_every_kind_of_stop(tmp_path, monkeypatch):
    merged(tmp_path / "whole")
    whole = (tmp_path / "whole" / "results.jsonl").read_bytes()

    class Stopped(Exception):
        pass

    for times in (1, 2, 3, 5):
        left = [times]

        def stop(point: str, left=left) -> None:
            left[0] -= point == "results: part written"
            if left[0] == 0:
                raise Stopped

        out = tmp_path / f"stopped{times}"
        monkeypatch.setattr(files, "hooks", [stop])
        with pytest.raises(Stopped):
            merged(out)
        monkeypatch.setattr(files, "hooks", [])
        merged(out, resume=True)
        assert (out / "results.jsonl").read_bytes() == whole
        assert (out / "ratings.json").read_bytes() == (tmp_path / "whole" / "ratings.json").read_bytes()


def test_several_trainings_of_a_home_are_paired_in_turn(tmp_path):
    homes = {"mixed": Home((Always(0), Always(1))), "short": Home((Always(0),))}
    found = merge_homes(
        homes,
        NURSERY,
        caps=(8,),
        maps=2,
        watch=Watch(20, 80, 200),
        options={"lives": (6,)},
        out=tmp_path / "m",
    )
    keys = [json.loads(line)["key"] for line in (tmp_path / "m" / "results.jsonl").read_text().splitlines()]
    assert keys == [
        *("0-0/8/0-0/0", "0-0/8/0-0/1", "0-0/8/1-1/0", "0-0/8/1-1/1"),
        *("0-1/8/0-0/0", "0-1/8/0-0/1", "0-1/8/1-0/0", "0-1/8/1-0/1"),
        *("1-1/8/0-0/0", "1-1/8/0-0/1"),
    ]
    (cell,) = [cell for cell in found.cells if (cell.home, cell.other) == ("mixed", "short")]
    # One training lives 6 ticks, the other 12: drawing trainings again gives each alone at the ends.
    assert cell.interval == pytest.approx((6, 12))
    assert 6 < cell.life < 12


def test_equal_homes_are_equal_and_a_still_one_is_seen():
    homes = {"a": Home((RandomPolicy(),)), "b": Home((RandomPolicy(),), 2), "still": Home((Still(),))}
    found = merge_homes(
        homes, "mmo/forage", caps=(8,), maps=6, seed=3, watch=Watch(40, 200, 300), options=SMALL
    )
    life = {(cell.home, cell.other): cell for cell in found.cells}
    # The ring is close to the lava: random walkers die there, who stands still lives on.
    assert life["still", "a"].life > 2 * life["a", "still"].life
    spread = np.diff([*life["a", "b"].interval, *life["b", "a"].interval])[[0, 2]]
    assert abs(life["a", "b"].life - life["b", "a"].life) < spread.sum()
    assert life["a", "b"].causes["lava"] > 0.5
    assert set(life["a", "b"].per_life) >= {"kills", "food", "water"}
    assert sum(life["a", "b"].causes.values()) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("world", "values", "said"),
    [
        (NURSERY, {"caps": (7,)}, "cap = 7: 2 homes cannot have equal parts of 7 places"),
        (NURSERY, {"caps": (2,)}, "cap = 2: long has 2 populations for its 1 places"),
        (NURSERY, {"caps": (8, 8)}, "caps: 8 is named twice"),
        (NURSERY, {"caps": ()}, "caps"),
        (NURSERY, {"caps": (8,), "quota": "fair"}, "give one of per_home, per_population"),
        ("survival/1v1-heals-low", {"caps": (8,)}, "homes need a world with populations"),
        ("mmo/forage", {"caps": (8,), "options": {"interiour": 3}}, "did you mean interior"),
    ],
)
def test_refusals_come_before_there_is_a_folder(tmp_path, world, values, said):
    homes = {"short": Home((Always(0),)), "long": Home((Always(1),), 2)}
    with pytest.raises(UserError) as refused:
        merge_homes(homes, world, out=tmp_path / "m", **values)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "m").exists()


class Heard(RandomPolicy):
    """Records its starts: seed and worlds."""

    def __init__(self, started):
        self.started = started

    def start(self, world, seed=0):
        super().start(world, seed)
        self.started.append((id(self), seed, world.num_populations, world.hash().tolist()))


def played(blocks, cap=8):
    """The starts when a home meets itself on these blocks of maps."""
    started = []
    settings = MergeSettings(
        world=NURSERY, options={"lives": (6,)}, homes=("home", "other"), identities=("a", "b"), runs=(1, 1),
        populations=(2, 2), caps=(8, 12), burn_in=0, window=5, horizon=5,
    )  # fmt: skip
    player = Heard(started)
    for block in blocks:
        play_merge(settings, Merge((0, 0), cap, (0, 0)), (player, player), block)
    return started


def test_a_home_that_meets_itself_is_two_policies_with_draws_of_their_own():
    (ours, theirs) = played([range(2)])
    assert ours[0] != theirs[0]
    assert ours[1] != theirs[1]
    assert ours[2] == theirs[2] == 2  # populations each: one policy would have been given all four


def test_blocks_of_a_merge_have_maps_and_draws_of_their_own():
    (one, _, other, _) = played([range(2), range(2, 4)])
    assert one[1] != other[1]
    assert not set(one[3]) & set(other[3])
    assert len(set(one[3])) == 2
    assert played([range(2)], cap=12)[0][1] != one[1]


def test_a_map_does_not_depend_on_the_block_that_it_is_played_in():
    (pair, _, single, _) = played([range(2, 4), range(3, 4)])
    assert pair[3][1:] == single[3]


def test_groups_are_drawn_whole():
    groups = [0, 0, 0, 1, 1, 1]
    drawn = bootstrap_groups(groups, 1, 200)
    kinds = [tuple(sorted({groups[i] for i in picked})) for picked in drawn]
    # Two groups drawn twice with replacement: both in half of the draws.
    assert 0.35 < np.mean([kind == (0, 1) for kind in kinds]) < 0.65
    assert all(len(picked) == 6 for picked in drawn)
    assert bootstrap_groups(groups, 1, 3)[2].tolist() == drawn[2].tolist()


def test_cut_lives_are_drawn_with_their_maps():
    """Map 0 has lives that end at 1, map 1 those cut after 4: a draw of map 1 alone lives to the horizon, of map 0 alone 1 tick."""
    rows = [
        {
            "homes": [{"ended": ended, "cut": cut, "causes": {}, "per_life": {}}],
            "standing": [1.0],
            "populations": [1],
        }
        for ended, cut in (([1, 1], []), ([], [4, 4]))
    ]
    cell = _life_cell("a", "a", 8, list(enumerate(rows)), (0,), 0, 4)
    assert cell.life == pytest.approx(0.5 * 1 + 0.5 * 4)
    assert cell.interval == (1.0, 4.0)


HOME = {"ended": [1, 2], "cut": [], "causes": {"a": 2}, "per_life": {"food": 1.0}}
ROW = {"homes": [HOME, HOME], "populations": [1, 1], "standing": [1.0, 0.5]}


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"homes": [HOME]}, "homes"),
        *(({"homes": [HOME, HOME | {"ended": [age]}]}, "ended") for age in (-1, "1", True, 2**31)),
        ({"homes": [HOME, HOME | {"causes": {"a": 1.5}}]}, "causes"),
        *(
            ({"homes": [HOME, HOME | {"per_life": x}]}, "per_life")
            for x in ({"food": "x"}, {"kills": 1.0}, 3)
        ),
        *(({"standing": standing}, "standing|populations") for standing in ([1.0], ["1", 1.0], None)),
        ({"populations": [2, 1]}, "populations"),
    ],
)
def test_a_row_that_is_no_result_is_named(change, named):
    assert wrong_row(ROW, [1, 1], None) is None
    assert re.search(named, wrong_row(ROW | change, [1, 1], None))


@given(st.integers(1, 128), st.integers(1, 12), st.integers(1, 12))
def test_homes_get_half_each_or_are_told_why_not(cap, ours, theirs):
    try:
        quotas = shares(cap, [ours, theirs], "per_home", ["a", "b"])
    except UserError:
        assert cap % 2 or cap // 2 < max(ours, theirs)
        return
    assert sum(quotas[:ours]) == sum(quotas[ours:]) == cap // 2
    for part in (quotas[:ours], quotas[ours:]):
        assert max(part) - min(part) <= 1
        assert min(part) >= 1


@given(st.integers(1, 128), st.integers(1, 12), st.integers(1, 12))
def test_populations_get_the_same_each(cap, ours, theirs):
    if cap < ours + theirs:
        with pytest.raises(UserError, match="cannot share"):
            shares(cap, [ours, theirs], "per_population", ["a", "b"])
        return
    quotas = shares(cap, [ours, theirs], "per_population", ["a", "b"])
    assert len(set(quotas)) == 1
    assert cap <= sum(quotas) < cap + ours + theirs
