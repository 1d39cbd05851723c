"""Small matches for tests: every number follows from the seed and the actions."""

from __future__ import annotations

import gymnasium
import numpy as np
from gymnasium import spaces

SEEN = spaces.Tuple([spaces.Box(-100, 100, (2,), np.float32), spaces.Discrete(5)])
DONE = spaces.MultiDiscrete([3, 2])


class Duel(gymnasium.Env):
    """Slots add up what they do; whoever has more earns 1, the others lose 1.

    Args:
        slots: how many.
        length: steps until it is over.
        cut: whether that is a limit.
        bare: plain boxes for observations.
        vector: rewards of two entries.
    """

    def __init__(self, slots=2, length=6, cut=False, bare=False, vector=False):
        self.slots, self.length, self.cut, self.bare, self.vector = slots, length, cut, bare, vector
        self.observation_space = spaces.Tuple([SEEN[0] if bare else SEEN] * slots)
        self.action_space = spaces.Tuple([DONE] * slots)
        self.actions = []

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        assert not options or "itf" not in options
        self.sums = self.np_random.integers(0, 3, self.slots).astype(np.float32)
        self.t, self.actions = 0, []
        return self._seen(), {"action_mask": self._legal()}

    def step(self, action):
        self.actions.append(tuple(np.array(one) for one in action))
        assert self.action_space.contains(tuple(np.asarray(one, np.int64) for one in action))
        self.t += 1
        self.sums += [float(one[0]) + 0.25 * float(one[1]) for one in action]
        best = self.sums == self.sums.max()
        earned = [1.0 if b and not best.all() else 0.0 if best.all() else -1.0 for b in best]
        rewards = tuple(np.array([r, 1.0]) if self.vector else r for r in earned)
        over = self.t >= self.length
        return self._seen(), rewards, over and not self.cut, over and self.cut, {"action_mask": self._legal()}

    def _seen(self):
        boxes = [np.array([total, self.t], np.float32) for total in self.sums]
        return tuple(box if self.bare else (box, np.int64(self.t % 5)) for box in boxes)

    def _legal(self):
        return tuple((np.array([1, self.t % 2, 1], np.int8), np.ones(2, np.int8)) for _ in range(self.slots))
