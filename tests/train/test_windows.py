"""Episodes counted by when they began: each once, none too early, the same after a stop, and told beside what a plain list says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interplay.core.errors import UserError
from interplay.train.run.episodes import BEGINS, MOST, UNKNOWN, Windows
from interplay.train.settings import TrainSettings
from interplay.train.trainer import train
from tests.train.runs import log_of

LENGTHS = st.lists(st.lists(st.integers(1, 30), min_size=1, max_size=8), min_size=1, max_size=4)


def begin(windows: Windows) -> None:
    """A step is taken: worlds that were reset begin their episodes."""
    windows.of[windows.of == BEGINS] = windows.current


class Played:
    """Worlds whose episodes have given lengths, over and over; a list of them beside the windows."""

    def __init__(self, lengths: list[list[int]]) -> None:
        self.lengths, self.windows = lengths, Windows(len(lengths), 2)
        self.step = 0
        self.at = [0] * len(lengths)  # which of its lengths each world plays
        self.left = [own[0] for own in lengths]
        self.under_way = [0] * len(lengths)  # when each world's episode began
        self.open: list[int] = []  # agent-steps of the windows, as the twin knows them
        self.ended: list[tuple[int, int]] = []  # (window, length) of episodes that have not been told

    def update(self, steps: int) -> None:
        if len(self.open) < MOST:
            self.open.append(self.step)
        self.windows.open(self.step)
        for _ in range(steps):
            begin(self.windows)
            over = np.zeros(len(self.lengths), bool)
            for world, own in enumerate(self.lengths):
                length = own[self.at[world] % len(own)]
                if self.left[world] == length:
                    self.under_way[world] = self.open[-1]
                self.left[world] -= 1
                if not self.left[world]:
                    over[world] = True
                    self.ended.append((self.under_way[world], length))
                    self.at[world] += 1
                    self.left[world] = own[self.at[world] % len(own)]
            told = [[1.0, own[(self.at[w] - 1) % len(own)]] for w, own in enumerate(self.lengths) if over[w]]
            self.windows.end(over, np.array(told).reshape(-1, 2))
            self.step += 1

    def told(self) -> tuple[int, int]:
        """Number of episodes and their lengths' sum, of the windows before the first in which somebody plays."""
        playing = [
            began
            for world, began in enumerate(self.under_way)
            if self.left[world] < self.lengths[world][self.at[world] % len(self.lengths[world])]
        ]
        first = min(playing, default=self.step)
        self.open = [began for began in self.open if began >= first]
        found = [length for began, length in self.ended if began < first]
        self.ended = [(began, length) for began, length in self.ended if began >= first]
        return len(found), sum(found)


@given(LENGTHS, st.lists(st.integers(1, 20), min_size=1, max_size=60))
def test_windows_tell_what_a_list_of_episodes_says(lengths: list[list[int]], updates: list[int]) -> None:
    played = Played(lengths)
    for steps in updates:
        played.update(steps)
        windows = played.windows
        assert tuple(windows.take(windows.complete(windows.waiting()))) == played.told()
    under_way = sum(
        left < own[at % len(own)] for left, own, at in zip(played.left, lengths, played.at, strict=True)
    )
    assert played.windows.waiting().sum() == under_way


def test_short_episodes_do_not_come_first() -> None:
    """Half of the worlds play 5 steps, the others 50: of the first 50 steps those that ended say 5 for long.

    Windows in which nothing but short ones began are complete at once, and wait for the first one, in which all did.
    """
    windows, age, ended, told = Windows(20, 2), np.zeros(20, int), [], []
    lengths = np.where(np.arange(20) < 10, 5, 50)
    for update in range(9):
        windows.open(update)
        for _ in range(5):
            begin(windows)
            age += 1
            over = age == lengths
            windows.end(over, np.stack([np.ones(over.sum()), lengths[over]], axis=1))
            ended += list(lengths[over])
            age[over] = 0
        told.append(windows.take(windows.complete(windows.waiting())))
    assert set(ended) == {5}
    assert not np.any(told)
    windows.end(lengths == 50, np.full((10, 2), [1, 50]))
    first = windows.began == 0
    assert windows.take(first).tolist() == [20, 10 * 5 + 10 * 50]


def test_a_full_table_lets_the_newest_go_on() -> None:
    """One world never ends in each of the windows; the episodes of others are told as soon as nobody of theirs plays."""
    windows = Windows(MOST + 2, 1)
    begun = np.zeros(MOST + 2, bool)
    for update in range(MOST + 5):
        windows.open(update)
        windows.of[begun] = np.where(windows.of[begun] < 0, UNKNOWN, windows.of[begun])
        before = windows.of.copy()
        begin(windows)
        keep = before != -1
        fresh = np.flatnonzero(~keep)
        windows.of[fresh[1:]] = -1  # only one more world begins
        begun[fresh[:1]] = True
    assert (windows.began >= 0).all()
    assert windows.waiting().tolist() == [1] * (MOST - 1) + [3]


def test_saved_windows_go_on_exactly() -> None:
    rng = np.random.default_rng(5)
    lengths = [list(map(int, rng.integers(1, 150, 7))) for _ in range(6)]
    straight, stopped = Played(lengths), Played(lengths)
    for _ in range(80):  # long enough to fill the table
        for played in (straight, stopped):
            played.update(2)
        again = Windows(6, 2)
        again.load({name: array.copy() for name, array in stopped.windows.save().items()}, "checkpoint")
        stopped.windows = again
        for name, array in straight.windows.save().items():
            np.testing.assert_array_equal(array, again.save()[name])
        both = (straight.windows, stopped.windows)
        sums = [each.take(each.complete(each.waiting())) for each in both]
        np.testing.assert_array_equal(*sums)


def test_episodes_of_which_nobody_noted_the_beginning_are_not_told() -> None:
    windows = Windows(2, 1)
    windows.load({}, "a checkpoint of an earlier version")
    windows.open(64)
    begin(windows)
    windows.end(np.array([True, False]), np.array([[7.0]]))
    assert not windows.sums.any()
    begin(windows)
    windows.end(np.array([True, True]), np.array([[2.0], [9.0]]))
    assert windows.take(windows.complete(windows.waiting())).tolist() == [2.0]


@pytest.mark.parametrize(
    ("key", "damage", "says"),
    [
        ("of", lambda a: a + MOST, r"array of holds 32, outside -2\.\.31"),
        ("began", lambda a: a[1:], "this run needs"),
        ("sums", lambda a: a * np.nan, "NaN"),
    ],
)
def test_damaged_windows_are_refused(key: str, damage: object, says: str) -> None:
    windows = Windows(2, 1)
    begin(windows)
    saved = windows.save()
    with pytest.raises(UserError, match=says):
        Windows(2, 1).load({**saved, key: damage(saved[key])}, "shard 0")  # type: ignore[operator]


def test_a_curve_begins_near_random_play(tmp_path: Path) -> None:
    """Random play of this world lasts 499 steps; of 16 worlds, until the longest is over, those that end first last 350."""
    settings = TrainSettings.model_validate(
        {
            "world": {"id": "survival/1v1-heals-low"},
            "num_worlds": 16,
            "steps": 40_000,
            "ppo": {"rollout": 64, "learning_rate": 1e-12, "epochs": 1, "minibatch": 2048},
            "network": {"kind": "mlp", "hidden": (4,)},
            "train": {"quiet": True},
        }
    )
    run = train(settings, tmp_path / "run")
    lines = log_of(run)
    told = [line for line in lines if line["episodes"]]
    first = told[0]
    assert first["episodes"] >= 16
    assert first["episodes_began"] < 16 * 2 * 64
    assert 399 < first["episode_length"] < 599
    assert {"episode_length", "episode_return", "life"} <= set(first["of_episodes"])
    assert first["lives"] == 2 * first["episodes"]
    assert first["life"] < first["episode_length"] - 20  # the first to die waits for the other
    assert all("life" not in line for line in lines[: lines.index(first)])
