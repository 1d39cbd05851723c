"""Scripted players. They read only the observed window and act for all agents of the batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.core.policy import Policy, RandomPolicy, by_name
from interplay.core.world import TimeStep, World
from interplay.worlds.foragers.config import FORAGE_RANGE, FORAGER, HUNT_RANGE, HUNTER, RESOURCE

_TURN = 0.1  # chance per step that a wandering agent turns


class Greedy(Policy):
    """Attacks in reach, else approaches the nearest target in view, else wanders; foragers flee hunters."""

    name = "greedy"

    def start(self, world: World, seed: int = 0) -> None:
        super().start(world, seed)
        self._headings = {
            kind.name: self.rng.integers(-1, 2, (world.num_worlds, len(kind.slots), 2))
            for kind in world.kinds
        }

    def act(self, timestep: TimeStep) -> Any:
        seen = self.world.by_kind(timestep.observation)
        actions = {name: self._choose(name, _as_encodings(views)) for name, views in seen.items()}
        return actions if len(actions) > 1 else next(iter(actions.values()))

    def _choose(self, name: str, seen: np.ndarray) -> dict[str, np.ndarray]:
        """The actions of a kind with windows (W, K, side, side)."""
        hunts = name == "hunter"
        prey = seen == (FORAGER if hunts else RESOURCE)
        danger = (seen == HUNTER) & (not hunts)
        takes = _any(prey & (_distances(seen.shape[-1]) <= (HUNT_RANGE if hunts else FORAGE_RANGE)))
        move = self._wander(name, seen)
        move = np.where(_any(prey)[..., None], _way_to(prey), move)
        move = np.where(takes[..., None], 0, move)
        move = np.where(_any(danger)[..., None], -_way_to(danger), move)
        return {"attack": takes.astype(np.int64), "move": _on_map(seen, move)}

    def _wander(self, name: str, seen: np.ndarray) -> np.ndarray:
        """Headings (W, K, 2), drawn anew at random steps and at the map's edge."""
        known = self._headings[name]
        stuck = (_on_map(seen, known) != known).any(axis=-1) | ~known.any(axis=-1)
        turns = stuck | (self.rng.random(stuck.shape) < _TURN)
        self._headings[name] = np.where(turns[..., None], self.rng.integers(-1, 2, known.shape), known)
        return self._headings[name]


def _as_encodings(views: Any) -> np.ndarray:
    """Windows (W, K, side, side) of encodings, the highest per cell, from either observer."""
    if "position_centered_encoding" in views:
        return np.asarray(views["position_centered_encoding"])
    stack = np.asarray(views["stacked_position_centered_encoding"])
    codes = np.arange(1, stack.shape[-1] + 1)
    return np.where(stack[..., 0] < 0, stack[..., 0], ((stack > 0) * codes).max(axis=-1))


def _any(cells: np.ndarray) -> np.ndarray:
    return np.asarray(cells.any(axis=(-2, -1)))


def _distances(side: int) -> np.ndarray:
    """(side, side) steps from the middle."""
    away = np.abs(np.arange(side) - side // 2)
    return np.maximum(away[:, None], away[None, :])


def _way_to(cells: np.ndarray) -> np.ndarray:
    """The step (W, K, 2) to the nearest of the cells (W, K, side, side)."""
    side = cells.shape[-1]
    ranked = np.where(cells, _distances(side), side).reshape(*cells.shape[:-2], -1)
    place = np.stack(np.divmod(ranked.argmin(axis=-1), side), axis=-1)
    return np.sign(place - side // 2)


def _on_map(seen: np.ndarray, move: np.ndarray) -> np.ndarray:
    """Steps without the component that would leave the map."""
    middle = seen.shape[-1] // 2
    worlds, agents = np.indices(seen.shape[:2])
    row_ends = seen[worlds, agents, middle + move[..., 0], middle] == -1
    col_ends = seen[worlds, agents, middle, middle + move[..., 1]] == -1
    return np.where(np.stack([row_ends, col_ends], axis=-1), 0, move)


POLICIES = by_name(RandomPolicy, Greedy)
