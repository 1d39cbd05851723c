"""Keeps the best checkpoint of a run by one of its metrics, e.g. the mean life."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from interplay.core.errors import UserError
from interplay.core.world import NAMED_BEFOREHAND
from interplay.evaluate.last import LEAST, count_last, counted_by
from interplay.train.run.checkpoint import BEST, Checkpoint, keep_best
from interplay.train.run.episodes import OWN
from interplay.train.run.manifest import read_manifest


class UnknownMetric(UserError):
    """`train.best_by` names a metric that no update has."""


class Best:
    """Averages a metric over consecutive windows of measurements and keeps the highest mean.

    A measurement is an update that has the metric, weighted by its number of lives or episodes. A window's mean is the last value
    (`interplay.evaluate.last`) of a run that would end there. A better window triggers a checkpoint, so the best does
    not depend on when checkpoints are saved or the run is stopped. A new stage of the curriculum begins anew.

    Args:
        metric: name in metrics.jsonl; None keeps no best checkpoint.
        window: measurements; None: a tenth of those so far, at least five.
        checkpoint: to resume from; the best value is dropped if its checkpoint is missing.

    Attributes:
        value: the highest mean so far.
        agent_steps: of this mean; None: no window was full yet.

    Example:
        >>> best = Best("life", 2, None)
        >>> best.add({"life": 10.0, "lives": 1}), best.close(100), best.add({"life": 40.0, "lives": 2})
        (None, False, None)
        >>> best.close(200), best.value
        (True, 30.0)
    """

    def __init__(self, metric: str | None, window: int | None, checkpoint: Checkpoint | None) -> None:
        self.metric, self.window, self.value = metric, window, -math.inf
        self.agent_steps: int | None = None
        self._sum = self._weight = 0.0
        self._held = self._measurements = 0  # in the window, and so far
        saved = checkpoint.record.get("best") if checkpoint else None
        if not saved or saved["metric"] != metric:
            return
        assert checkpoint is not None
        self._sum, self._weight = (float(number) for number in saved["window"])
        self._held, self._measurements = (int(number) for number in saved["measurements"])
        there = checkpoint.path.with_name(BEST).exists() or checkpoint.agent_steps == saved["agent_steps"]
        if saved["value"] is not None and there:
            self.value, self.agent_steps = float(saved["value"]), saved["agent_steps"]

    def add(
        self, numbers: Mapping[str, Any], known: Sequence[str] = (), of_lives: Sequence[str] = OWN
    ) -> None:
        """Counts one update.

        Args:
            known: metrics that later updates may have.
            of_lives: metrics that are means over lives, also as ``name[population]``.

        Raises:
            UnknownMetric: if neither has the metric.
        """
        if self.metric is None:
            return
        value = numbers.get(self.metric)
        if value is None or isinstance(value, Mapping):
            singles = [name for name, one in numbers.items() if not isinstance(one, Mapping)]
            self._refuse_unknown([*dict.fromkeys([*singles, *known])])
            return
        if not math.isfinite(value):  # no case in this update
            return
        counts = counted_by(
            self.metric, numbers, numbers.get("of_episodes", ()), of_lives, numbers.get("of_others", ())
        )
        weight = 1.0 if counts is None else float(numbers[counts])
        self._sum, self._weight = self._sum + weight * float(value), self._weight + weight
        self._held, self._measurements = self._held + 1, self._measurements + 1

    def _refuse_unknown(self, names: Sequence[str]) -> None:
        if self.metric in names:
            return
        near = difflib.get_close_matches(str(self.metric), names, 1)
        plain = ", ".join(name for name in names if "[" not in name)
        cure = f"did you mean {near[0]}?" if near else f"known: {plain}; {NAMED_BEFOREHAND}"
        raise UnknownMetric(f"train.best_by: there is no metric {self.metric}; {cure}")

    def close(self, agent_steps: int) -> bool:
        """Ends the window if it is full; returns whether its mean is the highest so far."""
        most = max(LEAST, count_last(self._measurements)) if self.window is None else self.window
        if self.metric is None or self._held < most:
            return False
        total, weight, self._sum, self._weight, self._held = self._sum, self._weight, 0.0, 0.0, 0
        if not weight or total / weight <= self.value:
            return False
        self.value, self.agent_steps = total / weight, agent_steps
        return True

    def begin_stage(self) -> None:
        """Drops value and window, because means over another stage's worlds do not compare."""
        self.value, self.agent_steps = -math.inf, None
        self._sum, self._weight, self._held = 0.0, 0.0, 0

    def describe(self) -> dict[str, Any]:
        """For the checkpoint's record."""
        if self.metric is None:
            return {}
        value = None if self.agent_steps is None else self.value
        window = [self._sum, self._weight]
        return {
            "best": {
                "metric": self.metric,
                "value": value,
                "agent_steps": self.agent_steps,
                "window": window,
                "measurements": [self._held, self._measurements],
            }
        }

    def keep(self, path: Path, better: bool = False, ends: bool = False) -> None:
        """Copies a checkpoint to ``best`` if it is the best and the copy is missing.

        Args:
            better: what `close` returned.
            ends: the run is complete; without a best window its last checkpoint is copied.
        """
        if self.metric is None:
            return
        lost = int(path.name) == self.agent_steps != _steps_of(path.with_name(BEST))
        if better or lost or (ends and self.agent_steps is None):
            keep_best(path)


def _steps_of(best: Path) -> int | None:
    """Agent-steps of the copied checkpoint; None if there is none, or it cannot be read."""
    try:
        return int(read_manifest(best)["agent_steps"])
    except UserError:
        return None
