"""A small world that is easy to learn, and the same with one fault at a time."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

from interplay.core import seeding
from interplay.core.world import ArrayWorld, Kind, TimeStep
from interplay.kernels.philox import uniform

AGENTS = 2


class CuesState(NamedTuple):
    """Each agent has a cue of its own in each step."""

    stream: np.ndarray  # (W, 3) uint64
    steps: np.ndarray  # (W,) int64
    cue: np.ndarray  # (W, A, 1) float32, -1 or 1
    seen: np.ndarray  # (W, A, 1) float32, what is observed of it
    reward: np.ndarray  # (W, A) float32
    acting: np.ndarray  # (W, A) bool
    terminated: np.ndarray
    truncated: np.ndarray
    over: np.ndarray  # (W,) bool


class Cues(ArrayWorld):
    """Name the cue that is seen: 1 if right, 0 else; episodes of `length` steps.

    Args:
        scale, offset: the cue c is observed as scale c + offset.
        pay: reward of each agent for a right answer.
        by_chance: rewards are drawn, whatever is done.
        gift: the reward is always paid.
        box: actions are numbers in [-box, box], of which the sign counts; 0: two choices.
        least: actions are numbers from here up, which is the one answer; 0: as `box` says.
        forced: the mask leaves the right answer alone.
        length: steps of an episode.
    """

    def __init__(
        self,
        num_worlds: int = 1,
        seed: int = 0,
        first_world: int = 0,
        *,
        scale: float = 1.0,
        offset: float = 0.0,
        pay: tuple[float, ...] = (1.0, 1.0),
        by_chance: bool = False,
        gift: bool = False,
        box: float = 0.0,
        least: float = 0.0,
        forced: bool = False,
        length: int = 10,
    ) -> None:
        self.scale, self.offset, self.pay = scale, offset, np.array(pay, np.float32)
        self.gift = gift
        self.by_chance, self.box, self.forced, self.length = by_chance, box or least, forced, length
        self.least = least
        seen = spaces.Dict(cue=spaces.Box(-np.inf, np.inf, (1,), np.float32))
        low, high = (least, np.inf) if least else (-box, box)
        action = spaces.Box(low, high, (1,), np.float32) if self.box else spaces.Discrete(2)
        kind = Kind("agent", tuple(range(AGENTS)), seen, action)
        super().__init__(num_worlds, [f"agent_{a}" for a in range(AGENTS)], [kind], seed, first_world)
        shape = (num_worlds, AGENTS)
        self.state = CuesState(
            seeding.new_stream(num_worlds),
            np.zeros(num_worlds, np.int64),
            np.zeros((*shape, 1), np.float32),
            np.zeros((*shape, 1), np.float32),
            np.zeros(shape, np.float32),
            *[np.zeros(shape, bool) for _ in range(3)],
            np.zeros(num_worlds, bool),
        )

    def _reset(self, which: np.ndarray, seeds: np.ndarray | None) -> TimeStep:
        s = self.state
        seeding.begin_episode(s.stream, which, seeds)
        s.steps[which], s.reward[which] = 0, 0.0
        s.acting[which], s.truncated[which], s.over[which] = True, False, False
        self._draw(which)
        return self._read()

    def _step(self, action: np.ndarray) -> TimeStep:
        s = self.state
        runs = ~s.over
        answer = action[:, :, 0] > self.least if self.box else action == 1
        right = answer == (s.cue[:, :, 0] > 0)
        s.steps[runs] += 1
        over = runs & (s.steps >= self.length)
        self._draw(runs)
        if self.by_chance:
            right = s.cue[:, :, 0] > 0
        s.reward[:] = np.where(runs[:, None], (right | self.gift) * self.pay, 0.0)
        s.truncated[:], s.over[over] = over[:, None], True
        s.acting[s.over] = False
        return self._read()

    def _draw(self, which: np.ndarray) -> None:
        s = self.state
        for w in np.flatnonzero(which):
            for a in range(AGENTS):
                s.cue[w, a] = 1.0 if uniform(*s.stream[w]) < 0.5 else -1.0
                s.stream[w, 2] += np.uint64(1)
        s.seen[:] = self.scale * s.cue + self.offset

    def _read(self) -> TimeStep:
        s, mask = self.state, None
        if self.forced:
            mask = {"action": np.concatenate([s.cue < 0, s.cue > 0], axis=2)}
        return TimeStep({"cue": s.seen}, s.reward, s.acting, s.terminated, s.truncated, s.over, mask)


def _make(num_worlds: int, seed: int, first_world: int, **options: Any) -> Cues:
    return Cues(num_worlds, seed, first_world, **options)


def factory(**options: Any) -> Any:
    """A factory of `Cues` with some options that worker processes can import."""
    return partial(_make, **options)
