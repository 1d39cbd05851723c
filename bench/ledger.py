"""The bookkeeping of matches: how many of one millisecond are kept in a second, and what kills cost.

    .venv/bin/python -m bench.ledger --matches 10000                 # the rate
    .venv/bin/python -m bench.ledger --matches 10000 --kills 50 --coordinators 5
    .venv/bin/python -m bench.ledger --matches 10000 --kills 50 --coordinators 5 --ray 127.0.0.1:6379   # started here with PYTHONPATH=.

A match waits for a millisecond and gives a score that is a pure function of its number. The first line includes the start of the processes.
With kills, so many processes (on a Ray cluster by turns an actor and the process that it holds), and the coordinator so many times, are killed (SIGKILL) at random moments while matches are played, and the
coordinator is started again each time; then the table is compared with the one that is expected.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import psutil

from interplay.evaluate.tournaments.farm import Unit, play_units
from interplay.evaluate.tournaments.results_log import ResultsLog
from interplay.verbs.trainer import place_of

MILLISECOND = 0.001


def begin() -> Callable[[int], Mapping[str, Mapping[str, Any]]]:
    """What a process plays."""

    def play(match: int) -> Mapping[str, Mapping[str, Any]]:
        time.sleep(MILLISECOND)
        return {str(match): scores(match)}

    return play


def scores(match: int) -> dict[str, list[float]]:
    """What comes of a match."""
    return {"scores": [float(match * 7919 % 13), float(match * 104729 % 11)]}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--matches", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kills", type=int, default=0, help="processes that are killed")
    parser.add_argument("--coordinators", type=int, default=0, help="times that the coordinator is killed")
    parser.add_argument("--ray", help="HOST:PORT of a Ray cluster that starts the processes")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.folder:
        coordinate(arguments.folder, arguments)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if arguments.kills or arguments.coordinators:
            torment(folder, arguments)
            return
        began = time.perf_counter()
        coordinate(folder, arguments)
        seconds = time.perf_counter() - began
        print(
            f"{arguments.matches:,} matches in {seconds:.1f} s: {arguments.matches / seconds:,.0f} a second"
        )


def coordinate(folder: Path, arguments: argparse.Namespace) -> None:
    """Plays what is missing."""
    from bench.ledger import begin  # by its module's name, which other processes import

    units = [Unit(match, (str(match),)) for match in range(arguments.matches)]
    with ResultsLog(folder / "results.jsonl") as log:
        play_units(units, begin, (), log, arguments.workers, place=place_of(arguments.ray))


def torment(folder: Path, arguments: argparse.Namespace) -> None:
    """Plays while processes and coordinators are killed, and compares the table."""
    rng, path = random.Random(0), folder / "results.jsonl"
    command = [
        sys.executable,
        "-m",
        "bench.ledger",
        "--folder",
        str(folder),
        "--matches",
        str(arguments.matches),
    ]
    command += ["--workers", str(arguments.workers)]
    if arguments.ray:
        command += ["--ray", arguments.ray]
    killed = coordinators = 0
    began = time.perf_counter()
    while True:
        coordinator = subprocess.Popen(command)
        while coordinator.poll() is None:
            time.sleep(rng.uniform(0.02, 0.2))
            if not path.exists():
                continue
            done = path.stat().st_size / 75 / arguments.matches  # a line has about so many bytes
            if killed < arguments.kills and done > 0.9 * killed / arguments.kills:
                found = actors(killed) if arguments.ray else children(coordinator.pid)
                killed += kill_one(found, rng)
            if coordinators < arguments.coordinators and done > 0.9 * (coordinators + 1) / (
                arguments.coordinators + 1
            ):
                coordinator.send_signal(signal.SIGKILL)
                coordinators += 1
        if coordinator.returncode != -signal.SIGKILL:
            break
    lines = path.read_text().splitlines()
    with ResultsLog(path) as log:
        same = log.results == {str(match): scores(match) for match in range(arguments.matches)}
    print(
        f"{killed} processes and {coordinators} coordinators killed in {time.perf_counter() - began:.1f} s: "
        f"{len(lines):,} lines for {arguments.matches:,} matches, the table is {'the expected one' if same else 'WRONG'}"
    )
    sys.exit(coordinator.returncode or not same or len(lines) != arguments.matches)


def kill_one(found: list[psutil.Process], rng: random.Random) -> int:
    """Kills one of some processes; returns how many."""
    if not found:
        return 0
    with contextlib.suppress(psutil.NoSuchProcess):
        rng.choice(found).kill()
    return 1


def children(parent: int) -> list[psutil.Process]:
    """The processes that a coordinator has started."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return [one for one in psutil.Process(parent).children() if "spawn_main" in typed(one)]
    return []


def actors(turn: int) -> list[psutil.Process]:
    """On even turns the processes that Ray's actors hold, on odd ones these actors."""
    with contextlib.suppress(psutil.NoSuchProcess):
        held = [one for one in psutil.process_iter() if "spawn_main" in typed(one)]
        owners = [(one, one.parent()) for one in held]
        return [(one, by)[turn % 2] for one, by in owners if by is not None and "ray::" in typed(by)]
    return []


def typed(process: psutil.Process) -> str:
    """The command line; "" if the process is gone."""
    try:
        return " ".join(process.cmdline())
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return ""


if __name__ == "__main__":
    main()
