"""What happened to every slot in the last steps: enough for the returns of lives that begin and end at any step.

The line holds H + T steps: H of earlier updates and the T of the last rollout. A row of a life is *ready* to be learnt from
when the life has ended, or when the row is among the T oldest steps, which leave the line with this update; its
return is then the discounted sum of what it has earned so far and the value of the slot's present observation. So every
row is ready exactly once, memory is bounded by H + T steps, and no return is cut sooner than H steps after its row.
With H = 0 every row is ready at once.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from interplay.train.restoring import restore
from interplay.train.returns import Returns


class TimeLine:
    """The last H + T steps of W worlds of A slots.

    Args:
        earlier: H.
        steps: T.
        shape: (W, A).

    Attributes:
        reward: (H + T, W, A) float32, earned in the step.
        value: (H + T, W, A) float32, of the observation that the step began with, when it was made.
        acting: (H + T, W, A) bool, the step read the slot's action.
        ended: (H + T, W, A) bool, the life or the world's episode ended in the step.
        bootstrap: (H + T, W, A) float32, value of the last observation of lives that were cut, else 0.
    """

    def __init__(self, earlier: int, steps: int, shape: tuple[int, int]) -> None:
        self.earlier, self.steps = earlier, steps
        whole = (earlier + steps, *shape)
        self.reward = np.zeros(whole, np.float32)
        self.value = np.zeros(whole, np.float32)
        self.bootstrap = np.zeros(whole, np.float32)
        self.acting = np.zeros(whole, bool)
        self.ended = np.zeros(whole, bool)

    def advance(self) -> None:
        """Forgets the T oldest steps; the next rollout is written at H and after."""
        for array in self._arrays().values():
            array[: self.earlier] = array[self.steps :].copy()
            array[self.earlier :] = 0

    def ready(self) -> np.ndarray:
        """(H + T, W, A) bool, see above."""
        over = np.logical_or.accumulate(self.ended[::-1])[::-1]
        over[: self.steps] = True
        return over

    def returns(self, last_value: np.ndarray, gamma: float, lam: float, by_decision: bool = False) -> Returns:
        """Advantages, not normalised, and targets of the value; lambda = 1 for discounted returns."""
        steps = (self.reward, self.value, self.acting, self.ended, self.bootstrap)
        return estimate(*steps, last_value, gamma, lam, by_decision)

    def save(self) -> dict[str, np.ndarray]:
        """The H steps that the next update needs; call it after `advance`."""
        return {name: array[: self.earlier].copy() for name, array in self._arrays().items()}

    def load(self, arrays: Mapping[str, np.ndarray], owner: str = "time line") -> None:
        """Restores what `save` gave.

        Raises:
            UserError: if it was of another horizon or other worlds.
        """
        restore({name: array[: self.earlier] for name, array in self._arrays().items()}, arrays, owner)

    def clear(self) -> None:
        """Forgets everything."""
        for array in self._arrays().values():
            array[:] = 0

    def _arrays(self) -> dict[str, np.ndarray]:
        names = ("reward", "value", "bootstrap", "acting", "ended")
        return {name: getattr(self, name) for name in names}


def estimate(
    reward: np.ndarray,
    value: np.ndarray,
    acting: np.ndarray,
    ended: np.ndarray,
    bootstrap: np.ndarray,
    last_value: np.ndarray,
    gamma: float,
    lam: float,
    by_decision: bool = False,
) -> Returns:
    """`returns.generalised_advantage` in NumPy, for lines whose few hundred steps are not worth a compilation."""
    g, decay = np.float32(gamma), np.float32(lam)
    advantage, target = np.empty_like(value), np.empty_like(value)
    following = last_value.astype(np.float32)
    for t in range(len(value) - 1, -1, -1):
        discount = np.where(acting[t], g, np.float32(1)) if by_decision else g
        to_come = reward[t] + discount * np.where(ended[t], bootstrap[t], following)
        advantage[t] = np.where(acting[t], to_come - value[t], 0)
        following = np.where(acting[t], value[t] + decay * advantage[t], to_come)
        target[t] = np.where(acting[t], to_come, following)
    return Returns(advantage, target)  # type: ignore[arg-type]
