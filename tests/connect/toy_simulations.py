"""A small simulation that insists on its action spaces, with everything that the adapters of managers have to get right."""

from __future__ import annotations

import copy
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces

from interplay.sim import Agent, AgentBasedSimulation, DynamicOrderSimulation, PrincipleAgent


class Strict(AgentBasedSimulation):
    """Agent i finishes after its own number of steps; observations are drawn, actions outside their space are an error.

    Args:
        lives: id -> steps.
        actions, observations: spaces of all.
        masks: id -> action mask.
        nulls: null observation of all.
    """

    def __init__(
        self,
        lives: dict[str, int],
        actions: spaces.Space | None = None,
        observations: spaces.Space | None = None,
        masks: dict[str, Any] | None = None,
        nulls: Any = None,
    ) -> None:
        agents: dict[str, Any] = {
            name: Agent(
                id=name,
                observation_space=copy.deepcopy(observations or spaces.Discrete(50)),
                action_space=copy.deepcopy(actions or spaces.Discrete(3)),
                null_observation=nulls,
            )
            for name in lives
        }
        self.agents = agents | {"wall": PrincipleAgent(id="wall")}
        self.lives, self.masks = lives, masks or {}
        self.finalize()

    def reset(self, **kwargs: Any) -> None:
        self.clock: int = 0
        self.heard: list[dict[str, Any]] = []
        self.earned = dict.fromkeys(self.lives, 0.0)
        self._look()

    def step(self, action: dict[str, Any], **kwargs: Any) -> None:
        for name, chosen in action.items():
            assert self.agents[name].action_space.contains(chosen), (name, chosen)
            assert self.clock < self.lives[name], f"{name} is done"
        self.clock += 1
        self.heard.append(action)
        for number, name in enumerate(self.lives):
            self.earned[name] += (number + 1) * (self.clock <= self.lives[name])
        self._look()

    def _look(self) -> None:
        self.seen = {}
        for name in self.lives:
            space = self.agents[name].observation_space
            space.seed(int(self.rng.integers(2**31)))
            self.seen[name] = space.sample()

    def render(self, **kwargs: Any) -> str:
        return f"clock {self.clock}"

    def get_obs(self, agent_id: str, **kwargs: Any) -> Any:
        return self.seen[agent_id]

    def get_reward(self, agent_id: str, **kwargs: Any) -> float:
        earned, self.earned[agent_id] = self.earned[agent_id], 0.0
        return earned

    def get_done(self, agent_id: str, **kwargs: Any) -> bool:
        return self.clock >= self.lives[agent_id]

    def get_all_done(self, **kwargs: Any) -> bool:
        return self.clock >= max(self.lives.values())

    def get_info(self, agent_id: str, **kwargs: Any) -> dict[str, Any]:
        return {"clock": self.clock}

    def get_action_mask(self, agent_id: str, **kwargs: Any) -> Any:
        return self.masks.get(agent_id)


class StrictInOrder(Strict, DynamicOrderSimulation):
    """Calls its agents in the groups that are given."""

    def __init__(self, lives: dict[str, int], groups: list[list[str]], **kwargs: Any) -> None:
        self.groups = groups
        super().__init__(lives, **kwargs)

    def reset(self, **kwargs: Any) -> None:
        super().reset(**kwargs)
        self.next_agent = self.groups[0]

    def step(self, action: dict[str, Any], **kwargs: Any) -> None:
        super().step(action, **kwargs)
        group = self.groups[self.clock % len(self.groups)]
        alive = [name for name in self.lives if not self.get_done(name)]
        # Somebody who lives has to be among those who are called; finished ones may be.
        self.next_agent = group if not group or set(group) & set(alive) else group + alive[:1]


class Overheard(Strict):
    """Writes all actions of all copies of itself down in one place."""

    actions: ClassVar[list[tuple[str, Any]]] = []

    def step(self, action: dict[str, Any], **kwargs: Any) -> None:
        self.actions.extend(action.items())
        super().step(action, **kwargs)


def mask(*allowed: int) -> np.ndarray:
    """A Discrete space's mask."""
    return np.array(allowed, np.int8)
