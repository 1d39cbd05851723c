"""Tabulates the runs of a folder: differing settings, progress, last and best metrics."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.core.reading import METRICS_FILE, read_toml
from interplay.core.seals import canonical
from interplay.core.settings import build
from interplay.evaluate.last import OF_LIVES, best_of
from interplay.train.run.settings_file import PACE, PINS
from interplay.train.settings import TrainSettings, WorldChoice
from interplay.train.settings.algorithms import PpoGroup
from interplay.train.settings.unread import keys_unread
from interplay.view.run_log import RunLog, check_logged, finite, one_line, read_run, usual
from interplay.view.table_text import csv_table

DEPTH = 4  # nested folders that are searched for runs
SEED = "seed"
_ENDS = Counter(key.rpartition(".")[2] for key in canonical(TrainSettings(world=WorldChoice(id="any"))))
_RATES = PpoGroup.rates()
_LENGTH = ("steps", "train.max_updates", "train.max_episodes")  # what schedules span
WIDE = 0.25  # of a run's measurements: a last value over more of them is noted
METRICS = ("rating", "won", "episode_return", "life", "episode_length")  # shown by default


class Run(NamedTuple):
    """A run with its settings and log.

    Attributes:
        settings: dotted key -> value as in JSON, of keys that it reads.
        log: None before the first line.
        unread: keys and groups that its network and algorithm do not read.
    """

    path: Path
    settings: dict[str, Any]
    log: RunLog | None
    unread: frozenset[str] = frozenset()

    @property
    def steps(self) -> int:
        """Agent-steps so far."""
        return 0 if self.log is None else int(self.log.steps[-1])

    @property
    def asked(self) -> dict[str, Any]:
        """The settings that define the run."""
        return {key: value for key, value in self.settings.items() if self.defines(key)}

    def defines(self, key: str) -> bool:
        """Whether a key defines the run: no seed, no speed, and no length unless a rate is a schedule over it."""
        return key != SEED and (key not in PACE or (key in _LENGTH and self._scheduled()))

    def _scheduled(self) -> bool:
        rates = (value for key, value in self.settings.items() if key.rpartition(".")[2] in _RATES)
        return any(isinstance(rate, str | list) for rate in rates)

    def reads(self, key: str) -> bool:
        """Whether its network and algorithm read a key."""
        return key not in self.unread and key.partition(".")[0] not in self.unread


def find_runs(places: Sequence[Path], lenient: bool = False) -> list[Path]:
    """Run folders among the places and inside of them.

    Args:
        lenient: returns a place without runs as it is, so that the caller can word the error.
    """
    found: list[Path] = []
    for place in places:
        inside = sorted(_inside(place, DEPTH)) or ([place] if lenient else [])
        if not inside:
            raise UserError(f"{place}: no run; name a run folder, or a folder of runs")
        found += [path for path in inside if path not in found]
    return found


def _inside(folder: Path, depth: int) -> Iterator[Path]:
    if (folder / "settings.toml").is_file() and any(
        os.path.lexists(folder / name) for name in (METRICS_FILE, "checkpoints")
    ):
        yield folder
    elif depth and folder.is_dir():
        for path in folder.iterdir():
            if path.is_dir() and not path.is_symlink() and not path.name.startswith("."):
                yield from _inside(path, depth - 1)


def read_row(path: Path, bare: bool = False) -> Run:
    """Reads a run's settings, if there is a file of them, and its log, if it is not empty.

    Args:
        bare: accepts a log without valid settings, as of evaluated checkpoints.
    """
    file = path / "settings.toml"
    if not os.path.lexists(file):
        return Run(path, {}, read_run(path))
    try:
        built = build(TrainSettings, read_toml(file, links=False), str(file))
    except UserError:
        if bare:
            return Run(path, {}, read_run(path))
        raise
    run = Run(path, {}, None, keys_unread(built))
    settings = {key: value for key, value in _flat(canonical(built)).items() if run.reads(key)}
    log = None
    with contextlib.suppress(FileNotFoundError):
        log = read_run(path) if (path / METRICS_FILE).stat().st_size else None
    return run._replace(settings=settings, log=log)


def read_rows(paths: Sequence[Path], say: Callable[[str], object]) -> list[Run]:
    """Reads all readable runs; calls `say` with a line for each other one."""
    runs = []
    for path in paths:
        try:
            runs.append(read_row(path))
        except UserError as error:
            say(f"left out: {one_line(str(error))}")
    return runs


def read_logged(paths: Sequence[Path], bare: bool = False) -> tuple[list[tuple[Run, RunLog]], list[str]]:
    """The runs with a log, and a note on each other one; for `bare` see `read_row`."""
    found: list[tuple[Run, RunLog]] = []
    notes = []
    for path in paths:
        try:
            run = read_row(path, bare)
        except UserError as error:
            notes.append(f"Left out: {one_line(str(error))}.")
            continue
        if run.log is None:
            notes.append(f"{one_line(path.name)} has logged nothing; left out.")
        else:
            found.append((run, run.log))
    if not found:
        raise UserError(f"no run with a log; {' '.join(note[0].lower() + note[1:] for note in notes)}")
    return found, notes


def differing_keys(runs: Sequence[Run]) -> list[str]:
    """Keys of values that differ between runs that read them, in the order of the settings, without those of speed."""
    keys = dict.fromkeys(
        key for run in runs for key in run.settings if key not in PACE or key == "steps" or run.defines(key)
    )
    return [key for key in keys if _differs([run.settings.get(key) for run in runs if _has(run, key)])]


def _has(run: Run, key: str) -> bool:
    """Whether a run reads a key; a pin is compared where both runs name that checkpoint."""
    return key in run.settings if key.startswith(PINS) else run.reads(key)


def shared_label(runs: Sequence[Run]) -> str:
    """The ``name`` in the settings of all runs; empty if they differ."""
    names = {one_line(str(run.settings.get("name", ""))) for run in runs}
    return names.pop() if len(names) == 1 else ""


def short_names(keys: Sequence[str]) -> list[str]:
    """Short names of settings: the group for its ``kind`` or ``id``, else the last part of the key if unique.

    Example:
        >>> short_names(["world.id", "ppo.clip", "ppo.rollout", "network.kind", "world.options.rounds"])
        ['world', 'clip', 'ppo.rollout', 'network', 'options.rounds']
    """
    return [_short_name(key) for key in keys]


def _short_name(key: str) -> str:
    group, _, end = key.rpartition(".")
    if group and end in ("id", "kind"):
        return group
    if key.startswith("world."):
        return key.removeprefix("world.")
    return end if _ENDS[end] == 1 else key


def _differs(values: Sequence[Any]) -> bool:
    return any(value != values[0] for value in values)


def table(runs: Sequence[Run], metrics: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """A row for each run: folder, differing settings, agent-steps, and last and best of each metric."""
    names = _shown_metrics(runs, metrics)
    keys = differing_keys(runs)
    of_lives = {name for run in runs if run.log is not None for name in run.log.of_lives} | set(OF_LIVES)
    any_name = any(run.settings.get("name") for run in runs)
    rows = []
    for run in runs:
        row: dict[str, Any] = {"run": str(run.path)}
        row |= {"name": run.settings.get("name", "")} if any_name else {}
        row |= {key: run.settings.get(key) for key in keys}
        row |= {"agent_steps": run.steps, "of": run.settings["steps"]}
        for name in names:
            row |= _of_metric(run.log, name, "lives" if name.partition("[")[0] in of_lives else "episodes")
        rows.append(row)
    return rows


def notes_on_lasts(runs: Sequence[Run], metrics: Sequence[str] | None = None) -> list[str]:
    """A note for each metric with a last value over more than a quarter of a run's measurements."""
    notes = []
    for metric in _shown_metrics(runs, metrics):
        wide = []
        for log in (run.log for run in runs if run.log is not None):
            count, every = log.last(metric).measurements, int(np.isfinite(log.column(metric)).sum())
            if count > WIDE * every:
                wide.append((count / every, count, every, log.name))
        if wide:
            share, count, every, name = max(wide, key=lambda run: run[0])
            more = f", and over {WIDE:.0%} of {len(wide) - 1} more" if len(wide) > 1 else ""
            notes.append(
                f"{metric}: the last {count} of {every} measurements are {share:.0%} of the run {name}{more}: "
                "train longer, measure more often, or `interplay evaluate`."
            )
    return notes


def _shown_metrics(runs: Sequence[Run], metrics: Sequence[str] | None) -> list[str]:
    """The given metrics, else the first two usual ones; refuses one that no run has logged."""
    logged = sorted({name for run in runs if run.log is not None for name in run.log.columns})
    names = usual(METRICS, logged)[:2] if metrics is None else list(metrics)
    check_logged(names, logged)
    return names


def _of_metric(log: RunLog | None, name: str, counts: str) -> dict[str, Any]:
    """Last and best of a metric, and the measurements and episodes, or lives, behind the last one."""
    cells: dict[str, Any] = {"last": None, "best": None, "measurements": 0, counts: None}
    if log is not None:
        last = log.last(name)
        best = best_of(log.column(name), log.cases(name))
        cells = {
            "last": finite(last.value),
            "best": finite(best),
            "measurements": last.measurements,
            counts: last.cases,
        }
    return {f"{name} {part}": value for part, value in cells.items()}


def to_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """The rows as comma-separated values."""
    heads = list(rows[0]) if rows else ["run"]
    return csv_table([heads, *([row[key] for key in heads] for row in rows)])


def print_table(rows: Sequence[Mapping[str, Any]], root: Path) -> None:
    """Prints the rows as a table, the metrics before the settings."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    every = list(rows[0])
    at = every.index("agent_steps")  # settings come before it, metrics after
    settings = every[1:at]
    heads = ["run", *every[at + 2 :], "agent_steps", *settings]
    short = dict(zip(settings, short_names(settings), strict=True))
    for key in heads:
        head = one_line(short.get(key, key.replace("_", " ")))
        shown.add_column(head, justify="left" if key == "run" else "right", overflow="fold")
    for row in rows:
        cells = {**row, "run": _relative(row["run"], root)}
        share = 100 * row["agent_steps"] // max(row["of"], 1)
        cells["agent_steps"] = f"{row['agent_steps']:,} ({min(share, 100)} %)"
        shown.add_row(*(_cell(cells[key]) for key in heads))
    console = Console(markup=False, highlight=False)
    if not console.is_terminal:
        console = Console(markup=False, highlight=False, width=10_000)  # no line breaks in a file
    console.print(shown)


def _flat(values: Mapping[str, Any]) -> dict[str, Any]:
    """Flattens nested mappings, such as a world's options."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, dict):
            found |= {f"{key}.{part}": inner for part, inner in _flat(value).items()}
        else:
            found[key] = value
    return found


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else one_line(str(value))


def _relative(path: str, root: Path) -> str:
    with contextlib.suppress(ValueError):
        return str(Path(path).relative_to(root))
    return path
