"""What teams played, in stretches: those under way, and a ring of those that are complete.

A stretch has F = L + 1 frames. The last one is the first of the stretch that follows: it values what came of the one before it and
decides nothing. A stretch goes on over the ends of episodes: an episode that was cut leaves a frame with its last observation, one that ended leaves
nothing, and the next one begins in the frame after.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import jax
import numpy as np

from interplay.train.factored.frames import FrameLayout, Frames
from interplay.train.run.restoring import restore


class Look(NamedTuple):
    """What n teams see in one step.

    Attributes:
        rows: name of a dtype -> (n, M, numbers).
        mask: (n, M, choices) bool, or None.
        acts: (n, M) bool.
        fresh: (n, M) bool.
        memory: (n, M, size) float32.
        state: (n, numbers) float32.
    """

    rows: Mapping[str, np.ndarray]
    mask: np.ndarray | None
    acts: np.ndarray
    fresh: np.ndarray
    memory: np.ndarray
    state: np.ndarray

    def part(self, which: np.ndarray) -> Look:
        """Some of the teams."""
        some: Look = jax.tree.map(lambda array: array[which], self)
        return some


class Replay:
    """The stretches of N teams.

    Args:
        layout: of a frame.
        teams: N, in all worlds of a shard.
        capacity: complete stretches that are kept; the newest take the places of the oldest.

    Attributes:
        under_way: (N,) stretches that are being written.
        at: (N,) int64, frames of them that there are.
        open: (N,) bool, what comes of the last frame is not told yet.
        ring: complete stretches.
        taken: complete stretches so far.
    """

    def __init__(self, layout: FrameLayout, teams: int, capacity: int) -> None:
        self.layout, self.capacity = layout, capacity
        self.under_way, self.ring = layout.allocate(teams), layout.allocate(capacity)
        self.at, self.open = np.zeros(teams, np.int64), np.zeros(teams, bool)
        self._taken = np.zeros(1, np.int64)

    @property
    def taken(self) -> int:
        """Complete stretches so far."""
        return int(self._taken[0])

    @property
    def there(self) -> int:
        """Complete stretches that are kept."""
        return min(self.taken, self.capacity)

    @property
    def chose(self) -> np.ndarray:
        """(N, M) bool, who decides in the last frame of each team that is open."""
        last: np.ndarray = self.under_way.acts[np.arange(len(self.at)), :, self.at - 1]
        return last

    def see(self, teams: np.ndarray, look: Look) -> None:
        """A frame of these teams, (n,), each named once, in which they decide.

        Args:
            teams: numbers.
            look: what they see, n rows.
        """
        self._write(teams, look)
        full = self.at[teams] == self.layout.frames - 1
        self._complete(teams[full])
        self._write(teams[full], look.part(full))
        self.at[teams] += 1
        last = self.at[teams] - 1
        own = self.under_way
        own.decides[teams, last] = True
        own.reward[teams, last], own.discount[teams, last] = 0.0, 1.0
        self.open[teams] = True

    def act(self, teams: np.ndarray, action: np.ndarray) -> None:
        """What the members chose, (n, M, columns), in the last frame of these teams."""
        self.under_way.action[teams, :, self.at[teams] - 1] = action

    def earn(self, teams: np.ndarray, reward: np.ndarray, gamma: float) -> None:
        """A step passed, in which these teams earned (n,) rewards."""
        last, own = self.at[teams] - 1, self.under_way
        own.reward[teams, last] += own.discount[teams, last] * reward
        own.discount[teams, last] *= np.float32(gamma)

    def end(self, teams: np.ndarray) -> None:
        """The episodes of these teams ended by the rules: nothing follows."""
        self.under_way.discount[teams, self.at[teams] - 1] = 0.0
        self.open[teams] = False

    def cut(self, teams: np.ndarray, look: Look) -> None:
        """The episodes of these teams were cut; they saw this last."""
        self._write(teams, look)
        self.under_way.decides[teams, self.at[teams]] = False
        self.open[teams] = False
        full = self.at[teams] == self.layout.frames - 1
        self.at[teams] += 1
        self._complete(teams[full])

    def forget_open(self) -> None:
        """Drops what is under way: other episodes begin."""
        self.at[:], self.open[:] = 0, False

    def draw(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Numbers of so many complete stretches, each as likely, with replacement; none where there are none."""
        return rng.integers(0, self.there, count) if self.there else np.zeros(0, np.int64)

    def take(self, index: np.ndarray, count: int) -> Frames:
        """Some complete stretches, filled up to `count` with such as decide nothing."""
        out, ring = self.layout.allocate(count), self.ring.arrays()
        for name, array in out.arrays().items():
            np.take(ring[name], index, axis=0, out=array[: len(index)], mode="clip")  # others are buffered
        return out

    def save(self) -> dict[str, np.ndarray]:
        """All that there is; places that were never written are left out."""
        ring = {f"ring/{name}": array[: self.there] for name, array in self.ring.arrays().items()}
        return ring | self._own()

    def load(self, arrays: Mapping[str, np.ndarray], owner: str) -> None:
        """Restores what `save` gave.

        Raises:
            UserError: if it is of other frames, teams or a larger ring.
        """
        count = np.zeros(1, np.int64)
        restore({"taken": count}, arrays, owner, {"taken": (0, 2**53)})
        there = min(int(count[0]), self.capacity)
        ring = {f"ring/{name}": array[:there] for name, array in self.ring.arrays().items()}
        restore(ring | self._own(), arrays, owner, {"at": (0, self.layout.frames - 1)})
        self.open &= self.at > 0

    def _own(self) -> dict[str, np.ndarray]:
        """Counts, and what is under way."""
        mine = {f"under_way/{name}": array for name, array in self.under_way.arrays().items()}
        return mine | {"at": self.at, "open": self.open, "taken": self._taken}

    def _write(self, teams: np.ndarray, look: Look) -> None:
        """Writes what these teams see into their next frames."""
        at, own = self.at[teams], self.under_way
        for dtype, rows in look.rows.items():
            own.rows[dtype][teams, :, at] = rows
        if own.mask is not None and look.mask is not None:
            own.mask[teams, :, at] = look.mask
        own.acts[teams, :, at], own.fresh[teams, :, at] = look.acts, look.fresh
        own.state[teams, at] = look.state
        begins = at == 0
        own.memory[teams[begins]] = look.memory[begins]

    def _complete(self, teams: np.ndarray) -> None:
        """Keeps the full stretches of these teams, who begin others."""
        own, ring = self.under_way.arrays(), self.ring.arrays()
        self.under_way.decides[teams, -1] = False
        kept = teams[-self.capacity :]  # more teams than the ring has places: the last ones stay
        places = (self.taken + len(teams) - len(kept) + np.arange(len(kept))) % self.capacity
        for name, array in ring.items():
            array[places] = own[name][kept]
        self._taken += len(teams)
        self.at[teams] = 0
