"""The components of a declared simulation, run on a board of any number of worlds.

A simulation object is a batch of one; `interplay.gridworld.world` has many worlds. Both run this code.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from interplay.gridworld.actors.actor import BoardActor, Turn
from interplay.gridworld.board import Array, Board
from interplay.gridworld.dones import BoardDone
from interplay.gridworld.grid import Grid
from interplay.gridworld.observers import BoardObserver
from interplay.gridworld.rewards import BoardReward
from interplay.gridworld.rules.scores import check_codes
from interplay.gridworld.states import BoardState
from interplay.gridworld.wrappers import ActorWrapper


class Parts(NamedTuple):
    """The components of a simulation, in their order."""

    states: Sequence[Any] = ()
    actors: Sequence[Any] = ()
    observers: Sequence[Any] = ()
    dones: Sequence[Any] = ()
    rewards: Sequence[Any] = ()

    def named(self) -> Iterator[tuple[str, Any]]:
        """Each component with its unique name in a snapshot: class and index."""
        for group in self:
            for place, part in enumerate(group):
                yield f"{type(part).__name__}.{place}", part

    @property
    def foreign(self) -> bool:
        """Whether a component is user-defined."""
        return any(not type(part).__module__.startswith("interplay.") for _, part in self.named())

    @property
    def others(self) -> list[str]:
        """Names of user-defined components, which work for one world only."""
        built_in = (BoardState, BoardActor, BoardObserver, BoardDone, BoardReward)
        return [
            type(part).__name__
            for group, base in zip(self, built_in, strict=True)
            for part in group
            if not works_on_boards(part, base)
        ]


# Method on boards -> method on objects.
_FACES = {
    "reset": "begin",
    "process_action": "run",
    "as_result": "run",
    "get_obs": "look_all",
    "get_done": "evaluate",
    "get_all_done": "evaluate",
    "collect": "collect_all",
    "end_step": "end_all",
    "pay": "collect_all",
    "wrap_point": "encode",
}


def works_on_boards(part: Any, base: type) -> bool:
    """Whether a component of the family of ``base`` also works on boards."""
    if isinstance(part, ActorWrapper):
        return part.batched and not is_changed(part) and works_on_boards(part.wrapped_component, base)
    return isinstance(part, base) and not is_changed(part)


def is_changed(part: Any) -> bool:
    """Whether a user's subclass of a built-in component overrides only the methods on objects.

    Kernels would ignore such a change, so it counts as user-defined.
    """
    for one, other in _FACES.items():
        for kind in type(part).__mro__:
            if other in vars(kind) or kind.__module__.startswith("interplay.gridworld."):
                break
            if one in vars(kind):
                return True
    return False


class Batch:
    """W worlds with the same components.

    Args:
        grid: source of agents and overlapping.
        board: the arrays; the grid's own for a simulation object.

    Attributes:
        turn: the acting agents in this step.
        codes: for each actor, (W, A, width) int64 actions.
        outcomes: for each actor, its results.
        users: for each actor, (A,) bool: the agents that it supports; used_by_all: whether those are all.
        done, ended: (W, A), (W,) uint8: results of the done components.
    """

    def __init__(self, parts: Parts, grid: Grid, board: Board) -> None:
        self.parts, self.grid, self.board = parts, grid, board
        for state in parts.states:
            state.prepare(board)
        worlds, agents = board.agents.shape
        self.turn = Turn(np.zeros((worlds, agents), np.int32), np.zeros(worlds, np.int64))
        self.codes = [np.zeros((worlds, agents, actor.width), np.int64) for actor in parts.actors]
        self.outcomes = [actor.outcome(worlds, agents) for actor in parts.actors]
        self._limits = [actor.limits() for actor in parts.actors]
        self.users = [users for _, _, users in self._limits]
        self.used_by_all = [bool(users.all()) for users in self.users]
        self.done = np.zeros((worlds, agents), np.uint8)
        self.ended = np.zeros(worlds, np.uint8)

    def begin(self, which: Array) -> None:
        """Begins episodes in the worlds of ``which``, (W,) bool, with seeded streams."""
        for state in self.parts.states:
            state.begin(self.board, which)
        self.board.agents["reward"][which] = 0.0

    def act(self, lo: int, hi: int) -> None:
        """Carries out the codes of the agents in `turn`, actor by actor, pays rewards, and ends the step of the states."""
        board, overlap = self.board, self.grid.overlap
        for actor, codes, outcome in zip(self.parts.actors, self.codes, self.outcomes, strict=True):
            actor.run(board, overlap, self.turn, codes, outcome, lo, hi)
            for reward in self.parts.rewards:
                reward.collect_all(board, actor.key, self.turn, outcome, lo, hi)
        for reward in self.parts.rewards:
            reward.end_all(board, self.turn, lo, hi)
        for state in self.parts.states:
            state.end_all(board, self.turn.length, lo, hi)

    def evaluate_dones(self, lo: int, hi: int) -> None:
        """Evaluates the done components."""
        self.done[lo:hi] = 0
        self.ended[lo:hi] = 0
        for done in self.parts.dones:
            done.evaluate(self.board, self.done, self.ended, lo, hi)

    def first_invalid(self) -> tuple[int, Any] | None:
        """The first slot with a code out of bounds, and its actor; None if all are valid."""
        for actor, codes, (low, high, users) in zip(self.parts.actors, self.codes, self._limits, strict=True):
            found = check_codes(codes, low, high, self.turn.order, self.turn.length, users, 0, len(codes))
            if found >= 0:
                return int(found) % codes.shape[1], actor
        return None
