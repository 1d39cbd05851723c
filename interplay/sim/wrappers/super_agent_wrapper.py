"""Super agents, which observe and act for several agents at once.

Source: manual 2.1.4 and 7.3; specification 2.4, P1 to P4.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping
from typing import Any

from gymnasium import spaces

from interplay.sim.agents import Agent, is_agent, is_unset
from interplay.sim.checks import is_exactly, refuse, require
from interplay.sim.simulation import AgentBasedSimulation
from interplay.sim.wrappers.wrapper import Wrapper

MASK = "mask"


class SuperAgentWrapper(Wrapper):
    """Covers agents by super agents.

    A super agent observes a dict of its covered agents' observations and, under ``"mask"``, which of them are not done; it acts by a
    dict of their actions; it earns the sum of their rewards and is done when all of them are. Actions for done covered agents
    are dropped. A done covered agent is read once more; after that its null observation and a reward of 0 stand for it.

    Args:
        super_agent_mapping: super agent's id -> list of the ids that it covers; agents in no list stay as they are.

    Raises:
        AssertionError: for a mapping that is none, takes an id twice, or covers an agent that cannot learn.
    """

    def __init__(
        self,
        sim: AgentBasedSimulation,
        super_agent_mapping: dict[str, list[str]] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(sim)
        self._warned = False
        self._read: dict[str, set[str]] = {"observation": set(), "reward": set()}
        self.super_agent_mapping = {} if super_agent_mapping is None else super_agent_mapping

    @property
    def super_agent_mapping(self) -> dict[str, list[str]]:
        """Super agent's id -> ids of the covered; setting it makes `agents` anew."""
        return self._mapping

    @super_agent_mapping.setter
    def super_agent_mapping(self, value: dict[str, list[str]]) -> None:
        owners = _owners(self.sim.agents, value)
        self._mapping = copy.deepcopy(value)
        self._owners = owners
        supers = {name: self._make(name, covered) for name, covered in value.items()}
        rest = {name: copy.deepcopy(agent) for name, agent in self.sim.agents.items() if name not in owners}
        self.agents = {**supers, **rest}
        self.finalize()

    def reset(self, **kwargs: Any) -> None:
        self._read = {"observation": set(), "reward": set()}
        super().reset(**kwargs)

    def step(self, action: dict[str, Any], **kwargs: Any) -> None:
        inner: dict[str, Any] = {}
        for agent_id, given in action.items():
            self._require_uncovered(agent_id)
            if agent_id in self._mapping:
                if not isinstance(given, Mapping):
                    refuse(
                        f"agent {agent_id}: action {given!r} of a super agent is no dict; give covered id -> action"
                    )
                inner |= {name: part for name, part in given.items() if not self.sim.get_done(name)}
            else:
                inner[agent_id] = given
        self.sim.step(inner, **kwargs)

    def get_obs(self, agent_id: str, **kwargs: Any) -> Any:
        self._require_uncovered(agent_id)
        if agent_id not in self._mapping:
            return self.sim.get_obs(agent_id, **kwargs)
        covered = self._mapping[agent_id]
        mask = {name: [not self.sim.get_done(name)] for name in covered}
        return {**{name: self._seen(name, **kwargs) for name in covered}, MASK: mask}

    def get_reward(self, agent_id: str, **kwargs: Any) -> Any:
        self._require_uncovered(agent_id)
        if agent_id not in self._mapping:
            return self.sim.get_reward(agent_id, **kwargs)
        return sum(self._earned(name, **kwargs) for name in self._mapping[agent_id])

    def get_done(self, agent_id: str, **kwargs: Any) -> Any:
        self._require_uncovered(agent_id)
        if agent_id not in self._mapping:
            return self.sim.get_done(agent_id, **kwargs)
        return all(self.sim.get_done(name, **kwargs) for name in self._mapping[agent_id])

    def get_truncated(self, agent_id: str, **kwargs: Any) -> Any:
        """Whether any of the covered agents was truncated."""
        self._require_uncovered(agent_id)
        return any(self.sim.get_truncated(name, **kwargs) for name in self._mapping.get(agent_id, [agent_id]))

    def get_info(self, agent_id: str, **kwargs: Any) -> Any:
        self._require_uncovered(agent_id)
        if agent_id not in self._mapping:
            return self.sim.get_info(agent_id, **kwargs)
        return {name: self.sim.get_info(name, **kwargs) for name in self._mapping[agent_id]}

    def get_action_mask(self, agent_id: str, **kwargs: Any) -> Any:
        """A super agent's dict of its covered agents' masks; None if none has one."""
        self._require_uncovered(agent_id)
        if agent_id not in self._mapping:
            return self.sim.get_action_mask(agent_id, **kwargs)
        masks = {name: self.sim.get_action_mask(name, **kwargs) for name in self._mapping[agent_id]}
        return None if all(mask is None for mask in masks.values()) else masks

    def _make(self, name: str, covered: list[str]) -> Agent:
        below = {covered_id: self.sim.agents[covered_id] for covered_id in covered}
        seen = {covered_id: agent.observation_space for covered_id, agent in below.items()}
        there = spaces.Dict({covered_id: spaces.MultiBinary(1) for covered_id in covered})
        nulls = {covered_id: agent.null_observation for covered_id, agent in below.items()}
        idle = {covered_id: agent.null_action for covered_id, agent in below.items()}
        complete = not any(map(is_unset, nulls.values()))
        return Agent(
            id=name,
            observation_space={**seen, MASK: there},
            action_space={covered_id: agent.action_space for covered_id, agent in below.items()},
            null_observation={**nulls, MASK: {covered_id: [False] for covered_id in covered}}
            if complete
            else None,
            null_action=None if any(map(is_unset, idle.values())) else idle,
        )

    def _once_more(self, kind: str, name: str) -> bool:
        """Whether a covered agent is still read: until once after it is done."""
        if not self.sim.get_done(name):
            return True
        first = name not in self._read[kind]
        self._read[kind].add(name)
        return first

    def _seen(self, name: str, **kwargs: Any) -> Any:
        if self._once_more("observation", name):
            return self.sim.get_obs(name, **kwargs)
        null = self.sim.agents[name].null_observation
        if not is_unset(null):
            return null
        if not self._warned:
            self._warned = True
            warnings.warn(
                f"SuperAgentWrapper: no null observation for {name}, which is done; its real one is still "
                "reported. Give the agent a null_observation.",
                UserWarning,
                stacklevel=2,
            )
        return self.sim.get_obs(name, **kwargs)

    def _earned(self, name: str, **kwargs: Any) -> Any:
        return self.sim.get_reward(name, **kwargs) if self._once_more("reward", name) else 0

    def _require_uncovered(self, agent_id: str) -> None:
        require(
            agent_id not in self._owners,
            f"{agent_id} is covered by {self._owners.get(agent_id)}; name the super agent",
        )


def _owners(agents: dict[str, Any], mapping: Any) -> dict[str, str]:
    """Covered id -> super agent's id.

    Raises:
        AssertionError: for a mapping that does not fit the agents.
    """
    require(is_exactly(mapping, dict), f"super_agent_mapping {mapping!r} is no dict; map ids to lists of ids")
    owners: dict[str, str] = {}
    for name, covered in mapping.items():
        require(is_exactly(name, str), f"super_agent_mapping: key {name!r} is no str; name the super agent")
        require(name not in agents, f"super agent {name} has the id of an agent; choose another")
        whole = is_exactly(covered, list) and all(is_exactly(entry, str) for entry in covered)
        require(whole, f"super agent {name} covers {covered!r}; give a list of ids")
        for entry in covered:
            require(entry in agents, f"super agent {name} covers {entry!r}, which is not in the simulation")
            require(
                is_agent(agents[entry]), f"super agent {name} covers {entry}, which does not observe and act"
            )
            require(
                entry not in owners, f"{entry} is covered by {owners.get(entry)} and {name}; cover it once"
            )
            owners[entry] = name
    return owners
