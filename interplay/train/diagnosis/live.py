"""Applies the rules during training; each rule with a fault gives one warning per run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from interplay.core.reading import read_json_lines
from interplay.train.diagnosis.judge import Judge
from interplay.train.diagnosis.rules import columns_of
from interplay.train.settings import TrainSettings

EVERY = 10  # updates that are judged together, at hardly more cost than one


class LiveDiagnosis:
    """The rules over a run in training.

    Args:
        log: its ``metrics.jsonl``. Faults in its present lines were reported before the run was resumed.
    """

    def __init__(self, settings: TrainSettings, log: Path) -> None:
        self._judge, self._lines = Judge(settings), list[Mapping[str, Any]]()
        if log.exists():
            earlier = [line for _, line in read_json_lines(log, links=False)]
            if earlier:
                self._judge.add(columns_of(earlier))

    def add(self, agent_steps: int, numbers: Mapping[str, Any]) -> list[str]:
        """Takes the numbers of an update; returns new warnings."""
        self._lines.append({"agent_steps": agent_steps, **numbers})
        if len(self._lines) < EVERY:
            return []
        lines, self._lines = self._lines, []
        return [f"{finding.rule}: {finding.text}" for finding in self._judge.add(columns_of(lines))]
