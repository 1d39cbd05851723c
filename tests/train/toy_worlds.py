"""Small worlds for the trainer's tests: a corridor, a world with dead but present agents, one with two kinds."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

from interplay.core import seeding
from interplay.core.world import ArrayWorld, Kind, TimeStep
from interplay.kernels.philox import uniform

LENGTH = 5  # cells of the corridor
PLACE = 0  # column of the place in a row of the observation
LIMIT = 20  # steps after which an episode is cut


class CorridorState(NamedTuple):
    """A agents walk on their own corridors."""

    stream: np.ndarray  # (W, 3) uint64
    steps: np.ndarray  # (W,) int64
    place: np.ndarray  # (W, A, 1) float32, 0 .. LENGTH - 1
    noise: np.ndarray  # (W, A, 1) float32, drawn in every step, means nothing
    reward: np.ndarray  # (W, A) float32
    acting: np.ndarray  # (W, A) bool
    terminated: np.ndarray
    truncated: np.ndarray
    over: np.ndarray  # (W,) bool


class Corridor(ArrayWorld):
    """Go right: 1 at the last cell, which ends the agent's life; -0.1 a step. Cut after LIMIT steps.

    An agent that is done waits, present, until all are done; then every slot's life ends at once.
    """

    def __init__(self, num_worlds: int = 1, seed: int = 0, first_world: int = 0, agents: int = 2) -> None:
        space = spaces.Dict(
            place=spaces.Box(0, LENGTH - 1, (1,), np.float32), noise=spaces.Box(0, 1, (1,), np.float32)
        )
        kind = Kind("agent", tuple(range(agents)), space, spaces.Discrete(2))
        super().__init__(num_worlds, [f"walker_{a}" for a in range(agents)], [kind], seed, first_world)
        flags = [np.zeros((num_worlds, agents), bool) for _ in range(3)]
        self.state = CorridorState(
            seeding.new_stream(num_worlds),
            np.zeros(num_worlds, np.int64),
            np.zeros((num_worlds, agents, 1), np.float32),
            np.zeros((num_worlds, agents, 1), np.float32),
            np.zeros((num_worlds, agents), np.float32),
            *flags,
            np.zeros(num_worlds, bool),
        )

    @property
    def metrics(self) -> dict[str, np.ndarray]:
        return {"arrived": self.state.place[:, :, 0] == LENGTH - 1}

    def _reset(self, which: np.ndarray, seeds: np.ndarray | None) -> TimeStep:
        s = self.state
        seeding.begin_episode(s.stream, which, seeds)
        s.steps[which] = 0
        s.place[which] = 0
        s.reward[which] = 0
        s.acting[which] = True
        s.terminated[which] = s.truncated[which] = False
        s.over[which] = False
        self._draw(which)
        return self._read()

    def _step(self, action: np.ndarray) -> TimeStep:
        s = self.state
        runs = ~s.over
        s.reward[:], s.terminated[:], s.truncated[:] = 0, False, False
        moved = np.clip(s.place[:, :, 0] + np.where(action == 1, 1, -1), 0, LENGTH - 1)
        moves = s.acting & runs[:, None]
        s.place[:, :, 0] = np.where(moves, moved, s.place[:, :, 0])
        arrived = moves & (s.place[:, :, 0] == LENGTH - 1)
        s.reward[:] = np.where(moves, -0.1, 0.0) + arrived
        s.steps[runs] += 1
        s.acting[:] &= ~arrived
        done = runs & ~s.acting.any(axis=1)
        cut = runs & ~done & (s.steps >= LIMIT)
        s.terminated[done], s.truncated[cut] = True, True
        s.over[done | cut] = True
        s.acting[s.over] = False
        self._draw(runs)
        return self._read()

    def _draw(self, which: np.ndarray) -> None:
        s = self.state
        for w in np.flatnonzero(which):
            for a in range(len(self.agents)):
                s.noise[w, a] = uniform(*s.stream[w])
                s.stream[w, 2] += np.uint64(1)

    def _read(self) -> TimeStep:
        s = self.state
        return TimeStep(
            {"place": s.place, "noise": s.noise}, s.reward, s.acting, s.terminated, s.truncated, s.over
        )


class TwoKinds(Corridor):
    """Slots 0 and 1 are walkers, slot 2 a guide with other spaces: reward for telling the parity of the step."""

    def __init__(self, num_worlds: int = 1, seed: int = 0, first_world: int = 0) -> None:
        super().__init__(num_worlds, seed, first_world, agents=3)
        walker = self.kinds[0]
        guide = spaces.Dict(parity=spaces.Box(0, 1, (2,), np.float32))
        self.kinds = (
            Kind("walker", (0, 1), walker.observation_space, walker.action_space),
            Kind("guide", (2,), guide, spaces.MultiDiscrete([2, 3])),
        )

    def _step(self, action: Any) -> TimeStep:
        parity = self.state.steps % 2
        said = action["guide"][:, 0, 0]
        runs = ~self.state.over
        walk = np.concatenate([action["walker"], np.zeros((self.num_worlds, 1), np.int64)], axis=1)
        super()._step(walk)
        self.state.reward[:, 2] = np.where(runs, np.where(said == parity, 1.0, -1.0), 0.0)
        return self._read()

    def _read(self) -> TimeStep:
        step = super()._read()
        parity = np.eye(2, dtype=np.float32)[self.state.steps % 2][:, None, :]
        walkers = {name: leaf[:, :2] for name, leaf in step.observation.items()}
        return step._replace(observation={"walker": walkers, "guide": {"parity": parity}})


def make_corridor(num_worlds: int, seed: int, first_world: int) -> Corridor:
    """A factory that worker processes can import."""
    return Corridor(num_worlds, seed, first_world)


def make_two_kinds(num_worlds: int, seed: int, first_world: int) -> TwoKinds:
    """A factory that worker processes can import."""
    return TwoKinds(num_worlds, seed, first_world)
