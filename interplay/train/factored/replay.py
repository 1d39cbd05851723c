"""Replay memory of teams: the current stretch of each, and a ring of complete ones.

A stretch has F = L + 1 frames. The last one is also the first of the next stretch; it bootstraps the one before and decides
nothing. A stretch continues over the ends of episodes: a truncated episode adds a frame with its last observation, a terminated one
adds none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import numpy as np

from interplay.train.observations import ObservationRows, zeros
from interplay.train.run.restoring import restore


class Frames(NamedTuple):
    """N stretches of F frames of teams with M members, NumPy or jax arrays.

    Attributes:
        rows: name of a dtype -> (N, M, F, numbers), observations.
        mask: (N, M, F, choices) bool, legal ones; None where the world has no action mask.
        acts: (N, M, F) bool, the member decides in the frame; in a truncation frame: it would have.
        fresh: (N, M, F) bool, the member's memory is empty.
        action: (N, M, F, columns) int32.
        memory: (N, M, size) float32, memory before the first frame.
        state: (N, F, numbers) float32, input of the mixer.
        reward: (N, F) float32, of the team until its next frame, discounted to this one.
        discount: (N, F) float32, of the next frame; 0 where the episode terminated.
        decides: (N, F) bool, the frame's outcome is known.
    """

    rows: Any
    mask: Any
    acts: Any
    fresh: Any
    action: Any
    memory: Any
    state: Any
    reward: Any
    discount: Any
    decides: Any

    def arrays(self) -> dict[str, np.ndarray]:
        """All arrays by name."""
        named = {f"observation/{dtype}": array for dtype, array in self.rows.items()}
        rest = zip(self._fields[1:], self[1:], strict=True)
        return named | {name: array for name, array in rest if array is not None}


class FrameLayout(NamedTuple):
    """Shapes of the frames of a team group.

    Attributes:
        observation: layout of a member's observations.
        members: M.
        frames: F, the decisions of a stretch and the frame after them.
        columns: of an action.
        choices: of an action mask; None where the world has none.
        memory: size of a member's memory; 0: none.
        state: size of the mixer's input.
    """

    observation: ObservationRows
    members: int
    frames: int
    columns: int
    choices: int | None
    memory: int
    state: int

    def allocate(self, stretches: int) -> Frames:
        """Arrays of zeros; pages take memory when they are written."""
        each = (stretches, self.members, self.frames)
        team = (stretches, self.frames)
        return Frames(
            self.observation.allocate(*each),
            None if self.choices is None else zeros((*each, self.choices), bool),
            zeros(each, bool),
            zeros(each, bool),
            zeros((*each, self.columns), np.int32),
            zeros((stretches, self.members, self.memory)),
            zeros((*team, self.state)),
            zeros(team),
            zeros(team),
            zeros(team, bool),
        )


class TeamInput(NamedTuple):
    """Network inputs of n teams in one step.

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

    def part(self, which: np.ndarray) -> TeamInput:
        """The inputs of some teams."""
        return jax.tree.map(lambda array: array[which], self)


class Replay:
    """The stretches of N teams.

    Args:
        layout: of a frame.
        teams: N, in all worlds of a shard.
        capacity: of the ring, in stretches; the newest replace the oldest.

    Attributes:
        under_way: (N,) current stretches.
        at: (N,) int64, their numbers of frames.
        open: (N,) bool, the outcome of the last frame is not complete.
        ring: complete stretches.
        taken: complete stretches so far.
        decided: decisions since the sampler's last count.
    """

    decided = 0

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
        """Number of stretches in the ring."""
        return min(self.taken, self.capacity)

    @property
    def chose(self) -> np.ndarray:
        """(N, M) bool, members that decide in the last frame of each open team."""
        return self.under_way.acts[np.arange(len(self.at)), :, self.at - 1]

    def see(self, teams: np.ndarray, inputs: TeamInput) -> None:
        """Adds a frame in which these teams, (n,) distinct numbers, decide."""
        self.decided += len(teams)
        self._write(teams, inputs)
        full = self.at[teams] == self.layout.frames - 1
        self._complete(teams[full])
        self._write(teams[full], inputs.part(full))
        self.at[teams] += 1
        last = self.at[teams] - 1
        own = self.under_way
        own.decides[teams, last] = True
        own.reward[teams, last], own.discount[teams, last] = 0.0, 1.0
        self.open[teams] = True

    def act(self, teams: np.ndarray, action: np.ndarray) -> None:
        """Sets the actions, (n, M, columns), of the last frame of these teams."""
        self.under_way.action[teams, :, self.at[teams] - 1] = action

    def earn(self, teams: np.ndarray, reward: np.ndarray, gamma: float) -> None:
        """Adds the (n,) rewards of a step to the last frames of these teams."""
        last, own = self.at[teams] - 1, self.under_way
        own.reward[teams, last] += own.discount[teams, last] * reward
        own.discount[teams, last] *= np.float32(gamma)

    def end(self, teams: np.ndarray) -> None:
        """Terminates the episodes of these teams."""
        self.under_way.discount[teams, self.at[teams] - 1] = 0.0
        self.open[teams] = False

    def cut(self, teams: np.ndarray, inputs: TeamInput) -> None:
        """Truncates the episodes of these teams after a frame with their last inputs."""
        self._write(teams, inputs)
        self.under_way.decides[teams, self.at[teams]] = False
        self.open[teams] = False
        full = self.at[teams] == self.layout.frames - 1
        self.at[teams] += 1
        self._complete(teams[full])

    def forget_open(self) -> None:
        """Drops the current stretches, before other episodes begin."""
        self.at[:], self.open[:] = 0, False

    def draw(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Indices of `count` random stretches of the ring, with replacement; empty if the ring is."""
        return rng.integers(0, self.there, count) if self.there else np.zeros(0, np.int64)

    def take(self, index: np.ndarray, count: int) -> Frames:
        """Stretches of the ring, padded to `count` with empty ones."""
        out, ring = self.layout.allocate(count), self.ring.arrays()
        for name, array in out.arrays().items():
            np.take(ring[name], index, axis=0, out=array[: len(index)], mode="clip")  # others are buffered
        return out

    def save(self) -> dict[str, np.ndarray]:
        """All arrays, without unused places of the ring."""
        ring = {f"ring/{name}": array[: self.there] for name, array in self.ring.arrays().items()}
        return ring | self._own()

    def load(self, arrays: Mapping[str, np.ndarray], owner: str) -> None:
        """Restores the arrays of `save`."""
        count = np.zeros(1, np.int64)
        restore({"taken": count}, arrays, owner, {"taken": (0, 2**53)})
        there = min(int(count[0]), self.capacity)
        ring = {f"ring/{name}": array[:there] for name, array in self.ring.arrays().items()}
        restore(ring | self._own(), arrays, owner, {"at": (0, self.layout.frames - 1)})
        self.open &= self.at > 0

    def _own(self) -> dict[str, np.ndarray]:
        """Counts and current stretches."""
        mine = {f"under_way/{name}": array for name, array in self.under_way.arrays().items()}
        return mine | {"at": self.at, "open": self.open, "taken": self._taken}

    def _write(self, teams: np.ndarray, inputs: TeamInput) -> None:
        """Writes inputs into the next frames of these teams."""
        at, own = self.at[teams], self.under_way
        for dtype, rows in inputs.rows.items():
            own.rows[dtype][teams, :, at] = rows
        if own.mask is not None and inputs.mask is not None:
            own.mask[teams, :, at] = inputs.mask
        own.acts[teams, :, at], own.fresh[teams, :, at] = inputs.acts, inputs.fresh
        own.state[teams, at] = inputs.state
        begins = at == 0
        own.memory[teams[begins]] = inputs.memory[begins]

    def _complete(self, teams: np.ndarray) -> None:
        """Moves the full stretches of these teams into the ring and begins new ones."""
        own, ring = self.under_way.arrays(), self.ring.arrays()
        self.under_way.decides[teams, -1] = False
        kept = teams[-self.capacity :]  # of more teams than the ring has places, the last ones
        places = (self.taken + len(teams) - len(kept) + np.arange(len(kept))) % self.capacity
        for name, array in ring.items():
            array[places] = own[name][kept]
        self._taken += len(teams)
        self.at[teams] = 0
