"""Small simulations for the tests of `interplay.sim`."""

from __future__ import annotations

from typing import Any

from gymnasium.spaces import Discrete

from interplay.sim import Agent, AgentBasedSimulation, DynamicOrderSimulation, PrincipleAgent


class Countdown(AgentBasedSimulation):
    """Agent i is done after its own number of steps; events are recorded, no seed matters."""

    def __init__(self, lives: dict[str, int], passive: tuple[str, ...] = ()) -> None:
        agents: dict[str, Any] = {
            name: Agent(id=name, observation_space=Discrete(100), action_space=Discrete(2)) for name in lives
        }
        agents |= {name: PrincipleAgent(id=name) for name in passive}
        self.agents = agents
        self.lives = lives
        self.finalize()

    def reset(self, **kwargs: Any) -> None:
        self.clock, self.heard, self.given = 0, [], kwargs
        self.draw = int(self.rng.integers(1000))

    def step(self, action: dict[str, Any], **kwargs: Any) -> None:
        self.clock += 1
        self.heard.append(list(action))

    def render(self, **kwargs: Any) -> str:
        return f"clock {self.clock}"

    def get_obs(self, agent_id: str, **kwargs: Any) -> int:
        return self.clock

    def get_reward(self, agent_id: str, **kwargs: Any) -> str:
        return f"{agent_id} at {self.clock}"

    def get_done(self, agent_id: str, **kwargs: Any) -> bool:
        return self.clock >= self.lives.get(agent_id, 0)

    def get_all_done(self, **kwargs: Any) -> bool:
        return self.clock >= max(self.lives.values(), default=0)

    def get_info(self, agent_id: str, **kwargs: Any) -> dict[str, Any]:
        return {"clock": self.clock}


class Called(Countdown, DynamicOrderSimulation):
    """Names its next agents from a list of choices."""

    def __init__(self, lives: dict[str, int], choices: list[Any], passive: tuple[str, ...] = ()) -> None:
        super().__init__(lives, passive)
        self.choices = choices

    def reset(self, **kwargs: Any) -> None:
        super().reset(**kwargs)
        self.next_agent = self.choices[0]

    def step(self, action: dict[str, Any], **kwargs: Any) -> None:
        super().step(action, **kwargs)
        self.next_agent = self.choices[min(self.clock, len(self.choices) - 1)]
