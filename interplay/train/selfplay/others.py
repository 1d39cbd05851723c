"""What a run asks of the networks that act beside its own and do not learn: past selves (`pool`), or the players of a league."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from interplay.train.selfplay.league.decisions import Decision


class Others:
    """Networks beside a run's own, the same in every worker. The defaults count no matches.

    Attributes:
        first: number of the first one: Q, the run's own.
        stacks: kind name -> (R, P) float32, their weights.
        players: N, between which matches are counted.
        logged: metrics that an update may have of them.
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
        """How many copies of learners there are; numbers to be added up."""
        raise NotImplementedError

    def end_update(self, updates: int, agent_steps: int, vectors: Mapping[str, Any]) -> Decision | None:
        """Copies weights where it is time for it.

        Args:
            updates: done so far.
            agent_steps: done so far.
            vectors: kind name -> (Q, P), the weights after them.

        Returns:
            Learners that begin anew, with the weights of their mirrors in `stacks`, or go on from others; None: no change.
        """
        raise NotImplementedError

    def add(self, results: np.ndarray) -> dict[str, float]:
        """Counts the matches of an update, (2, N, N) sums of outcomes and numbers of all workers; gives what is logged of them."""
        return {}

    def scale(self, rates: Sequence[Mapping[str, float]]) -> list[dict[str, float]]:
        """Each learner's rates as they are for it."""
        return [dict(own) for own in rates]

    def begin_with(self, vectors: Mapping[str, Any]) -> None:
        """The learners begin with other weights than those that were drawn, kind name -> (Q, P)."""

    def go_on(self, agent_steps: int) -> None:
        """The run goes on from a checkpoint of so many agent-steps."""

    def ratings(self) -> dict[str, float]:
        """Elo points of the players that have met, by name."""
        return {}

    def members(self) -> Iterable[tuple[str, dict[str, np.ndarray]]]:
        """Those that a checkpoint names: name, and kind name -> (P,) weights."""
        return ()

    def mirrors(self) -> Iterable[tuple[str, dict[str, np.ndarray]]]:
        """Those that are a learner's weights as they are: its name, and kind name -> (P,)."""
        return ()

    def save(self) -> dict[str, np.ndarray]:
        """Arrays for a checkpoint."""
        raise NotImplementedError

    def load(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Restores what `save` gave."""
        raise NotImplementedError
