"""Windows of a run's first world: when they are recorded, what they hold, and that training does not notice."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from interplay.core.policy import RandomPolicy
from interplay.core.replay import ReplayReader
from interplay.core.replay.layout import WATCHING
from interplay.core.settings import build
from interplay.core.world import World
from interplay.registry import make_world
from interplay.train.run import recording
from interplay.train.run.recording import FIRST_SECONDS, SHARE, WATCHED, WindowRecorder, even, thin, windows
from interplay.train.settings import TrainSettings
from interplay.train.trainer import resume, train
from tests.machines.write_points import failing
from tests.train.runs import arrays_of, log_of
from tests.train.test_trainer import settings_of
from tests.train.toy_worlds import Corridor, make_corridor

COST = 0.001  # seconds of the clock below that a look takes


class Clock:
    """Goes on by a fixed time whenever somebody looks, and by what `wait` says."""

    now = 0.0

    def __call__(self) -> float:
        self.now += COST
        return self.now

    def wait(self, seconds: float) -> None:
        self.now += seconds


class Trained:
    """A batch that a trainer would step, and its tap."""

    def __init__(self, run: Path, world: World | None = None, options: Any = None, **record: Any) -> None:
        self.world = world or make_world("dilemma/fixed", num_worlds=2, seed=1)
        self.clock, self.said, self.updates = Clock(), [], 0
        chosen = {"id": self.world.id, "options": options or {}}
        settings = TrainSettings(world=chosen, record={"every": 2, "ticks": 10, **record})
        run.mkdir(exist_ok=True)
        self.world.reset()
        self.policy = RandomPolicy()
        self.policy.start(self.world, 1)
        self.tap = WindowRecorder(run, self.world, settings, self.said.append, self.clock)

    def update(self, steps: int = 20) -> None:
        """Plays so many steps, as `Collector` does."""
        self.tap.open(self.updates, self.updates * 100)
        self.updates += 1
        for _ in range(steps):
            action = self.policy.act(self.world.timestep)
            self.world.step(action)
            self.tap.step(action)
            if (over := self.world.timestep.over.copy()).any():
                self.world.reset(over)
                if over[0]:
                    self.tap.begin()


def named(run: Path) -> list[str]:
    return sorted(path.name for path in (run / "recordings").iterdir())


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows may cost what they cost, as in a run that has gone on for long."""
    monkeypatch.setattr(recording, "SHARE", 1e9)


def test_a_window_comes_every_so_many_updates(tmp_path, at_once):
    trained = Trained(tmp_path, every=2, ticks=10)
    for _ in range(5):
        trained.update()
    assert named(tmp_path) == ["000001-0.replay", "000002-200.replay", "000003-400.replay"]
    with ReplayReader(tmp_path / "recordings" / "000002-200.replay") as reader:
        assert (reader.closed, reader.ticks, reader.troubles) == (True, 10, [])
        assert reader.header.policy == f"{tmp_path.name} at 200, in training"
        assert reader.header.exact
    trained.updates = 9  # the next one was due after 6, and is late
    for _ in range(2):
        trained.update()
    assert named(tmp_path)[3:] == ["000004-900.replay"]


def test_a_stage_s_options_stand_over_those_of_the_run(tmp_path, at_once):
    stage = make_world("dilemma/fixed", num_worlds=2, seed=1, rounds=9)
    trained = Trained(tmp_path, stage, options={"rounds": 5}, every=1)
    trained.tap.move(stage, {"rounds": 9})
    trained.update()
    with ReplayReader(tmp_path / "recordings" / "000001-0.replay") as reader:
        assert reader.header.options["rounds"] == 9


def test_windows_stay_within_their_share_of_the_time(tmp_path):
    trained = Trained(tmp_path, every=1, ticks=10)
    trained.clock.wait(0.9 * FIRST_SECONDS / SHARE)
    trained.update()
    assert named(tmp_path) == []  # nobody knows what the first one costs
    shares = []
    for _ in range(150):
        trained.clock.wait(0.3)
        trained.update()
        shares.append(trained.tap.share)
    assert 0.01 < max(shares) < SHARE + 0.001  # the look that finds it spent costs too
    assert 2 < len(named(tmp_path)) <= 20


def test_a_window_that_costs_more_than_the_time_allows_is_cut_short(tmp_path):
    trained = Trained(tmp_path, every=1, ticks=10_000)
    trained.clock.wait(FIRST_SECONDS / SHARE + 1)
    trained.update(5_000)
    assert trained.tap.share < SHARE + 0.001
    with ReplayReader(tmp_path / "recordings" / "000001-0.replay") as reader:
        assert reader.closed
        assert 10 < reader.ticks < 5_000


def test_while_a_viewer_renews_its_word_one_window_follows_another(tmp_path, at_once):
    word = tmp_path / "recordings" / WATCHING
    word.parent.mkdir()
    word.write_text("0")  # of a viewer that is long gone
    trained = Trained(tmp_path, every=1_000, keep=100)
    for _ in range(3):
        trained.update()
    assert len(windows(word.parent)) == 1
    os.utime(word, ns=(1, 1))  # a viewer's clock may be any
    for _ in range(3):
        trained.update()
    assert len(windows(word.parent)) == 4
    trained.clock.wait(WATCHED)
    trained.update()
    assert len(windows(word.parent)) == 4


def test_numbers_go_on_and_what_is_not_ours_stays(tmp_path, at_once):
    Trained(tmp_path, every=1).update()
    own = tmp_path / "recordings" / "mine.replay"
    own.write_bytes(b"mine")
    again = Trained(tmp_path, every=1, keep=1)
    again.update()
    again.update()
    assert named(tmp_path) == ["000003-100.replay", "mine.replay"]
    Trained(tmp_path, every=1).update()
    assert named(tmp_path) == ["000003-100.replay", "000004-0.replay", "mine.replay"]


def test_windows_of_any_number_are_known_again_and_thinned_out(tmp_path):
    for number in (999_999_998, 999_999_999, 1_000_000_000):
        (tmp_path / f"{number:06d}-{number}.replay").touch()
    thin(tmp_path, 3, 1_000_000_001)
    assert [one.number for one in windows(tmp_path)] == [999_999_998, 1_000_000_000]


def test_those_that_are_kept_lie_evenly_over_the_run(tmp_path):
    steps = list(range(0, 10_000, 10))
    left: list[int] = []
    for step in steps:  # as a run does it
        left = [[*left, step][place] for place in even([*left, step], 12)]
    assert len(left) == 12
    assert (left[0], left[-3:]) == (0, steps[-3:])
    gaps = np.diff(left[:-3])
    assert gaps.max() < 3 * gaps.min()
    # Where there is no room for three newest ones, the first stays; of one that is the newest.
    assert [even([0, 10, 20, 30, 40], keep) for keep in (4, 3, 2, 1)] == [
        [0, 2, 3, 4],
        [0, 3, 4],
        [0, 4],
        [4],
    ]
    (tmp_path / "000001-5.replay").write_bytes(b"")
    (tmp_path / "000002-6.replay").symlink_to(tmp_path / "000001-5.replay")
    thin(tmp_path, 1, 7)
    assert os.listdir(tmp_path) == ["000002-6.replay"]  # a link is nobody's window


def test_a_window_in_the_middle_of_an_episode_says_so_and_can_be_played_on(tmp_path, at_once):
    trained = Trained(
        tmp_path, make_world("dilemma/fixed", num_worlds=3, seed=5, rounds=7), every=1, ticks=30
    )
    trained.update(4)
    trained.tap.close()
    trained.update(40)
    with ReplayReader(tmp_path / "recordings" / "000002-100.replay") as reader:
        frames = list(reader.frames())
        assert not frames[0].first
        assert [frame.tick for frame in frames if frame.last] == [3, 11, 19, 27]
        assert [frame.tick for frame in frames if frame.first] == [4, 12, 20, 28]
        world = reader.world_at(29, make_world("dilemma/fixed", rounds=7))
    assert world.timestep.reward.shape == (1, 2)


def test_a_full_disk_ends_recording_with_a_line_and_nothing_else(tmp_path, at_once):
    trained = Trained(tmp_path, every=1, ticks=250)
    trained.update(120)
    with failing("recording: appended"):
        for _ in range(4):
            trained.update(120)
    assert len(trained.said) == 1
    assert "the disk is full" in trained.said[0]
    assert trained.said[0].endswith("the run goes on without recordings")
    (only,) = windows(tmp_path / "recordings")
    with ReplayReader(only.path) as reader:
        assert not reader.closed
        assert reader.ticks >= 100


def test_a_world_that_cannot_be_drawn_is_told_once(tmp_path, at_once):
    class Undrawn(Corridor):
        def draw(self, canvas: Any, world: int) -> None:
            raise ZeroDivisionError("no  such\nthing")

    trained = Trained(tmp_path, Undrawn(2), every=1)
    trained.update()
    trained.update()
    line = "recording Undrawn: ZeroDivisionError: no such thing; the run goes on without recordings"
    assert trained.said == [line]


def plain(run: Path) -> list[dict[str, Any]]:
    """What a run has logged, but for what the clock says."""
    timed = ("time", "time_share", "agent_steps_per_s")
    return [{key: value for key, value in line.items() if key not in timed} for line in log_of(run)]


def recorded(updates: int, every: int = 2, workers: int = 1) -> TrainSettings:
    record = {"every": every, "ticks": 40} if every else {"every": 0}
    return build(TrainSettings, {**settings_of(updates, workers).model_dump(), "record": record}, "test")


def test_a_run_comes_out_the_same_with_recordings_and_without(tmp_path, at_once):
    off = train(recorded(4, every=0), tmp_path / "off", make_corridor)
    on = train(recorded(4), tmp_path / "on", make_corridor)
    assert arrays_of(on) == arrays_of(off)
    assert plain(on) == plain(off)
    assert not (off / "recordings").exists()
    assert len(windows(on / "recordings")) == 2
    resume(on, steps=10**9 + 1, make_world=make_corridor)  # it had ended; nothing is recorded
    assert len(windows(on / "recordings")) == 2


def test_with_several_workers_the_first_one_records(tmp_path, at_once):
    one = train(recorded(2), tmp_path / "one", make_corridor)
    two = train(recorded(2, workers=2), tmp_path / "two", make_corridor)
    assert arrays_of(one) == arrays_of(two)
    first, second = (windows(run / "recordings")[0].path for run in (one, two))
    with ReplayReader(first) as here, ReplayReader(second) as there:
        assert here.ticks == there.ticks == 40
        for a, b in zip(here.frames(), there.frames(), strict=True):
            assert json.dumps(a.scene.layers[0].text) == json.dumps(b.scene.layers[0].text)


def test_a_run_that_is_stopped_leaves_windows_that_are_whole(tmp_path, at_once):
    run = train(recorded(50), tmp_path / "run", make_corridor, on_update=lambda _, told: told["updates"] == 3)
    assert [one.number for one in windows(run / "recordings")] == [1, 2]
    with ReplayReader(windows(run / "recordings")[-1].path) as reader:
        assert reader.closed
        assert 33 <= reader.ticks < 40  # of an update, and a frame more for every reset
    resume(run, make_world=make_corridor, on_update=lambda _, told: told["updates"] == 4)
    assert [one.number for one in windows(run / "recordings")] == [1, 2, 3]


def test_a_run_that_leaves_nothing_leaves_no_recordings(tmp_path, at_once):
    class Broken(Corridor):
        steps = 0

        def _step(self, action: np.ndarray) -> Any:
            Broken.steps += 1
            if Broken.steps > 10:
                raise RuntimeError("broken")
            return super()._step(action)

    with pytest.raises(RuntimeError, match="broken"):
        train(recorded(2), tmp_path / "run", Broken)
    assert not (tmp_path / "run").exists()
