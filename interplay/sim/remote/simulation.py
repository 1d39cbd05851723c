"""An external simulator as a simulation; its state stays in the program.

Source: manual 2.1.2 and 4.2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.spaces import Discrete, Space

from interplay.sim.agents import Agent
from interplay.sim.checks import require
from interplay.sim.remote.client import RemoteSimulator
from interplay.sim.remote.messages import Choice, Range, Report
from interplay.sim.simulation import AgentBasedSimulation
from interplay.sim.spaces import Box, in_space

_SEEDS = 1 << 31  # fit into the integers of every language


class RemoteSimulation(AgentBasedSimulation):
    """Every agent of an external simulator, under any manager.

    Rows of numbers become float64 Boxes, choices Discretes. Each episode gets a seed from the simulation's own generator,
    so a manager's `reset(seed=...)` determines the episode.

    Args:
        simulator: exclusive to this simulation, and closed with it.

    Raises:
        AssertionError: for anything but a simulator.
        RemoteSimulationError: from `reset` and `step`, if the program fails.
    """

    def __init__(self, simulator: RemoteSimulator) -> None:
        require(
            isinstance(simulator, RemoteSimulator), f"simulator {simulator!r} is none; make a RemoteSimulator"
        )
        self.simulator = simulator
        self.agents = {
            name: Agent(id=name, observation_space=_space(seen), action_space=_space(done))
            for name, (seen, done) in simulator.agents.items()
        }
        self._reports: dict[str, Report] = {}
        self._earned: dict[str, float] = {}
        self.finalize()

    def reset(self, options: dict[str, Any] | None = None, **kwargs: Any) -> None:
        """Starts an episode.

        Args:
            options: for the program.
            **kwargs: not used.
        """
        self._reports = self.simulator.reset(int(self.rng.integers(_SEEDS)), options)
        self._earned = dict.fromkeys(self.agents, 0.0)

    def step(self, action: dict[str, Any], **kwargs: Any) -> None:
        """Sends the actions to the program and waits for its reports.

        Raises:
            AssertionError: for an action outside its space; nothing has happened then.
        """
        self._reports = self.simulator.step(
            {name: self._plain(name, point) for name, point in action.items()}
        )
        for name, report in self._reports.items():
            self._earned[name] += self.reward_of(report)

    def reward_of(self, report: Report) -> float:
        """A step's reward: the program's. Simulations with rewards of their own override it."""
        return report.reward

    def get_obs(self, agent_id: str, **kwargs: Any) -> Any:
        """The agent's last reported observation."""
        seen = self._reports[agent_id].observation
        return seen if isinstance(seen, int) else np.asarray(seen, np.float64)

    def get_reward(self, agent_id: str, **kwargs: Any) -> float:
        """The agent's reward since the last call."""
        earned, self._earned[agent_id] = self._earned[agent_id], 0.0
        return earned

    def get_done(self, agent_id: str, **kwargs: Any) -> bool:
        return self._reports[agent_id].done

    def get_all_done(self, **kwargs: Any) -> bool:
        return all(report.done for report in self._reports.values())

    def get_info(self, agent_id: str, **kwargs: Any) -> dict[str, Any]:
        """The agent's last reported info."""
        return self._reports[agent_id].info

    def render(self, **kwargs: Any) -> str:
        """Each agent's observation as text; the rest of the state is in the program."""
        return "\n".join(f"{name}: {report.observation}" for name, report in self._reports.items())

    def close(self) -> None:
        self.simulator.close()

    def __enter__(self) -> RemoteSimulation:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _plain(self, name: str, point: Any) -> Any:
        """An action as JSON holds it."""
        require(name in self.agents, f"action for {name!r}, which is not in the simulation; leave it out")
        space = self.agents[name].action_space
        if not in_space(space, point):
            near = _nearest(space, point)
            require(near is not None, f"action {point!r} of {name} is not in {space}; give one that is")
            point = near
        if isinstance(space, Discrete):
            return int(point)
        return np.asarray(point, np.float64).reshape(space.shape).tolist()


def _nearest(space: Space[Any], point: Any) -> np.ndarray | None:
    """The box's nearest point to a float32 that exceeds a bound by its last bit."""
    if not isinstance(space, Box):
        return None
    try:
        row = np.asarray(point, np.float64).reshape(space.shape)
    except (TypeError, ValueError):
        return None
    near = np.clip(row, space.low, space.high)
    return near if np.allclose(row, near, rtol=np.finfo(np.float32).eps, atol=0.0) else None


def _space(described: Range | Choice) -> Space[Any]:
    if isinstance(described, Choice):
        return Discrete(described.count)
    low = np.array([-np.inf if bound is None else bound for bound in described.low], np.float64)
    high = np.array([np.inf if bound is None else bound for bound in described.high], np.float64)
    return Box(low, high, low.shape, np.float64)
