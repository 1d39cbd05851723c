"""An experiment's managers, from its `sim_creator` (specification 6.1, fault F19), and its batches of worlds."""

from __future__ import annotations

import copy
import functools
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from interplay.core.errors import USER_ERRORS, UserError
from interplay.core.world import Kind, World
from interplay.experiment.assignment import assign
from interplay.experiment.params import Experiment
from interplay.experiment.policy_world import PolicyWorld
from interplay.sim.adapt import SimulationWorld
from interplay.sim.batch.layout import KindLayout, read_layout
from interplay.sim.batch.leaf_column import fitted
from interplay.sim.batch.managed import ManagedSimulation
from interplay.sim.managers import SimulationManager

FROM_FILE = "interplay.experiment.worlds:from_file"


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


def make_world(experiment: Experiment, num_worlds: int, seed: int = 0, first_world: int = 0) -> World:
    """Worlds for the trainer, with one kind of agents per policy.

    Raises:
        UserError: for agents without a fitting policy, spaces without array form, and errors of `sim_creator`.
    """
    maker = Maker(experiment, limited=True)
    manager = maker()
    inner = manager.sim.as_batch(manager, num_worlds, seed=seed, first_world=first_world)
    if inner is None:
        inner = SimulationWorld(maker, num_worlds, seed=seed, first_world=first_world)
    assigned = assign(experiment, manager.agents)
    return inner if assigned is None else PolicyWorld(inner, assigned, seed, first_world)


def from_file(num_worlds: int, seed: int = 0, first_world: int = 0, config: str = "") -> World:
    """The worlds of an experiment's file; settings name them so.

    Args:
        num_worlds, seed, first_world: as for `make_world`.
        config: path of the file.
    """
    return make_world(_experiment(config, Path(config).stat().st_mtime_ns), num_worlds, seed, first_world)


@functools.cache
def _experiment(config: str, changed: int) -> Experiment:
    from interplay.experiment.files import load_experiment

    return load_experiment(config)


class Reader(NamedTuple):
    """One policy's observations and actions as arrays.

    Attributes:
        kind: spaces of array leaves, as the networks use them.
        foreign: paths of the leaves in the agents' own observations.
    """

    kind: Kind
    foreign: KindLayout

    def leaves(self, observation: Any) -> dict[str, np.ndarray]:
        """An agent's observation as leaf name -> array."""
        agent = f"an agent of {self.kind.name}"
        return {leaf.name: fitted(leaf, observation, agent) for leaf in self.foreign.observation}


def read(experiment: Experiment) -> tuple[dict[str, Reader], dict[str, str]]:
    """Policy -> `Reader`, in the trainer's order, and agent -> policy.

    Without policies of the experiment's own the kinds of agents take their place.
    """
    manager = Maker(experiment, limited=True)()
    layout = read_layout(ManagedSimulation(manager))
    homes = {layout.agents[slot]: foreign for foreign in layout.kinds for slot in foreign.kind.slots}
    assigned = assign(experiment, manager.agents)
    if assigned is None:
        assigned = {agent: homes[agent].kind.name for agent in layout.agents}
    found = {}
    for policy in dict.fromkeys(assigned.values()):
        slots = tuple(slot for slot, agent in enumerate(layout.agents) if assigned[agent] == policy)
        foreign = homes[layout.agents[slots[0]]]
        found[policy] = Reader(foreign.kind._replace(name=policy, slots=slots), foreign)
    return found, assigned
