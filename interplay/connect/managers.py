"""Simulations under managers as PettingZoo environments: agents one by one, or all at once.

A time limit, the manager's or the simulation's own, truncates agents; every other end terminates them. Infos hold the simulation's
own, and ``action_mask`` where the simulation has one, in the form that ``action_space(agent).sample(mask)`` takes.
Source: specification 7, "multi-agent without RLlib" and "action masks".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pettingzoo.utils.env import AECEnv, ParallelEnv

from interplay.connect.pictures import SimulationPictures
from interplay.connect.refusals import require_manager
from interplay.core.copying import CopiedWhole
from interplay.core.masks import drawable
from interplay.sim import is_agent
from interplay.sim.batch.managed import ManagedSimulation, ends_of
from interplay.sim.checks import require
from interplay.sim.managers import AllStepManager, SimulationManager


class SimulationAEC(SimulationPictures, CopiedWhole, AECEnv[str, Any, Any]):
    """A manager as an `AECEnv`: its order is the order of `agent_iter`.

    Agents that act together are selected one after another; the simulation steps when the last has answered, and none sees the
    others' choices. A finished agent is stepped with None, once, before all others.

    Example:
        >>> from interplay.sim.managers import TurnBasedManager
        >>> from interplay.worlds.corridor.simulation import MultiCorridor
        >>> env = to_aec(TurnBasedManager(MultiCorridor(end=5, num_agents=2), time_limit=3))
        >>> env.reset(seed=1)
        >>> for agent in env.agent_iter():
        ...     observation, reward, terminated, truncated, info = env.last()
        ...     env.step(None if terminated or truncated else 1)
        >>> truncated
        True
    """

    agent_selection: str

    def __init__(self, manager: SimulationManager, render_mode: str | None = None) -> None:
        require_manager(manager, "manager")
        super().__init__()
        self.sim = manager
        self._set_render_mode(render_mode)
        self.metadata |= _names(manager) | {"is_parallelizable": isinstance(manager, AllStepManager)}
        learning = {name: agent for name, agent in manager.agents.items() if is_agent(agent)}
        self.possible_agents = list(learning)
        self.agents: list[str] = []
        self.observation_spaces = {name: agent.observation_space for name, agent in learning.items()}
        self.action_spaces = {name: agent.action_space for name, agent in learning.items()}
        self._waiting: list[str] = []
        self._chosen: dict[str, Any] = {}
        self._seen: dict[str, Any] = {}

    def observation_space(self, agent: str) -> Any:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Starts an episode.

        Args:
            seed: names it.
            options: ignored.
        """
        self._seen = self.sim.reset(seed=seed)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._skip_agent_selection = None
        self._ask({})

    def step(self, action: Any) -> None:
        """Takes the action of `agent_selection`: None if it has finished.

        Raises:
            AssertionError: if an unfinished episode has no agent left to act.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        self._chosen[agent] = action
        self._waiting.remove(agent)
        if self._waiting:
            self.agent_selection = self._waiting[0]
        else:
            self._go_on()

    def observe(self, agent: str) -> Any:
        """The agent's reported observation; its current one if it is not its turn."""
        return self._seen[agent] if agent in self._seen else self.sim.sim.get_obs(agent)

    def close(self) -> None:
        self.sim.close()

    def _go_on(self) -> None:
        observations, rewards, dones, infos = self.sim.step(self._chosen)
        self._seen = observations
        self.terminations, self.truncations = ends_of(self.sim, dones, self.agents)
        for agent in self.agents:
            self.rewards[agent] = rewards.get(agent, 0.0)
        self._accumulate_rewards()
        self._ask(infos)
        self._deads_step_first()

    def _ask(self, infos: Mapping[str, Any]) -> None:
        """Begins a round with the unfinished ones of the agents reported last."""
        ended = {agent for agent in self.agents if self.terminations[agent] or self.truncations[agent]}
        self._waiting = [agent for agent in self._seen if agent in self.agents and agent not in ended]
        self._chosen = {}
        self.infos = {agent: _info(infos.get(agent)) for agent in self.agents}
        for agent in self._waiting:
            mask = drawable(self.action_spaces[agent], self.sim.sim.get_action_mask(agent))
            if mask is not None:
                self.infos[agent]["action_mask"] = mask
        require(
            bool(self._waiting) or len(ended) == len(self.agents),
            f"{self.metadata['name']} goes on without an agent to act; let its next_agent name one that has not finished",
        )
        self.agent_selection = (self._waiting or self.agents)[0]


class SimulationParallel(SimulationPictures, CopiedWhole, ManagedSimulation, ParallelEnv[str, Any, Any]):
    """A manager as a `ParallelEnv`.

    Meant for the `AllStepManager`. Under the others an agent that is not to act stays listed with ``{"acting": False}`` in its
    info, and its action is ignored.

    Example:
        >>> from interplay.sim.managers import AllStepManager
        >>> from interplay.worlds.corridor.simulation import MultiCorridor
        >>> env = to_parallel(AllStepManager(MultiCorridor(end=5, num_agents=2)))
        >>> observations, infos = env.reset(seed=1)
        >>> env.step({"agent0": 1, "agent1": 1})[1]
        {'agent0': -1, 'agent1': -1}
    """

    def __init__(self, manager: SimulationManager, render_mode: str | None = None) -> None:
        require_manager(manager, "manager")
        super().__init__(manager)
        self.sim = manager
        self._set_render_mode(render_mode)
        self.metadata |= _names(manager)

    def action_mask(self, agent: str) -> Any:
        """The agent's mask in the form of ``sample(mask)``; None: all legal, or no such form."""
        return drawable(self.action_space(agent), super().action_mask(agent))


to_aec = SimulationAEC
to_parallel = SimulationParallel


def _names(sim: SimulationManager) -> dict[str, Any]:
    return {"name": type(sim.sim.unwrapped).__name__, "is_parallelizable": True}


def _info(info: Any) -> dict[str, Any]:
    return dict(info) if isinstance(info, dict) else {}
