"""Reward components: rewards of actions and their results (specification 7; Abmarl issue 205).

They add to ``reward`` of the board; a smart simulation returns it once.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from interplay.gridworld.actors.actor import ActionResult, Outcome, Turn
from interplay.gridworld.agents import GridWorldAgent
from interplay.gridworld.board import Array, Board
from interplay.gridworld.component import GridWorldBaseComponent
from interplay.gridworld.dones import target_ids, target_slots
from interplay.gridworld.rules import scores
from interplay.sim.agents import is_agent


class RewardBaseComponent(GridWorldBaseComponent):
    """Base of reward components; only agents that observe and act are paid."""

    def _supported_agent(self, agent: GridWorldAgent) -> bool:
        return is_agent(agent)

    def reset(self, **kwargs: Any) -> None:
        """Begins an episode."""

    @abstractmethod
    def collect(self, agent: Any, key: str, result: ActionResult) -> None:
        """Receives the result of an agent's action in the channel ``key``."""

    def end_step(self, actors: list[Any]) -> None:
        """Receives the end of a step in which ``actors`` sent actions."""

    def pay(self, agent: Any, amount: float) -> None:
        """Adds to an agent's earnings, if it is paid at all."""
        if self.supports(agent):
            self._grid._rows.reward[self._grid.slot_of(agent)] += amount


class BoardReward(RewardBaseComponent):
    """A reward component that also pays a whole batch at once."""

    def collect(self, agent: Any, key: str, result: ActionResult) -> None:
        """Does nothing by default."""

    def collect_all(self, board: Board, key: str, turn: Turn, outcome: Outcome, lo: int, hi: int) -> None:
        """`collect` for the worlds lo..hi-1."""

    def end_all(self, board: Board, turn: Turn, lo: int, hi: int) -> None:
        """`end_step` for the worlds lo..hi-1."""


class StepPenalty(BoardReward):
    """Fines every agent that sent an action: the "entropy" of the manual.

    Args:
        amount: the fine, positive.
    """

    def __init__(self, amount: float = 0.01, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.amount = float(amount)

    def end_step(self, actors: list[Any]) -> None:
        for agent in actors:
            self.pay(agent, -self.amount)

    def end_all(self, board: Board, turn: Turn, lo: int, hi: int) -> None:
        scores.fine_all(board.agents, *turn, self.users, -self.amount, lo, hi)


class MoveReward(BoardReward):
    """Pays for moves.

    Args:
        failed: for an impossible move.
        made: for a move made, staying included.
        key: the channel of the mover.
    """

    def __init__(self, failed: float = -0.1, made: float = 0.0, key: str = "move", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.failed, self.made, self.key = float(failed), float(made), key

    def collect(self, agent: Any, key: str, result: ActionResult) -> None:
        if key == self.key and result.attempted:
            self.pay(agent, self.made if result.success else self.failed)

    def collect_all(self, board: Board, key: str, turn: Turn, outcome: Outcome, lo: int, hi: int) -> None:
        if key == self.key:
            results, amounts = (outcome.attempted, outcome.success), (self.made, self.failed)
            scores.pay_moves(board.agents, *turn, self.users, *results, *amounts, lo, hi)


class AttackReward(BoardReward):
    """Pays for kills, to both sides, and for attacks without a hit.

    Args:
        kill: to the attacker, for each killed agent.
        killed: to the killed agent.
        failed: to the attacker, for attacks of which none succeeded.
        key: the channel of the attacker.
    """

    def __init__(
        self,
        kill: float = 1.0,
        killed: float = -1.0,
        failed: float = -0.1,
        key: str = "attack",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.kill, self.killed, self.failed, self.key = float(kill), float(killed), float(failed), key

    def collect(self, agent: Any, key: str, result: ActionResult) -> None:
        if key != self.key or not result.attempted:
            return
        if not result.targets:
            self.pay(agent, self.failed)
        died: list[Any] = []
        for victim in result.targets:
            # Targets were active when the attack began: an inactive one died of it.
            if not victim.active and not any(victim is other for other in died):
                died.append(victim)
                self.pay(victim, self.killed)
                self.pay(agent, self.kill)

    def collect_all(self, board: Board, key: str, turn: Turn, outcome: Outcome, lo: int, hi: int) -> None:
        if key == self.key:
            results = outcome.attempted, outcome.num_hits, outcome.hits, outcome.kills
            amounts = self.kill, self.killed, self.failed
            scores.pay_attacks(board.agents, *turn, self.users, *results, *amounts, lo, hi)


class TargetReward(BoardReward):
    """Pays acting agents that are now on their target.

    Args:
        target_mapping: id -> id of its target.
        amount: of the reward.
        exactly: the amount replaces the step's other rewards.
    """

    def __init__(
        self,
        target_mapping: Mapping[str, str] | None = None,
        amount: float = 1.0,
        exactly: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.target_mapping = target_ids(target_mapping, self.agents, type(self).__name__)
        self.amount, self.exactly = float(amount), bool(exactly)

    @property
    def targets(self) -> Array:
        """(A,) int32: the slot of each slot's target; -1 = none."""
        return self._remembered("_targets", lambda: target_slots(self.target_mapping, self))

    def end_step(self, actors: list[Any]) -> None:
        rows = self._grid._rows
        for agent in actors:
            target = self.agents.get(self.target_mapping.get(agent.id, ""))
            if (
                target is not None
                and self.supports(agent)
                and np.array_equal(agent.position, target.position)
            ):
                slot = self._grid.slot_of(agent)
                rows.reward[slot] = self.amount if self.exactly else rows.reward[slot] + self.amount

    def end_all(self, board: Board, turn: Turn, lo: int, hi: int) -> None:
        scores.pay_targets(board.agents, *turn, self.targets, self.amount, self.exactly, lo, hi)
