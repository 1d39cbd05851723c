"""Random configurations, each with a fault: every one must be refused in one line with exit code 2, and leave nothing behind.

Run from the repository root::

    .venv/bin/python -m bench.trust_configurations --count 500 --seed 0
    .venv/bin/python -m bench.trust_configurations --worlds

With ``--worlds`` it gives numbers beyond every machine to each option of each world instead: refused in one line, or held and played.

Prints one line of figures; the faults that were answered otherwise are told on standard error, with the seed that makes them.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.cli.random_configurations import Configuration, configuration, huge
from tests.cli.test_random_configurations import answer
from tests.worlds.wild_options import Wild, fault, wild_options

MEMORY = 4 << 30  # bytes that a world may take
SECONDS = 90.0  # for one world


def main() -> int:
    """Asks and counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--worlds", action="store_true")
    chosen = parser.parse_args()
    os.environ["XDG_DATA_HOME"] = tempfile.mkdtemp()
    if chosen.worlds:
        return _worlds()
    kinds, wrong, slowest, began = Counter[str](), 0, 0.0, time.monotonic()
    asked = [configuration(seed) for seed in range(chosen.seed, chosen.seed + chosen.count)]
    asked += huge()
    for number, one in enumerate(asked):
        kinds[one.fault] += 1
        seconds, fault = _ask(one)
        if number:  # the first one imports everything
            slowest = max(slowest, seconds)
        if fault:
            wrong += 1
            words = [word[:80] for word in one.words]
            print(f"{chosen.seed + number}: {one.fault} {words}: {fault}", file=sys.stderr, flush=True)
    print(
        f"{len(asked)} configurations ({len(kinds)} kinds of faults): {len(asked) - wrong} refused in one line with exit code 2 "
        f"and nothing left behind, {wrong} otherwise; slowest {slowest:.1f} s, all {time.monotonic() - began:.0f} s"
    )
    return int(wrong > 0)


def _worlds() -> int:
    """Tries every number in a process with little memory, which is replaced after a crash."""
    asked, wrong, began, child = wild_options(), 0, time.monotonic(), None
    for wild in asked:
        if child is None:
            pipe, theirs = multiprocessing.Pipe()
            child = multiprocessing.get_context("spawn").Process(target=_try, args=(theirs,), daemon=True)
            child.start()
            theirs.close()
        pipe.send(wild)
        try:
            found = pipe.recv() if pipe.poll(SECONDS) else f"no answer in {SECONDS:.0f} s"
        except EOFError:
            found = "the process died"
        if found:
            wrong += 1
            print(f"{wild.world} {wild.option}={wild.value}: {found}", file=sys.stderr, flush=True)
            child.kill()
            child = None
    print(
        f"{len(asked)} numbers as options of worlds: {len(asked) - wrong} refused in one line, or held and played, {wrong} otherwise; "
        f"all {time.monotonic() - began:.0f} s"
    )
    return int(wrong > 0)


def _try(pipe: Any) -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    while True:
        wild: Wild = pipe.recv()
        pipe.send(fault(wild))


def _ask(one: Configuration) -> tuple[float, str]:
    """Seconds, and what is wrong with the answer."""
    home = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            began = time.monotonic()
            fault = answer(one, Path(folder)).fault()
            return time.monotonic() - began, fault
        finally:
            os.chdir(home)


if __name__ == "__main__":
    sys.exit(main())
