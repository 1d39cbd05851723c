"""Reach the target: runners move to its cell, the target shoots at them. Source: specification 9.4."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.gridworld.actors import MoveActor, SelectiveAttackActor
from interplay.gridworld.actors.actor import ActionResult, Outcome, Turn
from interplay.gridworld.agents import AttackingAgent, GridObservingAgent, GridWorldAgent, MovingAgent
from interplay.gridworld.board import Array, Board
from interplay.gridworld.component import GridWorldBaseComponent
from interplay.gridworld.dones import ActiveDone, BoardDone
from interplay.gridworld.observers import PositionCenteredEncodingObserver
from interplay.gridworld.rewards import AttackReward, BoardReward, MoveReward, StepPenalty
from interplay.gridworld.smart import SmartGridWorldSimulation, with_defaults
from interplay.gridworld.states import HealthState, PositionState
from interplay.sim.agents import is_agent
from interplay.sim.checks import require
from interplay.sim.managers import AllStepManager
from interplay.worlds.reach_the_target import rules
from interplay.worlds.reach_the_target.config import ReachTheTargetSettings

BARRIERS, TARGETS, RUNNERS = 1, 2, 3  # encodings
TARGET = "target"  # id of the target


class BarrierAgent(GridWorldAgent):
    """Blocks the view; runners can enter its cell."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"encoding": BARRIERS, "blocking": True, **kwargs})


class TargetAgent(GridObservingAgent, AttackingAgent):
    """The goal of the runners: it never moves, sees and attacks."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"id": TARGET, "encoding": TARGETS, "attack_accuracy": 1, **kwargs})


class RunningAgent(GridObservingAgent, MovingAgent):
    """Runs to the target."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"encoding": RUNNERS, **kwargs})


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
    """Pays runners that ended their move on the target's cell.

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


class ReachTheTargetSim(SmartGridWorldSimulation):
    """The target attacks, then runners move; a runner on the target's cell leaves the grid and is done.

    A kill is worth 1 to the target and -1 to the runner, reaching the target 1; a failed attack and a failed move cost 0.1,
    and every action of a runner 0.01. It is over when at most one learning agent is active.

    Args:
        agents: id -> agent; one is called ``target``.
        **kwargs: grid, from a builder; ``states``, ``observers``, ``dones``, ``actors`` and ``rewards`` replace the default
            components; ``attack_mapping``, and keyword arguments of the other components.
    """

    def __init__(self, agents: Any = None, **kwargs: Any) -> None:
        named_target(TARGET, agents, type(self).__name__)
        usual = {
            "states": [HealthState, PositionState],
            "observers": [PositionCenteredEncodingObserver],
            "dones": [ActiveDone, TargetDone, OnlyAgentLeftDone],
            "actors": [SelectiveAttackActor, RunActor],
            "rewards": [AttackReward, MoveReward, ArrivalReward, (StepPenalty, {"only": _is_runner})],
        }
        super().__init__(agents=agents, **with_defaults(kwargs, usual))
        self.finalize()

    @property
    def target(self) -> Any:
        return self.agents[TARGET]


def _is_runner(agent: Any) -> bool:
    return isinstance(agent, RunningAgent)


def manager(settings: ReachTheTargetSettings) -> AllStepManager:
    """A new chase under a new manager."""
    return AllStepManager(chase(settings), time_limit=settings.time_limit)


def chase(settings: ReachTheTargetSettings) -> ReachTheTargetSim:
    """A new chase."""
    bottom, right = settings.rows - 1, settings.cols - 1
    corners = [(0, 0), (0, right), (bottom, 0), (bottom, right)]
    barriers = [
        BarrierAgent(id=f"barrier{i}", render_shape="s", render_size=400, render_color="#5b5e66")
        for i in range(settings.num_barriers)
    ]
    target = TargetAgent(
        id=TARGET,
        initial_position=np.array([settings.rows // 2, settings.cols // 2]),
        initial_health=1,
        view_range=settings.target_view_range,
        attack_range=settings.attack_range,
        attack_strength=settings.strength,
        attack_accuracy=settings.accuracy,
        render_shape="D",
        render_color="green",
    )
    runners = [
        RunningAgent(
            id=f"runner{i}",
            initial_position=np.array(corners[i]),
            initial_health=1,
            move_range=settings.move_range,
            view_range=settings.view_range,
            render_color="blue",
        )
        for i in range(settings.num_runners)
    ]
    return ReachTheTargetSim.build_sim(
        settings.rows,
        settings.cols,
        agents={agent.id: agent for agent in (*barriers, target, *runners)},
        overlapping={TARGETS: {RUNNERS}, RUNNERS: {BARRIERS, TARGETS, RUNNERS}},
        attack_mapping={TARGETS: {RUNNERS}},
    )
