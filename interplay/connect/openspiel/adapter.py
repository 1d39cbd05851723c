"""The common part of both OpenSpiel forms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from numbers import Real
from operator import index
from typing import Any, NoReturn

import numpy as np
from gymnasium import spaces

from interplay.connect.refusals import require_manager
from interplay.core.errors import MissingExtraError
from interplay.sim import is_agent
from interplay.sim.agents import is_unset
from interplay.sim.checks import refuse, require
from interplay.sim.managers import SimulationManager, TurnBasedManager

_NO_TREE = "a simulation only plays forward; use a learning agent that plays episodes, such as DQN"


class Adapter(ABC):
    """The common part of both forms: the acting players and a report of every agent."""

    def __init__(self, sim: SimulationManager, discounts: float | Mapping[str, float] = 1.0) -> None:
        require_manager(sim, "sim")
        _open_spiel()
        self.sim = sim
        self._players = {name: agent for name, agent in sim.agents.items() if is_agent(agent)}
        for name, agent in self._players.items():
            require_discrete(name, "action", agent.action_space)
        self.discounts = discounts
        self._queried: list[str] = []
        self._over = True
        self._seed: int | None = None
        self._timestep: Any = None

    @property
    def unwrapped(self) -> SimulationManager:
        return self.sim

    @property
    def num_players(self) -> int:
        """How many agents learn."""
        return len(self._players)

    @property
    def is_turn_based(self) -> bool:
        """Whether the manager is a `TurnBasedManager`."""
        return isinstance(self.sim, TurnBasedManager)

    @property
    def truncated(self) -> bool:
        """Whether a time limit ended the episode, the manager's or the simulation's own."""
        return self.sim.truncated or (self._over and any(map(self.sim.sim.get_truncated, self._players)))

    @property
    def discounts(self) -> dict[str, float]:
        """Id -> discount; the first step has none, the last has zeros."""
        return self._discounts

    @discounts.setter
    def discounts(self, value: float | Mapping[str, float]) -> None:
        if isinstance(value, Mapping):
            require(
                value.keys() == self._players.keys(),
                f"discounts name {', '.join(map(str, value)) or 'none'}; name exactly {', '.join(self._players)}",
            )
            given = dict(value)
        else:
            given = dict.fromkeys(self._players, value)
        for name, number in given.items():
            fits = isinstance(number, Real) and not isinstance(number, bool)
            require(fits, f"the discount {number!r} of {name} is no number; give one, such as 0.99")
        self._discounts = given

    @property
    def _spiel(self) -> Any:
        # No attribute, as modules can be neither copied nor pickled.
        return _open_spiel()

    @property
    def game(self) -> NoReturn:
        """Missing: a simulation has no game tree.

        Raises:
            AttributeError: always, so that algorithms on trees fail at once.
        """
        raise AttributeError(f"{type(self).__name__} has no game: {_NO_TREE}")

    @property
    def get_state(self) -> NoReturn:
        """Missing, see `game`.

        Raises:
            AttributeError: always.
        """
        raise AttributeError(f"{type(self).__name__} has no state to branch from: {_NO_TREE}")

    def get_time_step(self) -> Any:
        """The last TimeStep, for OpenSpiel's vector of environments; None before the first `reset`."""
        return self._timestep

    def seed(self, seed: int | None = None) -> None:
        """Sets the seed of the next `reset`."""
        self._seed = seed

    def reset(self, seed: int | None = None, **kwargs: Any) -> Any:
        """Starts an episode: a TimeStep without rewards and discounts."""
        named = self._seed if seed is None else seed
        self._seed = None
        observations = self.sim.reset(seed=named, **kwargs)
        self._over = False
        self._queried = list(observations)
        self._timestep = self._spiel.TimeStep(
            self._observe(observations), None, None, self._spiel.StepType.FIRST
        )
        return self._timestep

    def step(self, action_list: Sequence[int], **kwargs: Any) -> Any:
        """Steps; before the first `reset` and after a last step it resets.

        Args:
            action_list: the acting player's action in turns, else one of every player; those of finished players are dropped.
            **kwargs: passed to the simulation's `step`.

        Raises:
            AssertionError: for another number of actions, and for actions that are no whole numbers.
        """
        if self._over:
            return self.reset()
        names = self._named()
        require(
            isinstance(action_list, Sequence | np.ndarray) and np.ndim(action_list) == 1,
            f"actions {' '.join(repr(action_list).split())} are no list; give one of {len(names)} whole numbers",
        )
        require(
            len(action_list) == len(names),
            f"{len(action_list)} actions; give {len(names)}, of {', '.join(names)}",
        )
        given = dict(zip(names, action_list, strict=True))
        actions = {name: self._action(name, given[name]) for name in given if self._counts(name)}
        observations: dict[str, Any] = {}
        rewards: dict[str, Any] = {}
        if actions:
            observations, rewards, dones, _ = self.sim.step(actions, **kwargs)
            self._over = bool(dones["__all__"])
            self._queried = [] if self._over else [name for name in observations if not dones[name]]
        kind = self._spiel.StepType.LAST if self._over else self._spiel.StepType.MID
        self._timestep = self._spiel.TimeStep(
            self._observe(observations), self._rewards(rewards), self._step_discounts(), kind
        )
        return self._timestep

    def get_legal_actions(self, agent_id: str) -> list[int]:
        """The legal actions; all of them without a mask or for a finished agent."""
        space = self._players[agent_id].action_space
        mask = None if agent_id in self.sim.done_agents else self.sim.sim.get_action_mask(agent_id)
        legal = range(int(space.n)) if mask is None else np.flatnonzero(mask).tolist()
        return [int(space.start) + choice for choice in legal]

    def render(self, **kwargs: Any) -> Any:
        return self.sim.render(**kwargs)

    def _counts(self, name: str) -> bool:
        """Whether this agent's action is passed on."""
        return name not in self.sim.done_agents and (self.is_turn_based or name in self._queried)

    def _seen(self, observations: Mapping[str, Any]) -> dict[str, Any]:
        """Every agent's observation; for finished ones the null observation if there is one."""
        seen = {}
        for name, agent in self._players.items():
            if name in observations:
                seen[name] = observations[name]
            elif name in self.sim.done_agents and not is_unset(agent.null_observation):
                seen[name] = agent.null_observation
            else:
                seen[name] = self.sim.sim.get_obs(name)
        return seen

    @abstractmethod
    def _named(self) -> list[str]:
        """The agents of the actions that `step` expects, in order."""

    def _action(self, name: str, action: Any) -> int:
        """An action as the simulation takes it: a whole number, nothing rounded."""
        try:
            return index(action)
        except TypeError:
            refuse(f"action {' '.join(repr(action).split())} of {name} is no whole number; mend the player")

    @abstractmethod
    def _observe(self, observations: Mapping[str, Any]) -> dict[str, Any]:
        """A TimeStep's observations."""

    @abstractmethod
    def _rewards(self, rewards: Mapping[str, Any]) -> Any:
        """A TimeStep's rewards."""

    @abstractmethod
    def _step_discounts(self) -> Any:
        """A TimeStep's discounts."""


def _open_spiel() -> Any:
    try:
        from open_spiel.python import rl_environment
    except ImportError as error:
        raise MissingExtraError(
            'this adapter needs OpenSpiel; install it with pip install "interplay[openspiel]"'
        ) from error
    return rl_environment


def require_discrete(name: str, what: str, space: Any) -> None:
    """Refuses a space that is not Discrete, naming its agent."""
    require(
        isinstance(space, spaces.Discrete),
        f"the {what} space {space} of {name} is not Discrete; put the simulation under a RavelDiscreteWrapper",
    )


def action_spec_of(space: spaces.Discrete) -> dict[str, Any]:
    """Number, least and greatest action of a space."""
    start, count = int(space.start), int(space.n)
    return {"num_actions": count, "min": start, "max": start + count - 1, "dtype": int}
