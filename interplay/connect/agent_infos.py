"""The infos of a PettingZoo environment's agents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from interplay.connect.agent_names import AgentNames
from interplay.core.world import TimeStep, World

Infos = dict[str, dict[str, Any]]


class AgentInfos:
    """Makes infos of plain numbers, without masks; see `interplay.connect.world_env.WorldEnv`.

    Args:
        world: a batch of one.
        names: of its agents.
        slots: agents are slots through all their lives.
    """

    def __init__(self, world: World, names: AgentNames, slots: bool) -> None:
        self._world, self._names, self._slots = world, names, slots
        self._several = world.num_populations > 1 and (slots or names.renames)
        self._zeros: dict[str, float] = {}  # before an end

    def of_step(self, timestep: TimeStep) -> Infos:
        """The infos of the listed agents."""
        if not self._zeros:
            self._zeros = {f"metrics/{name}": 0.0 for name in self._world.metrics}
            if self._names.renames or self._slots:
                self._zeros |= {f"ended/{name}": 0.0 for name in self._records}
        acting = self._names.named(timestep.acting[0].tolist())
        infos: Infos = {name: {"acting": acts, **self._zeros} for name, acts in acting.items()}
        if self._slots:
            self._add_lives(infos, timestep)
        elif self._names.renames:
            for name, slot in self._names.slots().items():
                infos[name]["slot"] = slot
        if self._several:
            for name, population in self._names.named(self._world.population[0].tolist()).items():
                infos[name]["population"] = population
        return infos

    def _add_lives(self, infos: Infos, timestep: TimeStep) -> None:
        """What became of the lives in the slots."""
        terminated, truncated = timestep.terminated[0].tolist(), timestep.truncated[0].tolist()
        over = bool(timestep.over[0])
        for slot, name in enumerate(self._names.of_slot):
            info = infos[name]
            info["life_terminated"], info["life_truncated"] = terminated[slot], truncated[slot]
            if terminated[slot] or truncated[slot]:
                info |= self._record(slot)
            if terminated[slot] or truncated[slot] or over:
                info |= self._metrics(slot)

    def end(self, info: dict[str, Any], slot: int) -> None:
        """Completes the last info of an agent."""
        info |= self._metrics(slot)
        if self._names.renames:
            info |= self._record(slot)
            if self._several and self._records:
                info["population"] = int(self._records["population"][0, slot])

    def absent(self, slot: int = -1) -> dict[str, Any]:
        """The info of an agent that is in no slot, or no longer in this one."""
        info: dict[str, Any] = {"acting": False, **self._zeros}
        if self._names.renames:
            info["slot"] = slot
            if self._several:
                info["population"] = 0 if slot < 0 else int(self._world.population[0, slot])
        return info

    def _metrics(self, slot: int) -> dict[str, float]:
        return {
            f"metrics/{name}": float(values[0, slot] if np.ndim(values) == 2 else values[0])
            for name, values in self._world.metrics.items()
        }

    @property
    def _records(self) -> Mapping[str, np.ndarray]:
        """The world's records of ended lives, (1, A) each."""
        records: Mapping[str, np.ndarray] = getattr(self._world, "ended", {})
        return records

    def _record(self, slot: int) -> dict[str, float]:
        return {f"ended/{name}": float(values[0, slot]) for name, values in self._records.items()}
