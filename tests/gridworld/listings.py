"""A simulation written out by hand in the style of the manual's tutorials: the slow twin of what is declared."""

from __future__ import annotations

from typing import Any

from interplay.gridworld import GridWorldSimulation
from interplay.gridworld.declare import make_component
from interplay.sim.agents import is_agent


class ByHand(GridWorldSimulation):
    """Actors are called agent by agent and rewards are summed in a dict, as the listings do."""

    def __init__(
        self, states: Any, actors: Any, observers: Any, dones: Any, rewards: Any = (), **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        kwargs["agents"], kwargs["grid"] = self.agents, self.grid
        for name, entries in (("state", states), ("actor", actors), ("observer", observers), ("done", dones)):
            setattr(self, f"{name}s", [make_component(name, entry, kwargs) for entry in entries])
        self.paid = set(rewards)
        self.finalize()

    def reset(self, **kwargs: Any) -> None:
        for state in self.states:
            state.reset(**kwargs)
        self.rewards = {agent.id: 0.0 for agent in self.agents.values() if is_agent(agent)}

    def step(self, action: dict[str, Any], **kwargs: Any) -> None:
        for actor in self.actors:
            for agent_id, action_of_agent in action.items():
                agent = self.agents[agent_id]
                if agent.active:
                    answer = actor.process_action(agent, action_of_agent, **kwargs)
                    if actor.key == "attack":
                        self._after_attack(agent_id, *answer)
                    elif answer is False and "MoveReward" in self.paid:
                        self._pay(agent_id, -0.1)
        if "StepPenalty" in self.paid:
            for agent_id in action:
                self._pay(agent_id, -0.01)

    def _after_attack(self, agent_id: str, attempted: bool, attacked: list[Any]) -> None:
        if not attempted or "AttackReward" not in self.paid:
            return
        if not attacked:
            self._pay(agent_id, -0.1)
        for victim in {agent.id: agent for agent in attacked}.values():
            if not victim.active:
                self._pay(victim.id, -1.0)
                self._pay(agent_id, 1.0)

    def _pay(self, agent_id: str, amount: float) -> None:
        if agent_id in self.rewards:
            self.rewards[agent_id] += amount

    def render(self, **kwargs: Any) -> None:
        pass

    def get_obs(self, agent_id: str, **kwargs: Any) -> dict[str, Any]:
        agent = self.agents[agent_id]
        return {key: seen for each in self.observers for key, seen in each.get_obs(agent).items()}

    def get_reward(self, agent_id: str, **kwargs: Any) -> float:
        reward, self.rewards[agent_id] = self.rewards[agent_id], 0.0
        return reward

    def get_done(self, agent_id: str, **kwargs: Any) -> bool:
        return any(done.get_done(self.agents[agent_id]) for done in self.dones)

    def get_all_done(self, **kwargs: Any) -> bool:
        return any(done.get_all_done() for done in self.dones)

    def get_info(self, agent_id: str, **kwargs: Any) -> dict[str, Any]:
        return {}
