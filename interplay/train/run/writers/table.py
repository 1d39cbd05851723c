"""Writes metrics as ``metrics.csv``, one column each."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from interplay.core.files import open_log, replace_file
from interplay.core.reading import read_text
from interplay.train.run.metrics_log import log_lines
from interplay.train.run.writers import Context, numbers_of

NAME = "metrics.csv"
RATES = "rates/"  # prefix of the columns of rates
MOST = 2**30  # bytes of a table to read back


class CsvWriter:
    """Appends rows; for a new column and for a resumed run it rewrites the file from the log.

    So it never holds a row twice. Constant rates, which the log leaves out, keep the values of their rows.
    """

    def __init__(self, context: Context) -> None:
        self._run, self._path = context.run, context.run / NAME
        self._first_step = context.first_step
        self._columns: list[str] = []

    def write(self, agent_steps: int, numbers: Mapping[str, float]) -> None:
        """Appends one row, which the log already has."""
        row = {"agent_steps": agent_steps, **numbers}
        if not self._columns or not row.keys() <= set(self._columns):
            self._make(row)
            return
        handle = open_log(self._path)
        try:
            os.write(handle, _text([row], self._columns).encode())
        finally:
            os.close(handle)

    def close(self) -> None:
        """Nothing is open between rows."""

    def _make(self, last: Mapping[str, Any]) -> None:
        """Rewrites the file from the log; `last` is its last row with constant rates.

        Earlier rows keep their rates in the file; rows from before this part of the run without any get none.
        """
        rows = [{"agent_steps": line["agent_steps"], **numbers_of(line)} for _, line in log_lines(self._run)]
        constant = {name: value for name, value in last.items() if rows and name not in rows[-1]}
        before = self._rates()
        for i, row in enumerate(rows):
            steps = row["agent_steps"]
            own = constant if steps >= self._first_step else {}
            rows[i] = {**(own if i == len(rows) - 1 else before.get(str(steps), own)), **row}
        self._columns = list(dict.fromkeys(["agent_steps", *(name for row in rows for name in row)]))
        head = _text([dict(zip(self._columns, self._columns, strict=True))], self._columns)
        replace_file(self._path, head + _text(rows, self._columns), "table")

    def _rates(self) -> dict[str, dict[str, str]]:
        """Rates of the file's rows by agent-steps; empty if it cannot be read."""
        try:
            text = read_text(self._path, MOST, links=False)
            lines = csv.DictReader(io.StringIO(text[: text.rfind("\n") + 1]))  # without a torn end
            return {
                line["agent_steps"]: {
                    name: cell for name, cell in line.items() if name and name.startswith(RATES) and cell
                }
                for line in lines
            }
        except (OSError, ValueError, KeyError, csv.Error):
            return {}


def _text(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> str:
    text = io.StringIO()
    csv.DictWriter(text, columns, lineterminator="\n").writerows(rows)
    return text.getvalue()
