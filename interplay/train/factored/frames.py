"""Frames of teams: what the members saw, did and earned at one decision; a stretch is some of them one after another."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from interplay.train.observations import ObservationRows, zeros


class Frames(NamedTuple):
    """Stretches of F frames of teams with M members, of NumPy or jax; every array begins with the same axis of stretches, N.

    A member's frames lie one after another, as networks read them.

    Attributes:
        rows: name of a dtype -> (N, M, F, numbers), observations.
        mask: (N, M, F, choices) bool, legal ones; None where the world has no action mask.
        acts: (N, M, F) bool, the member decides in the frame; where an episode was cut: it would have.
        fresh: (N, M, F) bool, the member remembers nothing yet.
        action: (N, M, F, columns) int32.
        memory: (N, M, size) float32, what is remembered before the first frame.
        state: (N, F, numbers) float32, what the mixer sees.
        reward: (N, F) float32, of the team until its next frame, discounted to this one.
        discount: (N, F) float32, what the next frame counts; 0 where the episode ended by the rules.
        decides: (N, F) bool, what came of the frame is told.
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
        """All that there are, by name."""
        named = {f"observation/{dtype}": array for dtype, array in self.rows.items()}
        rest = zip(self._fields[1:], self[1:], strict=True)
        return named | {name: array for name, array in rest if array is not None}


class FrameLayout(NamedTuple):
    """What the frames of a troop are made of.

    Attributes:
        observation: how a member's observations are laid out.
        members: M.
        frames: F, the decisions of a stretch and the frame after them.
        columns: of an action.
        choices: of an action mask; None where the world has none.
        memory: numbers that a member remembers; 0 for nothing.
        state: numbers that the mixer sees.
    """

    observation: ObservationRows
    members: int
    frames: int
    columns: int
    choices: int | None
    memory: int
    state: int

    def allocate(self, stretches: int) -> Frames:
        """Arrays of zeros; memory is used as far as they are written."""
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

    @property
    def stretch_bytes(self) -> int:
        """Bytes of one stretch."""
        return sum(array.nbytes for array in self.allocate(1).arrays().values())
