"""A world with populations and predetermined lengths of life."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from gymnasium import spaces

from interplay.core import seeding
from interplay.core.errors import UserError
from interplay.core.world import ArrayWorld, Kind, TimeStep


class NurseryState(NamedTuple):
    """Axes: W worlds, A slots."""

    stream: np.ndarray
    clock: np.ndarray  # (W,)
    births: np.ndarray  # (W,)
    left: np.ndarray  # (W, A) ticks left to live; 0 = nobody
    age: np.ndarray  # (W, A)
    population: np.ndarray  # (W, A) uint8
    last_life: np.ndarray  # (W, A) of the life that ended last
    chosen: np.ndarray  # (W, A) action of the last tick
    seen: np.ndarray  # (W, A, 1) float32
    reward: np.ndarray
    acting: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    over: np.ndarray


class Nursery(ArrayWorld):
    """Agents of population k live lives[k] ticks, twice as long if their first action is 1.

    At most one birth per tick and world, populations in turn; a slot is refilled in the tick in which it becomes empty.
    """

    persistent, respawns = True, True
    causes = ("alive", "age")

    def __init__(
        self,
        num_worlds: int,
        seed: int = 0,
        npop: int = 2,
        quotas: tuple[int, ...] | None = None,
        cap: int = 4,
        slots: int = 4,
        cap_draw: str = "fixed",
        maps: int | None = None,
        lives: tuple[int, ...] = (5, 9),
    ) -> None:
        if cap_draw != "fixed" or maps is not None or cap != slots:
            raise UserError("nursery: merges set cap_draw, maps and slots")
        space = spaces.Dict({"own": spaces.Box(-np.inf, np.inf, (1,), np.float32)})
        names = [f"slot_{i}" for i in range(slots)]
        super().__init__(
            num_worlds, names, [Kind("agent", tuple(range(slots)), space, spaces.Discrete(2))], seed
        )
        self.num_populations = npop
        self._quotas = quotas or (slots,) * npop
        self._lives = lives
        w, a = num_worlds, slots
        whole, yes = lambda *shape: np.zeros(shape, np.int64), lambda *shape: np.zeros(shape, bool)
        self.state = NurseryState(
            seeding.new_stream(w), whole(w), whole(w), whole(w, a), whole(w, a), np.zeros((w, a), np.uint8),
            whole(w, a), whole(w, a), np.zeros((w, a, 1), np.float32), np.zeros((w, a), np.float32),
            yes(w, a), yes(w, a), yes(w, a), yes(w),
        )  # fmt: skip

    @property
    def population(self):
        return self.state.population

    @property
    def ended(self):
        s = self.state
        return {"life": s.last_life, "cause": np.ones_like(s.last_life), "doubled": s.last_life % 2 * 1.0}

    def _reset(self, which, seeds):
        s = self.state
        seeding.begin_episode(s.stream, which, seeds)
        for name in ("clock", "births", "left", "age", "reward", "terminated", "chosen", "last_life"):
            getattr(s, name)[which] = 0
        for w in np.flatnonzero(which):
            self._birth(w)
        return self._read()

    def _step(self, action):
        s = self.state
        s.clock[:] += 1
        lives = s.left > 0
        s.chosen[:] = np.where(lives, action, 0)
        first = lives & (s.age == 0) & (action == 1)
        s.left[first] *= 2
        s.age[lives] += 1
        s.left[lives] -= 1
        s.terminated[:] = lives & (s.left == 0)
        s.last_life[s.terminated] = s.age[s.terminated]
        for w in range(self.num_worlds):
            self._birth(w)
        return self._read()

    def _birth(self, w: int) -> None:
        s = self.state
        free = np.flatnonzero(s.left[w] == 0)
        if not free.size:
            return
        standing = np.bincount(s.population[w][s.left[w] > 0], minlength=self.num_populations)
        for k in np.roll(np.arange(self.num_populations), -int(s.births[w])):
            if standing[k] < self._quotas[k]:
                slot = free[0]
                s.population[w, slot], s.age[w, slot] = k, 0
                s.left[w, slot] = self._lives[k % len(self._lives)]
                s.births[w] += 1
                return

    def _read(self):
        s = self.state
        s.acting[:] = s.left > 0
        s.seen[..., 0] = s.population
        return TimeStep({"own": s.seen}, s.reward, s.acting, s.terminated, s.truncated, s.over)
