"""Games of two whose best play is known: a matrix once, and the two-step game of Rashid et al. (2018), section 5."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

from interplay.core import seeding
from interplay.core.world import ArrayWorld, Kind, TimeStep

SAFE = ((7.0, 7.0), (7.0, 7.0))  # state 2A
RISKY = ((0.0, 1.0), (1.0, 8.0))  # state 2B


class GameState(NamedTuple):
    stream: np.ndarray  # (W, 3) uint64
    place: np.ndarray  # (W,) int64, 0: the first step, 1: 2A, 2: 2B


class TwoStep(ArrayWorld):
    """The first agent's first choice leads to 2A, where both earn 7 anyhow, or to 2B, where 8 needs both."""

    teams = ((0, 1),)

    def __init__(self, num_worlds: int = 1, seed: int = 0, first_world: int = 0) -> None:
        seen = spaces.Dict(place=spaces.Box(0, 1, (5,), np.float32))
        kind = Kind("agent", (0, 1), seen, spaces.Discrete(2))
        super().__init__(num_worlds, ["one", "two"], [kind], seed, first_world)
        self.state_space = spaces.Box(0, 1, (3,), np.float32)
        self.state = GameState(seeding.new_stream(num_worlds), np.zeros(num_worlds, np.int64))

    def global_state(self) -> np.ndarray:
        return np.eye(3, dtype=np.float32)[self.state.place]

    @property
    def metrics(self) -> dict[str, np.ndarray]:
        return {"risked": self.state.place == 2}

    def _begin(self, which: np.ndarray, seeds: np.ndarray | None) -> None:
        seeding.begin_episode(self.state.stream, which, seeds)
        self.state.place[which] = 0

    def _advance(self, action: Any) -> None:
        place, out, runs = self.state.place, self.outputs, ~self.outputs.over
        table = np.array([np.zeros((2, 2)), SAFE, RISKY], np.float32)
        earned = table[place, action[:, 0], action[:, 1]]
        out.reward[:] = np.where(runs, earned, 0.0)[:, None]
        done = runs & (place > 0)
        place[:] = np.where(runs & ~done, 1 + action[:, 0], place)
        out.acting[:] = (runs & ~done)[:, None]
        out.terminated[done], out.over[done] = True, True

    def _read(self) -> TimeStep:
        seen = np.zeros((self.num_worlds, 2, 5), np.float32)
        seen[:, :, :3] = self.global_state()[:, None]
        seen[:, :, 3:] = np.eye(2, dtype=np.float32)
        return TimeStep({"place": seen}, *self.outputs)


class Parting(TwoStep):
    """One step, in which both see nothing and earn 1 if their choices differ."""

    def _advance(self, action: Any) -> None:
        out, runs = self.outputs, ~self.outputs.over
        out.reward[:] = (runs & (action[:, 0] != action[:, 1]))[:, None]
        out.acting[runs] = False
        out.terminated[runs], out.over[runs] = True, True

    def _read(self) -> TimeStep:
        step = super()._read()
        return step._replace(observation={"place": np.zeros_like(step.observation["place"])})


class CutShort(TwoStep):
    """The two-step game with truncations instead of terminations."""

    def _advance(self, action: Any) -> None:
        super()._advance(action)
        self.outputs.truncated[:] |= self.outputs.terminated
        self.outputs.terminated[:] = False


def make_cut_short(num_worlds: int, seed: int, first_world: int) -> CutShort:
    return CutShort(num_worlds, seed, first_world)


def make_parting(num_worlds: int, seed: int, first_world: int) -> Parting:
    return Parting(num_worlds, seed, first_world)


def make_two_step(num_worlds: int, seed: int, first_world: int) -> TwoStep:
    return TwoStep(num_worlds, seed, first_world)
