"""Populations that learn by turns, as a running mean over the last episodes decides after every update.

At `high` or above one population learns, at `low` or below the other; in between the last one continues (or both learn, or neither).
The resting population acts with its present weights.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from interplay.core.errors import UserError
from interplay.core.loading import did_you_mean
from interplay.core.world import NAMED_BEFOREHAND
from interplay.train.curriculum import EpisodeMean, episodes_of
from interplay.train.populations import Populations
from interplay.train.settings import AlternateGroup


class Alternation:
    """The population that learns.

    The mean is over the newest updates with at least ``episodes`` ended episodes; before there are that many, both learn. All workers
    get the same numbers and decide alike.

    Args:
        settings: of the turns; without a metric all populations always learn.

    Attributes:
        turn: the population that learns, of the two; None: both or neither.
    """

    def __init__(self, settings: AlternateGroup, names: Sequence[str]) -> None:
        self._settings, self._names = settings, tuple(names)
        self._mean = EpisodeMean(settings.episodes)
        self.turn: str | None = None
        self._both = True

    @property
    def mean(self) -> float:
        """Of the metric; NaN before an episode has ended."""
        return self._mean.value

    def learns(self) -> np.ndarray:
        """(Q,) bool, False for a resting population."""
        settings = self._settings
        if settings.metric is None:
            return np.ones(len(self._names), bool)
        rest = {settings.at_high, settings.at_low} - {self.turn}
        return np.array([self._both or name not in rest for name in self._names])

    def add(self, numbers: Mapping[str, Any]) -> dict[str, Any]:
        """Counts one update and decides the next turn; returns metrics: learning populations of this update, new mean."""
        settings = self._settings
        if settings.metric is None:
            return {}
        learned = zip(self._names, self.learns(), strict=True)
        two = (settings.at_high, settings.at_low)
        metrics = {f"learning[{name}]": int(learning) for name, learning in learned if name in two}
        self._mean.add(numbers.get(settings.metric, math.nan), episodes_of(settings.metric, numbers))
        if self._mean.is_full:
            self._decide(self.mean)
        return {**metrics, f"{settings.metric}_mean": self.mean}

    def describe(self) -> dict[str, Any]:
        """The state for a checkpoint's record."""
        if self._settings.metric is None:
            return {}
        return {"alternate": {"turn": self.turn, "both": self._both, "spans": self._mean.save()}}

    def load(self, record: Mapping[str, Any]) -> None:
        """Restores `describe`; a run saved without turns begins with them."""
        saved = record.get("alternate")
        if saved is None:
            return
        if saved["turn"] not in (None, *self._names):
            raise UserError(
                f"checkpoint: it is the turn of {saved['turn']!r}; there are {', '.join(self._names)}"
            )
        self.turn, self._both = saved["turn"], bool(saved["both"])
        self._mean.load(saved["spans"])

    def _decide(self, mean: float) -> None:
        settings = self._settings
        if mean >= settings.high:
            self.turn, self._both = settings.at_high, False
        elif mean <= settings.low:
            self.turn, self._both = settings.at_low, False
        elif settings.between != "last":
            self.turn, self._both = None, settings.between == "both"


def check_turns(settings: AlternateGroup, populations: Populations, metrics: Sequence[str]) -> None:
    """Checks the turns' populations and metric."""
    if settings.metric is None:
        return
    if settings.metric not in metrics:
        near = did_you_mean(
            settings.metric, metrics, f"episodes have {', '.join(metrics)}; {NAMED_BEFOREHAND}"
        )
        raise UserError(f"alternate.metric: there is no {settings.metric!r}; {near}")
    for key, name in (("at_high", settings.at_high), ("at_low", settings.at_low)):
        if name not in populations.names:
            near = did_you_mean(name, populations.names, f"there are {', '.join(populations.names)}")
            raise UserError(f"alternate.{key}: no population {name!r}; {near}")
        if name in populations.opponents:
            raise UserError(f"alternate.{key}: {name} is played by opponents; take it out of opponents")
