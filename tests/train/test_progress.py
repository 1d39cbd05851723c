"""The progress line: right figures, few lines, and a bar only where there is a terminal."""

from __future__ import annotations

import io

import pytest

from interplay.train.run.progress import Progress, duration


class Clock:
    """A clock that tests set."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def run(updates: int, seconds: float, every: float = 5.0) -> list[str]:
    clock, stream = Clock(), io.StringIO()
    with Progress(1_000, 0, stream, every, clock) as progress:
        for update in range(1, updates + 1):
            clock.now += seconds
            progress.update(update * 100, {"kl": 0.01 * update})
    return stream.getvalue().splitlines()


def test_plain_lines_come_every_few_seconds_and_at_the_end() -> None:
    assert run(updates=10, seconds=2.0) == [
        "100 / 1,000 agent-steps (10 %), 50/s, 18 s left, kl 0.01",
        "400 / 1,000 agent-steps (40 %), 50/s, 12 s left, kl 0.04",
        "700 / 1,000 agent-steps (70 %), 50/s, 6 s left, kl 0.07",
        "1,000 / 1,000 agent-steps (100 %), 50/s, 0 s left, kl 0.1",
    ]


def test_the_last_state_is_not_said_twice() -> None:
    lines = run(updates=2, seconds=6.0)
    assert len(lines) == len(set(lines)) == 2


def test_a_resumed_run_counts_only_its_own_steps_into_the_rate() -> None:
    clock, stream = Clock(), io.StringIO()
    progress = Progress(2_000, 1_000, stream, clock=clock)
    assert progress.rate == 0
    assert progress.seconds_left is None
    clock.now += 10
    progress.update(1_500)
    assert progress.rate == pytest.approx(50)
    assert progress.seconds_left == pytest.approx(10)


def test_the_rate_follows_the_last_half_minute() -> None:
    clock = Clock()
    progress = Progress(10**6, 0, io.StringIO(), clock=clock)
    done = 0
    for per_second in [10] * 100 + [1000] * 40:
        clock.now += 1
        done += per_second
        progress.update(done)
    assert progress.rate == pytest.approx(1000)


def test_what_stands_before_the_first_update_is_no_measure_where_it_is_not_asked_for() -> None:
    clock, stream = Clock(), io.StringIO()
    progress = Progress(1_000, 200, stream, 5.0, clock, unmeasured=True)
    for now, done in [(110.0, 200), (200.0, 300)]:  # looked at, then an update after a long compilation
        clock.now = now
        progress.update(done)
        assert (progress.rate, progress.seconds_left) == (0, None)
    clock.now = 202.0
    progress.update(400)
    assert (progress.rate, progress.seconds_left) == (50, 12)
    clock.now = 206.0
    progress.update(400)  # nothing new is slower
    assert progress.rate == pytest.approx(100 / 6)
    progress.close()
    assert stream.getvalue().splitlines()[1:] == [
        "300 / 1,000 agent-steps (30 %)",
        "400 / 1,000 agent-steps (40 %), 17/s, 36 s left",
    ]


def test_a_clock_that_stands_still_is_no_division_by_zero() -> None:
    progress = Progress(0, 0, io.StringIO(), clock=Clock())
    progress.update(10)
    assert progress.rate == 0


@pytest.mark.parametrize("width", [20, 60, 200])
def test_a_terminal_gets_a_bar_that_fits(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    clock, stream = Clock(), Terminal()
    with Progress(300_000, 0, stream, clock=clock) as progress:
        clock.now += 2
        progress.update(100_000, {"episode_length": 512.3, "heals_used": 0.57})
        progress.say("saved [a] checkpoint")
    text = stream.getvalue()
    assert "saved [a] checkpoint" in text
    assert ("100,000 / 300,000 agent-steps (33 %), 50,000/s, 4 s left" in text) == (width > 20)
    assert ("heals_used 0.57" in text) == (width == 200)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 s"), (59.4, "59 s"), (59.6, "1 min 00 s"), (3599.6, "1 h 00 min"), (90_061, "25 h 01 min")],
)
def test_durations(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_a_run_without_a_known_end_shows_neither_share_nor_time_left() -> None:
    clock, stream = Clock(), io.StringIO()
    with Progress(None, 0, stream, 5.0, clock) as progress:
        clock.now += 10
        progress.update(2_000, {"kl": 0.5})
    assert stream.getvalue().splitlines() == ["2,000 agent-steps, 200/s, kl 0.5"]


def test_a_number_without_a_case_is_a_dash() -> None:
    stream = io.StringIO()
    with Progress(None, stream=stream) as progress:
        progress.update(100, {"win_vil": float("nan"), "kl": 0.5})
    assert stream.getvalue().strip().endswith("win_vil -, kl 0.5")


def test_a_run_is_not_done_before_its_end() -> None:
    stream = io.StringIO()
    with Progress(1_000, stream=stream, clock=Clock()) as progress:
        progress.update(999)
    assert stream.getvalue() == "999 / 1,000 agent-steps (99 %)\n"


class Gone(io.StringIO):
    """A terminal that was closed, or a pipe whose reader has gone."""

    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self.terminal, self.tries = terminal, 0

    def isatty(self) -> bool:
        return self.terminal

    def write(self, text: str) -> int:
        self.tries += 1
        raise OSError(5, "Input/output error")


@pytest.mark.parametrize("terminal", [False, True])
def test_a_run_does_not_end_because_nobody_listens(terminal: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    clock, stream = Clock(), Gone(terminal)
    with Progress(1_000, 0, stream, 5.0, clock) as progress:
        clock.now += 10
        progress.update(500, {"kl": 0.5})
        progress.say("saved")
    assert stream.tries > 0


def test_a_bar_says_what_is_awaited_before_the_first_update() -> None:
    terminal = Terminal()
    with Progress(1_000, 0, terminal, clock=Clock(), before="compiling") as progress:
        progress._bar.rich.refresh()
    assert "compiling" in terminal.getvalue()


def test_what_is_said_once_is_said_once() -> None:
    stream = io.StringIO()
    with Progress(10, 0, stream, clock=Clock()) as progress:
        for line in ("it cannot be saved", "it cannot be saved", "something else"):
            progress.say_once(line)
    assert [line for line in stream.getvalue().splitlines() if "s" in line][:2] == [
        "it cannot be saved",
        "something else",
    ]
