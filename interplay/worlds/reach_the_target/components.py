"""Components of this world; each works for one simulation and for a batch by the kernels in `rules`."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.gridworld.actors import MoveActor
from interplay.gridworld.actors.actor import ActionResult, Outcome, Turn
from interplay.gridworld.agents import GridWorldAgent
from interplay.gridworld.board import Array, Board
from interplay.gridworld.component import GridWorldBaseComponent
from interplay.gridworld.dones import BoardDone
from interplay.gridworld.rewards import BoardReward
from interplay.sim.agents import is_agent
from interplay.sim.checks import require
from interplay.worlds.reach_the_target import rules
from interplay.worlds.reach_the_target.agents import TARGET, RunningAgent


class _Aiming(GridWorldBaseComponent):
    """A component with a target.

    Args:
        target_agent: the runners' goal, an agent or its id.
    """

    def __init__(self, target_agent: Any = TARGET, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.target = named_target(target_agent, self.agents, type(self).__name__)

    def _supported_agent(self, agent: GridWorldAgent) -> bool:
        return isinstance(agent, RunningAgent)

    @property
    def _target_slot(self) -> int:
        return int(self._grid.slot_of(self.target))


class RunActor(_Aiming, MoveActor):
    """Moves runners as `MoveActor`; on the target's cell they leave the grid and become inactive."""

    def process_action(self, agent: Any, action_dict: dict[str, Any], **kwargs: Any) -> bool | None:
        if not self.supports(agent):
            return None
        down, right = self._read(agent, action_dict[self.key])
        board, slot = self._grid.board, self._grid.slot_of(agent)
        target, overlap = self._target_slot, self._grid.overlap
        return bool(rules.run(board.agents, board.cells, overlap, board.stream, 0, slot, target, down, right))

    def run(
        self, board: Board, overlap: Array, turn: Turn, codes: Array, outcome: Outcome, lo: int, hi: int
    ) -> None:
        agents, cells, stream = board
        how, results = (self._target_slot, codes), (outcome.attempted, outcome.success)
        rules.run_all(agents, cells, overlap, stream, *turn, *how, *results, self.users, lo, hi)


class ArrivalReward(_Aiming, BoardReward):
    """Pays runners whose move ended on the target's cell.

    Args:
        amount: of the reward.
        key: the channel of the mover.
    """

    def __init__(self, amount: float = 1.0, key: str = "move", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.amount, self.key = float(amount), key

    def collect(self, agent: Any, key: str, result: ActionResult) -> None:
        if key == self.key and result.attempted and np.array_equal(agent.position, self.target.position):
            self.pay(agent, self.amount)

    def collect_all(self, board: Board, key: str, turn: Turn, outcome: Outcome, lo: int, hi: int) -> None:
        if key == self.key:
            rules.pay_arrivals(
                board.agents,
                turn.order,
                turn.length,
                self.users,
                outcome.attempted,
                self._target_slot,
                self.amount,
                lo,
                hi,
            )


class TargetDone(_Aiming, BoardDone):
    """Ends runners that are, or left the grid, on the target's cell, and the simulation when all have."""

    def evaluate(self, board: Board, done: Array, over: Array, lo: int, hi: int) -> None:
        slots = self.supported_slots()
        rules.evaluate_arrivals(board.agents, slots, self._target_slot, done, over, lo, hi)


class OnlyAgentLeftDone(BoardDone):
    """Ends all learning agents and the simulation once at most one is active."""

    def _supported_agent(self, agent: GridWorldAgent) -> bool:
        return is_agent(agent)

    def evaluate(self, board: Board, done: Array, over: Array, lo: int, hi: int) -> None:
        rules.evaluate_alone(board.agents, self.supported_slots(), done, over, lo, hi)


def named_target(value: Any, agents: Any, name: str) -> Any:
    """The target, given as an agent or an id."""
    goal = value if isinstance(value, str) else getattr(value, "id", None)
    known = isinstance(agents, dict) and goal in agents
    require(known, f"{name}: target {value!r} is not in the simulation; give an agent that id")
    return agents[goal]
