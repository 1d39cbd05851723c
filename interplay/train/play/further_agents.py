"""Agents beyond those of the training, by name: the only network of a policy moves them too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from interplay.train.play.forms import AskedRows, point_of

if TYPE_CHECKING:
    from interplay.train.play.trained_policy import TrainedPolicy

ONE = 8  # rows are filled up to a multiple, so that XLA compiles few shapes


def has_one_network(policy: TrainedPolicy) -> bool:
    """Whether one network moves every agent alike, whatever its name."""
    kind = policy.world.kinds[0]
    alone = len(policy.world.kinds) == 1 and len(policy.names) == 1 and not policy.foreign
    return alone and policy.networks[kind.name].marks is None


class FurtherAgents:
    """Rows of agents that the world has not, in the order in which they were first asked.

    Args:
        policy: for which `has_one_network`.
    """

    def __init__(self, policy: TrainedPolicy) -> None:
        self._policy, self._kind = policy, policy.world.kinds[0]
        self._masked = policy.masked_parts(self._kind)
        self._row: dict[str, int] = {}
        self._memory = np.zeros((0, policy.networks[self._kind.name].memory), np.float32)

    def act(self, observations: Mapping[Any, Any], infos: Mapping[Any, Any]) -> dict[Any, Any]:
        """Actions of the agents in `observations`; errors as for `TrainedPolicy.act`."""
        self._seat(observations)
        rows = AskedRows(self._kind, len(self._memory), self._masked)
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
        """The agent's life has ended."""
        if agent in self._row:
            self._memory[self._row[agent]] = 0.0

    def _seat(self, agents: Mapping[Any, Any]) -> None:
        """Gives every agent a row."""
        for agent in agents:
            self._row.setdefault(str(agent), len(self._row))
        room = -(-len(self._row) // ONE) * ONE
        self._memory = np.pad(self._memory, ((0, room - len(self._memory)), (0, 0)))
