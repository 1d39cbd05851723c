"""A small persistent world for the trainer's tests: slots are lives, born into populations, ended at any step."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

from interplay.core import seeding
from interplay.core.policy import Policy
from interplay.core.world import ArrayWorld, Kind, TimeStep

SIDE, ROWS, COLUMNS = 3, 3, 11
ENERGY = 5  # of a newborn and at most
OLD = 90  # steps after which a life is cut
WISHES = 5  # materials; the one underfoot is the action that feeds


class MeadowState(NamedTuple):
    """W worlds of A slots."""

    stream: np.ndarray  # (W, 3) uint64
    tiles: np.ndarray  # (W, A, SIDE, SIDE) uint8
    entities: np.ndarray  # (W, A, ROWS, COLUMNS) float32
    count: np.ndarray  # (W, A) int16
    energy: np.ndarray  # (W, A) int64
    age: np.ndarray  # (W, A) int64
    population: np.ndarray  # (W, A) uint8
    reward: np.ndarray  # (W, A) float32
    acting: np.ndarray  # (W, A) bool
    terminated: np.ndarray
    truncated: np.ndarray
    over: np.ndarray  # (W,) bool
    legal: np.ndarray  # (W, A, WISHES + 2) bool
    fed: np.ndarray  # (W, A) int64, meals of the life that ended


class Meadow(ArrayWorld):
    """Do what the middle tile says and live: +1 energy, else -1; at 0 the life ends. 1 is earned per step survived.

    Every free slot is filled with chance 1/2, in a random population.
    """

    persistent = True
    respawns = True

    def __init__(
        self, num_worlds: int = 1, seed: int = 0, first_world: int = 0, agents: int = 8, npop: int = 3
    ) -> None:
        space = spaces.Dict(
            tiles=spaces.Box(0, WISHES, (SIDE, SIDE), np.uint8),
            entities=spaces.Box(-np.inf, np.inf, (ROWS, COLUMNS), np.float32),
            count=spaces.Box(0, ROWS, (), np.int16),
        )
        kind = Kind("agent", tuple(range(agents)), space, spaces.MultiDiscrete([WISHES, 2]))
        super().__init__(num_worlds, [f"slot_{a}" for a in range(agents)], [kind], seed, first_world)
        self.num_populations = npop
        w, a = num_worlds, agents
        self.state = MeadowState(
            seeding.new_stream(w),
            np.zeros((w, a, SIDE, SIDE), np.uint8),
            np.zeros((w, a, ROWS, COLUMNS), np.float32),
            np.zeros((w, a), np.int16),
            *(np.zeros((w, a), np.int64) for _ in range(2)),
            np.zeros((w, a), np.uint8),
            np.zeros((w, a), np.float32),
            *(np.zeros((w, a), bool) for _ in range(3)),
            np.zeros(w, bool),
            np.ones((w, a, WISHES + 2), bool),
            np.zeros((w, a), np.int64),
        )

    @property
    def population(self) -> np.ndarray:
        return self.state.population

    @property
    def ended(self) -> dict[str, np.ndarray]:
        """Valid where a life ended."""
        return {"life": self.state.age, "fed": self.state.fed}

    def _reset(self, which: np.ndarray, seeds: np.ndarray | None) -> TimeStep:
        s = self.state
        seeding.begin_episode(s.stream, which, seeds)
        s.acting[which] = s.terminated[which] = s.truncated[which] = s.over[which] = False
        s.reward[which] = 0
        for w in np.flatnonzero(which):
            self._bear(w, self._draws(w))
        return self._read()

    def _step(self, action: Any) -> TimeStep:
        s = self.state
        right = action[:, :, 0] == s.tiles[:, :, 1, 1]
        s.energy[:] += np.where(s.acting, np.where(right, 1, -1), 0)
        np.minimum(s.energy, ENERGY, out=s.energy)
        s.age[:] += s.acting
        s.fed[:] += right & s.acting
        s.terminated[:] = s.acting & (s.energy <= 0)
        s.truncated[:] = s.acting & ~s.terminated & (s.age >= OLD)
        s.reward[:] = s.acting & ~s.terminated
        s.acting[:] &= ~(s.terminated | s.truncated)
        for w in range(self.num_worlds):
            self._bear(w, self._draws(w))
        return self._read()

    def _draws(self, w: int) -> np.random.Generator:
        self.state.stream[w, 2] += np.uint64(1)
        return np.random.default_rng([int(word) for word in self.state.stream[w]])

    def _bear(self, w: int, rng: np.random.Generator) -> None:
        s, agents = self.state, len(self.agents)
        born = ~s.acting[w] & (rng.random(agents) < 0.5)
        s.population[w][born] = rng.integers(0, self.num_populations, agents)[born]
        s.energy[w][born] = ENERGY
        s.age[w][born] = s.fed[w][born] = 0
        s.acting[w] |= born
        s.tiles[w] = rng.integers(0, WISHES, (agents, SIDE, SIDE))
        s.count[w] = rng.integers(1, ROWS + 1, agents)
        s.entities[w] = rng.normal(size=(agents, ROWS, COLUMNS))

    def _read(self) -> TimeStep:
        s = self.state
        seen = {"tiles": s.tiles, "entities": s.entities, "count": s.count}
        return TimeStep(seen, s.reward, s.acting, s.terminated, s.truncated, s.over, {"action": s.legal})


def make_meadow(num_worlds: int, seed: int, first_world: int) -> Meadow:
    """A factory that worker processes can import."""
    return Meadow(num_worlds, seed, first_world)


class Grazer(Policy):
    """Knows what feeds, but errs now and then, the more often the more it remembers."""

    name = "grazer"

    def start(self, world: Any, seed: int = 0) -> None:
        super().start(world, seed)
        self.steps = np.zeros(world.num_worlds, np.int64)

    def forget(self, which: np.ndarray) -> None:
        self.steps[which] = 0

    def act(self, timestep: TimeStep) -> np.ndarray:
        self.steps += 1
        right = timestep.observation["tiles"][:, :, 1, 1].astype(np.int64)
        errs = self.rng.random(right.shape) < 0.1 + 0.1 * np.sin(self.steps)[:, None]
        wish = np.where(errs, (right + 1) % WISHES, right)
        # Nobody may ask it for more than its own: elsewhere it says what no space has.
        wish[~timestep.acting] = WISHES + 90
        return np.stack([wish, np.zeros_like(wish)], axis=-1)
