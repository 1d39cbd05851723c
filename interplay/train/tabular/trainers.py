"""Trainers that play a simulation under a manager with policies, and may teach them.

A trainer of one's own overrides `train` and calls `generate_episode`.
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

ALL = "__all__"
ONLY = "policy"  # the id of a trainer's only policy


class Episode(NamedTuple):
    """Agent id -> list, in order of time; see `MultiPolicyTrainer.generate_episode`."""

    observations: dict[str, list[Any]]
    actions: dict[str, list[Any]]
    rewards: dict[str, list[Any]]
    dones: dict[str, list[Any]]


class MultiPolicyTrainer(ABC):
    """Plays with several policies.

    Args:
        sim: the manager.
        policies: policy id -> policy.
        policy_mapping_fn: agent id -> policy id.

    Raises:
        AssertionError: if one of them is something else, a learning agent is mapped to no policy, or its spaces are not
            those of its policy.
    """

    def __init__(
        self,
        sim: SimulationManager | None = None,
        policies: dict[str, Policy] | None = None,
        policy_mapping_fn: Callable[[str], str] | None = None,
        **kwargs: Any,
    ) -> None:
        require(isinstance(sim, SimulationManager), f"sim {sim!r} is no SimulationManager; give one")
        require(
            is_exactly(policies, dict) and bool(policies), f"policies {policies!r} is no dict of policies"
        )
        for name, policy in (policies or {}).items():
            require(isinstance(name, str), f"policies: the id {name!r} is no str; name each policy")
            require(isinstance(policy, Policy), f"policies[{name!r}] is {policy!r}; give a Policy")
        require(
            callable(policy_mapping_fn),
            f"policy_mapping_fn {policy_mapping_fn!r} cannot be called; give a function of an agent's id",
        )
        self._sim: Any = sim
        self._policies: Any = policies
        self._policy_mapping_fn: Any = policy_mapping_fn
        for agent_id in self._learning():
            self._check_spaces(agent_id)

    @property
    def sim(self) -> SimulationManager:
        """The manager."""
        manager: SimulationManager = self._sim
        return manager

    @property
    def policies(self) -> dict[str, Policy]:
        """Policy id -> policy."""
        policies: dict[str, Policy] = self._policies
        return policies

    @property
    def policy_mapping_fn(self) -> Callable[[str], str]:
        """Agent id -> policy id."""
        function: Callable[[str], str] = self._policy_mapping_fn
        return function

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

        An agent's i-th action follows its i-th observation and is followed by its i-th reward and done; there is one more
        observation than there are actions. An agent that waits for its turn when the horizon comes is asked for the
        reward and the observation that it would have been told then.

        Args:
            horizon: most steps.
            render: True has the simulation draw itself after the reset and each step; a function is called instead.
            log: a text file that is told everything as it happens.
            seed: names the episode.

        Returns:
            Observations, actions, rewards and dones: agent id -> list. Dones has the key ``__all__`` besides.

        Raises:
            AssertionError: for a log that cannot be written.
        """
        writable = log is None or (isinstance(log, io.TextIOBase) and log.writable())
        require(writable, f"log {log!r} is no text file open for writing; open one with mode 'w'")
        look = _renderer(render)
        diary = _Diary(log)
        episode = Episode({}, {}, {}, {ALL: []})
        for policy in self.policies.values():
            policy.reset()
        learning = set(self._learning())  # a simulation may also name agents who never act
        obs = self._kept(self.sim.reset(seed=seed), learning)
        look(self.sim)
        diary.write("Reset")
        diary.tell("Observation", obs)
        self._observe(episode, obs)
        for step in range(horizon):
            actions = self.compute_actions(obs)
            diary.write(f"Step {step}")
            diary.tell("Action", actions)
            for agent_id, action in actions.items():
                episode.actions[agent_id].append(action)
            seen, rewards, dones, _ = self.sim.step(actions)
            look(self.sim)
            for word, told in (("Observation", seen), ("Reward", rewards), ("Done", dones)):
                diary.tell(word, told)
            seen = self._kept(seen, learning)
            self._store(episode, seen, rewards, dones)
            obs = {agent_id: one for agent_id, one in seen.items() if not dones[agent_id]}
            if dones[ALL]:
                break
        self._ask_waiting(episode)
        return episode

    @abstractmethod
    def train(self, iterations: int = 10_000, **kwargs: Any) -> Any:
        """Teaches the policies.

        Args:
            iterations: how often.
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

    def _kept(self, told: dict[str, Any], learning: set[str]) -> dict[str, Any]:
        return {agent_id: one for agent_id, one in told.items() if agent_id in learning}

    def _observe(self, episode: Episode, obs: dict[str, Any]) -> None:
        for agent_id, one in obs.items():
            for kind in episode:
                kind.setdefault(agent_id, [])
            episode.observations[agent_id].append(one)

    def _store(
        self, episode: Episode, seen: dict[str, Any], rewards: dict[str, Any], dones: dict[str, Any]
    ) -> None:
        self._observe(episode, seen)
        for agent_id in seen:
            # Who is reported before he has acted was told something that followed no action of his.
            if len(episode.rewards[agent_id]) < len(episode.actions[agent_id]):
                episode.rewards[agent_id].append(rewards[agent_id])
                episode.dones[agent_id].append(dones[agent_id])
        episode.dones[ALL].append(dones[ALL])

    def _ask_waiting(self, episode: Episode) -> None:
        for agent_id, actions in episode.actions.items():
            if len(actions) == len(episode.observations[agent_id]):
                sim = self.sim.sim
                self._store_one(
                    episode, agent_id, sim.get_obs(agent_id), sim.get_reward(agent_id), sim.get_done(agent_id)
                )

    def _store_one(self, episode: Episode, agent_id: str, obs: Any, reward: Any, done: Any) -> None:
        episode.observations[agent_id].append(obs)
        episode.rewards[agent_id].append(reward)
        episode.dones[agent_id].append(done)


class SinglePolicyTrainer(MultiPolicyTrainer):
    """Plays with one policy for all agents, which goes by the id ``"policy"``.

    Args:
        sim: the manager.
        policy: of every learning agent.
    """

    def __init__(
        self, sim: SimulationManager | None = None, policy: Policy | None = None, **kwargs: Any
    ) -> None:
        require(isinstance(policy, Policy), f"policy {policy!r} is no Policy; give one")
        super().__init__(sim, {ONLY: policy}, lambda agent_id: ONLY, **kwargs)  # type: ignore[dict-item]

    @property
    def policy(self) -> Policy:
        """The only policy."""
        return self.policies[ONLY]


class _Diary:
    """Writes down what happens, line by line, so that a simulation that breaks leaves its last deeds behind."""

    def __init__(self, log: TextIO | None) -> None:
        self._log = log

    def write(self, line: str) -> None:
        if self._log is not None:
            self._log.write(f"{line}\n")
            self._log.flush()

    def tell(self, word: str, told: dict[str, Any]) -> None:
        for agent_id, value in told.items():
            self.write(f"  {word} {agent_id}: {value!r}")


def _renderer(
    render: bool | Callable[[SimulationManager], object],
) -> Callable[[SimulationManager], object]:
    if callable(render):
        return render
    return _draw if render else lambda sim: None


def _draw(sim: SimulationManager) -> None:
    drawn = sim.render()
    if isinstance(drawn, str):  # a simulation that draws itself in words
        print(drawn)
