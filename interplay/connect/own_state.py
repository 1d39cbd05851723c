"""The global state of a PettingZoo environment (`state()`, `state_space`) as rows of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core.errors import UserError


class OwnState:
    """Reads the states of equal environments.

    Args:
        owner: named in errors.
        space: of a state.

    Attributes:
        space: of a row, a float32 Box of one axis.

    Raises:
        UserError: if the length of a state is not fixed.
    """

    def __init__(self, owner: str, space: spaces.Space[Any]) -> None:
        self._owner, self._own = owner, space
        flat: spaces.Space[Any]
        try:
            flat = spaces.flatten_space(space)
        except NotImplementedError:
            flat = space
        if not isinstance(flat, spaces.Box):
            raise UserError(f"{owner}: state_space = {space} has no form as a row of numbers; make it a Box")
        self.space = spaces.Box(flat.low.astype(np.float32), flat.high.astype(np.float32), dtype=np.float32)

    def read(self, env: Any) -> np.ndarray:
        """(n,) float32."""
        state = env.state()
        if isinstance(self._own, spaces.Box) and np.shape(state) != self._own.shape:
            raise UserError(
                f"{self._owner}: state() has shape {np.shape(state)}, state_space says {self._own.shape}; mend either"
            )
        with np.errstate(over="ignore"):
            row = np.asarray(spaces.flatten(self._own, state), np.float32)
        if not np.isfinite(row).all():
            raise UserError(
                f"{self._owner}: state() has a number that is not finite in float32; give finite ones"
            )
        return row


def find_own_state(owner: str, env: Any) -> OwnState | None:
    """The state of an environment after its reset; None where it has none."""
    space = getattr(env, "state_space", None)
    if not isinstance(space, spaces.Space) or not callable(getattr(env, "state", None)):
        return None
    try:
        env.state()
    except NotImplementedError:  # PettingZoo's base classes have a state that is none
        return None
    return OwnState(owner, space)
