"""Agents beyond those of the training, played by the only network of a policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.train.play.forms import InputRows, point_of

if TYPE_CHECKING:
    from interplay.train.play.trained_policy import TrainedPolicy

ONE = 8  # rows are padded to a multiple, so that XLA compiles few shapes


def has_one_network(policy: TrainedPolicy) -> bool:
    """Whether one network plays all agents, whatever their names."""
    kind = policy.world.kinds[0]
    alone = len(policy.world.kinds) == 1 and len(policy.names) == 1 and not policy.foreign
    return alone and policy.networks[kind.name].marks is None


class FurtherAgents:
    """Agents that the world lacks, in order of their first call.

    Args:
        policy: with `has_one_network`.
    """

    def __init__(self, policy: TrainedPolicy) -> None:
        self._policy, self._kind = policy, policy.world.kinds[0]
        self._masked = policy.masked_parts(self._kind)
        self._row: dict[str, int] = {}
        self._memory = np.zeros((0, policy.networks[self._kind.name].memory), np.float32)

    def act(self, observations: Mapping[Any, Any], infos: Mapping[Any, Any]) -> dict[Any, Any]:
        """Actions of the agents in `observations`; see `TrainedPolicy.act`."""
        self._add(observations)
        rows = InputRows(self._kind, len(self._memory), self._masked)
        for agent, given in observations.items():
            rows.put(self._row[str(agent)], f"{self._policy.name}: {agent}", given, infos.get(agent) or {})
        index = np.flatnonzero(rows.acting)
        actions = self._policy.choose(
            self._kind.name,
            rows.seen,
            rows.mask,
            index,
            np.zeros(len(index), np.int64),
            self._policy.next_seed(),
            self._memory if self._memory.size else None,
        )
        return {
            agent: point_of(self._kind.action_space, actions, (0, self._row[str(agent)]))
            for agent in observations
            if rows.acting[0, self._row[str(agent)]]
        }

    def forget(self, agent: str) -> None:
        """Clears the agent's memory."""
        if agent in self._row:
            self._memory[self._row[agent]] = 0.0

    def _add(self, agents: Mapping[Any, Any]) -> None:
        """Assigns a row to every new agent."""
        for agent in agents:
            self._row.setdefault(str(agent), len(self._row))
        room = -(-len(self._row) // ONE) * ONE
        self._memory = np.pad(self._memory, ((0, room - len(self._memory)), (0, 0)))
