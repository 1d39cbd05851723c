"""Anybody's PettingZoo or Gymnasium environment as a `World`, so that everything here can play and train it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from interplay.connect.own_state import find_own_state
from interplay.connect.turns import as_parallel
from interplay.core.errors import CannotSave
from interplay.core.scene import Canvas
from interplay.core.world import TimeStep
from interplay.sim.batch.own_pictures import PIXELS, draws_unasked, own_picture
from interplay.sim.batch.world import EnvironmentBatch


class ParallelEnvWorld(EnvironmentBatch):
    """W environments of somebody else, stepped together: PettingZoo's, parallel or in turns (one step is one turn), or Gymnasium's, of one agent.

    Agents with different spaces become kinds, named by what their agents' names have in common. Observations that are no Dict are
    called ``"observation"``; nested ones are flattened to names with dots. Action masks are read from the observation's
    ``"action_mask"``, else from ``info["action_mask"]``, where every reset and step shows them (ones where all is allowed), or, of a
    Gymnasium environment, from ``action_masks()``. A mask has gymnasium's form or is one row with the choices of all heads.
    Agents in turns are paid what ``last()`` pays. An agent that leaves is terminated, and may come back. An info
    ``{"acting": False}`` marks an agent that is listed but cannot act.
    The environment's `state()` in its `state_space` is the world's global state, with ``processes=0``.
    Environments are reset only by `reset`, each time with a seed of the world's own stream; whether that seed
    decides everything is up to the environment.

    Simulations of `interplay.sim` are better made into a `interplay.sim.adapt.SimulationWorld`, which can be saved.

    Metrics: ``episode_length`` (W,) steps and ``episode_return`` (W, A).

    Args:
        factory: ``"module:function"``, or, with ``processes=0``, any function that makes the environment.
        num_worlds: W, the number of environments.
        seed, first_world: name the worlds' random streams.
        processes: 0 steps all environments in this process; N > 0 in N worker processes. A script that uses
            them needs the usual ``if __name__ == "__main__":``, as workers import it anew.
        kwargs: passed to the factory.

    Raises:
        UserError: if the factory cannot be found or makes no parallel environment, or a space has no array form.
    """

    def __init__(
        self,
        factory: str | Callable[..., Any],
        num_worlds: int = 1,
        seed: int = 0,
        processes: int = 0,
        first_world: int = 0,
        kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(factory, num_worlds, seed, processes, first_world, kwargs, as_parallel)
        self._own_state = None
        self._hinted = False
        if not processes:
            self.tick_seconds = _tick_seconds(self._pool.environment(0))
            self._own_state = find_own_state(self.id, self._pool.environment(0))
        if self._own_state is not None:
            self.state_space = self._own_state.space

    def global_state(self) -> np.ndarray:
        """What the environments' own `state()` gives, (W, n); of environments in this process alone."""
        if self._own_state is None:
            return super().global_state()
        return np.stack([self._own_state.read(self._pool.environment(w)) for w in range(self.num_worlds)])

    def draw(self, canvas: Canvas, world: int) -> None:
        """A table of the agents, and the environment's own `render` where it was made with ``render_mode="rgb_array"`` in this process.

        A single environment that can draw itself is made so.
        """
        super().draw(canvas, world)
        environment = self._pool.environment(world)
        if (picture := own_picture(environment)) is not None:
            canvas.picture(picture)
        elif draws_unasked(environment) and not self._hinted:
            self._hinted = True
            warnings.warn(
                f'{self.id}: its own pictures are not shown; make it with render_mode="{PIXELS}"',
                stacklevel=2,
            )

    def save(self) -> dict[str, np.ndarray]:
        """Refused: nobody can look into somebody else's environment.

        Raises:
            CannotSave: always.
        """
        raise CannotSave(
            f"{self.id}: somebody else's environment cannot be saved; reset it and begin an episode instead"
        )

    def load(self, snapshot: Mapping[str, np.ndarray]) -> TimeStep:
        """Refused, as `save` is."""
        raise CannotSave(f"{self.id}: somebody else's environment cannot be restored; reset it instead")


def _tick_seconds(env: Any) -> float | None:
    """What an environment says by ``render_fps`` of its metadata."""
    told = (getattr(env, "metadata", None) or {}).get("render_fps")
    return 1 / float(told) if isinstance(told, int | float) and 0 < told < math.inf else None
