"""What happened in an episode, agent by agent, and as a diary line by line.

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
        """Before anything has happened."""
        return cls({}, {}, {}, {ALL: []})

    def observe(self, observations: dict[str, Any]) -> None:
        """Adds what agents see; who is new begins his lists."""
        for agent_id, one in observations.items():
            for lists in self:
                lists.setdefault(agent_id, [])
            self.observations[agent_id].append(one)

    def act(self, actions: dict[str, Any]) -> None:
        """Adds what agents do."""
        for agent_id, action in actions.items():
            self.actions[agent_id].append(action)

    def store(self, seen: dict[str, Any], rewards: dict[str, Any], dones: dict[str, Any]) -> None:
        """Adds what a step told."""
        self.observe(seen)
        for agent_id in seen:
            # Who is reported before he has acted was told something that followed no action of his.
            if len(self.rewards[agent_id]) < len(self.actions[agent_id]):
                self.rewards[agent_id].append(rewards[agent_id])
                self.dones[agent_id].append(dones[agent_id])
        self.dones[ALL].append(dones[ALL])

    def ask_waiting(self, manager: SimulationManager) -> None:
        """Asks for what agents who have acted and wait for their turn would be told then."""
        sim = manager.sim
        for agent_id, actions in self.actions.items():
            if len(actions) == len(self.observations[agent_id]):
                self.observations[agent_id].append(sim.get_obs(agent_id))
                self.rewards[agent_id].append(sim.get_reward(agent_id))
                self.dones[agent_id].append(sim.get_done(agent_id))

    def text(self) -> str:
        """Agent after agent."""
        lines = []
        for agent_id in self.observations:
            lines.append(agent_id)
            for word, lists in zip(("Observations", "Actions", "Rewards", "Dones"), self, strict=True):
                lines.append(f"  {word}")
                lines += [f"    {value!r}" for value in lists[agent_id]]
        return "\n".join(lines) + "\n"


class Diary:
    """Writes down what happens at once, so that a simulation that breaks leaves its last deeds behind.

    Args:
        log: where to; None: nowhere.
    """

    def __init__(self, log: TextIO | None) -> None:
        self._log = log

    def write(self, line: str) -> None:
        """A line of its own."""
        if self._log is not None:
            self._log.write(f"{line}\n")
            self._log.flush()

    def tell(self, word: str, told: dict[str, Any]) -> None:
        """A line for each agent."""
        for agent_id, value in told.items():
            self.write(f"  {word} {agent_id}: {value!r}")
