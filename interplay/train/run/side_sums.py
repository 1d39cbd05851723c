"""Sums of per-agent metrics of episodes, over the learner's slots and over those of each side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from interplay.evaluate.results import NAMES, OUTCOME, results

SHARES = NAMES  # shares of the episodes, logged instead of a mean of `OUTCOME`
_ROUNDING = 1e-6  # relative, of a sum of float32 rewards
_ALL, _MIXED, _SIDES = range(
    3
)  # rows: the learner's, the same in episodes with other players, the first side's


class LoggedSides(NamedTuple):
    """Sides with metrics of their own in the log.

    Attributes:
        names: in brackets behind a metric.
        parts: this many first names partition the agents; 0: every agent is a part.
        learner: sides that the learner plays; None where it plays every slot of every episode.
        brief: log sides only where the mean over all agents is meaningless.
    """

    names: tuple[str, ...] = ()
    parts: int = 0
    learner: tuple[str, ...] | None = None
    brief: bool = False


class Balance:
    """Tracks which metrics have summed to zero over the sides in every episode so far.

    The mean of such a metric over all sides is only rounding error. One other episode clears a metric for good.

    Attributes:
        moved: metrics that were non-zero for a side in some episode.
        broken: metrics with a non-zero sum in some episode.
    """

    def __init__(self) -> None:
        self.moved: set[str] = set()
        self.broken: set[str] = set()

    def sums_to_zero(self, name: str, contest: bool) -> bool:
        """Whether a metric is zero-sum so far; one that never moved only in a world with an outcome."""
        return name not in self.broken and (contest or name in self.moved)

    def hides(self, metric: str | None, contest: bool) -> bool:
        """Whether a metric, or a share, is known to be zero-sum."""
        own = OUTCOME if contest and metric in SHARES else str(metric)
        return own in self.moved and own not in self.broken

    def describe(self) -> dict[str, Any]:
        """For the checkpoint's record."""
        return {"balance": {"moved": sorted(self.moved), "broken": sorted(self.broken)}}

    def load(self, record: Mapping[str, Any]) -> None:
        """Restores the values of `describe`; older records have none."""
        saved = record.get("balance", {})
        self.moved, self.broken = set(saved.get("moved", ())), set(saved.get("broken", ()))


class SideSums:
    """Sums per-agent metrics of episodes by side.

    Attributes:
        names: the metrics, and `SHARES` where one is an outcome.
        size: numbers per episode: each metric's mean by row, whether each row has one, and two counts for `Balance`.
    """

    def __init__(self, metrics: Sequence[str], sides: LoggedSides) -> None:
        self.sides, self.contest = sides, OUTCOME in metrics
        self._metrics = tuple(metrics)
        self.names = (*metrics, *SHARES) if self.contest else self._metrics
        self._rows = _SIDES + len(sides.names)
        self.size = len(self.names) * 2 * self._rows + len(metrics) * 2

    @property
    def logged(self) -> list[str]:
        """Possible names in the log, with brackets."""
        names = [name for name in self.names if name != OUTCOME]
        return [*names, *(f"{name}[{side}]" for side in self.sides.names for name in names)]

    @property
    def labels(self) -> list[tuple[Any, ...]]:
        """A label for each of the `size` numbers."""
        parts = [(part, name, row) for part in "ab" for name in self.names for row in range(self._rows)]
        return [*parts, *(("law", name, law) for name in self._metrics for law in range(2))]

    def of_others(self, balance: Balance) -> list[str]:
        """Metrics without brackets that are means over episodes with other players."""
        if self.sides.learner is None:
            return []
        named = ((name, OUTCOME if name in SHARES and self.contest else name) for name in self.names)
        return [name for name, law in named if balance.sums_to_zero(law, self.contest)]

    def of_episodes(self, values: np.ndarray, cut: np.ndarray, members: np.ndarray) -> np.ndarray:
        """(n, size) summands of n finished episodes.

        Args:
            values: (n, metrics, A) float64, NaN where missing.
            cut: (n,) bool, truncated by a limit.
            members: (1 + sides, n, A) bool, slots of the learner and of each side.
        """
        mixed = members[0] & ~members[0].all(axis=1, keepdims=True)
        masks = np.stack([members[0], mixed, *members[1:]])
        rows = masks[:, :, None] & np.isfinite(values)
        counts = rows.sum(axis=3)
        means = np.where(rows, values, 0.0).sum(axis=3) / np.maximum(counts, 1)  # (rows, n, metrics)
        parts = slice(_SIDES, _SIDES + self.sides.parts)
        law = self._law(values, means[parts], counts[parts])
        if self.contest:
            outcome, some = values[:, self._metrics.index(OUTCOME)], masks.any(axis=2, keepdims=True)
            shares = np.stack([results(np.where(mask, outcome, np.nan), cut) for mask in masks])
            means = np.concatenate([means, np.where(some, shares.swapaxes(1, 2), 0.0)], axis=2)
            counts = np.concatenate([counts, np.repeat(some, len(SHARES), axis=2)], axis=2)
        flat = [np.moveaxis(part, 0, 2).reshape(len(values), -1) for part in (means, counts > 0)]
        return np.concatenate([*flat, law], axis=1)

    def _law(self, values: np.ndarray, means: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """(n, metrics * 2) whether each metric moved, and whether its sum over the parts was non-zero."""
        agents = np.nan_to_num(np.moveaxis(values, 2, 0))
        each = np.where(counts > 0, means, 0.0) if self.sides.parts > 1 else agents
        total, scale = np.abs(each.sum(axis=0)), np.abs(each).sum(axis=0)
        if (self.sides.parts or len(agents)) == 1:  # a single side has no other to sum with
            return np.stack([scale > 0, np.ones_like(scale, bool)], axis=2).reshape(len(values), -1)
        broken = total > _ROUNDING * scale
        if self.contest:  # broken only where all win or all lose: one winner of four sums to no zero either
            at = self._metrics.index(OUTCOME)
            broken[:, at] = np.abs(agents[:, :, at].sum(axis=0)) == np.abs(agents[:, :, at]).sum(axis=0)
            broken[:, at] &= scale[:, at] > 0
        return np.stack([scale > 0, broken], axis=2).reshape(len(values), -1)

    def read(self, sums: np.ndarray, balance: Balance) -> dict[str, float | None]:
        """Means for the log, over episodes with a number; None for a metric without a mean over all agents.

        Args:
            sums: (size,) over episodes.
            balance: of the run; updated by these episodes.
        """
        half = len(self.names) * self._rows
        totals, counts = sums[: 2 * half].reshape(2, len(self.names), self._rows)
        means = np.divide(totals, counts, out=np.full(totals.shape, np.nan), where=counts > 0)
        moved, broken = sums[2 * half :].reshape(-1, 2).T
        balance.moved |= {name for name, count in zip(self._metrics, moved, strict=True) if count}
        balance.broken |= {name for name, count in zip(self._metrics, broken, strict=True) if count}
        logged: dict[str, float | None] = {}
        if self.sides.learner is not None:
            logged["episodes_with_others"] = int(
                counts[0, _MIXED]
            )  # metric 0, the return, is in every episode
        for name, row in zip(self.names, means, strict=True):
            logged |= self._read_metric(name, row, balance)
        return logged

    def _read_metric(self, name: str, means: np.ndarray, balance: Balance) -> dict[str, float | None]:
        if name == OUTCOME:
            return {OUTCOME: None}
        share = name in SHARES and self.contest
        contest = balance.sums_to_zero(OUTCOME if share else name, self.contest)
        logged: dict[str, float | None] = {}
        if share or contest or self.sides.learner is not None:
            mean = means[_MIXED if contest else _ALL]
            logged[name] = float(mean) if np.isfinite(mean) else None
        if share or contest or not self.sides.brief:
            own = zip(self.sides.names, means[_SIDES:], strict=True)
            logged |= {f"{name}[{side}]": float(mean) for side, mean in own if np.isfinite(mean)}
        return logged
