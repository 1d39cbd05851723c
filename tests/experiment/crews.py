"""A simulation with two kinds of agents, masks, and nested observations and actions."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete

from interplay.sim import Agent, AgentBasedSimulation
from interplay.sim.managers import AllStepManager

DIGGERS, CALLERS = ("digger0", "digger1", "digger2"), ("caller0", "caller1")


class Crew(AgentBasedSimulation):
    """Diggers may not dig where they have just dug; callers say a number. Wrong actions are refused."""

    def __init__(self) -> None:
        seen = Dict({"here": Dict({"row": Discrete(5)}), "seen": Box(-1, 1, (2,), np.float32)})
        self.agents = {
            name: Agent(id=name, observation_space=Discrete(4), action_space=Discrete(3)) for name in DIGGERS
        } | {
            name: Agent(
                id=name,
                observation_space=seen,
                action_space=Dict({"move": Discrete(2), "say": Box(-1, 1, (2,), np.float32)}),
            )
            for name in CALLERS
        }
        self.finalize()

    def reset(self, **kwargs: Any) -> None:
        self.clock = 0
        self.last = dict.fromkeys(DIGGERS, int(self.rng.integers(3)))

    def step(self, action: dict[str, Any], **kwargs: Any) -> None:
        self.clock += 1
        for name, one in action.items():
            if name in DIGGERS:
                assert one != self.last[name]
                self.last[name] = int(one)
            else:
                assert set(one) == {"move", "say"}

    def render(self, **kwargs: Any) -> np.ndarray:
        return np.full((32, 32, 3), self.clock, np.uint8)

    def get_obs(self, agent_id: str, **kwargs: Any) -> Any:
        if agent_id in DIGGERS:
            return self.last[agent_id]
        return {"here": {"row": self.clock % 5}, "seen": np.zeros(2, np.float32)}

    def get_reward(self, agent_id: str, **kwargs: Any) -> float:
        return 1.0

    def get_done(self, agent_id: str, **kwargs: Any) -> bool:
        return self.clock >= 6

    def get_all_done(self, **kwargs: Any) -> bool:
        return self.clock >= 6

    def get_info(self, agent_id: str, **kwargs: Any) -> dict[str, Any]:
        return {}

    def get_action_mask(self, agent_id: str, **kwargs: Any) -> Any:
        if agent_id in CALLERS:
            return None
        mask = np.ones(3, np.int8)
        mask[self.last[agent_id]] = 0
        return mask


def crew(config: Any = None) -> AllStepManager:
    return AllStepManager(Crew())


def crew_policy(agent_id: str) -> str:
    if agent_id in CALLERS:
        return "callers"
    return "first" if agent_id == "digger0" else "others"


def crew_params(base: Any = None, **tune: Any) -> dict[str, Any]:
    """Three policies over two kinds."""
    agents = crew().agents

    def policy(name: str) -> tuple[Any, ...]:
        return None, agents[name].observation_space, agents[name].action_space, {}

    policies = {"first": policy("digger0"), "others": policy("digger1"), "callers": policy("caller0")}
    return {
        "experiment": {"title": "Crew", "sim_creator": crew},
        "ray_tune": {
            "run_or_experiment": "PG",
            "stop": {"training_iteration": 2},
            "verbose": 0,
            "settings": {"network": {"hidden": [8]}, "ppo": {"rollout": 8}},
            **({"storage_path": str(base)} if base is not None else {}),
            "config": {
                "multiagent": {"policies": policies, "policy_mapping_fn": crew_policy},
                "num_envs_per_worker": 2,
            },
            **tune,
        },
    }
