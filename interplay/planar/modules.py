"""The general built-in modules (appendix A of the paper); each callback is a compiled phase of `phases.py`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, ClassVar, TextIO

import numpy as np

from interplay.core.ranges import Range
from interplay.planar import phases as p
from interplay.planar.sight import WALL
from interplay.planar.simulation import Module


class ResetSpawns(Module):
    """Places every body of the group in the centre of a random unused cell on reset (SpawnGrid).

    All groups of a simulation share the grid, so they are placed jointly, in group order.
    """

    phases: ClassVar = {"post_reset": (p.SPAWN_ON_CELLS,)}
    spawns: ClassVar = {"post_reset": ("",)}


class IndexBodies(Module):
    """Numbers each body present after reset; -1 once it has despawned, never reused.

    ``state.body["index"]`` (W, N) int16.
    """

    phases: ClassVar = {"post_reset": (p.INDEX_BODIES,), "pre_despawn": (p.FORGET_INDICES,)}


class TrackDeaths(Module):
    """Bodies of the group that despawned in this step: ``state.agent["died"]`` (W, n) bool. Must precede IndexBodies."""

    phases: ClassVar = {"pre_step": (p.CLEAR_DEATHS,), "pre_despawn": (p.RECORD_DEATHS,)}


class LogDeaths(Module):
    """Prints the numbers of bodies that despawn; for one or a few worlds.

    Args:
        stream: where to print.
    """

    def __init__(self, stream: TextIO = sys.stderr) -> None:
        self._stream = stream

    def pre_despawn(self, bodies: np.ndarray) -> None:
        for world, body in np.argwhere(bodies):
            print(f"world {world}: {self.group.name} {body} died", file=self._stream)


class Health(Module):
    """Integer health; bodies at 0 or less despawn in `post_step`. Every change records its cause.

    ``state.body`` (W, N): health, cause.
    """

    phases: ClassVar = {"post_reset": (p.FILL_HEALTH,), "post_step": (p.BURY_DEAD,)}
    despawns: ClassVar = {"post_step": ("",)}

    def change(self, bodies: np.ndarray, amount: np.ndarray | int, cause: int = -1) -> None:
        """Damages (negative) or heals (positive) present bodies at once.

        Args:
            bodies: (W, n) bool.
            amount: hit points, a number or (W, n).
            cause: to record: a side, or -1 for none.
        """
        rows = slice(self.group.first, self.group.end)
        touched = bodies & self.group.present
        self.simulation.state.body["health"][:, rows] += np.where(touched, amount, 0).astype(np.int32)
        self.simulation.state.body["cause"][:, rows][touched] = cause


class Cameras(Module):
    """Bodies that each body of the group sees: ``state.visible`` (W, n, N) bool (specification 5)."""

    phases: ClassVar = {"post_reset": (p.LOOK_AROUND,), "post_step": (p.LOOK_AROUND,)}


class DynamicMotors(Module):
    """One linear and one angular impulse per body and step, from ``state.control`` (W, n, 3): N s, N s, N m s."""

    phases: ClassVar = {"pre_step": (p.DRIVE_MOTORS,)}


class Item(Module):
    """Bodies that can be held and used: sensors without contacts. Subclasses write `use`.

    Put the group after the agents, so that its `pre_step` follows their use of items.
    """

    def pre_step(self) -> None:
        used = self.simulation.state.agent["used"]
        users = (used >= self.group.first) & (used < self.group.end) & self.simulation.active[:, None]
        if users.any():
            self.use(users)

    def use(self, users: np.ndarray) -> None:
        """Called when the agents in the mask (W, A) used an item of this group in this step."""


class Lidars(Module):
    """Rays over a field of view: the length of each and the body it hits.

    Args:
        rays: R, at least 1.
        span: radians, the field of view, centred on the heading.
        depth: metres.

    Attributes:
        distance: (W, n, R) float64 metres, `depth` without a hit.
        hit: (W, n, R) int64 body row, `sight.NOTHING` or `sight.WALL`.
    """

    def __init__(self, rays: int = 8, span: float = 2.0 * np.pi, depth: float = 10.0) -> None:
        self.rays, self.span, self.depth = rays, span, depth
        self.distance = self.hit = np.zeros(0)

    def post_reset(self, which: np.ndarray) -> None:
        if self.distance.ndim != 3:
            shape = (self.simulation.num_worlds, self.group.count, self.rays)
            self.distance, self.hit = np.full(shape, self.depth), np.full(shape, -1)
        self._cast()

    def post_step(self) -> None:
        self._cast()

    def arrays(self) -> Mapping[str, np.ndarray]:
        return {"distance": self.distance, "hit": self.hit} if self.distance.ndim == 3 else {}

    def ranges(self) -> Mapping[str, Range]:
        simulation: Any = self.simulation
        return {"distance": Range(0.0, self.depth), "hit": Range(WALL, simulation.rules.num_bodies - 1)}

    def _cast(self) -> None:
        simulation: Any = self.simulation
        rules = simulation.rules
        last = rules.num_bodies if rules.items_block_rays else rules.physics.num_solid
        bodies, wall = simulation.state.body, rules.physics.wall
        rows = self.group.first, self.group.end
        p.cast_lidars(
            bodies, self.hit, self.distance, simulation.active, *rows, self.span, self.depth, last, wall
        )
