"""The manual's OpenSpiel environment: dictionaries by agent id."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interplay.connect.openspiel.adapter import Adapter, action_spec_of, require_discrete
from interplay.sim.checks import require
from interplay.sim.managers import SimulationManager


class OpenSpielWrapper(Adapter):
    """A manager as an OpenSpiel environment in the manual's form, with dictionaries by agent id.

    Stock learning agents need integer players, see `OpenSpielListWrapper`.

    Args:
        sim: the manager; all its learning agents have Discrete spaces, such as a `RavelDiscreteWrapper` gives.
        discounts: a number for all, or one for each learning agent.
    """

    def __init__(self, sim: SimulationManager, discounts: float | Mapping[str, float] = 1.0) -> None:
        super().__init__(sim, discounts)
        for name, agent in self._players.items():
            require_discrete(name, "observation", agent.observation_space)
        self._current: str = next(iter(self._players), "")

    @property
    def current_player(self) -> str:
        """The acting agent's id; the first agent's where all act together."""
        if self.is_turn_based and self._queried:
            self._current = self._queried[0]
        return self._current

    @current_player.setter
    def current_player(self, value: str) -> None:
        known = ", ".join(self._players)
        require(value in self._players, f"current_player {value!r} is no learning agent; choose from {known}")
        self._current = value
        if self.is_turn_based:
            self._queried = [value]

    def observation_spec(self) -> dict[str, dict[str, Any]]:
        """Id -> the shapes of a TimeStep's observations; a Discrete(n) observation counts as (n,)."""
        return {
            name: {
                "info_state": (int(agent.observation_space.n),),
                "legal_actions": (int(agent.action_space.n),),
                "current_player": (),
            }
            for name, agent in self._players.items()
        }

    def action_spec(self) -> dict[str, dict[str, Any]]:
        """Id -> number, least and greatest action."""
        return {name: action_spec_of(agent.action_space) for name, agent in self._players.items()}

    def _named(self) -> list[str]:
        return [self.current_player] if self.is_turn_based else list(self._players)

    def _observe(self, observations: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "info_state": self._seen(observations),
            "legal_actions": {name: self.get_legal_actions(name) for name in self._players},
            "current_player": self.current_player,
        }

    def _rewards(self, rewards: Mapping[str, Any]) -> dict[str, Any]:
        return {name: rewards.get(name, 0) for name in self._players}

    def _step_discounts(self) -> dict[str, float]:
        return dict.fromkeys(self._players, 0.0) if self._over else dict(self.discounts)
