"""The diagnosis of a run from its log: what its lines show, and what they cannot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from interplay.train.diagnosis.judge import Finding, Judge, Unjudged
from interplay.train.diagnosis.rules import STRETCH
from interplay.view.run_log import read_run

if TYPE_CHECKING:
    from interplay.verbs.run import Run


class Diagnosis(NamedTuple):
    """The rules over a run's log.

    Attributes:
        run: its folder.
        measurements: lines of the log.
        findings: faults, each with number, setting and cure.
        unjudged: rules that need columns which an older log lacks.
    """

    run: str
    measurements: int
    findings: tuple[Finding, ...]
    unjudged: tuple[Unjudged, ...]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def __repr__(self) -> str:
        return str(self)

    def lines(self) -> Iterator[str]:
        """A line for each fault, then one for what cannot be judged."""
        yield from map(str, self.findings)
        if not self.findings:
            yield f"{self.run}: no rule finds a fault in {self.measurements:,} measurements"
        if self.measurements < STRETCH:
            yield f"measurements: {self.measurements}, which are few: most rules need a fault in {STRETCH} successive ones"
        if self.unjudged:
            each = "; ".join(f"{rule} (needs {', '.join(lacks)})" for rule, lacks in self.unjudged)
            yield f"not judged, because an older version wrote this log: {each}"

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return {
            "run": self.run,
            "measurements": self.measurements,
            "findings": [finding._asdict() for finding in self.findings],
            "unjudged": [one._asdict() for one in self.unjudged],
        }


def diagnose(run: Run) -> Diagnosis:
    """Applies the rules to a run's log.

    Raises:
        UserError: if nothing is logged yet, or log or settings are damaged.
    """
    log = read_run(run.folder)
    judge = Judge(run.settings)
    judge.add({"agent_steps": log.steps, **log.columns})
    return Diagnosis(str(run.folder), judge.measurements, tuple(judge.findings()), tuple(judge.unjudged()))
