"""What happened to every slot in the last steps: enough for the returns of lives that begin and end at any step.

The buffer holds H + T steps: H of earlier updates and the T of the last rollout. A sample of a life is *ready* to be learnt from
when the life has ended, or when the sample is among the T oldest steps, which leave the buffer with this update; its
return is then the discounted sum of what it has earned so far and the value of the slot's present observation. So every
sample is ready exactly once, memory is bounded by H + T steps, and no return is cut sooner than H steps after its sample.
With H = 0 every sample is ready at once.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from interplay.train.run.restoring import restore


class TrajectoryBuffer:
    """The last H + T steps of W worlds of A slots.

    Args:
        earlier: H.
        steps: T.
        shape: (W, A).

    Attributes:
        reward: (H + T, W, A) float32, earned in the step.
        value: (H + T, W, A) float32, of the observation that the step began with, when it was made.
        acting: (H + T, W, A) bool, the step teaches the policy: the slot's action was read, or its life went on and `mask_dead` is off.
        ended: (H + T, W, A) bool, the life or the world's episode ended in the step.
        bootstrap: (H + T, W, A) float32, value of the last observation of lives that were cut, else 0.
        last_value: (W, A) float32, value of the observation after the last step, 0 for slots without a life.
    """

    def __init__(self, earlier: int, steps: int, shape: tuple[int, int]) -> None:
        self.earlier, self.steps = earlier, steps
        whole = (earlier + steps, *shape)
        self.reward = np.zeros(whole, np.float32)
        self.value = np.zeros(whole, np.float32)
        self.bootstrap = np.zeros(whole, np.float32)
        self.acting = np.zeros(whole, bool)
        self.ended = np.zeros(whole, bool)
        self.last_value = np.zeros(shape, np.float32)

    def advance(self) -> None:
        """Forgets the T oldest steps; the next rollout is written at H and after."""
        for array in self._arrays().values():
            array[: self.earlier] = array[self.steps :].copy()
            array[self.earlier :] = 0

    def ready(self) -> np.ndarray:
        """(H + T, W, A) bool, see above."""
        if not self.earlier:
            return np.ones(self.ended.shape, bool)
        over = np.logical_or.accumulate(self.ended[::-1])[::-1]
        over[: self.steps] = True
        return over

    def save(self) -> dict[str, np.ndarray]:
        """The H steps that the next update needs; call it after `advance`."""
        return {name: array[: self.earlier].copy() for name, array in self._arrays().items()}

    def load(self, arrays: Mapping[str, np.ndarray], owner: str = "trajectory") -> None:
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
