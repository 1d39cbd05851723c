"""Draws small changes of meaning at random, and counts those that a test notices.

    .venv/bin/python -m tests.mutants.draw --seed 1 --count 40
    .venv/bin/python -m tests.mutants.draw --seed 1 --count 200 --package train --out runs/drawn.jsonl
    .venv/bin/python -m tests.mutants.draw --seed 1 --count 40 --unchanged   # the rate of false alarms
    .venv/bin/python -m tests.mutants.draw --written slips.toml              # edits written by hand: file, old, new
    .venv/bin/python -m tests.mutants.draw --again runs/drawn.jsonl --tests tests/train/test_update.py   # the survivors, new tests

A line that tests execute is drawn first, then one of the kinds of changes that it allows, then one change. The tests that execute it run
until the first failure, in a copy of the tree. `equivalents.toml` lists changes without a meaning, each with the reason; they do not count.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from scipy.stats import binomtest

from tests.mutants.asking import BROKEN, PASSED, Answer, ask, throwaway_cache
from tests.mutants.executed import Executed, measured
from tests.mutants.run import _side_by_side
from tests.mutants.sites import Site, find_sites, written_site
from tests.mutants.slips import ROOT
from tests.mutants.trees import copy_tree, planted

EQUIVALENTS = Path(__file__).with_name("equivalents.toml")


@dataclass(frozen=True)
class Mutant:
    """One drawn change.

    Attributes:
        file: from the repository's root.
        site: the edit.
        line, changed: the edit's first line before and after it.
        tests: that execute it, the quickest first, as many as fit into the limit.
        executing: number of tests that execute it.
    """

    file: str
    site: Site
    line: str
    changed: str
    tests: tuple[str, ...]
    executing: int

    @property
    def package(self) -> str:
        """The package that it counts for."""
        return Path(self.file).parts[1].removesuffix(".py")

    def slipped(self, text: str) -> str:
        """The module's text with the change."""
        return self.site.edited(text)


class Outcome(NamedTuple):
    """A mutant and the verdict of its tests."""

    mutant: Mutant
    answer: Answer

    @property
    def noticed(self) -> bool:
        """Whether a test failed, could not be imported, or did not end."""
        return self.answer.verdict != PASSED

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        mutant = self.mutant
        return {
            "package": mutant.package,
            "file": mutant.file,
            "line": mutant.site.start[0],
            "kind": mutant.site.kind,
            "old": mutant.line.strip(),
            "new": mutant.changed.strip(),
            "noticed": self.noticed,
            "verdict": self.answer.verdict,
            "seconds": round(self.answer.seconds, 1),
            "by": self.answer.last,
            "tests": len(mutant.tests),
            "executing": mutant.executing,
        }


def main(words: Sequence[str] | None = None) -> int:
    """Reads the command line, draws, runs, prints."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutants.draw",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--package", help="of this package alone, e.g. train")
    parser.add_argument(
        "--measured", type=Path, help="folder of an earlier measurement, whose tree is mutated"
    )
    parser.add_argument("--jobs", type=int, default=2, help="trees side by side")
    parser.add_argument(
        "--seconds", type=float, default=90.0, help="measured seconds of tests for one mutant"
    )
    parser.add_argument("--out", type=Path, help="a JSON line per mutant is appended there")
    parser.add_argument("--written", type=Path, help="edits from a TOML file of [[slip]] file, old, new")
    parser.add_argument(
        "--again", type=Path, help="the survivors of this file, against --tests, in the working tree"
    )
    parser.add_argument("--tests", nargs="+", default=[], help="files or single tests")
    parser.add_argument(
        "--unchanged", action="store_true", help="plant nothing: each failure is a false alarm"
    )
    options = parser.parse_args(words)
    if options.again is not None:
        tree, mutants = ROOT, survivors(options.again, options.tests)
    else:
        executed = measured() if options.measured is None else Executed(options.measured)
        tree = executed.tree
        if options.written is not None:
            mutants = written(executed, options.written, options.seconds)
        else:
            mutants = draw(executed, options.seed, options.count, options.package, options.seconds)
    outcomes = plant_all(mutants, tree, options.jobs, options.out, options.unchanged)
    print(table(outcomes))
    return 0


def draw(executed: Executed, seed: int, count: int, package: str | None, seconds: float) -> list[Mutant]:
    """Mutants on different lines, in the order drawn; equivalents left out.

    Raises:
        ValueError: if fewer lines are executed.
    """
    groups = [
        (path, sites)
        for path in sorted((executed.tree / "interplay" / (package or "")).rglob("*.py"))
        if "node_modules" not in path.parts
        for sites in _by_line(path, executed)
    ]
    rng = random.Random(seed)
    known = _equivalents()
    found: list[Mutant] = []
    for path, sites in rng.sample(groups, len(groups)):
        kind = rng.choice(sorted({site.kind for site in sites}))
        site = rng.choice([site for site in sites if site.kind == kind])
        mutant = _mutant(executed, path.relative_to(executed.tree).as_posix(), site, seconds)
        if mutant.tests and (mutant.file, mutant.line.strip(), mutant.changed.strip()) not in known:
            found.append(mutant)
        if len(found) == count:
            return found
    raise ValueError(f"--count {count}: tests execute {len(found)} lines")


def written(executed: Executed, path: Path, seconds: float) -> list[Mutant]:
    """Mutants of edits written by hand; the tests are those that execute the changed lines."""
    rows = tomllib.loads(path.read_text())["slip"]
    return [
        _mutant(
            executed,
            row["file"],
            written_site((executed.tree / row["file"]).read_text(), row["old"], row["new"]),
            seconds,
        )
        for row in rows
    ]


def _mutant(executed: Executed, file: str, site: Site, seconds: float) -> Mutant:
    row, text = site.start[0] - 1, (executed.tree / file).read_text()
    line, changed = (
        t.splitlines()[row] if row < len(t.splitlines()) else "" for t in (text, site.edited(text))
    )
    tests = executed.executing(file, site)
    return Mutant(file, site, line, changed, _quickest(tests, file, executed, seconds), len(tests))


def survivors(report: Path, tests: Sequence[str], root: Path = ROOT) -> list[Mutant]:
    """The survivors of a report that the tree still allows, each to be planted again."""
    rows = [json.loads(line) for line in report.read_text().splitlines()]
    return [
        Mutant(row["file"], site, line, changed, tuple(tests), len(tests))
        for row in rows
        if not row["noticed"]
        for site, line, changed in _changes((root / row["file"]).read_text())
        if (line.strip(), changed.strip(), site.kind) == (row["old"], row["new"], row["kind"])
    ]


def _changes(text: str) -> Iterator[tuple[Site, str, str]]:
    """Each edit with its first line before and after it."""
    lines = text.splitlines()
    for site in find_sites(text):
        row = site.start[0] - 1
        yield site, lines[row], site.edited(text).splitlines()[row]


def _by_line(path: Path, executed: Executed) -> list[list[Site]]:
    file = path.relative_to(executed.tree).as_posix()
    lines: dict[int, list[Site]] = {}
    for site in find_sites(path.read_text()):
        if executed.executed(file, site):
            lines.setdefault(site.start[0], []).append(site)
    return list(lines.values())


def _quickest(tests: list[str], file: str, executed: Executed, seconds: float) -> tuple[str, ...]:
    """As many tests as fit into the seconds, those of the same package first; file by file, the quickest file first."""
    package = f"tests/{Path(file).parts[1]}/"
    chosen: dict[str, list[str]] = {}
    for test in sorted(tests, key=lambda test: (not test.startswith(package), executed.seconds[test])):
        seconds -= executed.seconds[test]
        if seconds < 0 and chosen:
            break
        chosen.setdefault(test.partition("::")[0], []).append(test)
    spent = {file: sum(map(executed.seconds.__getitem__, own)) for file, own in chosen.items()}
    return tuple(test for file in sorted(chosen, key=spent.__getitem__) for test in chosen[file])


def plant_all(
    mutants: Sequence[Mutant], source: Path, jobs: int, out: Path | None = None, unchanged: bool = False
) -> list[Outcome]:
    """The outcome of each mutant, in order."""
    begun = time.monotonic()
    done: list[Outcome] = []

    def plant(mutant: Mutant, tree: Path) -> Outcome:
        with throwaway_cache() as cache, contextlib.nullcontext() if unchanged else planted(mutant, tree):
            if mutant.tests:
                answer = ask(tree, mutant.tests, limit=_LIMIT, cache=cache)
            else:
                answer = Answer(PASSED, 0.0, "no test executes it")
        outcome = Outcome(mutant, answer)
        done.append(outcome)
        left = (time.monotonic() - begun) / len(done) * (len(mutants) - len(done)) / 60
        print(
            f"{len(done)}/{len(mutants)} {_described(outcome)} ({left:.0f} min left)",
            file=sys.stderr,
            flush=True,
        )
        if out is not None:
            out.parent.mkdir(parents=True, exist_ok=True)
            with out.open("a") as file:
                file.write(json.dumps(outcome.to_dict()) + "\n")
        return outcome

    with tempfile.TemporaryDirectory(prefix="interplay-mutants-") as folder:
        return _side_by_side(
            plant, mutants, [copy_tree(Path(folder) / f"tree{k}", source) for k in range(jobs)]
        )


_LIMIT = 400.0  # seconds for the tests of one mutant, compilation included


def table(outcomes: Sequence[Outcome]) -> str:
    """A line per package with its score and 95 % interval (Wilson), then every survivor."""
    lines = [f"{'package':<12} mutants  noticed  score  95 % interval"]
    for package in [*sorted({outcome.mutant.package for outcome in outcomes}), "all"]:
        own = [outcome.noticed for outcome in outcomes if package in (outcome.mutant.package, "all")]
        low, high = binomtest(sum(own), len(own)).proportion_ci(method="wilson")
        lines.append(
            f"{package:<12} {len(own):>7}  {sum(own):>7}  {sum(own) / len(own):>5.0%}  {low:.0%} to {high:.0%}"
        )
    broken = sum(outcome.answer.verdict == BROKEN for outcome in outcomes)
    lines.append(f"{broken} of those noticed could not be imported")
    return "\n".join([*lines, *(_described(outcome) for outcome in outcomes if not outcome.noticed)])


def _described(outcome: Outcome) -> str:
    mutant = outcome.mutant
    verdict = "noticed" if outcome.noticed else "SURVIVED"
    return (
        f"{verdict} ({len(mutant.tests)} of {mutant.executing} tests, {outcome.answer.seconds:.0f} s): "
        f"{mutant.file}:{mutant.site.start[0]}: {mutant.site.kind}\n  - {mutant.line.strip()}\n  + {mutant.changed.strip()}"
    )


def _equivalents() -> set[tuple[str, str, str]]:
    rows = tomllib.loads(EQUIVALENTS.read_text()).get("equivalent", [])
    return {(row["file"], row["old"], row["new"]) for row in rows}


if __name__ == "__main__":
    sys.exit(main())
