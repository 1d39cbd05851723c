"""Compares groups of runs that differ only in their seed: curves and final scores with intervals over seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.evaluate import statistics
from interplay.evaluate.last import LEAST, Last
from interplay.evaluate.results import NAMES as SHARES
from interplay.evaluate.statistics import CUTS, LEVEL, Interval
from interplay.view.run_groups import RunGroup, group_runs, label_groups
from interplay.view.run_log import RunLog, check_logged, one_line
from interplay.view.run_table import METRICS, SEED, Run, find_runs, notes_on_lasts, read_logged
from interplay.view.seed_means import WINDOWS, curves_of
from interplay.view.table_text import csv_table, latex_table, latex_text, markdown_table, markdown_text

_RATING = ("evaluate_against", "evaluate_actions", "evaluate_episodes")  # settings of ratings
RATES = ("rating", "win_rate", "loss_rate", "draw_rate", "cut_rate", "score_rate")
LONGEST = 60  # characters of a group's settings; longer ones get letters in the notes
NAMED = 5  # runs listed in a note
SMALL = -3  # power of ten below which numbers are written with an exponent
BEGINS = {
    ".table.md": "| group | seeds | ",
    ".table.tex": "% interplay compare\n",
    ".table.csv": "group,run,seed,",
}  # of the tables


class Group(NamedTuple):
    """Runs that differ only in their seed.

    Attributes:
        label: the settings in which groups differ, after a letter if they are long.
        name: the label, or its letter.
        lasts: the last value of the metric in each run.
        curves: (runs, K) float64, see `interplay.view.seed_means.curves_of`.
        mean, interquartile_mean: of the scores.
        improvement: probability that a run of this group beats one of the first group; None for the first.
    """

    label: str
    name: str
    runs: list[Run]
    lasts: list[Last]
    curves: np.ndarray
    mean: Interval
    interquartile_mean: Interval
    improvement: Interval | None

    @property
    def scores(self) -> np.ndarray:
        """(runs,) the last values."""
        return np.array([last.value for last in self.lasts])


class Comparison(NamedTuple):
    """A comparison of groups.

    Attributes:
        steps: agent-steps of the longest run.
        middles: (K,) agent-steps of the curves' windows.
        groups: the first is the baseline.
        notes: caveats, a line each.
    """

    metric: str
    steps: int
    middles: np.ndarray
    groups: list[Group]
    notes: list[str]

    @property
    def unit(self) -> str:
        """The unit of the metric; empty if unknown."""
        logs = [run.log for group in self.groups for run in group.runs if run.log is not None]
        return next((unit for log in logs if (unit := log.unit(self.metric))), "")


def compare(
    places: Sequence[Path], metric: str | None = None, labels: Mapping[str, str] | None = None
) -> Comparison:
    """Compares groups of runs by the last value of a metric in each run.

    Runs that cannot be read or did not log the metric are left out with a note.

    Args:
        places: run folders, or folders of runs; the first run's group is the baseline.
        metric: a column of metrics.jsonl; None: rating, return, life or length, the first that every run has, else some.
        labels: label of a group, or name or path of one of its runs -> new label.

    Raises:
        UserError: for no comparable run, an unknown metric or label, or runs on different worlds.
    """
    found, notes = read_logged(find_runs(places))
    metric = _metric([log for _, log in found], metric)
    logs = {run.path: log for run, log in found if np.isfinite(log.column(metric)).any()}
    runs = [run for run, _ in found if run.path in logs]
    notes += [f"{log.name} has not logged {metric}; left out." for run, log in found if run.path not in logs]
    _refuse_different_worlds(runs)
    steps = max(run.steps for run in runs)
    edges = np.linspace(0, steps, WINDOWS + 1)
    members = group_runs(runs)
    groups: list[Group] = []
    for label, name, (own, *_) in zip(*_labels(members, labels or {}), members, strict=True):
        lasts = [logs[run.path].last(metric) for run in own]
        scores = np.array([last.value for last in lasts])
        groups.append(
            Group(
                label,
                name,
                own,
                lasts,
                curves_of([logs[run.path] for run in own], metric, edges),
                _possible(metric, statistics.mean_interval(scores)),
                _possible(metric, statistics.interquartile_interval(scores)),
                statistics.improvement_interval(scores, groups[0].scores) if groups else None,
            )
        )
    notes += _notes_on_ends(list(logs.values())) + notes_on_lasts(runs, [metric])
    notes += _notes_on_play(metric, [run for group in groups for run in group.runs])
    notes += [f"{log.mixed_sides}." for log in logs.values() if log.mixed_sides]
    notes += _notes_on_seeds(groups)
    return Comparison(metric, steps, (edges[:-1] + edges[1:]) / 2, groups, notes)


def bounds_of(metric: str) -> tuple[float, float]:
    """Lowest and highest possible value of a metric: 0 and 1 for shares, else infinite."""
    name = metric.partition("[")[0]
    share = name in SHARES or name.startswith(RATES[1:])  # a rating is in Elo points
    return (0.0, 1.0) if share else (-np.inf, np.inf)


def _possible(metric: str, interval: Interval) -> Interval:
    low, high = np.clip([interval.low, interval.high], *bounds_of(metric))
    return interval._replace(low=float(low), high=float(high))


def rows(comparison: Comparison) -> list[tuple[str, ...]]:
    """The final table with its head: group, seeds, mean, interquartile mean, probability of improvement."""
    head = [
        "group",
        "seeds",
        "measurements",
        *_cases(comparison),
        f"{one_line(comparison.metric)}{_unit(comparison)}, mean",
        "interquartile mean",
        "P(better than the first)",
    ]
    found: list[tuple[str, ...]] = [tuple(head)]
    for group in comparison.groups:
        made = [_range([last.measurements for last in group.lasts])]
        made += [_range([last.cases or 0 for last in group.lasts]) for _ in _cases(comparison)]
        better = "" if group.improvement is None else interval_text(group.improvement, 2)
        cells = (interval_text(group.mean), interval_text(group.interquartile_mean), better)
        found.append((one_line(group.label), str(len(group.runs)), *made, *cells))
    return found


def _cases(comparison: Comparison) -> list[str]:
    """Heading of the column that counts episodes or lives; empty if the metric is no mean over them."""
    counted = any(last.cases is not None for group in comparison.groups for last in group.lasts)
    logs = [run.log for group in comparison.groups for run in group.runs if run.log is not None]
    of_lives = any(comparison.metric.partition("[")[0] in log.of_lives for log in logs)
    return ["lives" if of_lives else "episodes"] * counted


def _range(numbers: Sequence[int]) -> str:
    """One number if all are equal, else the lowest and the highest."""
    low, high = min(numbers), max(numbers)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def scores_csv(comparison: Comparison) -> str:
    """The score of each run as comma-separated values, a row for each run."""
    cases = _cases(comparison)
    rows: list[list[Any]] = [
        ["group", "run", "seed", "agent_steps", comparison.metric, "measurements", *cases]
    ]
    for group in comparison.groups:
        for run, last in zip(group.runs, group.lasts, strict=True):
            start = [group.label, str(run.path), run.settings[SEED], run.steps]
            rows.append([*start, last.value, last.measurements, *(last.cases for _ in cases)])
    return csv_table(rows)


def interval_text(interval: Interval, decimals: int | None = None) -> str:
    """``12.3 [11.2, 13.5]``, rounded to the width of the interval; the value alone without one.

    Small numbers are written with an exponent.

    Example:
        >>> interval_text(Interval(12.3456, 11.234, 13.456)), interval_text(Interval(3.0, np.nan, np.nan))
        ('12.35 [11.23, 13.46]', '3')
        >>> interval_text(Interval(1.5e-7, 1.2e-7, 1.8e-7))
        '1.500e-07 [1.200e-07, 1.800e-07]'
    """
    value, low, high = interval
    if not np.isfinite(low):
        return f"{value:.4g}"
    form = f".{decimals}f" if decimals is not None else _form(high - low, max(map(abs, interval)))
    return f"{value:{form}} [{low:{form}}, {high:{form}}]"


def _form(width: float, largest: float) -> str:
    """Format of numbers up to `largest`: two digits of the interval's width, else three of the number."""
    size = int(np.floor(np.log10(largest))) if largest > 0 else 0
    if width > 0:
        decimals = max(int(2 - np.floor(np.log10(width))), 0)
    else:
        decimals = max(2 - size, 2)
    return f".{min(decimals + size, 6)}e" if size < SMALL else f".{min(decimals, 6)}f"


def markdown(comparison: Comparison) -> str:
    """The final table as Markdown, with the notes below it."""
    notes = "".join(f"\n{markdown_text(note)}\n" for note in _below(comparison))
    return markdown_table(rows(comparison)) + "\n" + notes


def latex(comparison: Comparison) -> str:
    """The final table as LaTeX, for the package booktabs."""
    notes = "".join(f"% {latex_text(note)}\n" for note in _below(comparison))
    return BEGINS[".table.tex"] + notes + latex_table(rows(comparison))


def _below(comparison: Comparison) -> list[str]:
    """Caption and notes, a line each."""
    return [one_line(note) for note in (_caption(comparison), *comparison.notes)]


def _unit(comparison: Comparison) -> str:
    return f" ({comparison.unit})" if comparison.unit else ""


def _notes_on_play(metric: str, runs: Sequence[Run]) -> list[str]:
    """Notes on the action rule and the opponents behind a rating or a training metric."""
    name = metric.partition("[")[0]
    if name in SHARES:
        return [f"{metric}: of the episodes of training, played as the algorithm explores."]
    if not name.startswith(RATES) or not any(run.settings.get("train.evaluate_against") for run in runs):
        return []
    rated: dict[str, list[str]] = {}
    for run in runs:
        rated.setdefault(_play_of(name, run), []).append(run.path.name)
    half = "; drawn and cut count half" if name.startswith(("rating", "score_rate")) else ""
    if len(rated) == 1:
        return [f"{metric}: {next(iter(rated))}{half}."]
    each = [f"{', '.join(names[:NAMED])}: {play}" for play, names in rated.items()]
    return [f"{metric} is no common measure: runs were rated otherwise; {'; '.join(each)}{half}."]


def _play_of(rating: str, run: Run) -> str:
    """Action rule, opponents and episodes of a run's ratings."""
    asked = {key: run.settings.get(f"train.{key}") for key in _RATING}
    rule = asked["evaluate_actions"]
    if rating.endswith("_sampled"):
        rule = "sampled"
    elif rule == "both":
        rule = "greedy"
    against = ", ".join(map(str, asked["evaluate_against"] or ["no opponent"]))
    return f"{rule} play against {against}, {asked['evaluate_episodes']} episodes each"


def _caption(comparison: Comparison) -> str:
    weighed = f", each weighing its {cases[0]}" if (cases := _cases(comparison)) else ""
    return (
        f"Mean of {comparison.metric}{_unit(comparison)} over each run's last measurements (a tenth of them, at least {LEAST}{weighed}; counts are of each seed); "
        f"in brackets {LEVEL:.0%} intervals over seeds, for scores that are about normal; "
        f"better than the first: {comparison.groups[0].name}."
    )


def _metric(logs: Sequence[RunLog], asked: str | None) -> str:
    logged = [{name for name, column in log.columns.items() if np.isfinite(column).any()} for log in logs]
    common, some = set.intersection(*logged), set.union(*logged)
    if asked is not None:
        check_logged([asked], some)
        return asked
    found = next((name for there in (common, some) for name in METRICS if name in there), None)
    if found is None:
        raise UserError(f"no run has logged any of {', '.join(METRICS)}; there are {', '.join(sorted(some))}")
    return found


def _labels(groups: Sequence[RunGroup], labels: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Labels for tables and names for notes; names are letters if a label is long."""
    found = label_groups(groups, [group.settings for group in groups], labels)
    if max(map(len, found)) <= LONGEST:
        return found, found
    names = [_letters(number) for number in range(len(found))]
    return [f"{name}: {label}" for name, label in zip(names, found, strict=True)], names


def _letters(number: int) -> str:
    """A, B to Z, then A1, B1 and so on."""
    return chr(ord("A") + number % 26) + (str(number // 26) if number >= 26 else "")


def _refuse_different_worlds(runs: Sequence[Run]) -> None:
    first = runs[0]
    for run in runs:
        if (own := run.settings["world.id"]) != (other := first.settings["world.id"]):
            raise UserError(
                f"{run.path} was trained on {own}, {first.path} on {other}: scores of different worlds are no measure of each other; "
                "compare runs of one world"
            )


def _notes_on_ends(logs: Sequence[RunLog]) -> list[str]:
    """Notes on runs that end more than an update before the longest one or before their target."""
    longest = max(logs, key=lambda log: log.steps[-1])
    short = [log for log in logs if longest.steps[-1] - log.steps[-1] > max(log.apart, longest.apart)]
    notes = []
    if short:
        each = [f"{log.name} ends at {int(log.steps[-1]):,}" for log in short[:NAMED]]
        more = [f"{len(short) - NAMED} more end early"] if len(short) > NAMED else []
        notes.append(
            f"{'; '.join([*each, *more])} of the {int(longest.steps[-1]):,} agent-steps of the longest run; "
            "each score is of its run's own end."
        )
    return notes + [f"{log.early_end}." for log in logs if log.early_end and log not in short][:NAMED]


def _notes_on_seeds(groups: Sequence[Group]) -> list[str]:
    few = [group.name for group in groups if 1 < len(group.runs) < CUTS]
    notes = [
        f"{group.name}: 1 seed, which gives no interval; run more." for group in groups if len(group.runs) < 2
    ]
    if few:
        notes.append(
            f"{', '.join(few)}: the interquartile mean of fewer than {CUTS} seeds cuts none off and is the mean."
        )
    return notes
