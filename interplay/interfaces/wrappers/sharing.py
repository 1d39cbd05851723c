"""What slots see of each other (specification interfaces 8)."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.interfaces.match import slots_of
from interplay.interfaces.wrappers.wrapper import MatchWrapper


class AllObs(MatchWrapper):
    """All slots' observations for a central critic: a tuple, the own one first, then the others in cyclic order.

    Args:
        seeing: slots that see all; None is every slot. Other slots keep their own observation.
    """

    def __init__(self, env: Any, seeing: Sequence[int] | None = None) -> None:
        super().__init__(env)
        self._seeing = set(range(self.slots)) if seeing is None else set(seeing)
        if unknown := sorted(self._seeing - set(range(self.slots))):
            raise UserError(
                f"{type(self).__name__}: no slot {unknown[0]} to see; there are 0..{self.slots - 1}"
            )
        seen, _ = slots_of(self.env)
        self.observation_space = spaces.Tuple(
            [
                spaces.Tuple(self._around(seen, slot)) if slot in self._seeing else seen[slot]
                for slot in range(self.slots)
            ]
        )

    def _around(self, values: Sequence[Any], slot: int) -> tuple[Any, ...]:
        return tuple(values[(slot + k) % self.slots] for k in range(self.slots))

    def _shown(self, seen: Sequence[Any]) -> tuple[Any, ...]:
        # Copies: a slot that changes its observation must not change another's.
        return tuple(
            copy.deepcopy(self._around(seen, slot)) if slot in self._seeing else seen[slot]
            for slot in range(self.slots)
        )


class OpponentObs(AllObs):
    """Shows both players of a match of two the other's observation, too: (own, other's).

    Args:
        env: whatever `match` takes, of two slots.
    """

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        if self.slots != 2:
            raise UserError(f"OpponentObs: {self.slots} slots; an opponent is one of two, use AllObs")
