"""A world with respawns and a scripted story: which slot lives, ends and earns when."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from gymnasium import spaces

from interplay.core.world import ArrayWorld, Kind, TimeStep

DEAD, LIVES, IDLES, ENDS, CUT, REBORN, RENEWED = "-", "o", ".", "x", "c", "*", "+"
# - nobody, o somebody lives, . lives and does not act, x died in this step, c cut in this step, * died and born again in this step, + cut and born again


class RelayState(NamedTuple):
    clock: np.ndarray  # (W,) int64
    place: np.ndarray  # (W, A) float32 seen: 100 slot + clock where somebody lives
    reward: np.ndarray
    acting: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    over: np.ndarray


class Relay(ArrayWorld):
    """Follows a story: one line for each slot, one letter for each time step, the first for `reset`.

    In a step the slot's agent earns its number + the step / 100, also in the step in which it ends.

    Args:
        story: lines of equal length; the world is over at their end.
        kinds: 2 puts the last slot into a kind of its own.
    """

    persistent = respawns = True

    def __init__(self, num_worlds: int = 1, seed: int = 0, story: tuple[str, ...] = ("o",), kinds: int = 1):
        seen = spaces.Dict({"place": spaces.Box(-np.inf, np.inf, (), np.float32)})
        slots = tuple(range(len(story)))
        parts = [Kind("agent", slots, seen, spaces.Discrete(3))]
        if kinds == 2:
            parts = [
                Kind("runner", slots[:-1], seen, spaces.Discrete(3)),
                Kind("judge", slots[-1:], seen, spaces.Discrete(5)),
            ]
        super().__init__(num_worlds, [f"slot_{i}" for i in slots], parts, seed)
        self.story = np.array([list(line) for line in story])
        w, a = num_worlds, len(story)
        flags = (np.zeros((w, a), bool) for _ in range(3))
        self.state = RelayState(
            np.zeros(w, np.int64),
            np.zeros((w, a), np.float32),
            np.zeros((w, a), np.float32),
            *flags,
            np.zeros(w, bool),
        )
        self.taken: list[list[int]] = []  # actions of all slots, step by step, of world 0

    def _reset(self, which: np.ndarray, seeds: np.ndarray | None) -> TimeStep:
        self.state.clock[which] = 0
        self.state.over[which] = False
        return self._tell(np.zeros_like(which))

    def _step(self, action: np.ndarray) -> TimeStep:
        if len(self.kinds) == 1:
            self.taken.append(action[0].tolist())
        going = ~self.state.over
        self.state.clock[going] += 1
        return self._tell(going)

    def _tell(self, going: np.ndarray) -> TimeStep:
        s = self.state
        now, before = self.story[:, s.clock].T, self.story[:, np.maximum(s.clock - 1, 0)].T
        s.over[:] = s.clock >= self.story.shape[1] - 1
        lived = np.isin(before, (LIVES, IDLES, REBORN, RENEWED)) & going[:, None]
        s.acting[:] = np.isin(now, (LIVES, REBORN, RENEWED)) & ~s.over[:, None]
        s.terminated[:] = np.isin(now, (ENDS, REBORN)) & going[:, None]
        s.truncated[:] = np.isin(now, (CUT, RENEWED)) & going[:, None]
        s.reward[:] = np.where(lived, np.arange(len(self.agents)) + s.clock[:, None] / 100, 0)
        s.place[:] = np.where(s.acting | s.truncated, 100 * np.arange(len(self.agents)) + s.clock[:, None], 0)
        return self._read()

    def _read(self) -> TimeStep:
        s = self.state
        seen = {kind.name: {"place": s.place[:, list(kind.slots)]} for kind in self.kinds}
        observation = seen if len(seen) > 1 else seen["agent"]
        return TimeStep(observation, s.reward, s.acting, s.terminated, s.truncated, s.over)
