"""Simulations for the tests of batches: agents of several kinds, and some that cannot be brought back."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from gymnasium.spaces import Dict, Discrete, MultiBinary, MultiDiscrete

from interplay.sim import Agent, AgentBasedSimulation, Box, PrincipleAgent
from interplay.sim.managers import AllStepManager, TurnBasedManager


class Zoo(AgentBasedSimulation):
    """Two walkers and a painter with nested spaces and a mask; a tree that only stands there. Everything is summed up and observed."""

    def __init__(self) -> None:
        seen = {"sum": Box(-1e6, 1e6, (1,), float), "luck": (Discrete(100), MultiBinary(2))}
        acts = Dict({"jump": Box(-2.0, 2.0, (2,), np.float32), "hue": Discrete(300, start=-5)})
        self.agents = {
            "walker_0": Agent(
                id="walker_0", observation_space=Discrete(1000), action_space=MultiDiscrete([3, 4])
            ),
            "painter": Agent(id="painter", observation_space=seen, action_space=acts),
            "tree": PrincipleAgent(id="tree"),
            "walker_1": Agent(
                id="walker_1", observation_space=Discrete(1000), action_space=MultiDiscrete([3, 4])
            ),
        }
        self.finalize()

    def reset(self, **kwargs: Any) -> None:
        self.sum, self.clock = float(self.rng.normal()), 0
        self.length = int(self.rng.integers(5, 40))

    def step(self, action: dict[str, Any], **kwargs: Any) -> None:
        self.clock += 1
        for name, part in action.items():
            if name == "painter":
                assert isinstance(part["hue"], np.int64)
                assert part["jump"].dtype == np.float32
                self.sum += float(part["jump"].sum()) * self.rng.random() + part["hue"]
            else:
                legal = part[0] < 2 or (self.clock - 1) % 2  # as the mask said
                self.sum += (int(part[0]) if legal else 0) - 10 * int(part[1])

    def render(self, **kwargs: Any) -> None: ...

    def get_obs(self, agent_id: str, **kwargs: Any) -> Any:
        if agent_id == "painter":
            return {"sum": self.sum, "luck": (self.clock % 7, [self.clock % 2, 1])}
        return int(self.sum) % 1000

    def get_reward(self, agent_id: str, **kwargs: Any) -> float:
        return self.sum / 3

    def get_done(self, agent_id: str, **kwargs: Any) -> bool:
        return agent_id == "walker_1" and self.clock >= 9

    def get_all_done(self, **kwargs: Any) -> bool:
        return self.clock >= self.length

    def get_info(self, agent_id: str, **kwargs: Any) -> dict[str, Any]:
        return {}

    def get_action_mask(self, agent_id: str, **kwargs: Any) -> Any:
        if agent_id == "painter":
            return None
        return np.array([1, 1, self.clock % 2], np.int8), np.ones(4, np.int8)


class Forgetful(Zoo):
    """Draws from elsewhere."""

    def step(self, action: dict[str, Any], **kwargs: Any) -> None:
        super().step(action, **kwargs)
        self.sum += np.random.default_rng().random()


class Locked(Zoo):
    """Holds what cannot be copied."""

    def __init__(self) -> None:
        super().__init__()
        self.lock = threading.Lock()


class Failing(Zoo):
    """Breaks in its third step."""

    def get_reward(self, agent_id: str, **kwargs: Any) -> float:
        if self.clock == 3:
            raise ZeroDivisionError("no money")
        return 0.0


def zoo() -> AllStepManager:
    return AllStepManager(Zoo(), randomize_action_input=True)


def zoo_in_turns() -> TurnBasedManager:
    return TurnBasedManager(Zoo(), time_limit=30)


def forgetful() -> AllStepManager:
    return AllStepManager(Forgetful(), time_limit=20)


def failing() -> AllStepManager:
    return AllStepManager(Failing())


def bare() -> Zoo:
    """No manager."""
    return Zoo()
