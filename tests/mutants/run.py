"""Plants every slip, one at a time, into a copy of the repository, and asks the tests whether they notice.

Run from the repository root (``make mutants``)::

    .venv/bin/python -m tests.mutants.run
    .venv/bin/python -m tests.mutants.run --room core --room cli --jobs 2 --out runs/mutants.jsonl

The tests have to pass without a slip first. Exit status 1: a room's score is below 90 %; 2: a test fails without a slip.
"""

from __future__ import annotations

import argparse
import queue
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from tests.mutants.asking import PASSED, Answer, ask, throwaway_cache
from tests.mutants.scores import Outcome, as_lines, low_rooms, table
from tests.mutants.slips import ROOT, Slip, read_slips
from tests.mutants.trees import copy_tree, planted

T = TypeVar("T")
R = TypeVar("R")


def main(words: Sequence[str] | None = None) -> int:
    """Reads the command line, asks, prints the table."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutants.run", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--room", action="append", default=[], help="of these rooms alone")
    parser.add_argument("--story", default="", help="slips alone whose story has these words")
    parser.add_argument("--jobs", type=int, default=2, help="trees side by side")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds for the tests of one slip")
    parser.add_argument("--out", type=Path, help="a JSON line per slip is written there")
    parser.add_argument(
        "--unasked", action="store_true", help="do not ask first whether the sound tree passes"
    )
    asked = parser.parse_args(words)
    slips = [slip for slip in read_slips(rooms=asked.room) if asked.story in slip.story]
    with tempfile.TemporaryDirectory(prefix="interplay-mutants-") as folder:
        trees = [copy_tree(Path(folder) / f"tree{k}", ROOT) for k in range(max(asked.jobs, 1))]
        failing = [] if asked.unasked else failing_tests(slips, trees, asked.limit)
        if failing:
            print("\n".join(failing))
            return 2
        outcomes = plant_all(slips, trees, asked.limit)
    if asked.out is not None:
        asked.out.parent.mkdir(parents=True, exist_ok=True)
        asked.out.write_text(as_lines(outcomes))
    print(table(outcomes))
    return 1 if low_rooms(outcomes) else 0


def failing_tests(slips: Sequence[Slip], trees: Sequence[Path], limit: float) -> list[str]:
    """Tests that fail, or cannot be run, without any slip; a line each."""
    sound = sorted({(test, slip.plain) for slip in slips for test in slip.tests})

    def answer(case: tuple[str, bool], tree: Path) -> Answer:
        found = ask(tree, [case[0]], case[1], limit)
        _say(f"without a slip: {case[0]}{' in plain Python' if case[1] else ''}: {_told(found)}")
        return found

    answers = _side_by_side(answer, sound, trees)
    return [
        f"{case[0]} fails without a slip: {found.verdict} {found.last}"
        for case, found in zip(sound, answers, strict=True)
        if found.verdict != PASSED
    ]


def plant_all(slips: Sequence[Slip], trees: Sequence[Path], limit: float) -> list[Outcome]:
    """What came of each slip, in their order."""
    done = []

    def plant(slip: Slip, tree: Path) -> Outcome:
        with planted(slip, tree), throwaway_cache() as cache:
            outcome = Outcome(slip, ask(tree, slip.tests, slip.plain, limit, cache))
        done.append(outcome)
        word = "noticed" if outcome.noticed else "NOT NOTICED"
        _say(f"{len(done)}/{len(slips)} {slip.room}: {slip.story}: {word}: {_told(outcome.answer)}")
        return outcome

    return _side_by_side(plant, slips, trees)


def _side_by_side(deed: Callable[[T, Path], R], cases: Sequence[T], trees: Sequence[Path]) -> list[R]:
    """The deed for every case, each in a tree that nobody else has meanwhile."""
    free: queue.SimpleQueue[Path] = queue.SimpleQueue()
    for tree in trees:
        free.put(tree)

    def one(case: T) -> R:
        tree = free.get()
        try:
            return deed(case, tree)
        finally:
            free.put(tree)

    with ThreadPoolExecutor(len(trees)) as pool:
        return list(pool.map(one, cases))


def _told(answer: Answer) -> str:
    return f"{answer.verdict} after {answer.seconds:.0f} s {answer.last}"


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
