"""An experiment's simulation as a batch of worlds."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from interplay.core.world import Kind, World
from interplay.experiment.assignment import assign
from interplay.experiment.params import Experiment
from interplay.experiment.policy_world import PolicyWorld
from interplay.experiment.simulations import Maker
from interplay.sim.adapt import SimulationWorld
from interplay.sim.batch.layout import KindLayout, read_layout
from interplay.sim.batch.leaf_column import fitted
from interplay.sim.batch.managed import ManagedSimulation

FROM_FILE = "interplay.experiment.worlds:from_file"


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
