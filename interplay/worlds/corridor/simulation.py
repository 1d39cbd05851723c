"""MultiCorridor, the first simulation of the manual.

Agents stand in a corridor of `end` cells and must reach the last one, which any number may enter: an agent there is done and
no obstacle. Source: manual 6.1, specification 9.1.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Discrete, MultiBinary

from interplay.core.controls import Controls
from interplay.core.scene import Canvas
from interplay.sim import Agent, AgentBasedSimulation, Box
from interplay.sim.checks import is_exactly, refuse, require
from interplay.sim.managers import AllStepManager, SimulationManager, TurnBasedManager
from interplay.worlds.corridor.config import CorridorSettings

STEP_PENALTY = -1
BAD_MOVE_PENALTY = -5  # for walking into the left wall or into another agent
BUMPED_PENALTY = -2  # for the agent that was walked into


def _constant(number: int, dtype: Any) -> np.ndarray:
    """A read-only array with one number, shared by all observations."""
    array = np.array([number], dtype)
    array.flags.writeable = False
    return array


_WHOLE = (int, np.integer)
_FLAGS = (_constant(0, np.int8), _constant(1, np.int8))


class MultiCorridor(AgentBasedSimulation):
    """Walk right: ``end**2`` for arriving, -1 a step, -5 for a bump and -2 for being bumped into.

    Args:
        end: cells of the corridor.
        num_agents: at most ``end - 1``, because the last cell is never a start.

    Attributes:
        corridor: (end,) of agents or None; the last cell stays empty. Every agent has a `position`.

    Example:
        >>> sim = MultiCorridor(end=5, num_agents=2)
        >>> sim.reset()
        >>> sorted(sim.get_obs("agent0"))
        ['left', 'position', 'right']
    """

    class Actions(IntEnum):
        """What an agent can do."""

        LEFT = 0
        STAY = 1
        RIGHT = 2

    _LEFT, _STAY, _RIGHT = map(int, Actions)  # NumPy's numbers compare slowly with an enum's

    action_names: ClassVar = {"move": ("left", "stay", "right")}
    controls: ClassVar = Controls(
        {"ArrowLeft": {"move": "left"}, "ArrowRight": {"move": "right"}}, {"move": "stay"}
    )

    def __init__(self, end: int = 10, num_agents: int = 5) -> None:
        require(is_exactly(end, int) and end > 1, f"end {end!r} is no int above 1; give the number of cells")
        require(
            is_exactly(num_agents, int) and 0 < num_agents < end,
            f"num_agents {num_agents!r} does not fit a corridor of end = {end} cells; give 1 to {end - 1}",
        )
        self.end = end
        self.agents = {
            f"agent{i}": Agent(
                id=f"agent{i}",
                action_space=Discrete(3),
                observation_space={
                    "position": Box(0, end - 1, (1,), int),
                    "left": MultiBinary(1),  # whether an agent stands there
                    "right": MultiBinary(1),
                },
            )
            for i in range(num_agents)
        }
        self.corridor = np.full(end, None, object)
        self._cells = [_constant(cell, np.int64) for cell in range(end)]
        self.reward: dict[str, int] = {}
        self.finalize()

    def reset(self, **kwargs: Any) -> None:
        """Places agents on distinct cells, uniformly, the last cell left out."""
        self.corridor = np.full(self.end, None, object)
        starts = self.rng.choice(self.end - 1, len(self.agents), replace=False)
        for start, agent in zip(starts.tolist(), self.agents.values(), strict=True):
            agent.position = start
            self.corridor[start] = agent
        self.reward = dict.fromkeys(self.agents, 0)

    def step(self, action: dict[str, Any], **kwargs: Any) -> None:
        """Agents move in the order of the actions."""
        agents, left, right = self.agents, self._LEFT, self._RIGHT
        for agent_id, choice in action.items():
            if choice == left:
                self._move(agents[agent_id], -1)
            elif choice == right:
                self._move(agents[agent_id], 1)
            else:
                if not (isinstance(choice, _WHOLE) and choice == self._STAY):
                    refuse(
                        f"agent {agent_id}: action {choice!r} is outside Discrete(3) of {type(self).__name__}; give 0, 1 or 2"
                    )
                self.reward[agent_id] += STEP_PENALTY

    def _move(self, agent: Any, step: int) -> None:
        agent_id, target = agent.id, agent.position + step
        if target < 0 or target >= self.end:
            self.reward[agent_id] += BAD_MOVE_PENALTY
            return
        neighbour = self.corridor[target]
        if neighbour is not None:
            self.reward[agent_id] += BAD_MOVE_PENALTY
            self.reward[neighbour.id] += BUMPED_PENALTY
            return
        self.corridor[agent.position] = None
        agent.position = target
        if target == self.end - 1:
            self.reward[agent_id] += self.end**2
        else:
            self.corridor[target] = agent
            self.reward[agent_id] += STEP_PENALTY

    def get_obs(self, agent_id: str, **kwargs: Any) -> dict[str, np.ndarray]:
        """``position``, ``left`` and ``right``, read-only arrays with one whole number each."""
        at, corridor = self.agents[agent_id].position, self.corridor
        return {
            "position": self._cells[at],
            "left": _FLAGS[at > 0 and corridor[at - 1] is not None],
            "right": _FLAGS[at < self.end - 1 and corridor[at + 1] is not None],
        }

    def get_reward(self, agent_id: str, **kwargs: Any) -> int:
        """The agent's reward since the last call."""
        earned, self.reward[agent_id] = self.reward[agent_id], 0
        return earned

    def get_done(self, agent_id: str, **kwargs: Any) -> bool:
        """Whether the agent stands at the end."""
        return bool(self.agents[agent_id].position == self.end - 1)

    def get_all_done(self, **kwargs: Any) -> bool:
        """Whether all agents stand at the end."""
        last = self.end - 1
        for agent in self.agents.values():  # noqa: SIM110 - all() with a generator takes twice as long
            if agent.position != last:
                return False
        return True

    def get_info(self, agent_id: str, **kwargs: Any) -> dict[str, Any]:
        """Nothing."""
        return {}

    def visible(self, agent_id: str) -> dict[str, Any]:
        """The corridor, the agent itself and its neighbours; agents that have arrived are hidden."""
        at = np.array([agent.position for agent in self.agents.values()])
        own = list(self.agents).index(agent_id)
        seen = (abs(at - at[own]) == 1) & (at < self.end - 1)
        seen[own] = True
        return {"corridor": True, "agents": seen}

    def click(self, agent_id: str, x: float, y: float) -> dict[str, str]:
        """A step towards the clicked cell, or stay."""
        step = np.sign(np.floor(x) - self.agents[agent_id].position)
        return {"move": self.action_names["move"][1 + int(step)]}

    def draw(self, canvas: Canvas) -> None:
        """The corridor with its agents; those in the last cell are drawn at different heights."""
        canvas.show(0, 0, self.end, 1)
        ground = np.zeros((1, self.end), np.uint8)
        ground[0, -1] = 1
        canvas.tiles("corridor", ground, palette=("#eceae4", "#cfe6d2"))
        at = np.array([getattr(agent, "position", 0) for agent in self.agents.values()])
        done = at == self.end - 1
        y = np.where(done, (np.arange(len(at)) + 1) / (len(at) + 1), 0.5)
        canvas.circles(
            "agents", at + 0.5, y, radius=np.where(done, 0.16, 0.32), colour=np.arange(len(at)) % 8
        )

    def render(self, **kwargs: Any) -> str:
        """The corridor as a line of text: each cell the number of its agent, ``.`` if it is empty."""
        here = {agent.position: agent.id.removeprefix("agent") for agent in self.agents.values()}
        return " ".join(here.get(cell, ".") for cell in range(self.end))


def manager(settings: CorridorSettings) -> SimulationManager:
    """A new corridor under a new manager."""
    order = AllStepManager if settings.order == "all" else TurnBasedManager
    return order(MultiCorridor(settings.end, settings.num_agents), time_limit=settings.time_limit)
