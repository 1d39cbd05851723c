"""An OpenSpiel environment in OpenSpiel's own form: lists by integer player."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gymnasium import spaces

from interplay.connect.openspiel.adapter import Adapter, action_spec_of
from interplay.sim.checks import require
from interplay.sim.managers import AllStepManager, SimulationManager
from interplay.sim.wrappers.flatten_wrapper import flatdim, flatten

SIMULTANEOUS, TERMINAL = -2, -4  # OpenSpiel's player ids: all, none


class OpenSpielListWrapper(Adapter):
    """A manager as OpenSpiel's learning agents need it: lists by player, in the agents' order.

    - ``current_player`` is the acting player, -2 where all act together, -4 at the end.
    - ``info_state`` is a list of floats, the flat observation; shorter ones are padded with zeros.
    - ``legal_actions`` count from 0. They are empty for idle players; where all act together, a finished player has one, which
      is dropped.
    - A reward is listed when OpenSpiel's agents read it: on the player's turn, where all act together, and at the end. So in
      turns a player that finishes early is paid at the end.

    Args:
        sim: the manager; actions are Discrete, observations have a fixed number of numbers.
        discounts: a number for all, or id -> number.
        enable_legality_check: refuse actions that are not legal.

    Example:
        >>> from interplay.worlds.corridor.simulation import MultiCorridor
        >>> env = OpenSpielListWrapper(AllStepManager(MultiCorridor(end=6, num_agents=3)))
        >>> env.observation_spec()["info_state"], env.action_spec()["num_actions"]
        ((3,), 3)
        >>> env.reset(seed=1).observations["legal_actions"]
        [[0, 1, 2], [0, 1, 2], [0, 1, 2]]
    """

    def __init__(
        self,
        sim: SimulationManager,
        discounts: float | Mapping[str, float] = 1.0,
        enable_legality_check: bool = False,
    ) -> None:
        super().__init__(sim, discounts)
        self.enable_legality_check = enable_legality_check
        self._size = max((flatdim(agent.observation_space) for agent in self._players.values()), default=0)
        self._owed: dict[str, float] = {}

    @property
    def num_actions_per_step(self) -> int:
        """How many actions the next `step` takes."""
        return len(self._named())

    @property
    def current_player(self) -> int:
        """The acting player, or one of OpenSpiel's special ids."""
        if self._over:
            return TERMINAL
        if isinstance(self.sim, AllStepManager) or len(self._queried) != 1:
            return SIMULTANEOUS
        return list(self._players).index(self._queried[0])

    def observation_spec(self) -> dict[str, Any]:
        """Shapes of a TimeStep's observations, for every player the same."""
        return {
            "info_state": (self._size,),
            "legal_actions": (self.action_spec()["num_actions"],),
            "current_player": (),
            "serialized_state": (),
        }

    def action_spec(self) -> dict[str, Any]:
        """Number, least and greatest action, for the player with most actions."""
        most = max((int(agent.action_space.n) for agent in self._players.values()), default=0)
        return action_spec_of(spaces.Discrete(max(most, 1)))

    def reset(self, seed: int | None = None, **kwargs: Any) -> Any:
        self._owed = dict.fromkeys(self._players, 0.0)
        return super().reset(seed, **kwargs)

    def get_legal_actions(self, agent_id: str) -> list[int]:
        """A player's legal actions, counted from 0."""
        if self.current_player == SIMULTANEOUS and agent_id not in self._queried:
            return [0]
        if agent_id not in self._queried:
            return []
        start = int(self._players[agent_id].action_space.start)
        return [action - start for action in super().get_legal_actions(agent_id)]

    def _named(self) -> list[str]:
        return list(self._players) if self.current_player == SIMULTANEOUS else list(self._queried)

    def _action(self, name: str, action: Any) -> int:
        action = super()._action(name, action)
        if self.enable_legality_check:
            legal = self.get_legal_actions(name)
            require(action in legal, f"action {action} of {name} is illegal now; choose from {legal}")
        return action + int(self._players[name].action_space.start)

    def _observe(self, observations: Mapping[str, Any]) -> dict[str, Any]:
        seen = self._seen(observations)
        return {
            "info_state": [self._vector(name, seen[name]) for name in self._players],
            "legal_actions": [self.get_legal_actions(name) for name in self._players],
            "current_player": self.current_player,
            "serialized_state": [],
        }

    def _vector(self, name: str, observation: Any) -> list[float]:
        # A list, not an array: tabular agents use its text as a key, and that of a long array leaves numbers out.
        flat = flatten(self._players[name].observation_space, observation).tolist()
        return [float(number) for number in flat] + [0.0] * (self._size - len(flat))

    def _rewards(self, rewards: Mapping[str, Any]) -> list[float]:
        for name in rewards:
            self._owed[name] += float(rewards[name])
        everybody = self._over or self.current_player == SIMULTANEOUS
        paid = [self._owed[name] if everybody or name in self._queried else 0.0 for name in self._players]
        for name in self._players if everybody else self._queried:
            self._owed[name] = 0.0
        return paid

    def _step_discounts(self) -> list[float]:
        return [0.0 if self._over else self.discounts[name] for name in self._players]
