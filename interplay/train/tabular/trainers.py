"""Trainers that play a simulation under a manager with policies, and may train them.

A user-defined trainer overrides `train` and calls `generate_episode`.
Source: manual 2.7 and 7.6; specification 2.11, L3 and L4.
"""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple, TextIO

from interplay.sim.agents import is_agent
from interplay.sim.checks import is_exactly, require
from interplay.sim.managers import SimulationManager
from interplay.train.tabular.policies import Policy

ONLY = "policy"  # the id of a trainer's only policy


class MultiPolicyTrainer(ABC):
    """Plays with several policies.

    Args:
        sim: the manager.
        policies: policy id -> policy.
        policy_mapping_fn: agent id -> policy id.

    All three can be set later, one after another: agents and policies are compared when the next episode begins.

    Raises:
        AssertionError: for wrong types, or a learning agent without a policy or with one of other spaces.
    """

    _compared = False  # agents and policies, since one of the three was set

    def __init__(
        self,
        sim: SimulationManager | None = None,
        policies: dict[str, Policy] | None = None,
        policy_mapping_fn: Callable[[str], str] | None = None,
        **kwargs: Any,
    ) -> None:
        self.sim = sim  # type: ignore[assignment]
        self.policies = policies  # type: ignore[assignment]
        self.policy_mapping_fn = policy_mapping_fn  # type: ignore[assignment]
        self._compare()

    @property
    def sim(self) -> SimulationManager:
        """The manager."""
        return self._sim

    @sim.setter
    def sim(self, value: SimulationManager) -> None:
        require(isinstance(value, SimulationManager), f"sim {value!r} is no SimulationManager; give one")
        self._sim, self._compared = value, False

    @property
    def policies(self) -> dict[str, Policy]:
        """Policy id -> policy."""
        return self._policies

    @policies.setter
    def policies(self, value: dict[str, Policy]) -> None:
        require(is_exactly(value, dict) and bool(value), f"policies {value!r} is no dict of policies")
        for name, policy in value.items():
            require(isinstance(name, str), f"policies: the id {name!r} is no str; name each policy")
            self._check_policy(f"policies[{name!r}]", policy)
        self._policies, self._compared = value, False

    @property
    def policy_mapping_fn(self) -> Callable[[str], str]:
        """Agent id -> policy id."""
        return self._policy_mapping_fn

    @policy_mapping_fn.setter
    def policy_mapping_fn(self, value: Callable[[str], str]) -> None:
        require(
            callable(value),
            f"policy_mapping_fn {value!r} cannot be called; give a function of an agent's id",
        )
        self._policy_mapping_fn, self._compared = value, False

    def _check_policy(self, name: str, value: Any) -> None:
        """Refuses other types than the trainer's policies."""
        require(isinstance(value, Policy), f"{name} is {value!r}; give a Policy")

    def _compare(self) -> None:
        """Refuses a learning agent without a policy or with one of other spaces; once after each change."""
        if not self._compared:
            for agent_id in self._learning():
                self._check_spaces(agent_id)
            self._compared = True

    def compute_actions(self, obs: dict[str, Any]) -> dict[str, Any]:
        """The action of each agent that observes, from its policy."""
        return {
            agent_id: self.policies[self.policy_mapping_fn(agent_id)].compute_action(one)
            for agent_id, one in obs.items()
        }

    def generate_episode(
        self,
        horizon: int = 200,
        render: bool | Callable[[SimulationManager], object] = False,
        log: TextIO | None = None,
        seed: int | None = None,
        **kwargs: Any,
    ) -> Episode:
        """Plays one episode.

        An agent's i-th action follows its i-th observation and precedes its i-th reward and done; there is one more
        observation than actions. Agents that wait for their turn at the horizon get their pending reward and observation.

        Args:
            horizon: most steps.
            render: True: the simulation renders after the reset and each step; or a function to call instead.
            log: a text file for all events.
            seed: of the episode.

        Returns:
            Observations, actions, rewards and dones: agent id -> list. Dones also has the key ``__all__``.

        Raises:
            AssertionError: for a log that is not writable, or agents and policies that do not match.
        """
        self._compare()
        writable = log is None or (isinstance(log, io.TextIOBase) and log.writable())
        require(writable, f"log {log!r} is no text file open for writing; open one with mode 'w'")
        look = _renderer(render)
        events, episode = EventLog(log), Episode.empty()
        for policy in self.policies.values():
            policy.reset()
        learning = set(self._learning())  # a simulation may also have agents that never act
        obs = self._kept(self.sim.reset(seed=seed), learning)
        look(self.sim)
        events.write("Reset")
        events.write_each("Observation", obs)
        episode.observe(obs)
        for step in range(horizon):
            actions = self.compute_actions(obs)
            events.write(f"Step {step}")
            events.write_each("Action", actions)
            episode.act(actions)
            seen, rewards, dones, _ = self.sim.step(actions)
            look(self.sim)
            for word, values in (("Observation", seen), ("Reward", rewards), ("Done", dones)):
                events.write_each(word, values)
            seen = self._kept(seen, learning)
            episode.store(seen, rewards, dones)
            obs = {agent_id: one for agent_id, one in seen.items() if not dones[agent_id]}
            if dones[ALL]:
                break
        episode.complete(self.sim)
        return episode

    @abstractmethod
    def train(self, iterations: int = 10_000, **kwargs: Any) -> Any:
        """Trains the policies.

        Args:
            iterations: number of iterations.
            **kwargs: of the algorithm, and of `generate_episode`.
        """

    def _learning(self) -> list[str]:
        return [agent_id for agent_id, agent in self.sim.agents.items() if is_agent(agent)]

    def _check_spaces(self, agent_id: str) -> None:
        name = self.policy_mapping_fn(agent_id)
        require(
            name in self.policies,
            f"agent {agent_id} is mapped to {name!r}, which is no policy; there are {', '.join(self.policies)}",
        )
        agent, policy = self.sim.agents[agent_id], self.policies[name]
        for part in ("observation_space", "action_space"):
            theirs, ours = getattr(agent, part), getattr(policy, part)
            require(theirs == ours, f"{part} of {agent_id} is {theirs}, that of its policy {name} is {ours}")

    def _kept(self, values: dict[str, Any], learning: set[str]) -> dict[str, Any]:
        return {agent_id: one for agent_id, one in values.items() if agent_id in learning}


class SinglePolicyTrainer(MultiPolicyTrainer):
    """Plays with one policy for all agents, with the id ``"policy"``.

    Args:
        sim: the manager.
        policy: of every learning agent.
    """

    def __init__(
        self, sim: SimulationManager | None = None, policy: Policy | None = None, **kwargs: Any
    ) -> None:
        self._check_policy("policy", policy)
        super().__init__(sim, {ONLY: policy}, _to_the_only_one, **kwargs)  # type: ignore[dict-item]

    @property
    def policy(self) -> Policy:
        """The only policy."""
        return self.policies[ONLY]

    @policy.setter
    def policy(self, value: Policy) -> None:
        self._check_policy("policy", value)
        self.policies = {ONLY: value}


def _to_the_only_one(agent_id: str) -> str:
    return ONLY


def _renderer(
    render: bool | Callable[[SimulationManager], object],
) -> Callable[[SimulationManager], object]:
    if callable(render):
        return render
    return _draw if render else lambda sim: None


def _draw(sim: SimulationManager) -> None:
    drawn = sim.render()
    if isinstance(drawn, str):  # a simulation that renders as text
        print(drawn)


ALL = "__all__"


class Episode(NamedTuple):
    """Agent id -> list, in order of time; see `MultiPolicyTrainer.generate_episode`."""

    observations: dict[str, list[Any]]
    actions: dict[str, list[Any]]
    rewards: dict[str, list[Any]]
    dones: dict[str, list[Any]]

    @classmethod
    def empty(cls) -> Episode:
        """An episode without steps."""
        return cls({}, {}, {}, {ALL: []})

    def observe(self, observations: dict[str, Any]) -> None:
        """Adds observations, and lists for new agents."""
        for agent_id, one in observations.items():
            for lists in self:
                lists.setdefault(agent_id, [])
            self.observations[agent_id].append(one)

    def act(self, actions: dict[str, Any]) -> None:
        """Adds actions."""
        for agent_id, action in actions.items():
            self.actions[agent_id].append(action)

    def store(self, seen: dict[str, Any], rewards: dict[str, Any], dones: dict[str, Any]) -> None:
        """Adds the results of a step."""
        self.observe(seen)
        for agent_id in seen:
            # A reward before the agent's first action follows no action of it.
            if len(self.rewards[agent_id]) < len(self.actions[agent_id]):
                self.rewards[agent_id].append(rewards[agent_id])
                self.dones[agent_id].append(dones[agent_id])
        self.dones[ALL].append(dones[ALL])

    def complete(self, manager: SimulationManager) -> None:
        """Adds the pending results of agents that acted and wait for their next turn."""
        sim = manager.sim
        for agent_id, actions in self.actions.items():
            if len(actions) == len(self.observations[agent_id]):
                self.observations[agent_id].append(sim.get_obs(agent_id))
                self.rewards[agent_id].append(sim.get_reward(agent_id))
                self.dones[agent_id].append(sim.get_done(agent_id))

    def text(self) -> str:
        """All lists as text, by agent."""
        lines = []
        for agent_id in self.observations:
            lines.append(agent_id)
            for word, lists in zip(("Observations", "Actions", "Rewards", "Dones"), self, strict=True):
                lines.append(f"  {word}")
                lines += [f"    {value!r}" for value in lists[agent_id]]
        return "\n".join(lines) + "\n"


class EventLog:
    """Writes events at once, so that the last ones remain when a simulation fails.

    Args:
        log: text file, or None.
    """

    def __init__(self, log: TextIO | None) -> None:
        self._log = log

    def write(self, line: str) -> None:
        """Writes a line."""
        if self._log is not None:
            self._log.write(f"{line}\n")
            self._log.flush()

    def write_each(self, word: str, values: dict[str, Any]) -> None:
        """Writes a line per agent."""
        for agent_id, value in values.items():
            self.write(f"  {word} {agent_id}: {value!r}")
