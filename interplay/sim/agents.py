"""Agents of a simulation: their observations and actions.

An agent is little more than a record; simulations give theirs further attributes (a position, an inventory). Its spaces
may be written as plain dicts of spaces until `finalize` turns them into gymnasium's.
Source: manual 2.1.1 and 7.1; specification 2.2.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.sim.checks import Checked, flag, is_exactly, require
from interplay.sim.spaces import check_space, in_space, make_dict

UNSET: dict[str, Any] = {}  # how a space or a null point reads that was never given


def _seed(value: Any, name: str) -> int | None:
    require(value is None or is_exactly(value, int), f"{name} {value!r} is no int; give one or None")
    return value


def _space_given(value: Any, name: str) -> Any:
    require(
        value is None or check_space(value),
        f"{name} {value!r} is no space; give a gymnasium space or a dict of them",
    )
    return {} if value is None else value


def _null_given(value: Any, _name: str) -> Any:
    return {} if value is None else value


class PrincipleAgent:
    """An entity in a simulation, which need not observe nor act.

    Args:
        id: unique in the simulation.
        seed: of the agent's spaces; None leaves them to the simulation's seed.
        **kwargs: of the classes that are combined with this one.

    Raises:
        AssertionError: for an id or a seed of another type.

    Example:
        >>> PrincipleAgent(id="wall").active
        True
    """

    def __init__(self, id: Any = None, seed: int | None = None, **kwargs: Any) -> None:
        self.id = id
        self.seed = seed
        self.active = True

    @property
    def id(self) -> str:
        """The agent's name, which is also its key in ``simulation.agents``."""
        return self._id

    @id.setter
    def id(self, value: str) -> None:
        require(
            is_exactly(value, str), f"agent id {value!r} is no str; give each agent one, such as 'agent0'"
        )
        self._id = value

    seed = Checked(_seed, "Seed of the agent's spaces.")
    active = Checked(flag, "Whether the agent is in a valid state: alive, in the game.")

    @property
    def configured(self) -> bool:
        """Whether the agent can take part."""
        return self.id is not None

    def finalize(self, **kwargs: Any) -> None:
        """Ends the agent's set-up; the simulation's `finalize` calls it."""

    @property
    def _name(self) -> str:
        return f"agent {self.__dict__.get('_id', '?')}"

    def __eq__(self, other: object) -> bool:
        """Of the same class and with equal attributes; arrays are compared by value (A4)."""
        return type(self) is type(other) and _equal(self.__dict__, other.__dict__)

    __hash__ = object.__hash__


class ObservingAgent(PrincipleAgent):
    """An agent that observes.

    Args:
        observation_space: a gymnasium space, or nested plain dicts and tuples of spaces.
        null_observation: the observation of a finished agent where one is needed.
    """

    def __init__(self, observation_space: Any = None, null_observation: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.observation_space = observation_space
        self.null_observation = null_observation

    observation_space = Checked(
        _space_given, "A gymnasium space once the agent is finalized; an empty dict if none was given."
    )
    null_observation = Checked(
        _null_given, "A point in the observation space; an empty dict if none was given."
    )

    @property
    def configured(self) -> bool:
        return super().configured and check_space(self.observation_space, strict=True)

    def finalize(self, **kwargs: Any) -> None:
        super().finalize(**kwargs)
        self._observation_space = _finished(self.observation_space, self.seed)
        _check_null(self.observation_space, self.null_observation, f"{self._name}: null_observation")


class ActingAgent(PrincipleAgent):
    """An agent that acts.

    Args:
        action_space: a gymnasium space, or nested plain dicts and tuples of spaces.
        null_action: the action of a finished agent where one is needed.
    """

    def __init__(self, action_space: Any = None, null_action: Any = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.action_space = action_space
        self.null_action = null_action

    action_space = Checked(
        _space_given, "A gymnasium space once the agent is finalized; an empty dict if none was given."
    )
    null_action = Checked(_null_given, "A point in the action space; an empty dict if none was given.")

    @property
    def configured(self) -> bool:
        return super().configured and check_space(self.action_space, strict=True)

    def finalize(self, **kwargs: Any) -> None:
        super().finalize(**kwargs)
        self._action_space = _finished(self.action_space, self.seed)
        _check_null(self.action_space, self.null_action, f"{self._name}: null_action")


class Agent(ObservingAgent, ActingAgent):
    """An agent that observes and acts: one that can learn.

    Test with `is_agent` rather than for this class: an agent may combine other classes.

    Example:
        >>> agent = Agent(id="agent0", observation_space={"here": spaces.Discrete(4)}, action_space=spaces.Discrete(3))
        >>> agent.configured
        False
        >>> agent.finalize()
        >>> agent.configured, agent.observation_space
        (True, Dict('here': Discrete(4)))
    """


def is_agent(entity: Any) -> bool:
    """Whether something both observes and acts."""
    return isinstance(entity, ObservingAgent) and isinstance(entity, ActingAgent)


def is_unset(point: Any) -> bool:
    """Whether a null point was never given; 0 was given (F13)."""
    return isinstance(point, dict) and not point


def _finished(space: Any, seed: int | None) -> Any:
    """A plain dict or tuple of spaces as gymnasium's, seeded; an unset one stays unset."""
    if isinstance(space, dict) and not space:
        return space
    # A copy per agent: seeding it must not seed another agent's that was made of the same object.
    made = make_dict(copy.deepcopy(space))
    if seed is not None:
        made.seed(seed)
    return made


def _check_null(space: Any, point: Any, name: str) -> None:
    if is_unset(point):
        return
    require(
        isinstance(space, spaces.Space) and in_space(space, point),
        f"{name} {point!r} is not in {space}; give a point that is",
    )


def _equal(one: Any, other: Any) -> bool:
    """Equality by value that always gives a bool."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and np.array_equal(one, other)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and type(one) is type(other):
        return len(one) == len(other) and all(map(_equal, one, other))
    return bool(one == other)
