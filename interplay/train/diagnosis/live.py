"""Judges a run while it trains: each rule that finds a fault gives one line, once per run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from interplay.core.reading import read_json_lines
from interplay.train.diagnosis.judge import Judge
from interplay.train.diagnosis.rules import columns_of
from interplay.train.settings import TrainSettings

EVERY = 10  # updates that are judged together, which costs hardly more than one


class LiveDiagnosis:
    """The rules over a run that is being trained.

    Args:
        settings: of the run.
        log: its ``metrics.jsonl``. Lines that are there are of earlier parts of the run: what they show was reported then.
    """

    def __init__(self, settings: TrainSettings, log: Path) -> None:
        self._judge, self._lines = Judge(settings), list[Mapping[str, Any]]()
        if log.exists():
            earlier = [line for _, line in read_json_lines(log, links=False)]
            if earlier:
                self._judge.add(columns_of(earlier))

    def add(self, agent_steps: int, numbers: Mapping[str, Any]) -> list[str]:
        """Takes the numbers of an update; returns warnings, most of the time none."""
        self._lines.append({"agent_steps": agent_steps, **numbers})
        if len(self._lines) < EVERY:
            return []
        lines, self._lines = self._lines, []
        return [f"{finding.rule}: {finding.text}" for finding in self._judge.add(columns_of(lines))]
