"""The last steps of every slot: enough for the returns of lives that begin and end at any step.

The buffer holds H + T steps: H of earlier updates and T of the last rollout. A sample is *ready* when its life has ended, or when it is
among the T oldest steps, which leave the buffer with this update. Its return is then the discounted sum of its rewards so far plus the
value of the slot's present observation. So every sample is ready exactly once, and no return is bootstrapped sooner than H steps after
its sample. With H = 0 every sample is ready at once.
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
        value: (H + T, W, A) float32, of the observation before the step, by the networks of that time.
        acting: (H + T, W, A) bool, the step trains the policy: the action was read, or `mask_dead` is off and the life went on.
        ended: (H + T, W, A) bool, the life or the world's episode ended in the step.
        bootstrap: (H + T, W, A) float32, value of the last observation of truncated lives, else 0.
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
        """Drops the T oldest steps; the next rollout is written from H on."""
        for array in self._arrays().values():
            array[: self.earlier] = array[self.steps :].copy()
            array[self.earlier :] = 0

    def ready(self) -> np.ndarray:
        """(H + T, W, A) mask of ready samples."""
        if not self.earlier:
            return np.ones(self.ended.shape, bool)
        over = np.logical_or.accumulate(self.ended[::-1])[::-1]
        over[: self.steps] = True
        return over

    def save(self) -> dict[str, np.ndarray]:
        """The H steps that the next update needs; call it after `advance`."""
        return {name: array[: self.earlier].copy() for name, array in self._arrays().items()}

    def load(self, arrays: Mapping[str, np.ndarray], owner: str = "trajectory") -> None:
        """Restores `save`."""
        restore({name: array[: self.earlier] for name, array in self._arrays().items()}, arrays, owner)

    def clear(self) -> None:
        """Sets everything to zero."""
        for array in self._arrays().values():
            array[:] = 0

    def _arrays(self) -> dict[str, np.ndarray]:
        names = ("reward", "value", "bootstrap", "acting", "ended")
        return {name: getattr(self, name) for name in names}
