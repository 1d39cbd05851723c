"""Populations that learn by turns: who does is decided after every update by a running mean over the last episodes.

While the mean is at `high` or above one population learns, while it is at `low` or below the other one does; in between, who learned last
goes on (or both do, or neither). The one that rests acts with the weights that it has.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from interplay.core.errors import UserError
from interplay.core.loading import did_you_mean
from interplay.core.world import NAMED_BEFOREHAND
from interplay.train.populations import Populations
from interplay.train.settings import AlternateGroup


class Alternation:
    """Whose turn it is.

    The mean is over the newest updates in which together at least ``episodes`` episodes ended; before there are so many both
    learn. Every worker is told the same numbers, so all decide alike.

    Args:
        settings: of the turns; without a metric everybody learns all the time.
        names: of the run's populations.

    Attributes:
        turn: the population that learns, of the two; None: both or neither.
    """

    def __init__(self, settings: AlternateGroup, names: Sequence[str]) -> None:
        self._settings, self._names = settings, tuple(names)
        self._spans: deque[tuple[int, float]] = deque()  # of each update: episodes, and the sum of the metric
        self.turn: str | None = None
        self._both = True

    @property
    def mean(self) -> float:
        """Of the metric; NaN before an episode has ended."""
        return sum(total for _, total in self._spans) / self._episodes() if self._spans else math.nan

    def learns(self) -> np.ndarray:
        """(Q,) bool, False for those of the two that rest."""
        asked = self._settings
        if asked.metric is None:
            return np.ones(len(self._names), bool)
        rest = {asked.at_high, asked.at_low} - {self.turn}
        return np.array([self._both or name not in rest for name in self._names])

    def add(self, numbers: Mapping[str, Any]) -> dict[str, Any]:
        """Counts one update and decides who learns in the next one.

        Returns:
            What is logged: who learned in this update, and the mean after it.
        """
        asked = self._settings
        if asked.metric is None:
            return {}
        learned = zip(self._names, self.learns(), strict=True)
        two = (asked.at_high, asked.at_low)
        told = {f"learning[{name}]": int(learning) for name, learning in learned if name in two}
        value, episodes = numbers.get(asked.metric, math.nan), int(numbers["episodes"])
        if episodes and math.isfinite(value):
            self._spans.append((episodes, float(value) * episodes))
        while self._episodes() - (self._spans[0][0] if self._spans else 0) >= asked.episodes:
            self._spans.popleft()
        if self._episodes() >= asked.episodes:
            self._decide(self.mean)
        return {**told, f"{asked.metric}_mean": self.mean}

    def describe(self) -> dict[str, Any]:
        """For the checkpoint's record."""
        if self._settings.metric is None:
            return {}
        return {"alternate": {"turn": self.turn, "both": self._both, "spans": [list(s) for s in self._spans]}}

    def load(self, record: Mapping[str, Any]) -> None:
        """Restores what `describe` gave; a run without turns so far begins with them.

        Raises:
            UserError: if it was the turn of a population that is not there.
        """
        saved = record.get("alternate")
        if saved is None:
            return
        if saved["turn"] not in (None, *self._names):
            raise UserError(
                f"checkpoint: it is the turn of {saved['turn']!r}; there are {', '.join(self._names)}"
            )
        self.turn, self._both = saved["turn"], bool(saved["both"])
        self._spans = deque((int(count), float(total)) for count, total in saved["spans"])

    def _episodes(self) -> int:
        return sum(count for count, _ in self._spans)

    def _decide(self, mean: float) -> None:
        asked = self._settings
        if mean >= asked.high:
            self.turn, self._both = asked.at_high, False
        elif mean <= asked.low:
            self.turn, self._both = asked.at_low, False
        elif asked.between != "last":
            self.turn, self._both = None, asked.between == "both"


def check_turns(settings: AlternateGroup, populations: Populations, metrics: Sequence[str]) -> None:
    """Refuses turns that cannot be taken.

    Args:
        settings: of the turns.
        populations: of the run.
        metrics: names of what is counted of an episode.

    Raises:
        UserError: if a population or the metric does not exist, or a population is played by somebody else.
    """
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
            raise UserError(f"alternate.{key}: {name} is played by somebody else; take it out of opponents")
