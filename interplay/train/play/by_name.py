"""A trained policy for agents by name, as in a PettingZoo environment, or for one observation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.core.world import Kind, TimeStep
from interplay.train.play.forms import (
    MASK,
    WHOLE,
    InputRows,
    leading_axes,
    leaf_of,
    legal_of,
    mask_in,
    point_of,
    refuse_stuck,
)
from interplay.train.policy_network import MARK, PolicyNetwork

if TYPE_CHECKING:
    from interplay.train.play.trained_policy import TrainedPolicy


class Look(NamedTuple):
    """Network outputs for one observation; for N observations every array has a first axis of N.

    Attributes:
        logits: (choices,) float32, action heads concatenated, -1e9 for illegal choices; empty for a Box.
        probabilities: (choices,) float32.
        mean, deviation: (n,) float32, of a Box; empty for choices.
        action: the likeliest, in the action space.
        value: the value estimate; None for a central critic.
        attention: (heads, queries, keys) float32, rows sum to 1; None for networks without attention.
        attended: names of its keys.
        memory: (size,) float32 after the step, input of the next `look`; None for networks without memory.
    """

    logits: np.ndarray
    probabilities: np.ndarray
    mean: np.ndarray
    deviation: np.ndarray
    action: Any
    value: np.ndarray | None
    attention: np.ndarray | None
    attended: tuple[str, ...]
    memory: np.ndarray | None


class ByName:
    """Agents by name for a policy that plays a batch of one.

    An agent missing from a call keeps its memory; `forget` ends a life.

    Args:
        policy: started.

    Raises:
        UserError: if it plays a batch of several, or a name does not determine an agent's weights.
    """

    def __init__(self, policy: TrainedPolicy) -> None:
        world = policy.world
        if world.num_worlds != 1:
            raise UserError(
                f"{policy.name}: it plays a batch of {world.num_worlds} worlds, calls by name are for one; "
                "load the policy once more"
            )
        if world.respawns:
            raise UserError(
                f"{policy.name}: slots of {world.id} respawn, so a name is no agent; play it with evaluate or a batch"
            )
        policy.mover(0)  # raises where a name does not determine the weights
        self._policy, self._world = policy, world
        self._place = {
            str(world.agents[slot]): (kind, column, slot)
            for kind in world.kinds
            for column, slot in enumerate(kind.slots)
        }
        self._ended = np.zeros((1, len(world.agents)), bool)  # lives ended by `forget` since the last call
        self._masked = {kind.name: policy.masked_parts(kind) for kind in world.kinds}
        self._further = FurtherAgents(policy) if has_one_network(policy) else None

    def act(self, observations: Mapping[Any, Any], infos: Mapping[Any, Any] | None = None) -> dict[Any, Any]:
        """Actions of the agents in `observations`; see `TrainedPolicy.act`."""
        self._refuse_single(observations)
        infos = infos or {}
        further = [agent for agent in observations if not self._knows(agent)]
        actions = self._act_known({a: s for a, s in observations.items() if a not in further}, infos)
        if self._further is not None and further:
            actions |= self._further.act({agent: observations[agent] for agent in further}, infos)
        return {agent: actions[agent] for agent in observations if agent in actions}

    def forget(self, agent: str) -> None:
        """Ends the agent's life: its next observation begins another."""
        if self._knows(agent):
            self._ended[0, self._place[agent][2]] = True
        elif self._further is not None:
            self._further.forget(agent)

    def _act_known(self, observations: Mapping[Any, Any], infos: Mapping[Any, Any]) -> dict[Any, Any]:
        world, rows = self._world, self._rows(observations, infos)
        acting = np.zeros(self._ended.shape, bool)
        for own in rows.values():
            acting[:, list(own.kind.slots)] = own.acting
        actions = world.by_kind(self._policy.act(self._timestep(rows, acting)))
        self._ended[:] = False
        found = {}
        for agent in observations:
            kind, column, slot = self._place[str(agent)]
            if acting[0, slot]:
                found[agent] = point_of(kind.action_space, actions[kind.name], (0, column))
        return found

    def _rows(self, observations: Mapping[Any, Any], infos: Mapping[Any, Any]) -> dict[str, InputRows]:
        rows = {
            kind.name: InputRows(kind, len(kind.slots), self._masked[kind.name]) for kind in self._world.kinds
        }
        for agent, given in observations.items():
            kind, column, _ = self._place[str(agent)]
            rows[kind.name].put(column, f"{self._policy.name}: {agent}", given, infos.get(agent) or {})
        return rows

    def _timestep(self, rows: Mapping[str, InputRows], acting: np.ndarray) -> TimeStep:
        """The equivalent time step of a batch of one."""
        masks = {name: own.mask for name, own in rows.items()}
        several, only = len(rows) > 1, next(iter(rows))
        return TimeStep(
            observation={name: own.seen for name, own in rows.items()} if several else rows[only].seen,
            reward=np.zeros(acting.shape, np.float32),
            acting=acting,
            terminated=self._ended.copy(),
            truncated=np.zeros(acting.shape, bool),
            over=np.zeros(1, bool),
            action_mask=(masks if any(masks.values()) else None) if several else masks[only],
        )

    def _knows(self, agent: Any) -> bool:
        """Whether an agent is one of the world's; False: the only network plays it."""
        if str(agent) in self._place:
            return True
        if self._further is None:
            raise UserError(
                f"{self._policy.name}: unknown agent {agent!r}; it has several networks, for {', '.join(list(self._place)[:8])}; "
                f"choose one: policy.look(observation, agent={next(iter(self._place))!r})"
            )
        return False

    def _refuse_single(self, observations: Mapping[Any, Any]) -> None:
        """Refuses the observation of a single agent: its leaves would be taken for agents."""
        here = {str(agent) for agent in observations}
        leaves = {
            key.partition(".")[0] for kind in self._world.kinds for key in kind.observation_space.spaces
        }
        if here and not here & self._place.keys() and here <= {*leaves, MASK, WHOLE}:
            raise UserError(
                f"{self._policy.name}: this is the observation of one agent; pass a dict by agent, "
                f"policy.act({{{self._world.agents[0]!r}: observation}}), or use policy.look(observation)"
            )


def look(
    policy: TrainedPolicy,
    observation: Any,
    mask: Any = None,
    memory: np.ndarray | None = None,
    agent: str | None = None,
    population: int | None = None,
) -> Look:
    """Network outputs for one observation, or for N; see `TrainedPolicy.look`."""
    kind, mover = find_network(policy, agent, population)
    network: PolicyNetwork = policy.networks[kind.name]
    parts = kind.observation_space.spaces
    lead = leading_axes(observation, *next(iter(parts.items())))
    owner = f"{policy.name}: the observation"
    rows = {key: np.asarray(leaf_of(observation, key, part, owner, lead)) for key, part in parts.items()}
    count = len(next(iter(rows.values()))) if lead else 1
    if (mark := mark_of(policy, kind, agent)) is not None:
        rows[MARK] = np.tile(mark, (count, 1))
    whole = -(-count // ONE) * ONE
    flat = network.layout.allocate(whole)
    network.layout.write(rows, None, {dtype: array[:count] for dtype, array in flat.items()})
    needs = policy.masked_parts(kind)
    mask = mask_in(observation, kind, bool(needs)) if mask is None else mask
    legal = None
    if mask is not None:
        legal = np.ones((whole, network.distribution.choices), bool)
        legal[:count] = legal_of(kind.action_space, mask, owner, count if lead else None, needs)
        refuse_stuck(network.distribution, legal[:count], owner)
    kept = None
    if network.memory:
        kept = np.zeros((whole, network.memory), np.float32)
        if memory is not None:
            kept[:count] = memory
    elif memory is not None:
        raise UserError(f"{policy.name}: its networks have no memory; leave memory out")
    outputs = network.outputs(policy.inference[kind.name], np.int32(mover), flat, legal, kept)
    found = {
        name: np.asarray(array)[:count] if lead else np.asarray(array)[0] for name, array in outputs.items()
    }
    empty = np.zeros((count, 0) if lead else 0, np.float32)
    return Look(
        found.get("logits", empty),
        found.get("probabilities", empty),
        found.get("mean", empty),
        found.get("deviation", empty),
        point_of(kind.action_space, network.distribution.to_world(found["action"]), ()),
        found.get("value"),
        found.get("attention"),
        network.attended,
        found.get("memory"),
    )


def mark_of(policy: TrainedPolicy, kind: Kind, agent: str | None) -> np.ndarray | None:
    """The agent's one-hot for ``agent_id``, (M,) float32; None without."""
    marks = policy.networks[kind.name].marks
    if marks is None:
        return None
    if agent is None:
        raise UserError(
            f"{policy.name}: its networks need the agent ({policy.settings.algorithm}.agent_id); "
            f"give it, e.g. agent={policy.world.agents[0]!r}"
        )
    return marks[kind.slots.index(policy.world.agents.index(agent))]


def find_network(policy: TrainedPolicy, agent: str | None, population: int | None = None) -> tuple[Kind, int]:
    """The kind of an agent, and the number of its network in a population (`TrainedPolicy.mover`)."""
    world = policy.world
    if agent is None:
        several = f"{world.id} has agents of several kinds" if len(world.kinds) > 1 else ""
        several = several or (f"it has {len(policy.names)} networks" if len(policy.names) > 1 else "")
        if several:
            raise UserError(f"{policy.name}: {several}; give the agent, e.g. agent={world.agents[0]!r}")
        return world.kinds[0], 0
    if agent not in world.agents and has_one_network(policy):
        return world.kinds[0], 0
    if agent not in world.agents:
        raise UserError(f"{policy.name}: unknown agent {agent!r}; there are {', '.join(world.agents[:8])}")
    slot = world.agents.index(agent)
    kind = next(kind for kind in world.kinds if slot in kind.slots)
    return kind, policy.mover(slot, population)


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
