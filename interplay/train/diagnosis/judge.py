"""Applies the rules to a run's log, also in training, with the same findings for any batches of lines."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from interplay.train.diagnosis.rules import (
    CUT_SHORT,
    FIRST_RETURN,
    RULES,
    STRETCH,
    Columns,
    Measured,
    Rule,
    columns_of,
)
from interplay.train.run.metrics_log import log_lines
from interplay.train.settings import TrainSettings

ALWAYS_LOGGED = "reward_abs_max"  # absent only in logs from before the measurements


class Finding(NamedTuple):
    """A fault of a run.

    Attributes:
        rule: its name.
        subjects: populations or observation leaves; empty for the whole run.
        begins: agent-steps of the first line of the first stretch.
        ends: agent-steps of the last line in a stretch.
        holds: the newest measurement is in a stretch.
        value: the number in `text`, a median over the first stretch.
        text: number, setting and cure.
    """

    rule: str
    subjects: tuple[str, ...]
    begins: int
    ends: int
    holds: bool
    value: float
    text: str

    def __str__(self) -> str:
        until = "on" if self.holds else f"to {self.ends:,}"
        return f"{self.rule}, from {self.begins:,} {until}: {self.text}"


class Unjudged(NamedTuple):
    """A rule with columns that the log lacks."""

    rule: str
    lacks: tuple[str, ...]


class Judge:
    """The rules that concern a run's settings, over its log.

    Attributes:
        measurements: lines so far.
    """

    def __init__(self, settings: TrainSettings) -> None:
        self._settings = settings
        self._rules = [rule for rule in RULES if rule.applies(settings)]
        self._streaks: dict[str, dict[str, _Streak]] = {rule.name: {} for rule in self._rules}
        self._names: set[str] = set()
        self._first, self._cut = math.nan, np.full(STRETCH, math.nan)
        self.measurements = 0

    def add(self, columns: Columns) -> list[Finding]:
        """Takes the next lines; returns findings of rules that had none before."""
        self.measurements += len(columns["agent_steps"])
        self._names |= columns.keys()
        columns = self._with_history(columns)
        fresh = []
        for rule in self._rules:
            had = self._find(rule) is not None
            for measured in rule.measure(columns, self._settings):
                streak = self._streaks[rule.name].setdefault(measured.subject, _Streak(rule.stretch))
                streak.add(columns["agent_steps"], measured)
            if not had and (finding := self._find(rule)) is not None:
                fresh.append(finding)
        return fresh

    def findings(self) -> list[Finding]:
        """All faults so far, in the order of the rules."""
        found = [self._find(rule) for rule in self._rules]
        return [finding for finding in found if finding is not None]

    def unjudged(self) -> list[Unjudged]:
        """Rules with columns that the lines so far lack, in logs without measurements."""
        if ALWAYS_LOGGED in self._names:
            return []
        present = {name.partition("[")[0] for name in self._names}
        lacks = [(rule.name, tuple(n for n in rule.needs if n not in present)) for rule in self._rules]
        return [Unjudged(*one) for one in lacks if one[1]]

    def _with_history(self, columns: Columns) -> Columns:
        """Adds columns with the run's first return and the latest share of updates that were cut short."""
        returns = columns.get("episode_return", np.zeros(0))
        known = returns[np.isfinite(returns)]
        if math.isnan(self._first) and len(known):
            self._first = float(known[0])
        count = len(columns["agent_steps"])
        epochs, share = columns.get("epochs", np.full(count, math.nan)), np.full(count, math.nan)
        measured = np.isfinite(epochs)
        cut = np.concatenate([self._cut, epochs[measured] < 1])
        share[measured] = np.lib.stride_tricks.sliding_window_view(cut, STRETCH)[1:].mean(axis=1)
        self._cut = cut[-STRETCH:]
        return {**columns, FIRST_RETURN: np.full(count, self._first), CUT_SHORT: share}

    def _find(self, rule: Rule) -> Finding | None:
        some = {name: own for name, own in self._streaks[rule.name].items() if own.begins is not None}
        if not some:
            return None
        value = rule.worst(own.value for own in some.values())
        names = tuple(sorted(name for name in some if name))
        begins = min(own.begins for own in some.values() if own.begins is not None)
        ends, holds = max(own.ends for own in some.values()), any(own.holds for own in some.values())
        text = rule.sentence(self._settings, value, names)
        return Finding(rule.name, names, int(begins), int(ends), holds, value, text)


class _Streak:
    """Successive faulty measurements of one subject.

    Attributes:
        begins: agent-steps of the first line of the first stretch that was long enough, or None.
        ends: agent-steps of the last line in such a stretch.
        holds: the newest measurement is in one.
        value: median over the first stretch.
    """

    def __init__(self, stretch: int) -> None:
        self._stretch = stretch
        self._length, self._since = 0, 0.0
        self._values: list[float] = []
        self.begins: float | None = None
        self.ends, self.holds, self.value = 0.0, False, float("nan")

    def add(self, steps: np.ndarray, measured: Measured) -> None:
        known = np.isfinite(measured.values)
        if not known.any():
            return
        if not measured.faulty[known].any():  # most of the time
            self._length, self.holds, self._values = 0, False, []
            return
        for step, value, faulty in zip(
            steps[known], measured.values[known], measured.faulty[known], strict=True
        ):
            self._take(float(step), float(value), bool(faulty))

    def _take(self, step: float, value: float, faulty: bool) -> None:
        if not faulty:
            self._length, self.holds, self._values = 0, False, []
            return
        if not self._length:
            self._since = step
        self._length += 1
        if len(self._values) < self._stretch:
            self._values.append(value)
        if self._length >= self._stretch:
            if self.begins is None:
                self.begins, self.value = self._since, float(np.median(self._values))
            self.ends, self.holds = step, True


EVERY = 10  # lines that are judged together, at hardly more cost than one


class LiveDiagnosis:
    """The rules over the lines of a run's log, in training.

    Args:
        run: its folder. Faults in the present lines of its log were reported before the run was resumed.
    """

    def __init__(self, settings: TrainSettings, run: Path) -> None:
        self._judge, self._lines = Judge(settings), list[Mapping[str, Any]]()
        if earlier := [line for _, line in log_lines(run)]:
            self._judge.add(columns_of(earlier))

    def add(self, agent_steps: int, numbers: Mapping[str, Any]) -> list[str]:
        """Takes the numbers of a logged line; returns new warnings."""
        self._lines.append({"agent_steps": agent_steps, **numbers})
        return self.close() if len(self._lines) >= EVERY else []

    def close(self) -> list[str]:
        """Judges the lines that are left; returns new warnings."""
        lines, self._lines = self._lines, []
        found = self._judge.add(columns_of(lines)) if lines else []
        return [f"{finding.rule}: {finding.text}" for finding in found]
