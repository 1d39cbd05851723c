"""Records of an episode: lists by agent, and a log by event.

Source: specification 2.11, L4, and 6.2.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TextIO

from interplay.sim.managers import SimulationManager

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
