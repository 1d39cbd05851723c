"""The interface of an agent-based simulation: agents, `reset`, `step`, and getters of the state.

`reset` and `step` return nothing; observations, rewards and dones are part of the state. A manager defines the order of the
agents (`interplay.sim.managers`).
Source: manual 2.1.2 and 7.1; specification 2.2 and 7.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from gymnasium import spaces

from interplay.core.loading import load
from interplay.sim.agents import PrincipleAgent
from interplay.sim.checks import is_exactly, require

if TYPE_CHECKING:
    from interplay.core.world import World

Report = tuple[dict[str, Any], dict[str, Any], dict[str, Any], dict[str, Any]]


class AgentBasedSimulation(ABC):
    """A simulation with a dictionary of agents.

    A subclass assigns `agents` and calls `finalize` at the end of its constructor; it need not call this one's. Randomness
    is drawn from `rng`, so that a seed determines the whole episode.

    Args:
        agents: id -> agent.

    Attributes:
        usual_manager: the manager of `vectorize`, ``"module:class"``.
    """

    usual_manager: ClassVar[str] = "interplay.sim.managers:AllStepManager"

    def __init__(self, agents: dict[str, Any] | None = None, **kwargs: Any) -> None:
        if agents is not None:
            self.agents = agents

    @property
    def agents(self) -> dict[str, Any]:
        """Id -> agent, those that cannot learn included."""
        try:
            return self._agents
        except AttributeError:  # a subclass need not call the constructor
            self._agents: dict[str, Any] = {}
            return self._agents

    @agents.setter
    def agents(self, value: dict[str, Any]) -> None:
        require(is_exactly(value, dict), f"agents {value!r} is no dict; give a dict of id -> agent")
        for key, agent in value.items():
            require(isinstance(agent, PrincipleAgent), f"agents[{key!r}] is {agent!r}; give a PrincipleAgent")
            require(key == agent.id, f"agents[{key!r}] has the id {agent.id!r}; use the id as the key")
        self._agents = value

    @property
    def rng(self) -> np.random.Generator:
        """The source of all randomness of the simulation."""
        if "_rng" not in self.__dict__:
            self._rng = np.random.default_rng()
        return self._rng

    def reseed(self, seed: int) -> None:
        """Seeds `rng` and the spaces of every agent without its own seed."""
        self._rng = np.random.default_rng(seed)
        self._reseed_spaces(seed)

    def _reseed_spaces(self, seed: int) -> None:
        for number, agent in enumerate(self.agents.values()):
            for name in ("observation_space", "action_space"):
                space = getattr(agent, name, None)
                if agent.seed is None and isinstance(space, spaces.Space):
                    space.seed(int(np.random.SeedSequence([seed, number]).generate_state(1)[0]))

    def shuffle(self, items: list[Any]) -> None:
        """Shuffles a list in place."""
        self.rng.shuffle(items)

    def report(self, agent_ids: Iterable[str]) -> Report:
        """Observations, rewards, dones and infos of some agents, from their getters.

        A manager calls it for all agents of a step at once; simulations with a faster way override it.
        """
        observations, rewards, dones, infos = {}, {}, {}, {}
        for agent_id in agent_ids:
            observations[agent_id] = self.get_obs(agent_id)
            rewards[agent_id] = self.get_reward(agent_id)
            dones[agent_id] = self.get_done(agent_id)
            infos[agent_id] = self.get_info(agent_id)
        return observations, rewards, dones, infos

    def vectorize(
        self,
        num_worlds: int,
        manager: Any = None,
        seed: int = 0,
        first_world: int = 0,
        threads: int = 1,
        **kwargs: Any,
    ) -> World:
        """Copies of this simulation under a manager as one `World`; see `SimulationManager.vectorize`.

        Args:
            num_worlds: how many.
            manager: the manager's class; by default `usual_manager`.
            seed, first_world: name the copies' random streams.
            threads: of kernels.
            **kwargs: of the manager, such as ``time_limit``.
        """
        made = (manager or load(self.unwrapped.usual_manager))(self, **kwargs)
        world: World = made.vectorize(num_worlds, seed=seed, first_world=first_world, threads=threads)
        return world

    def as_batch(
        self, manager: Any, num_worlds: int, seed: int = 0, first_world: int = 0, threads: int = 1
    ) -> Any:
        """Copies of this simulation under a manager as a special `World`; None: the general one.

        Args:
            manager: of this simulation.
            num_worlds, seed, first_world, threads: as of every world.
        """
        return None

    def finalize(self) -> None:
        """Ends the set-up: every agent's spaces become gymnasium's.

        Raises:
            AssertionError: if an agent is not configured, for example has no action space.
        """
        for agent in self.agents.values():
            agent.finalize()
            require(agent.configured, f"agent {agent.id} is not configured: {_lacking(agent)}")

    @property
    def unwrapped(self) -> AgentBasedSimulation:
        """The simulation under all wrappers: this one."""
        return self

    def close(self) -> None:  # noqa: B027 - most simulations hold nothing that needs closing
        """Releases what the simulation holds: windows, connections, programs."""

    @abstractmethod
    def reset(self, **kwargs: Any) -> None:
        """Starts an episode."""

    @abstractmethod
    def step(self, action: dict[str, Any], **kwargs: Any) -> None:
        """Advances one time step with the actions of some agents, id -> action."""

    @abstractmethod
    def render(self, **kwargs: Any) -> Any:
        """Draws the current state."""

    @abstractmethod
    def get_obs(self, agent_id: str, **kwargs: Any) -> Any:
        """The agent's current observation."""

    @abstractmethod
    def get_reward(self, agent_id: str, **kwargs: Any) -> Any:
        """The agent's reward since the last call."""

    @abstractmethod
    def get_done(self, agent_id: str, **kwargs: Any) -> Any:
        """Whether the agent has finished."""

    def get_truncated(self, agent_id: str, **kwargs: Any) -> Any:
        """Whether a finished agent was truncated; False: it terminated. A manager's time limit counts besides."""
        return False

    @abstractmethod
    def get_all_done(self, **kwargs: Any) -> Any:
        """Whether the simulation is over."""

    def get_action_mask(self, agent_id: str, **kwargs: Any) -> Any:
        """The legal actions in the form of gymnasium's masks; None: all."""
        return None

    @abstractmethod
    def get_info(self, agent_id: str, **kwargs: Any) -> Any:
        """Further data about the agent."""


class DynamicOrderSimulation(AgentBasedSimulation):
    """A simulation with its own order of turns; needs the `DynamicOrderManager`."""

    usual_manager = "interplay.sim.managers:DynamicOrderManager"

    @property
    def next_agent(self) -> Collection[str]:
        """Ids of the agents that are reported next and then act."""
        chosen: Collection[str] = self.__dict__.get("_next_agent", [])
        return chosen

    @next_agent.setter
    def next_agent(self, value: str | Collection[str]) -> None:
        if isinstance(value, str):
            value = [value]
        require(
            isinstance(value, Collection), f"next_agent {value!r} is no id and no container of ids; give one"
        )
        for agent_id in value:
            require(agent_id in self.agents, f"next_agent names {agent_id!r}, which is not in the simulation")
        self._next_agent = value


def _lacking(agent: PrincipleAgent) -> str:
    """What an agent that is not configured lacks."""
    empty = [name for name in ("observation", "action") if getattr(agent, f"{name}_space", None) == {}]
    if not empty:
        return "its own `configured` is False; set what it needs"
    spaces_of = " and no ".join(f"{name} space" for name in empty)
    return f"it has no {spaces_of}; give it one, or, in a grid world, the observers and actors that do"
