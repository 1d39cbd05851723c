"""Recordings of tournaments: the requested ones, of the counted matches, without a change of results."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.core.policy import Policy
from interplay.core.replay import ReplayReader
from interplay.evaluate.tournaments.match_recordings import (
    MATCHES,
    check_count,
    list_recorded,
    recording_name,
)
from interplay.evaluate.tournaments.matches import Match
from interplay.evaluate.tournaments.ratings.standings import Standings, tally_seats
from interplay.evaluate.tournaments.round_robins import round_robin
from interplay.registry import make_policy

WORLD = "dilemma/fixed"
NAMES = ("random", "tit_for_tat", "defect")


def played(out: Path | None, names: tuple[str, ...] = NAMES, **more) -> Standings:
    return round_robin({name: make_policy(WORLD, name) for name in names}, WORLD, matches=4, out=out, **more)


def test_recordings_are_of_the_matches_that_count(tmp_path):
    plain = played(tmp_path / "plain")
    found = played(tmp_path / "cup", record=1)
    assert found.to_dict() == plain.to_dict()
    results = (tmp_path / "cup" / "results.jsonl").read_bytes()
    assert results == (tmp_path / "plain" / "results.jsonl").read_bytes()
    assert not (tmp_path / "plain" / MATCHES).exists()
    pairs = [(0, 1), (0, 2), (1, 2)]
    names = {recording_name(pair, match) for pair in pairs for match in (0, 1)}
    assert {path.name for path in (tmp_path / "cup" / MATCHES).iterdir()} == names
    lines = {line["key"]: line for line in map(json.loads, results.splitlines())}
    for i, j in pairs:
        for match in (0, 1):
            line = lines[f"{i}-{j}/{match}"]
            first, second = (i, j) if match == 0 else (j, i)
            with ReplayReader(tmp_path / "cup" / MATCHES / recording_name((i, j), match)) as reader:
                header = reader.header
                assert header.players == (NAMES[first], NAMES[second])
                assert header.policy == f"{NAMES[first]} against {NAMES[second]}"
                assert (header.world, header.seed) == (WORLD, line["seed"])
                assert reader.ticks == line["steps"] + 1
                frames = list(reader.frames())
                assert (frames[0].first, frames[-1].last) == (True, True)
                world = reader.world_at(reader.ticks - 1)
            assert world.timestep.over[0]  # the match itself, played to its end
            world.close()
    told = json.loads((tmp_path / "cup" / "ratings.json").read_text())["recorded"]
    assert len(told) == 6
    for one in told:
        assert one["scores"] == lines[f"{one['players'][0]}-{one['players'][1]}/{one['match']}"]["scores"]


def test_a_tournament_that_was_played_is_recorded_afterwards(tmp_path):
    cup = tmp_path / "cup"
    before = played(cup)
    results = (cup / "results.jsonl").read_bytes()
    again = played(cup, resume=True, record=1)
    assert again.to_dict() == before.to_dict()
    assert (cup / "results.jsonl").read_bytes() == results
    there = {path: path.stat().st_ino for path in (cup / MATCHES).iterdir()}
    assert len(there) == 6
    played(cup, resume=True, record=2)
    now = {path: path.stat().st_ino for path in (cup / MATCHES).iterdir()}
    assert len(now) == 12
    assert {path: now[path] for path in there} == there  # those that were there are not written anew


def test_matches_that_are_cut_are_recorded_to_the_cut(tmp_path):
    played(tmp_path / "cup", record=1, max_steps=3)
    with ReplayReader(tmp_path / "cup" / MATCHES / recording_name((0, 1), 0)) as reader:
        frames = list(reader.frames())
        assert (len(frames), frames[-1].last) == (4, True)


def test_a_match_that_breaks_off_leaves_no_recording(tmp_path):
    broken: Policy = make_policy(WORLD, "defect")
    act, turns = broken.act, iter(range(5))
    broken.act = lambda timestep: act(timestep) if next(turns, None) is not None else 1 / 0  # type: ignore[method-assign]
    with pytest.raises(UserError, match="player defect: ZeroDivisionError"):
        round_robin(
            {"broken": broken, "random": make_policy(WORLD, "random")},
            WORLD,
            matches=2,
            out=tmp_path / "cup",
            record=1,
        )
    assert list((tmp_path / "cup" / MATCHES).iterdir()) == []


def test_what_cannot_be_recorded_is_refused(tmp_path):
    with pytest.raises(UserError, match="recordings need a folder"):
        played(None, record=1)
    with pytest.raises(UserError, match="record = -1: give at least 1"):
        played(tmp_path / "less", record=-1)
    check_count(3, 1_666, 2, 100, True)
    check_count(3, 5_000, 2, 2, True)  # there are no more matches than that
    (tmp_path / "cup").mkdir()
    (tmp_path / "elsewhere").mkdir()
    played(tmp_path / "linked")
    (tmp_path / "linked" / MATCHES).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="is a link"):
        played(tmp_path / "linked", resume=True, record=1)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_only_matches_with_a_recording_are_told(tmp_path):
    (tmp_path / MATCHES).mkdir()
    (tmp_path / MATCHES / recording_name((0, 2), 1)).write_bytes(b"")
    matches = [((0, 1), 0, (1.0, 0.0)), ((0, 2), 1, (2.0, 3.0))]
    assert list_recorded(tmp_path, matches) == [{"players": [0, 2], "match": 1, "scores": [2.0, 3.0]}]
    assert list_recorded(None, matches) == list_recorded(tmp_path / "none", matches) == []


def test_seats_are_tallied_by_hand():
    # Matches 0 and 3 seat the first player first, 1 and 2 the second one.
    scores = [(1.0, 0.0), (1.0, 0.0), (0.0, 0.0), (0.0, 2.0)]
    payoff = tally_seats(3, [Match((0, 2), n, s, {}) for n, s in enumerate(scores)])
    assert payoff.matches.tolist() == [[0, 0, 2], [0, 0, 0], [2, 0, 0]]
    assert payoff.total.tolist() == [[0, 0, 0], [0, 0, 0], [-1, 0, 0]]
    assert payoff.seat_advantage() == -0.25
    three = tally_seats(3, [Match((0, 1, 2), 1, (3.0, 2.0, 1.0), {})])  # 1 sits before 2, and 2 before 0
    assert three.matches.tolist() == [[0, 0, 0], [1, 0, 1], [1, 0, 0]]
    assert three.total.tolist() == [[0, 0, 0], [-1, 0, 1], [-1, 0, 0]]
    assert np.array_equal(tally_seats(2, []).matches, np.zeros((2, 2)))
