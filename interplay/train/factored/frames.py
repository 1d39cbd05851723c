"""Frames of teams: observations, actions and rewards of the members at one decision; a stretch is a sequence of frames."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from interplay.train.observations import ObservationRows, zeros


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

    @property
    def stretch_bytes(self) -> int:
        """Bytes of one stretch."""
        return sum(array.nbytes for array in self.allocate(1).arrays().values())
