"""The interface of networks that act in a run without learning: past selves (`pool`), or a league's players."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from interplay.train.selfplay.league.decisions import Decision


class Others:
    """Networks beside a run's own, the same in every worker. By default no matches are counted.

    Attributes:
        first: number of the first one: Q, the number of the run's own.
        stacks: kind name -> (R, P) float32, their weights.
        players: N, players with counted matches.
        logged: metrics of theirs that an update may have.
    """

    first: int
    stacks: dict[str, np.ndarray]
    players = 0
    logged: Sequence[str] = ()

    @property
    def places(self) -> int:
        """R."""
        raise NotImplementedError

    @property
    def there(self) -> np.ndarray:
        """Numbers of copies of learners, to be summed."""
        raise NotImplementedError

    def end_update(self, updates: int, agent_steps: int, vectors: Mapping[str, Any]) -> Decision | None:
        """Copies weights, (Q, P) for each kind, when due.

        Returns:
            Learners to restart from their mirrors' weights in `stacks`, or to replace by others; None: no change.
        """
        raise NotImplementedError

    def add(self, results: np.ndarray) -> dict[str, float]:
        """Counts an update's matches, (2, N, N) sums of outcomes and numbers over all workers; returns metrics."""
        return {}

    def scale(self, rates: Sequence[Mapping[str, float]]) -> list[dict[str, float]]:
        """Each learner's own rates."""
        return [dict(own) for own in rates]

    def begin_with(self, vectors: Mapping[str, Any]) -> None:
        """Replaces the learners' initial weights, kind name -> (Q, P)."""

    def go_on(self, agent_steps: int) -> None:
        """The run continues from a checkpoint at `agent_steps`."""

    def ratings(self) -> dict[str, float]:
        """Elo points of the players that have met, by name."""
        return {}

    def members(self) -> Iterable[tuple[str, dict[str, np.ndarray]]]:
        """The networks with files in a checkpoint: name, and kind name -> (P,) weights."""
        return ()

    def mirrors(self) -> Iterable[tuple[str, dict[str, np.ndarray]]]:
        """The copies of learners' present weights: name, and kind name -> (P,)."""
        return ()

    def save(self) -> dict[str, np.ndarray]:
        """Arrays for a checkpoint."""
        raise NotImplementedError

    def load(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Restores `save`."""
        raise NotImplementedError
