"""Managers from an experiment's `sim_creator`, as many as are needed.

Source: specification 6.1, fault F19.
"""

from __future__ import annotations

import copy
from typing import Any

from interplay.core.errors import USER_ERRORS, UserError
from interplay.experiment.params import Experiment
from interplay.sim.managers import SimulationManager


def manager_of(made: Any) -> SimulationManager:
    """The manager itself, or the one inside a connector, at any depth (F19).

    Raises:
        UserError: if there is none.
    """
    inside = made
    while not isinstance(inside, SimulationManager):
        if getattr(inside, "sim", None) is None:
            raise UserError(
                f"sim_creator gave a {type(made).__name__}; let it return a manager, such as AllStepManager(simulation), or a connector around one"
            )
        inside = inside.sim
    return inside


class Maker:
    """Makes managers with distinct simulations.

    A `sim_creator` may build a new simulation each time or return the same one, which is copied from the second call on, across all
    makers of the experiment. The user's own managers are never changed.

    Args:
        experiment: with the simulation.
        limited: end episodes at the experiment's horizon.
    """

    def __init__(self, experiment: Experiment, limited: bool = False) -> None:
        self._experiment = experiment
        self._limit = experiment.config.get("horizon") if limited else None

    def __call__(self) -> SimulationManager:
        """The next manager.

        Raises:
            UserError: if `sim_creator` returns no manager, or the same one and it cannot be copied.
        """
        manager = manager_of(self._made())
        last = self._experiment.last
        if last and (last[0] is None or manager.sim.unwrapped is last[0]):
            manager = self._copied(manager)
        else:
            last[:] = [manager.sim.unwrapped]
        if self._limit is not None and (manager.time_limit is None or manager.time_limit > self._limit):
            manager = copy.copy(manager)
            manager.time_limit = self._limit
        return manager

    def _made(self) -> Any:
        try:
            return self._experiment.sim_creator(self._experiment.config.get("env_config", {}))
        except USER_ERRORS as error:
            raise UserError(f"{self._experiment.title}: sim_creator: {error}") from error
        except Exception as error:
            raise UserError(
                f"{self._experiment.title}: sim_creator raised {type(error).__name__}: {error}; mend it"
            ) from error

    def _copied(self, manager: SimulationManager) -> SimulationManager:
        try:
            return copy.deepcopy(manager)
        except Exception as error:
            raise UserError(
                f"{self._experiment.title}: sim_creator gives the same simulation each time and it cannot be copied ({error}); build a new one in sim_creator"
            ) from error
