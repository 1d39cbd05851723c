"""Observations and actions as single numbers, for tables.

A point of integers is a number in a mixed base: each leaf's numbers are digits, the last one the lowest.
Source: manual 2.1.4 and 7.3; specification 2.4, W5 and W6, and the faults F16 and F17.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core import masks
from interplay.core.errors import Refused
from interplay.sim.agents import ActingAgent, ObservingAgent, is_unset
from interplay.sim.checks import refuse, require
from interplay.sim.leaves import bounds, build, cast, numbers, pair, pair_masks, point_of, walk
from interplay.sim.simulation import AgentBasedSimulation
from interplay.sim.spaces import in_space
from interplay.sim.wrappers.wrapper import SARWrapper

MOST = 2**63 - 1  # points of a Discrete space
MOST_MASKED = 2**16  # points that a mask lists


def check_space(space: Any) -> bool:
    """Whether a space can be ravelled: Discrete, MultiBinary, MultiDiscrete, bounded integer Boxes, nests."""
    if not isinstance(space, spaces.Space):
        return False
    return all(_is_countable(leaf) for leaf in walk(space))


def ravel_space(space: spaces.Space) -> spaces.Discrete:
    """The Discrete space with as many points.

    Raises:
        AssertionError: if the space cannot be ravelled or has more than 2**63 - 1 points.

    Example:
        >>> ravel_space(spaces.Tuple([spaces.Discrete(5), spaces.MultiBinary(2)]))
        Discrete(20)
    """
    require(
        check_space(space), f"space {space} cannot be ravelled; give bounded integers only, or flatten it"
    )
    points = math.prod(base for leaf in walk(space) for base in _bases(leaf))
    require(points <= MOST, f"space {space} has {points:,} points, more than {MOST:,}; flatten it instead")
    return spaces.Discrete(points)


def ravel(space: spaces.Space, point: Any) -> int:
    """The number of a point.

    Example:
        >>> ravel(spaces.MultiDiscrete([5, 3]), [3, 1])
        10
    """
    number = 0
    for leaf, value in pair(space, point):
        digits = (cast(numbers(value), np.int64, leaf) - bounds(leaf)[0]).tolist()
        for digit, base in zip(digits, _bases(leaf), strict=True):
            if not 0 <= digit < base:
                refuse(f"{value!r} is no point of {leaf}; mend either")
            number = number * base + digit
    return number


def unravel(space: spaces.Space, number: int) -> Any:
    """The inverse of `ravel`: a point that the space contains."""
    bases = [base for leaf in walk(space) for base in _bases(leaf)]
    digits = []
    rest = int(number)
    for base in reversed(bases):
        rest, digit = divmod(rest, base)
        digits.append(digit)
    digits.reverse()
    at = 0

    def take(leaf: spaces.Space) -> Any:
        nonlocal at
        low = bounds(leaf)[0]
        at += low.size
        return point_of(leaf, np.array(digits[at - low.size : at], np.int64) + low)

    return build(space, take)


def ravel_mask(space: spaces.Space, mask: Any) -> np.ndarray | None:
    """The mask of the numbers: a point is legal if all its parts are.

    Args:
        space: one that can be ravelled.
        mask: in gymnasium's form; a Box's has an axis for each of its numbers, as a mover's free cells, or counts for nothing.

    Returns:
        (points,) int8; None where everything is legal, and for more than `MOST_MASKED` points.

    Example:
        >>> space = spaces.Dict(attack=spaces.Discrete(2), say=spaces.Discrete(3))
        >>> ravel_mask(space, {"attack": np.array([1, 0], np.int8), "say": np.array([0, 1, 1], np.int8)})
        array([0, 1, 1, 0, 0, 0], dtype=int8)
    """
    if mask is None or int(ravel_space(space).n) > MOST_MASKED:
        return None
    legal = np.ones(1, np.int8)
    for leaf, part in pair_masks(space, mask):
        legal = np.kron(legal, _legal_points(leaf, part))
    return legal


def _legal_points(leaf: spaces.Space, mask: Any) -> np.ndarray:
    """(points of the leaf,) int8."""
    bases = _bases(leaf)
    if isinstance(leaf, spaces.Box):
        fits = mask is not None and np.shape(mask) == tuple(bases)
        return np.asarray(mask, np.int8).ravel() if fits else np.ones(math.prod(bases), np.int8)
    if mask is None:
        return np.ones(math.prod(bases), np.int8)
    row = masks.from_gymnasium(leaf, mask).astype(np.int8)
    legal = np.ones(1, np.int8)
    for choices in np.split(row, np.cumsum(bases)[:-1]):
        legal = np.kron(legal, choices)
    return legal


def _is_countable(leaf: spaces.Space) -> bool:
    if isinstance(leaf, spaces.Box):
        return np.issubdtype(leaf.dtype, np.integer) and leaf.is_bounded("both")
    return isinstance(leaf, spaces.Discrete | spaces.MultiBinary | spaces.MultiDiscrete)


def _bases(leaf: spaces.Space) -> list[int]:
    low, high = bounds(leaf)
    return [int(b) - int(a) + 1 for a, b in zip(low.tolist(), high.tolist(), strict=True)]


class RavelDiscreteWrapper(SARWrapper):
    """Turns all observation and action spaces into Discrete ones; null points come along.

    Args:
        sim: the simulation.

    Raises:
        AssertionError: naming the agent whose space cannot be ravelled.
    """

    def __init__(self, sim: AgentBasedSimulation) -> None:
        super().__init__(sim)
        for agent_id, agent in self.agents.items():
            inner = sim.agents[agent_id]
            if isinstance(agent, ObservingAgent) and self._ravels_observations:
                agent.observation_space = _ravelled(inner.observation_space, f"{agent_id}: observation space")
                if not is_unset(inner.null_observation):
                    agent.null_observation = ravel(inner.observation_space, inner.null_observation)
            if isinstance(agent, ActingAgent):
                agent.action_space = _ravelled(inner.action_space, f"{agent_id}: action space")
                if not is_unset(inner.null_action):
                    agent.null_action = ravel(inner.action_space, inner.null_action)
        self.finalize()

    _ravels_observations = True

    def get_action_mask(self, agent_id: str, **kwargs: Any) -> Any:
        """(points,) int8; None where all are legal, and for more than `MOST_MASKED` points."""
        inner = self.sim.agents[agent_id].action_space
        return ravel_mask(inner, self.sim.get_action_mask(agent_id, **kwargs))

    def wrap_observation(self, from_agent: Any, observation: Any) -> Any:
        return ravel(from_agent.observation_space, observation)

    def unwrap_observation(self, from_agent: Any, observation: Any) -> Any:
        return unravel(from_agent.observation_space, observation)

    def wrap_action(self, from_agent: Any, action: Any) -> Any:
        """The point of the original space; a number beyond the wrapped one is refused."""
        space = self.agents[from_agent.id].action_space
        if not in_space(space, action):
            refuse(
                f"agent {from_agent.id}: action {action!r} is outside {space} of {type(self).__name__}; choose from it"
            )
        return unravel(from_agent.action_space, action)

    def unwrap_action(self, from_agent: Any, action: Any) -> Any:
        return ravel(from_agent.action_space, action)


class RavelActionWrapper(RavelDiscreteWrapper):
    """Ravels actions alone, for observations with too many points, such as views of a grid."""

    _ravels_observations = False

    def wrap_observation(self, from_agent: Any, observation: Any) -> Any:
        return observation

    def unwrap_observation(self, from_agent: Any, observation: Any) -> Any:
        return observation


def _ravelled(space: Any, name: str) -> spaces.Discrete:
    try:
        return ravel_space(space)
    except AssertionError as error:
        raise Refused(f"agent {name}: {error}") from None
