"""Matches played by several processes: each result is kept exactly once, whatever process is killed."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from interplay.core import processes, versions
from interplay.core.errors import UserError
from interplay.evaluate.tournaments import farm as farms
from interplay.evaluate.tournaments.farm import Unit, play_units
from interplay.evaluate.tournaments.folder import RESULTS
from interplay.evaluate.tournaments.results_log import ResultsLog
from interplay.evaluate.tournaments.round_robins import (
    Farm,
    RoundRobinSettings,
    make_settings,
    run_round_robin,
)
from interplay.registry import make_policy
from interplay.verbs.tournament_kinds import begin_round_robin
from interplay.verbs.tournaments import tournament
from tests.evaluate import farm_play

pytestmark = pytest.mark.slow

EXPECTED = {str(match): {"scores": [float(match % 7), float(match % 5)]} for match in range(60)}
UNITS = [Unit(match, (str(match),)) for match in range(60)]


def cup(players: tuple[str, ...], **given: Any) -> RoundRobinSettings:
    """A round robin of scripted players."""
    known = {"identities": tuple(f"policy {player}" for player in players)}
    return make_settings(world="matrix/rock-paper-scissors", players=players, **{**known, **given})


def kept(path: Path) -> dict[str, object]:
    with ResultsLog(path) as log:
        return dict(log.results)


def test_every_match_is_played_once_and_kept(tmp_path: Path) -> None:
    told: list[int] = []
    with ResultsLog(tmp_path / "results.jsonl") as log:
        play_units(UNITS, farm_play.begin, (str(tmp_path),), log, 2, told.append)
    assert kept(tmp_path / "results.jsonl") == EXPECTED
    assert len(list(tmp_path.glob("*-*"))) == 60  # marks: nobody played a match twice
    assert told == sorted(told)
    assert told[-1] == 60


def test_what_is_there_is_not_played_again(tmp_path: Path) -> None:
    with ResultsLog(None) as log:
        log.append({key: EXPECTED[key] for key in list(EXPECTED)[:55]})
        play_units(UNITS, farm_play.begin, (str(tmp_path),), log, 2)
        assert log.results == EXPECTED
    assert {path.name.partition("-")[0] for path in tmp_path.iterdir()} == set(list(EXPECTED)[55:])


def test_lost_processes_lose_nothing(tmp_path: Path) -> None:
    """Every tenth match kills its process the first time."""
    with ResultsLog(tmp_path / "results.jsonl") as log:
        play_units(UNITS, farm_play.begin, (str(tmp_path), 0.001, 10), log, 2)
    lines = (tmp_path / "results.jsonl").read_text().splitlines()
    assert len(lines) == 60
    assert kept(tmp_path / "results.jsonl") == EXPECTED
    assert len(list(tmp_path.glob("10-*"))) == 2


def test_a_frozen_process_is_lost_and_a_busy_one_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(processes, "QUIET", 3.0)
    monkeypatch.setattr(processes, "SILENT", 6.0)
    began = time.monotonic()
    with ResultsLog(tmp_path / "results.jsonl") as log:
        play_units(UNITS[:4], farm_play.stalls, (str(tmp_path), 7.0), log, 2)
    assert time.monotonic() - began > 6.0
    assert kept(tmp_path / "results.jsonl") == {str(match): EXPECTED[str(match)] for match in range(4)}
    assert len(list(tmp_path.glob("1-*"))) == 1
    assert capsys.readouterr().err.count("no sign of life") == 1
    assert not multiprocessing.active_children()


@pytest.mark.parametrize(("cores", "workers", "kill_every"), [(1, 4, 0), (2, 2, 100)])
def test_processes_without_a_core_hold_no_match(
    tmp_path: Path, cores: int, workers: int, kill_every: int
) -> None:
    """Others have no core from the start, or replace one that match 0 kills."""
    with ResultsLog(tmp_path / "results.jsonl") as log:
        begun = (str(tmp_path), 0.001, kill_every)
        play_units(UNITS, farm_play.begin, begun, log, workers, place=farm_play.FewCores(cores))
    assert kept(tmp_path / "results.jsonl") == EXPECTED
    assert len((tmp_path / "results.jsonl").read_text().splitlines()) == 60
    assert not multiprocessing.active_children()


def test_processes_that_do_not_begin_are_waited_for_with_patience(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A look each second, but for an hour in which this process was itself not there."""
    now = 1000.0
    monkeypatch.setattr(processes, "time", SimpleNamespace(monotonic=lambda: now))
    starts, every = processes.Starts(), [SimpleNamespace(silence=None) for _ in range(3)]

    def seconds_until_trouble(most: int) -> int:
        nonlocal now
        for second in range(most):
            starts.check(every)
            if capsys.readouterr().err:
                return second
            now += 1.0
        return most

    assert seconds_until_trouble(100) == 100
    every[0].silence = 0.0
    assert seconds_until_trouble(300) == 120
    assert seconds_until_trouble(300) == 300  # one line
    every[1].silence = 0.0
    assert seconds_until_trouble(100) == 100
    now += 3600.0
    assert seconds_until_trouble(100) == 120 - 100 - 1
    every[2].silence = 0.0
    assert seconds_until_trouble(300) == 300
    every[:] = [SimpleNamespace(silence=None)]
    assert seconds_until_trouble(120) == 120
    with pytest.raises(UserError):
        starts.check(every)


def test_a_tournament_without_a_core_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "PATIENCE", 0.5)
    with ResultsLog(None) as log, pytest.raises(UserError):
        play_units(UNITS, farm_play.begin, (str(tmp_path),), log, 2, place=farm_play.FewCores(0))


@pytest.mark.parametrize(
    ("units", "ahead", "held"),
    [
        (2, 2, [1, 0, 0]),  # one is left for the second process, which begins soon
        (4, 2, [2, 0, 0]),
        (9, 64, [7, 0, 0]),
    ],
)
def test_the_last_units_wait_for_processes_that_begin(units: int, ahead: int, held: list[int]) -> None:
    crew: list[Any] = []
    for number in range(3):
        tasks: deque[Any] = deque()
        crew.append(
            SimpleNamespace(
                started=number == 0,
                tasks=tasks,
                ahead=ahead,
                send=lambda unit, _, tasks=tasks: tasks.append(unit),
            )
        )
    waiting = deque(UNITS[:units])
    farms._send(waiting, crew)
    assert [len(one.tasks) for one in crew] == held
    assert list(waiting) == UNITS[held[0] : units]


@pytest.mark.parametrize("cores", [0, 1])
def test_processes_that_end_before_they_play_are_started_nine_times(tmp_path: Path, cores: int) -> None:
    """With a core for one process, that one plays all."""
    place = farm_play.FewCores(cores, ended=True)
    with ResultsLog(None) as log:
        with contextlib.nullcontext() if cores else pytest.raises(UserError, match="9 processes"):
            play_units(UNITS[:2], farm_play.begin, (str(tmp_path), 0.5), log, 1 + cores, place=place)
        assert log.results == dict(list(EXPECTED.items())[: 2 * cores])
    assert len(place.kept) == 9


def test_a_process_that_played_is_replaced_after_nine_early_losses(tmp_path: Path) -> None:
    place = farm_play.FewCores(1, ended=True)
    with ResultsLog(None) as log, pytest.raises(UserError, match="10 processes"):
        play_units(UNITS, farm_play.begin, (str(tmp_path), 0.001, 100), log, 2, place=place)
    assert len(place.kept) == 9 + 10  # beside it, then two at a time


def test_a_machine_with_another_version_plays_no_match(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = versions.versions()
    monkeypatch.setattr(farms, "versions", lambda: there | {"numpy": "0.1"})
    with ResultsLog(None) as log, pytest.raises(UserError) as caught:
        play_units(UNITS, farm_play.begin, (str(tmp_path),), log, 2, place=farm_play.FewCores(2))
    for word in (socket.gethostname(), "numpy", "0.1", np.__version__):
        assert word in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_a_match_that_costs_three_processes_is_aborted_alone(tmp_path: Path) -> None:
    """The other matches of its unit are played one by one."""
    single = tuple(Unit((match,), (str(match),)) for match in range(5))
    block = Unit(tuple(range(5)), tuple(map(str, range(5))), parts=single)
    with ResultsLog(tmp_path / "results.jsonl") as log:
        play_units([block], farm_play.dies, (str(tmp_path), 3), log, 1)
    played = {key: result for key, result in EXPECTED.items() if key in ("0", "1", "2", "4")}
    assert kept(tmp_path / "results.jsonl") == played | {"3": {"aborted": "exit code -9"}}
    assert len(list(tmp_path.glob("death-*"))) == 6  # three of the block, three of the match
    assert not multiprocessing.active_children()


def test_aborted_matches_are_counted_and_not_rated(tmp_path: Path) -> None:
    settings = cup(("random", "rock"), matches=8)
    policies = [make_policy(settings.world, name) for name in settings.players]
    whole = run_round_robin(settings, policies, tmp_path)
    keys = [f"0-1/{match}" for match in range(8)]
    with ResultsLog(tmp_path / "results.jsonl") as log:
        scores = [log.results[key]["scores"] for key in (*keys[:2], *keys[4:])]
        log.drop(keys[2:4])
        log.append({key: {"aborted": "exit code -9"} for key in keys[2:4]})
    some = run_round_robin(settings, policies, tmp_path, resume=True)
    assert (whole.matches, whole.aborted) == (8, 0)
    assert (some.matches, some.aborted, some.to_dict()["aborted"]) == (6, 2, 2)
    assert some.wins[1, 0] == sum(0.5 + np.sign(rock - random) / 2 for random, rock in scores)
    with ResultsLog(tmp_path / "results.jsonl") as log:
        log.drop(keys)
        log.append({key: {"aborted": "exit code -9"} for key in keys})
    with pytest.raises(UserError, match="every match of random against rock"):
        run_round_robin(settings, policies, tmp_path, resume=True)


def test_trouble_is_told_as_it_is_and_nobody_is_left_behind(tmp_path: Path) -> None:
    with ResultsLog(tmp_path / "results.jsonl") as log, pytest.raises(UserError, match="it cannot be played"):
        play_units(UNITS, farm_play.begin, (str(tmp_path), 0.001, 0, 30), log, 2)
    assert not multiprocessing.active_children()
    some = kept(tmp_path / "results.jsonl")
    assert some.items() <= EXPECTED.items()
    assert "30" not in some


def test_a_player_that_does_not_come_back_costs_its_process_and_no_match(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (mark := tmp_path / "mark").touch()
    monkeypatch.setenv("STALLS", str(mark))
    played = partial(tournament, ["tests.evaluate.farm_play:Stalls", "random"], "dilemma/fixed", matches=4)
    played(out=tmp_path / "some", workers=2, step_limit=1.0)
    assert "player stalls has not come back from act for 1 s (" in capfd.readouterr().err
    assert not mark.exists()
    played(out=tmp_path / "whole")
    assert kept(tmp_path / "some" / RESULTS) == kept(tmp_path / "whole" / RESULTS)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_player_that_raises_is_one_line_with_its_matches(
    workers: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(
        UserError, match=r"player raises: ValueError: .* \(in matches 0 to 3 of raises against random\)"
    ):
        tournament(
            ["tests.evaluate.farm_play:Raises", "random"],
            "dilemma/fixed",
            matches=4,
            out=tmp_path,
            workers=workers,
        )
    assert "Traceback" not in capfd.readouterr().err


def test_a_round_robin_by_processes_is_the_same(tmp_path: Path) -> None:
    settings = cup(("random", "rock", "paper"), matches=40, block=8)
    policies = [make_policy(settings.world, name) for name in settings.players]
    alone = run_round_robin(settings, policies, tmp_path / "alone")
    farm = Farm(2, begin_round_robin, (settings.model_dump_json(), False, None))
    together = run_round_robin(settings, policies, tmp_path / "together", farm=farm, record=3)
    assert len(list((tmp_path / "together" / "matches").iterdir())) == 3 * 3 * 2  # pairs, recordings, seats
    assert kept(tmp_path / "alone" / "results.jsonl") == kept(tmp_path / "together" / "results.jsonl")
    assert together.to_dict() == alone.to_dict()


def test_a_process_that_finds_another_player_says_so(tmp_path: Path) -> None:
    settings = cup(("random", "rock"), identities=("policy random", "run 7"), matches=4)
    policies = [make_policy(settings.world, name) for name in settings.players]
    farm = Farm(2, begin_round_robin, (settings.model_dump_json(), False, None))
    with pytest.raises(UserError, match="rock is policy rock now, the tournament began with run 7"):
        run_round_robin(settings, policies, tmp_path / "cup", farm=farm)


def test_a_machine_that_does_not_see_the_folder_records_no_match(tmp_path: Path) -> None:
    settings = cup(("random", "rock"), matches=4)
    with pytest.raises(UserError, match=f"machine {socket.gethostname()} .* {tmp_path}"):
        begin_round_robin(settings.model_dump_json(), False, None, str(tmp_path / "mark"), 1)
    assert list(tmp_path.iterdir()) == []


def test_who_plays_a_long_match_is_ended_when_another_fails(tmp_path: Path) -> None:
    began = time.monotonic()
    with ResultsLog(None) as log, pytest.raises(UserError, match="it cannot be played"):
        play_units(UNITS[:2], farm_play.begin, (str(tmp_path), 60.0, 0, 1), log, 2)
    assert time.monotonic() - began < 30


COORDINATOR = """
import sys
from tests.evaluate import farm_play
from tests.evaluate.test_farm import UNITS
from interplay.evaluate.tournaments.farm import play_units
from interplay.evaluate.tournaments.results_log import ResultsLog
from pathlib import Path
if __name__ == "__main__":
    with ResultsLog(Path(sys.argv[1]) / "results.jsonl") as log:
        play_units(UNITS, farm_play.begin, (sys.argv[1], 0.02), log, 2)
"""


def test_killed_coordinators_leave_nothing_twice_and_nobody_behind(tmp_path: Path) -> None:
    script = tmp_path / "coordinator.py"
    script.write_text(COORDINATOR)
    path, kills = tmp_path / "results.jsonl", 0
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    for _ in range(20):
        process = subprocess.Popen([sys.executable, str(script), str(tmp_path)], env=environment)
        before = path.stat().st_size if path.exists() else 0
        while process.poll() is None and (not path.exists() or path.stat().st_size < before + 400):
            time.sleep(0.01)
        if process.poll() is None and kills < 3:
            process.send_signal(signal.SIGKILL)
            kills += 1
        if process.wait() == 0:
            break
    assert kills == 3
    keys = [line.split('"')[3] for line in path.read_text().splitlines()]
    assert len(keys) == len(set(keys)) == 60
    assert kept(path) == EXPECTED
