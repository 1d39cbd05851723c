"""The replay against a list that remembers every frame of every team."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given
from hypothesis import strategies as st

from interplay.core.errors import UserError
from interplay.train.factored.replay import FrameLayout, Replay, TeamInput
from interplay.train.observations import ObservationRows

GAMMA, MEMBERS, TEAMS, DECISIONS = 0.5, 2, 3, 4
SPACE = spaces.Dict(x=spaces.Box(0, 1e9, (1,), np.float32), kind=spaces.Box(0, 255, (2,), np.uint8))


def make(capacity: int = 5) -> Replay:
    layout = FrameLayout(ObservationRows(SPACE), MEMBERS, DECISIONS + 1, 1, 3, 2, 1)
    return Replay(layout, TEAMS, capacity)


def look_at(stamp: int, teams: np.ndarray) -> TeamInput:
    """What teams see at a moment: everything tells the moment and the team."""
    own = (1000 * stamp + teams).astype(np.float32)
    members = np.repeat(own[:, None], MEMBERS, axis=1)
    acts = np.stack([np.ones(len(teams), bool), teams % 2 == 0], axis=1)
    rows = {"float32": members[..., None], "uint8": np.full((len(teams), MEMBERS, 2), stamp % 256, np.uint8)}
    mask = np.ones((len(teams), MEMBERS, 3), bool)
    return TeamInput(rows, mask, acts, ~acts, np.repeat(members[..., None], 2, axis=2), own[:, None])


class Listed:
    """The same told of one team, frame by frame, without any array."""

    def __init__(self) -> None:
        self.stretches: list[list[dict]] = []
        self.frames: list[dict] = []

    def see(self, stamp: float) -> None:
        frame = {"stamp": stamp, "reward": 0.0, "discount": 1.0, "decides": True}
        self.frames.append(frame)
        if len(self.frames) == DECISIONS + 1:
            self.stretches.append([*self.frames[:-1], {**frame, "decides": False}])
            self.frames = [frame]

    def cut(self, stamp: float) -> None:
        self.frames.append({"stamp": stamp, "decides": False})
        if len(self.frames) == DECISIONS + 1:
            self.stretches.append(self.frames)
            self.frames = []


@given(st.integers(0, 2**32 - 1))
def test_stretches_are_those_of_a_list(seed: int):
    rng, replay, lists, order = np.random.default_rng(seed), make(40), [Listed() for _ in range(TEAMS)], []
    for stamp in range(30):
        teams = np.flatnonzero(rng.random(TEAMS) < 0.7)
        replay.see(teams, look_at(stamp, teams))
        for team in teams:
            before = len(lists[team].stretches)
            lists[team].see(1000.0 * stamp + team)
            order += [team] * (len(lists[team].stretches) - before)
        open_ones = np.flatnonzero(replay.open)
        reward = rng.integers(-4, 5, len(open_ones)).astype(np.float32)
        replay.earn(open_ones, reward, GAMMA)
        for team, earned in zip(open_ones, reward, strict=True):
            frame = lists[team].frames[-1]
            frame["reward"] += frame["discount"] * earned
            frame["discount"] *= GAMMA
        ends = open_ones[rng.random(len(open_ones)) < 0.3]
        cuts = ends[rng.random(len(ends)) < 0.5]
        replay.cut(cuts, look_at(stamp + 500, cuts))
        for team in cuts:
            before = len(lists[team].stretches)
            lists[team].cut(1000.0 * (stamp + 500) + team)
            order += [team] * (len(lists[team].stretches) - before)
        ended = np.setdiff1d(ends, cuts)
        replay.end(ended)
        for team in ended:
            lists[team].frames[-1]["discount"] = 0.0
    assert replay.there == len(order)
    assert set(replay.draw(rng, 40 * len(order)).tolist()) == set(range(len(order)))
    met = [0] * TEAMS
    for place, team in enumerate(order):
        stretch = lists[team].stretches[met[team]]
        met[team] += 1
        frames = replay.take(np.array([place]), 1)
        assert frames.rows["float32"][0, 0, :, 0].tolist() == [frame["stamp"] for frame in stretch]
        assert frames.state[0, :, 0].tolist() == [frame["stamp"] for frame in stretch]
        assert frames.memory[0, 0, 0] == stretch[0]["stamp"]
        assert frames.decides[0].tolist() == [frame["decides"] for frame in stretch]
        for at, frame in enumerate(stretch):
            if frame["decides"]:
                assert frames.reward[0, at] == frame["reward"]
                assert frames.discount[0, at] == frame["discount"]


def test_the_newest_take_the_places_of_the_oldest():
    replay, every = make(capacity=2), np.arange(TEAMS)
    for stamp in range(DECISIONS + 1):
        replay.see(every, look_at(stamp, every))
    assert (replay.taken, replay.there) == (3, 2)
    kept = {float(row[0, 0, 0]) for row in replay.ring.rows["float32"]}
    assert kept == {1.0, 2.0}


def test_choices_stand_with_what_was_seen():
    replay, every = make(), np.arange(TEAMS)
    for stamp in range(DECISIONS + 1):
        replay.see(every, look_at(stamp, every))
        replay.act(every, np.full((TEAMS, MEMBERS, 1), stamp))
    assert replay.ring.action[0, 0, :DECISIONS, 0].tolist() == list(range(DECISIONS))


def test_what_is_saved_goes_on_as_what_was_not():
    rng, replay, other, every = np.random.default_rng(0), make(), make(), np.arange(TEAMS)
    for stamp in range(14):
        if stamp == 7:
            other.load(replay.save(), "checkpoint")
            assert other.open.tolist() == replay.open.tolist() == [False, False, True]
        for each in [replay] if stamp < 7 else [replay, other]:
            each.see(every, look_at(stamp, every))
            each.earn(every, np.full(TEAMS, float(stamp), np.float32), GAMMA)
            if stamp % 5 == 1:  # at 6 too, so that two of the teams saved there are closed
                each.end(every[:1])
                each.cut(every[1:2], look_at(stamp, every[1:2]))
    mine, theirs = replay.save(), other.save()
    assert mine.keys() == theirs.keys()
    for name in mine:
        np.testing.assert_array_equal(mine[name], theirs[name], err_msg=name)
    assert replay.draw(rng, 3).max() < replay.there


def test_a_team_without_a_frame_is_not_open():
    """Otherwise the next reward would go to its last frame, of an older stretch."""
    replay = make()
    replay.load(
        make().save() | {"open": np.array([True, False, True]), "at": np.array([0, 2, 3])}, "checkpoint"
    )
    assert replay.open.tolist() == [False, False, True]


def test_a_replay_of_other_settings_is_refused():
    arrays = make(capacity=5).save()
    with pytest.raises(UserError, match="this run needs"):
        Replay(FrameLayout(ObservationRows(SPACE), MEMBERS, 3, 1, 3, 2, 1), TEAMS, 5).load(
            arrays, "checkpoint"
        )
    with pytest.raises(UserError, match=r"outside 0\.\.4"):
        make().load(arrays | {"at": np.full(TEAMS, 9)}, "checkpoint")


def test_an_empty_replay_gives_nothing_that_teaches():
    replay = make()
    frames = replay.take(replay.draw(np.random.default_rng(0), 3), 3)
    assert frames.decides.shape == (3, DECISIONS + 1)
    assert not frames.decides.any()
