"""A world for the command line's tests: two frogs hop until one sinks; some hops may be forbidden."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from gymnasium import spaces

from interplay.core import seeding
from interplay.core.hashing import mix64
from interplay.core.ranges import ANYTHING, REAL, Range, count
from interplay.core.world import ArrayWorld, Kind, TimeStep

DEEP, LIMIT = 5, 30


class MarshState(NamedTuple):
    """Axes: W worlds, A = 2 frogs."""

    stream: np.ndarray  # (W, 3) uint64
    clock: np.ndarray  # (W,) int64
    depth: np.ndarray  # (W, A) float32, DEEP is the bottom
    reward: np.ndarray  # (W, A) float32
    acting: np.ndarray  # (W, A) bool
    terminated: np.ndarray  # (W, A) bool
    truncated: np.ndarray  # (W, A) bool
    over: np.ndarray  # (W,) bool
    legal: np.ndarray  # (W, A, 2) bool


class Marsh(ArrayWorld):
    """Hop 1 lifts a frog, hop 0 does not; the bog pulls at random; the first to sink ends the world.

    Args:
        masked: hop 1 is illegal at the surface.
        endless: says that its worlds may run for ever (they still end).
    """

    def __init__(self, num_worlds: int, seed: int = 0, masked: bool = False, endless: bool = False) -> None:
        space = spaces.Dict({"depth": spaces.Box(0, DEEP + 1, (1,), np.float32)})
        super().__init__(
            num_worlds, ("frog_0", "frog_1"), [Kind("agent", (0, 1), space, spaces.Discrete(2))], seed
        )
        w = num_worlds
        self._masked, self.persistent = masked, endless
        self.state = MarshState(
            stream=seeding.new_stream(w),
            clock=np.zeros(w, np.int64),
            depth=np.zeros((w, 2), np.float32),
            reward=np.zeros((w, 2), np.float32),
            acting=np.zeros((w, 2), bool),
            terminated=np.zeros((w, 2), bool),
            truncated=np.zeros((w, 2), bool),
            over=np.zeros(w, bool),
            legal=np.ones((w, 2, 2), bool),
        )

    @property
    def metrics(self) -> dict[str, np.ndarray]:
        return {"steps": self.state.clock}

    def state_ranges(self) -> dict[str, Range]:
        return {"stream": ANYTHING, "clock": count(LIMIT), "depth": Range(0, DEEP), "reward": REAL}

    def _reset(self, which: np.ndarray, seeds: np.ndarray | None) -> TimeStep:
        seeding.begin_episode(self.state.stream, which, seeds)
        for name in ("clock", "depth", "reward", "terminated", "truncated", "over"):
            getattr(self.state, name)[which] = 0
        return self._finish(which)

    def _step(self, action: np.ndarray) -> TimeStep:
        s, plays = self.state, ~self.state.over
        s.clock[plays] += 1
        pull = np.stack([self._bit(plays), self._bit(plays)], axis=1)
        hop = np.where(s.legal[..., 1], action, 0) if self._masked else action
        depth = np.clip(s.depth + pull - 0.5 * hop, 0, DEEP)
        s.depth[plays] = depth[plays]
        s.reward[:] = plays[:, None]
        sunk = plays & (s.depth >= DEEP).any(axis=1)
        late = plays & ~sunk & (s.clock >= LIMIT)
        s.terminated[:], s.truncated[:] = sunk[:, None], late[:, None]
        s.over[:] |= sunk | late
        return self._finish(plays)

    def _finish(self, which: np.ndarray) -> TimeStep:
        s = self.state
        s.acting[:] = ~s.over[:, None]
        s.legal[..., 1] = (s.depth > 0) | (not self._masked)
        return self._read()

    def _bit(self, plays: np.ndarray) -> np.ndarray:
        """One random bit per world that plays, counted in its stream."""
        s = self.state.stream
        bits = mix64(mix64(s[:, 0] + mix64(s[:, 1])) + s[:, 2])
        s[plays, 2] += np.uint64(1)
        return (bits & np.uint64(1)).astype(np.float32)

    def _read(self) -> TimeStep:
        s = self.state
        mask = {"action": s.legal} if self._masked else None
        depth = s.depth[..., None]
        depth.flags.writeable = False
        observation = {"depth": depth}
        return TimeStep(observation, s.reward, s.acting, s.terminated, s.truncated, s.over, mask)


class Bog(Marsh):
    """A marsh with a fault: rewards of frogs that sank are NaN."""

    def _finish(self, which: np.ndarray) -> TimeStep:
        self.state.reward[self.state.over] = np.nan
        return super()._finish(which)


def interrupted(num_worlds: int, seed: int = 0) -> Marsh:
    """Stands for somebody's Ctrl-C."""
    raise KeyboardInterrupt


def breaks(num_worlds: int, seed: int = 0) -> Marsh:
    """Stands for a bug."""
    raise ZeroDivisionError("a bug\nwith two lines")
