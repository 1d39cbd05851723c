"""Groups of runs that differ in their seed alone, against each other: curves and final scores with intervals over seeds."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.evaluate import aggregates
from interplay.evaluate.aggregates import FEW, TOO_FEW, Interval
from interplay.view.curves import WINDOWS
from interplay.view.run_log import one_line
from interplay.view.run_table import (
    LAST,
    METRICS,
    SEED,
    Run,
    differing_keys,
    find_runs,
    read_row,
    short_names,
)

LONGEST = 60  # characters of a group's settings; where one has more, notes call the groups by letters
CUTS = 4  # seeds, below which the interquartile mean cuts none off
SMALL = -3  # power of ten, below which numbers are told with it
BEGINS = {".table.md": "| group | seeds | ", ".table.tex": "% interplay compare\n"}  # of the two tables


class Group(NamedTuple):
    """Runs that differ in their seed alone.

    Attributes:
        label: the settings in which groups differ, behind a letter where they are long.
        name: what notes call it: its label, or its letter.
        runs: at least one.
        scores: (runs,) float64, the mean of the metric over the last tenth of each run.
        curves: (runs, K) float64, means over windows of agent-steps, see `on_windows`; NaN where not every run has begun to log, or
            one has ended: a mean over other runs than in the window before would jump.
        mean, interquartile_mean: of the scores.
        improvement: how likely a run of this group is to be better than one of the first group; None for the first.
    """

    label: str
    name: str
    runs: list[Run]
    scores: np.ndarray
    curves: np.ndarray
    mean: Interval
    interquartile_mean: Interval
    improvement: Interval | None


class Comparison(NamedTuple):
    """Groups against each other.

    Attributes:
        metric: that is compared.
        steps: agent-steps that all runs have.
        middles: (K,) agent-steps of the curves' windows.
        groups: the first is the one that others are compared with.
        notes: what a reader must know, a line each.
    """

    metric: str
    steps: int
    middles: np.ndarray
    groups: list[Group]
    notes: list[str]


def compare(
    places: Sequence[Path], metric: str | None = None, seed: int = 0, draws: int = aggregates.DRAWS
) -> Comparison:
    """Compares groups of runs, each cut at the agent-steps that all have.

    Args:
        places: run folders, or folders of runs; the first run's group is the one that others are compared with.
        metric: a column of metrics.jsonl; None: rating, return, life or length, the first that every run has.
        seed: of the bootstrap.
        draws: of the bootstrap.

    Raises:
        UserError: for a damaged run, one without that metric, runs that had begun but logged nothing, or runs on different worlds.
    """
    runs = [read_row(path) for path in find_runs(places)]
    _refuse_different_worlds(runs)
    metric = _metric(runs, metric)
    common = min(run.steps for run in runs)
    notes = _notes_on_steps(runs, common)
    edges = np.linspace(0, common, WINDOWS + 1)
    members: dict[str, list[Run]] = {}
    for run in runs:
        members.setdefault(json.dumps(run.asked, sort_keys=True), []).append(run)
    labels, names = _labels([group[0] for group in members.values()])
    groups: list[Group] = []
    for label, name, own in zip(labels, names, members.values(), strict=True):
        _refuse_twice(own)
        scores = np.array([_score(run, metric, common) for run in own])
        curves = np.array([_curve(run, metric, edges) for run in own])
        curves[:, np.isnan(curves).any(axis=0)] = np.nan
        first = groups[0].scores if groups else None
        groups.append(
            Group(
                label,
                name,
                own,
                scores,
                curves,
                _interval(aggregates.mean, [scores], seed, draws),
                _interval(aggregates.interquartile_mean, [scores], seed, draws),
                None
                if first is None
                else _interval(aggregates.probability_of_improvement, [scores, first], seed, draws),
            )
        )
        notes += _notes_on_seeds(name, len(own)) + _notes_on_agreement(groups[-1])
    return Comparison(metric, common, (edges[:-1] + edges[1:]) / 2, groups, notes)


def curve_band(
    curves: np.ndarray, seed: int = 0, draws: int = 1_000
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The mean curve of several runs with its bootstrap interval over seeds, whole runs drawn.

    Args:
        curves: (runs, K), NaN where nothing was logged.
        seed: of the draws.
        draws: how many.

    Returns:
        Mean, lower and upper end, (K,) each; ends are NaN for a single run.
    """
    known = np.isfinite(curves)
    counts = known.sum(axis=0)
    middle = np.where(counts > 0, np.where(known, curves, 0.0).sum(axis=0) / np.maximum(counts, 1), np.nan)
    if len(curves) < 2:
        return middle, np.full_like(middle, np.nan), np.full_like(middle, np.nan)
    chosen = np.random.default_rng(seed).integers(0, len(curves), (draws, len(curves)))
    sums, there = np.where(known, curves, 0.0)[chosen].sum(axis=1), known[chosen].sum(axis=1)
    means = np.where(there > 0, sums / np.maximum(there, 1), np.nan)
    low, high = np.full_like(middle, np.nan), np.full_like(middle, np.nan)
    some = counts > 0
    low[some], high[some] = np.nanquantile(
        means[:, some], [(1 - aggregates.LEVEL) / 2, (1 + aggregates.LEVEL) / 2], axis=0
    )
    return middle, low, high


def rows(comparison: Comparison) -> list[tuple[str, ...]]:
    """The final table: group, seeds, mean, interquartile mean and probability of improvement, the head first."""
    head = (
        "group",
        "seeds",
        f"{one_line(comparison.metric)}, mean",
        "interquartile mean",
        "P(better than the first)",
    )
    found: list[tuple[str, ...]] = [head]
    for group in comparison.groups:
        label = one_line(group.label)
        better = "" if group.improvement is None else told(group.improvement, 2)
        cells = (told(group.mean), told(group.interquartile_mean), better)
        found.append((label, str(len(group.runs)), *cells))
    return found


def told(interval: Interval, decimals: int | None = None) -> str:
    """``12.3 [11.2, 13.5]``, to as many digits as the interval is wide, or to so many decimals; without an interval the value.

    Numbers that are all small are told with a power of ten.

    Example:
        >>> told(Interval(12.3456, 11.234, 13.456)), told(Interval(3.0, np.nan, np.nan))
        ('12.35 [11.23, 13.46]', '3')
        >>> told(Interval(1.5e-7, 1.2e-7, 1.8e-7))
        '1.500e-07 [1.200e-07, 1.800e-07]'
    """
    value, low, high = interval
    if not np.isfinite(low):
        return f"{value:.4g}"
    form = f".{decimals}f" if decimals is not None else _form(high - low, max(map(abs, interval)))
    return f"{value:{form}} [{low:{form}}, {high:{form}}]"


def _form(width: float, largest: float) -> str:
    """How numbers up to `largest` are told whose interval is so wide: two digits of the width, or three of the number."""
    size = int(np.floor(np.log10(largest))) if largest > 0 else 0
    if width > 0:
        decimals = max(int(2 - np.floor(np.log10(width))), 0)
    else:
        decimals = max(2 - size, 2)
    return f".{min(decimals + size, 6)}e" if size < SMALL else f".{min(decimals, 6)}f"


def markdown(comparison: Comparison) -> str:
    """The final table as Markdown, with the notes below it."""
    head, *body = ([_plain_in_markdown(cell) for cell in row] for row in rows(comparison))
    lines = [_line(head), _line(["---", *["---:"] * (len(head) - 1)]), *map(_line, body)]
    notes = "".join(f"\n{_plain_in_markdown(note)}\n" for note in _below(comparison))
    return "\n".join(lines) + "\n" + notes


def latex(comparison: Comparison) -> str:
    """The final table as LaTeX, for the package booktabs."""
    head, *body = ([_escaped(cell) for cell in row] for row in rows(comparison))
    lines = [" & ".join(row) + r" \\" for row in body]
    notes = "".join(f"% {_escaped(note)}\n" for note in _below(comparison))
    notes = BEGINS[".table.tex"] + notes
    top = f"\\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}\n\\toprule\n{' & '.join(head)} \\\\\n\\midrule\n"
    return notes + top + "\n".join(lines) + "\n\\bottomrule\n\\end{tabular}\n"


def _below(comparison: Comparison) -> list[str]:
    """Caption and notes, a line each."""
    return [one_line(note) for note in (_caption(comparison), *comparison.notes)]


def _caption(comparison: Comparison) -> str:
    return (
        f"Mean of {comparison.metric} over the last tenth of {comparison.steps:,} agent-steps; in brackets "
        f"{aggregates.LEVEL:.0%} bootstrap intervals over seeds; better than the first: {comparison.groups[0].name}."
    )


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _plain_in_markdown(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|")


def _escaped(text: str) -> str:
    marks = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(marks.get(letter, f"\\{letter}" if letter in "&%$#_{}" else letter) for letter in text)


def _metric(runs: Sequence[Run], asked: str | None) -> str:
    for run in runs:
        if run.log is None:
            raise UserError(
                f"{run.path}: nothing logged yet; wait for the run's first update, or leave it out"
            )
    logged = [(run, set(run.log.columns)) for run in runs if run.log is not None]
    common = set.intersection(*(columns for _, columns in logged))
    some = set.union(*(columns for _, columns in logged))
    wanted = METRICS if asked is None else (asked,)
    if name := next((name for name in wanted if name in common), None):
        return name
    if name := next((name for name in wanted if name in some), None):
        lacks = next(run.path for run, columns in logged if name not in columns)
        raise UserError(
            f"{lacks} has not logged {name!r}; leave it out, or choose what every run has: {', '.join(sorted(common))}"
        )
    what = "none of the metrics is" if asked is None else f"{asked!r} is not"
    raise UserError(f"{what} logged by every run; these are: {', '.join(sorted(common))}")


def _score(run: Run, metric: str, common: int) -> float:
    assert run.log is not None
    # By when a line was written: the episodes that began last have not all ended.
    inside = (run.log.steps > (1 - LAST) * common) & (run.log.steps <= common)
    values = run.log.column(metric)[inside]
    values = values[np.isfinite(values)]
    if not len(values):
        raise UserError(
            f"{run.path}: {metric} was not logged in the last tenth of {common:,} agent-steps; "
            "choose another metric, or train longer"
        )
    return float(values.mean())


def _curve(run: Run, metric: str, edges: np.ndarray) -> np.ndarray:
    assert run.log is not None
    return on_windows(run.log.places(metric), run.log.column(metric), edges)


def on_windows(places: np.ndarray, values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """The mean over each window of the line through a run's own points, whichever steps these have.

    Where a run has logged but a part of a window, the part is taken that lies evenly about its middle.

    Args:
        places: (N,) in any order; of several at one place the mean counts.
        values: (N,), NaN = not known.
        edges: (K + 1,) ascending.

    Returns:
        (K,), NaN for windows whose middle is before the run's first point or behind its last.

    Example:
        >>> on_windows(np.array([1.0, 5.0, 6.0]), np.array([2.0, 10.0, 12.0]), np.array([0.0, 2.0, 4.0, 8.0, 10.0]))
        array([ 2.,  6., 12., nan])
    """
    known = np.isfinite(values)
    x, which = np.unique(places[known], return_inverse=True)
    if not len(x):
        return np.full(len(edges) - 1, np.nan)
    y = np.bincount(which, values[known]) / np.bincount(which)
    middles = (edges[:-1] + edges[1:]) / 2
    reach = np.minimum(np.diff(edges) / 2, np.minimum(middles - x[0], x[-1] - middles))
    area = np.append(0.0, np.cumsum(np.diff(x) * (y[:-1] + y[1:]) / 2))  # below the line, up to each point

    def below(place: np.ndarray) -> np.ndarray:
        before = np.clip(np.searchsorted(x, place, side="right") - 1, 0, len(x) - 1)
        return area[before] + (place - x[before]) * (y[before] + np.interp(place, x, y)) / 2

    wide = np.maximum(reach, 0.0)
    means = (below(middles + wide) - below(middles - wide)) / np.where(wide > 0, 2 * wide, 1.0)
    return np.where(reach > 0, means, np.where(reach == 0, np.interp(middles, x, y), np.nan))


def _interval(
    statistic: Callable[..., np.ndarray], samples: Sequence[np.ndarray], seed: int, draws: int
) -> Interval:
    return aggregates.bootstrap(statistic, [sample[:, None] for sample in samples], seed, draws)


def _labels(firsts: Sequence[Run]) -> tuple[list[str], list[str]]:
    """Of groups the settings in which they differ, ``learning_rate 0.001, clip 0.1``, and what notes call them.

    A single group has the world's id.
    """
    keys = [key for key in differing_keys(firsts) if key not in (SEED, "steps")]
    if not keys:
        labels = [str(run.settings["world.id"]) for run in firsts]
        return labels, labels
    called = dict(zip(keys, short_names(keys), strict=True))
    labels = [
        ", ".join(f"{called[key]} {_shown(run.asked.get(key))}" for key in keys if run.reads(key))
        for run in firsts
    ]
    if max(map(len, labels)) <= LONGEST:
        return labels, labels
    names = [_letters(number) for number in range(len(labels))]
    return [f"{name}: {label}" for name, label in zip(names, labels, strict=True)], names


def _letters(number: int) -> str:
    """A, B to Z, then A1, B1 and so on."""
    return chr(ord("A") + number % 26) + (str(number // 26) if number >= 26 else "")


def _shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _refuse_different_worlds(runs: Sequence[Run]) -> None:
    first = runs[0]
    for run in runs:
        if (own := run.settings["world.id"]) != (other := first.settings["world.id"]):
            raise UserError(
                f"{run.path} was trained on {own}, {first.path} on {other}: scores of different worlds are no measure of each other; "
                "compare runs of one world"
            )


def _refuse_twice(runs: Sequence[Run]) -> None:
    seeds: dict[int, Path] = {}
    for run in runs:
        seed = run.settings["seed"]
        if seed in seeds:
            raise UserError(
                f"{run.path} and {seeds[seed]} are the same run, seed {seed}; leave one of them out"
            )
        seeds[seed] = run.path


def _notes_on_steps(runs: Sequence[Run], common: int) -> list[str]:
    longest = max(run.steps for run in runs)
    if longest == common:
        return []
    shortest = min(runs, key=lambda run: run.steps)
    return [
        f"Cut at {common:,} agent-steps, where {shortest.path.name} ends; the longest run has {longest:,}."
    ]


def _notes_on_seeds(name: str, count: int) -> list[str]:
    if count >= FEW:
        return []
    little = "too few to say anything of others" if count < TOO_FEW else "intervals of so few are too narrow"
    uncut = (
        f", the interquartile mean of fewer than {CUTS} cuts none off and is the mean" if count < CUTS else ""
    )
    return [f"{name}: {count} seed{'s' * (count != 1)}, {little}{uncut}; run at least {FEW}."]


def _notes_on_agreement(group: Group) -> list[str]:
    better = group.improvement
    if better is None or better.low != better.high:
        return []
    return [
        f"{group.name}: every draw of the bootstrap agrees on P(better), so its interval has no width; "
        "of other seeds it is not certain."
    ]
