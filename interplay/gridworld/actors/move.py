"""Actors that move agents."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.gridworld.actors.actor import BoardActor, Outcome, Turn, as_ints
from interplay.gridworld.agents import GridWorldAgent, MovingAgent, OrientationAgent
from interplay.gridworld.board import Array, Board
from interplay.gridworld.rules import masks, moves
from interplay.sim.checks import require
from interplay.sim.spaces import Box


class Mover(BoardActor):
    """The common part of the three movers: the channel ``"move"`` and its batched form."""

    form = moves.STEP
    width = 2
    key = "move"
    needs = MovingAgent

    def process_action(self, agent: Any, action_dict: dict[str, Any], **kwargs: Any) -> bool | None:
        """Moves an agent.

        Returns:
            True for a move made, and for staying; False if it was blocked; None for an agent that does not move.
        """
        if not self.supports(agent):
            return None
        x, y = self._read(agent, action_dict[self.key])
        agents, cells, stream = self._grid.board
        slot = self._grid.slot_of(agent)
        return bool(moves.move(agents, cells, self._grid.overlap, stream, 0, slot, self.form, x, y))

    def _read(self, agent: Any, value: Any) -> tuple[int, int]:
        """A code of cross or drift, checked."""
        if not _is_code(value):
            self._refuse(agent, value)
        return int(value), 0

    def channel(self, agent: Any) -> tuple[spaces.Space, Any]:
        return spaces.Discrete(5), 0

    def choice_names(self, agent: Any) -> dict[str, tuple[str, ...]]:
        return {self.key: ("stay", "left", "down", "right", "up")}

    def idle_choices(self, agent: Any) -> dict[str, str]:
        return dict.fromkeys(self.choice_names(agent), "stay")

    def bounds(self, agent: Any) -> tuple[Any, Any]:
        return (0, 0), (4, 0)

    def encode(self, agent: Any, value: Any, codes: Array) -> None:
        codes[..., 0] = as_ints(value, codes.shape[:-1])

    def encode_all(self, agents: list[Any], values: list[Any], slots: list[int], codes: Array) -> None:
        codes[slots, 0] = as_ints(values, (len(slots),))

    def entries(self, agent: Any) -> int:
        return 5

    def entry_of(self, agent: Any, point: Any) -> int | None:
        return int(point)

    def find_legal(
        self, board: Board, overlap: Array, slots: Array, queried: Array, out: Array, lo: int, hi: int
    ) -> None:
        masks.mask_moves(board.agents, board.cells, overlap, self.form, slots, queried, out, lo, hi)

    def run(
        self, board: Board, overlap: Array, turn: Turn, codes: Array, outcome: Outcome, lo: int, hi: int
    ) -> None:
        agents, cells, stream = board
        results = outcome.attempted, outcome.success
        moves.move_all(agents, cells, overlap, stream, *turn, self.form, codes, *results, self.users, lo, hi)


class MoveActor(Mover):
    """Agents move to any cell within their range; only the destination counts (T4)."""

    def channel(self, agent: Any) -> tuple[spaces.Space, Any]:
        reach = self.reach(agent, "move_range")
        return Box(-reach, reach, (2,), int), np.zeros(2, int)

    def choice_names(self, agent: Any) -> dict[str, tuple[str, ...]]:
        """Rows, then columns."""
        reach = self.reach(agent, "move_range")
        return {
            "up or down": _step_names("up", "down", reach),
            "left or right": _step_names("left", "right", reach),
        }

    def bounds(self, agent: Any) -> tuple[Any, Any]:
        reach = self.reach(agent, "move_range")
        return -reach, reach

    def encode(self, agent: Any, value: Any, codes: Array) -> None:
        codes[..., :2] = as_ints(value, (*codes.shape[:-1], 2))

    def encode_all(self, agents: list[Any], values: list[Any], slots: list[int], codes: Array) -> None:
        if not values:
            return
        if any(len(value) != 2 for value in values):
            raise ValueError
        # Concatenated: NumPy takes three times as long to stack many small arrays.
        codes[slots] = as_ints(np.concatenate(values).reshape(-1, 2), (len(slots), 2))

    def entries(self, agent: Any) -> int:
        return (2 * self.reach(agent, "move_range") + 1) ** 2

    def entry_of(self, agent: Any, point: Any) -> int | None:
        reach = self.reach(agent, "move_range")
        return (int(point[0]) + reach) * (2 * reach + 1) + int(point[1]) + reach

    def action_mask(self, agent: Any) -> Any:
        """(side, side) int8: 1 for each destination that is free, the agent in the middle."""
        if not self.supports(agent):
            return None
        side = 2 * self.reach(agent, "move_range") + 1
        return self.legal_here(agent).reshape(side, side).astype(np.int8)

    def _read(self, agent: Any, value: Any) -> tuple[int, int]:
        try:
            down, right = map(index, value)
        except (TypeError, ValueError):
            self._refuse(agent, value)
        reach = self.reach(agent, "move_range")
        if not (-reach <= down <= reach and -reach <= right <= reach):
            self._refuse(agent, value)
        return down, right


class CrossMoveActor(Mover):
    """Agents stay (0) or move one cell left (1), down (2), right (3) or up (4); their range is ignored (T5)."""

    form = moves.CROSS

    def grid_action(self, cross_action: int) -> tuple[int, int]:
        """A code as rows and columns."""
        require(
            _is_code(cross_action),
            f"cross action {cross_action!r} is not 0..4; 0 stays, 1 left, 2 down, 3 right, 4 up",
        )
        return int(moves.ROWS[cross_action]), int(moves.COLS[cross_action])


class DriftMoveActor(Mover):
    """Agents turn and move as with `CrossMoveActor` if that cell is free, else drift in their direction (T6)."""

    form = moves.DRIFT

    def _supported_agent(self, agent: GridWorldAgent) -> bool:
        return isinstance(agent, MovingAgent) and isinstance(agent, OrientationAgent)

    def entries(self, agent: Any) -> int:
        return 0  # a blocked move becomes a drift


def _is_code(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and bool(0 <= value <= 4)


def _step_names(less: str, more: str, reach: int) -> tuple[str, ...]:
    """Names of the steps -reach..reach along an axis."""
    steps = range(-reach, reach + 1)
    return tuple(place_name(step, less, more) or "stay" for step in steps)


def place_name(step: int, less: str, more: str) -> str:
    """A step along an axis, empty for none.

    Example:
        >>> place_name(-2, "up", "down"), place_name(1, "up", "down")
        ('up 2', 'down')
    """
    direction = less if step < 0 else more
    return "" if step == 0 else direction if abs(step) == 1 else f"{direction} {abs(step)}"
