"""Statistics of lives in a world in which agents are born and die: lengths and causes of death."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from interplay.core.world import TimeStep, World

_NOT_SUMMED = ("population", "cause")


class Watch(NamedTuple):
    """Which lives count.

    Attributes:
        burn_in: ticks before the first birth that counts.
        window: ticks in which births count.
        horizon: ticks after which a life is cut.
    """

    burn_in: int = 500
    window: int = 1_000
    horizon: int = 5_000


class _Ended(NamedTuple):
    world: np.ndarray
    home: np.ndarray
    age: np.ndarray
    cut: np.ndarray
    reported: dict[str, np.ndarray]  # of `World.ended`


class LifeWatch:
    """Follows the lives born in a window of time to their ends.

    Args:
        world: a batch that was just reset.
        homes: (P,) index of each population's home.
    """

    def __init__(self, world: World, homes: np.ndarray, watch: Watch) -> None:
        self._world, self._homes, self._watch = world, np.asarray(homes), watch
        self.tick = 0
        acting = world.timestep.acting
        self._acting = acting.copy()
        self._born = np.zeros(acting.shape, np.int64)
        self._population = world.population.astype(np.int64)
        self._standing = np.zeros((world.num_worlds, len(self._homes)))
        self._ended: list[_Ended] = []
        self._count_standing()

    @property
    def followed(self) -> np.ndarray:
        """(W, A) bool, counted lives that go on below the horizon."""
        return self._acting & self._counts() & (self.tick - self._born < self._watch.horizon)

    @property
    def done(self) -> bool:
        """Whether the window is over and every life in it has ended or reached the horizon."""
        closed = self.tick >= self._watch.burn_in + self._watch.window
        return closed and not self.followed.any()

    def step(self, timestep: TimeStep) -> None:
        """Adds one step of the world."""
        lived = self._acting
        self.tick += 1
        gone = lived & (timestep.terminated | timestep.truncated | ~timestep.acting)
        counted = gone & self._counts()
        if counted.any():
            self._end(counted, gone & ~timestep.terminated)
        newborn = timestep.acting & (gone | ~lived)
        self._born[newborn] = self.tick
        self._population[newborn] = self._world.population[newborn]
        self._acting = timestep.acting.copy()
        self._count_standing()

    def results(self) -> list[dict[str, Any]]:
        """One dictionary of JSON values per world; lives that go on count as cut.

        - ``homes``: for each home ``ended`` and ``cut`` (ages in ticks, ascending), ``causes`` (cause -> lives) and ``per_life``
          (field of `World.ended` -> mean over ended lives).
        - ``populations``: number per home; ``standing``: mean number of living agents per population during the window.
        - ``ticks``: length of the play.
        """
        running = self._acting & self._counts()
        self._end(running, running)
        lives = _join(self._ended)
        return [self._of_world(w, lives) for w in range(self._world.num_worlds)]

    def _counts(self) -> np.ndarray:
        born = self._born - self._watch.burn_in
        return (born >= 0) & (born < self._watch.window)

    def _count_standing(self) -> None:
        if self._watch.burn_in <= self.tick < self._watch.burn_in + self._watch.window:
            worlds, slots = np.nonzero(self._acting)
            np.add.at(self._standing, (worlds, self._population[worlds, slots]), 1)

    def _end(self, which: np.ndarray, cut: np.ndarray) -> None:
        worlds, slots = np.nonzero(which)
        reported: Mapping[str, np.ndarray] = getattr(self._world, "ended", {})
        age = self.tick - self._born[which]
        if "life" in reported:  # the world's rule decides whether the tick of death counts
            age = np.where(cut[which], age, reported["life"][which])
        horizon = self._watch.horizon
        self._ended.append(
            _Ended(
                world=worlds,
                home=self._homes[self._population[worlds, slots]],
                age=np.minimum(age, horizon),
                cut=cut[which] | (age > horizon),
                reported={
                    name: np.array(values[which])
                    for name, values in reported.items()
                    if name not in ("life", "id")
                },
            )
        )

    def _of_world(self, w: int, lives: _Ended) -> dict[str, Any]:
        causes = getattr(self._world, "causes", ())
        here = lives.world == w
        homes = [
            _of_home(lives, here & (lives.home == home), causes) for home in range(int(self._homes.max()) + 1)
        ]
        ticks = max(min(self.tick, self._watch.burn_in + self._watch.window - 1) - self._watch.burn_in + 1, 1)
        return {
            "homes": homes,
            "populations": np.bincount(self._homes).tolist(),
            "standing": (self._standing[w] / ticks).tolist(),
            "ticks": self.tick,
        }


def _of_home(lives: _Ended, own: np.ndarray, names: tuple[str, ...]) -> dict[str, Any]:
    whole = own & ~lives.cut
    causes: dict[str, int] = {}
    if "cause" in lives.reported:
        for cause, count in zip(*np.unique(lives.reported["cause"][whole], return_counts=True), strict=True):
            causes[names[cause] if cause < len(names) else str(cause)] = int(count)
    per_life = {
        name: values[whole].mean(axis=0, dtype=np.float64).tolist()
        for name, values in lives.reported.items()
        if name not in _NOT_SUMMED and whole.any()
    }
    return {
        "ended": np.sort(lives.age[whole]).tolist(),
        "cut": np.sort(lives.age[own & lives.cut]).tolist(),
        "causes": causes,
        "per_life": per_life,
    }


def _join(parts: list[_Ended]) -> _Ended:
    return _Ended(
        world=np.concatenate([part.world for part in parts]),
        home=np.concatenate([part.home for part in parts]),
        age=np.concatenate([part.age for part in parts]),
        cut=np.concatenate([part.cut for part in parts]),
        reported={
            name: np.concatenate([part.reported[name] for part in parts]) for name in parts[0].reported
        },
    )
