"""A run's world from the agents and spaces in its checkpoint, for policies without their environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from interplay.core.errors import UserError
from interplay.core.space_json import from_json, to_json
from interplay.core.world import Kind, TimeStep, World
from interplay.train.distributions import Distribution

KEY = "world"  # of a checkpoint's record


def describe_world(world: World) -> dict[str, Any]:
    """Agents and spaces of a reset world, for a checkpoint's record; empty if a space has no JSON form."""
    masks = world.by_kind(world.timestep.action_mask)
    try:
        kinds = [
            {
                "name": kind.name,
                "slots": list(kind.slots),
                "observation": to_json(kind.observation_space),
                "action": to_json(kind.action_space),
                "masks": list(masks[kind.name] or ()),
            }
            for kind in world.kinds
        ]
    except TypeError:
        return {}
    values = {
        "id": world.id,
        "agents": list(world.agents),
        "kinds": kinds,
        "teams": None if world.teams is None else [list(team) for team in world.teams],
        "respawns": world.respawns,
        "num_populations": world.num_populations,
        "population_names": None if world.population_names is None else list(world.population_names),
    }
    return {KEY: values}


class StoredWorld(World):
    """A batch of one with the stored spaces, which cannot be stepped.

    Args:
        values: of `describe_world`.

    Raises:
        UserError: for malformed values.
    """

    def __init__(self, values: Mapping[str, Any], owner: str) -> None:
        try:
            kinds = [
                Kind(k["name"], tuple(k["slots"]), from_json(k["observation"]), from_json(k["action"]))  # type: ignore[arg-type]
                for k in values["kinds"]
            ]
            self.id, self.respawns = str(values["id"]), bool(values["respawns"])
            self.num_populations = int(values["num_populations"])
            teams, names = values["teams"], values["population_names"]
            self.teams = None if teams is None else tuple(map(tuple, teams))
            self.population_names = None if names is None else tuple(names)
            self._masked = {k["name"]: tuple(k["masks"]) for k in values["kinds"]}
            super().__init__(1, values["agents"], kinds)
        except (KeyError, TypeError, ValueError, AssertionError, IndexError) as error:
            raise UserError(
                f"{owner}: record.json: {KEY} is no world ({error}); choose an earlier checkpoint"
            ) from error
        self.reset()

    def _reset(self, which: np.ndarray, seeds: np.ndarray | None) -> TimeStep:
        shape = (1, len(self.agents))
        nothing = np.zeros(shape, bool)
        seen = {kind.name: self._blank(kind) for kind in self.kinds}
        legal = {kind.name: self._all_legal(kind) for kind in self.kinds}
        only = self.kinds[0].name if len(self.kinds) == 1 else ""
        return TimeStep(
            seen[only] if only else seen,
            np.zeros(shape, np.float32),
            ~nothing,
            nothing,
            nothing,
            np.zeros(1, bool),
            (legal[only] or None if only else legal) if any(legal.values()) else None,
        )

    def _blank(self, kind: Kind) -> dict[str, np.ndarray]:
        parts = kind.observation_space.spaces
        return {key: np.zeros((1, len(kind.slots), *(p.shape or ())), p.dtype) for key, p in parts.items()}

    def _all_legal(self, kind: Kind) -> dict[str, np.ndarray]:
        choices = {part.key: sum(part.choices) for part in Distribution(kind.action_space).parts}
        shape = (1, len(kind.slots))
        return {key: np.ones((*shape, choices[key]), bool) for key in self._masked[kind.name]}

    def _step(self, action: Any) -> TimeStep:
        raise UserError(f"{self.id}: a checkpoint holds only its spaces, no world to step; make the world")

    def save(self) -> dict[str, np.ndarray]:
        return {}

    def load(self, snapshot: Mapping[str, np.ndarray]) -> TimeStep:
        return self.reset()
