"""The best checkpoint of a run by one of its metrics, e.g. the mean life, kept besides the newest ones."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from interplay.core.errors import UserError
from interplay.train.checkpoint import BEST, Checkpoint


class UnknownMetric(UserError):
    """`train.best_by` names what no update of the run has."""


class Best:
    """Averages a metric between checkpoints and remembers the highest mean.

    Updates weigh as many lives, or episodes, as ended in them.

    Args:
        metric: name in metrics.jsonl; None keeps no best checkpoint.
        run: the run folder; the best value is forgotten if its checkpoint is not there.
        checkpoint: that the run goes on from.

    Example:
        >>> best = Best("life", Path("runs/none"), None)
        >>> best.add({"life": 10.0, "lives": 1}), best.add({"life": 40.0, "lives": 2}), best.close(), best.value
        (None, None, True, 30.0)
    """

    def __init__(self, metric: str | None, run: Path, checkpoint: Checkpoint | None) -> None:
        self.metric, self.value = metric, -math.inf
        self._sum = self._weight = 0.0
        saved = checkpoint.record.get("best") if checkpoint else None
        if saved and saved["metric"] == metric and (run / "checkpoints" / BEST).exists():
            self.value = float(saved["value"])

    def add(self, numbers: Mapping[str, Any], known: Sequence[str] = ()) -> None:
        """Counts one update.

        Args:
            numbers: of the update.
            known: metrics that later updates may have.

        Raises:
            UnknownMetric: if there is none of that name.
        """
        if self.metric is None:
            return
        value = numbers.get(self.metric)
        if value is None or isinstance(value, Mapping):
            singles = [name for name, one in numbers.items() if not isinstance(one, Mapping)]
            self._refuse_unknown([*dict.fromkeys([*singles, *known])])
            return
        if math.isnan(value):  # of no case in this update
            return
        weight = numbers.get("lives") or numbers.get("episodes") or 1
        self._sum, self._weight = self._sum + weight * float(value), self._weight + weight

    def _refuse_unknown(self, names: Sequence[str]) -> None:
        if self.metric in names:
            return
        near = difflib.get_close_matches(str(self.metric), names, 1)
        plain = ", ".join(name for name in names if "[" not in name)
        cure = f"did you mean {near[0]}?" if near else f"known: {plain}"
        raise UnknownMetric(f"train.best_by: there is no metric {self.metric}; {cure}")

    def close(self) -> bool:
        """Ends the span before a checkpoint; whether its mean is the highest so far."""
        total, weight, self._sum, self._weight = self._sum, self._weight, 0.0, 0.0
        if not weight or total / weight <= self.value:
            return False
        self.value = total / weight
        return True

    def describe(self) -> dict[str, Any]:
        """For the checkpoint's record."""
        known = self.metric is not None and math.isfinite(self.value)
        return {"best": {"metric": self.metric, "value": self.value}} if known else {}
