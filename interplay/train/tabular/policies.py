"""Policies of single agents: an observation in, an action out; unlike `interplay.core.policy` without batches.

Source: manual 2.7; specification 2.11, L1 and L2.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.sim.checks import is_exactly, require


class Policy(ABC):
    """Chooses an agent's actions, and may learn.

    Args:
        action_space, observation_space: of the agents that use it; gymnasium spaces.

    Raises:
        AssertionError: for other types, such as a dict of spaces.
    """

    def __init__(self, action_space: spaces.Space, observation_space: spaces.Space, **kwargs: Any) -> None:
        self.action_space = action_space
        self.observation_space = observation_space

    @property
    def action_space(self) -> Any:
        """Space of the actions."""
        return self._action_space

    @action_space.setter
    def action_space(self, value: spaces.Space) -> None:
        self._action_space = self._space(value, "action_space")

    @property
    def observation_space(self) -> Any:
        """Space of the observations."""
        return self._observation_space

    @observation_space.setter
    def observation_space(self, value: spaces.Space) -> None:
        self._observation_space = self._space(value, "observation_space")

    @abstractmethod
    def compute_action(self, obs: Any, **kwargs: Any) -> Any:
        """The action for an observation."""

    def update(self, obs: Any, action: Any, value: Any, **kwargs: Any) -> None:  # noqa: B027 - most learn nothing
        """Sets the value of an action after an observation."""

    def reset(self, **kwargs: Any) -> None:  # noqa: B027 - most remember nothing
        """Clears memory; called when an episode begins."""

    def _space(self, value: Any, name: str) -> Any:
        require(
            isinstance(value, spaces.Space),
            f"{type(self).__name__}: {name} {value!r} is no gymnasium space; give that of a finalized agent",
        )
        return value


class RandomPolicy(Policy):
    """Samples every action from its space, with the space's seed.

    Example:
        >>> RandomPolicy(spaces.Discrete(1), spaces.Discrete(4)).compute_action(3)
        0
    """

    def compute_action(self, obs: Any, **kwargs: Any) -> Any:
        """A random action.

        Raises:
            AssertionError: for an observation outside the space, a fault of the simulation.
        """
        require(
            self.observation_space.contains(obs),
            f"observation {obs!r} is not in {self.observation_space}; mend the simulation's get_obs or its space",
        )
        action = self.action_space.sample()
        return int(action) if isinstance(self.action_space, spaces.Discrete) else action


class QTablePolicy(Policy):
    """Takes the action with the highest value in a table; of equals the first.

    Args:
        action_space, observation_space: Discrete, with any start.
        q_table: (observations, actions) values; None draws them from the standard normal distribution.
        seed: of the policy's random numbers; None: a random one.

    Raises:
        AssertionError: for other spaces, or a table of another type or shape.

    Example:
        >>> policy = QTablePolicy(spaces.Discrete(2), spaces.Discrete(3), q_table=np.zeros((3, 2)))
        >>> policy.update(0, 1, 5.0)
        >>> policy.compute_action(0), policy.compute_action(2)
        (1, 0)
    """

    def __init__(
        self,
        action_space: spaces.Space,
        observation_space: spaces.Space,
        q_table: np.ndarray | None = None,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(action_space, observation_space, **kwargs)
        self.rng = np.random.default_rng(seed)
        self.q_table = self.rng.standard_normal(self._shape) if q_table is None else q_table

    @property
    def q_table(self) -> np.ndarray:
        """(observations, actions) values."""
        return self._q_table

    @q_table.setter
    def q_table(self, value: np.ndarray) -> None:
        shape = value.shape if isinstance(value, np.ndarray) else type(value).__name__
        require(shape == self._shape, f"q_table is {shape}; give a numpy array of the shape {self._shape}")
        self._q_table = value

    def compute_action(self, obs: Any, **kwargs: Any) -> int:
        """The action with the highest value."""
        return int(self.q_table[self._row(obs)].argmax()) + int(self.action_space.start)

    def update(self, obs: Any, action: Any, value: Any, **kwargs: Any) -> None:
        """Writes one cell of the table."""
        self.q_table[self._row(obs), int(action) - int(self.action_space.start)] = value

    @property
    def _shape(self) -> tuple[int, int]:
        return int(self.observation_space.n), int(self.action_space.n)

    def _row(self, obs: Any) -> int:
        row = int(obs) - int(self.observation_space.start)
        require(0 <= row < self._shape[0], f"observation {obs!r} is not in {self.observation_space}")
        return row

    def _space(self, value: Any, name: str) -> Any:
        require(
            isinstance(value, spaces.Discrete),
            f"{type(self).__name__}: {name} {value!r} is not Discrete; put a RavelDiscreteWrapper around the simulation",
        )
        return value


class EpsilonSoftPolicy(QTablePolicy):
    """The best action most of the time, any action with probability epsilon.

    Args:
        action_space, observation_space, q_table, seed: as for `QTablePolicy`.
        epsilon: 0..1.

    Raises:
        AssertionError: for another epsilon, and as `QTablePolicy` does.

    Example:
        >>> table = np.array([[0.0, 1.0]])
        >>> policy = EpsilonSoftPolicy(spaces.Discrete(2), spaces.Discrete(1), q_table=table, epsilon=0.2)
        >>> policy.probability(0, 1), policy.probability(0, 0)
        (0.9, 0.1)
    """

    def __init__(self, *args: Any, epsilon: float = 0.1, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.epsilon = epsilon

    @property
    def epsilon(self) -> float:
        """Probability of a uniformly random action."""
        return self._epsilon

    @epsilon.setter
    def epsilon(self, value: float) -> None:
        number = isinstance(value, int | float | np.number) and not is_exactly(value, bool)
        require(
            number and 0 <= value <= 1, f"epsilon {value!r} is no number from 0 to 1; give for example 0.1"
        )
        self._epsilon = float(value)

    def compute_action(self, obs: Any, **kwargs: Any) -> int:
        """The best action, or with probability epsilon a random one."""
        best = super().compute_action(obs)
        if self.rng.random() >= self.epsilon:
            return best
        return int(self.rng.integers(self.action_space.n)) + int(self.action_space.start)

    def probability(self, obs: Any, action: Any) -> float:
        """Probability of the action: 1 - epsilon + epsilon / n for the best one of n, epsilon / n for the others."""
        share = self.epsilon / int(self.action_space.n)
        best = super().compute_action(obs) == int(action)
        return 1 - self.epsilon + share if best else share
