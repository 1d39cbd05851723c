"""A PettingZoo or Gymnasium environment as a `World`."""

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
from interplay.sim.batch.world import PIXELS, EnvironmentBatch, draws_unasked, own_picture


class ParallelEnvWorld(EnvironmentBatch):
    """W environments of another library, stepped together.

    They are PettingZoo's, parallel or in turns (one step is one turn), or Gymnasium's, with one agent.

    - Agents with different spaces become kinds, named by the common part of their agents' names.
    - Observations that are no Dict are called ``"observation"``; nested ones are flattened to names with dots.
    - Action masks are read from the observation's ``"action_mask"``, else from ``info["action_mask"]``, else from a Gymnasium
      environment's ``action_masks()``. Every reset and step gives one (ones where all is legal), in gymnasium's form or as one row.
    - In turns an agent earns what ``last()`` pays. An agent that leaves is terminated, and may come back. An info
      ``{"acting": False}`` marks a listed agent that cannot act.
    - With ``processes=0`` the environment's `state()` is the world's global state.
    - Environments are reset only by `reset`, with a seed of the world's own stream.

    A simulation of `interplay.sim` is better a `interplay.sim.adapt.SimulationWorld`, which can be saved.

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
        """The environments' own `state()`, (W, n); only in this process."""
        if self._own_state is None:
            return super().global_state()
        return np.stack([self._own_state.read(self._pool.environment(w)) for w in range(self.num_worlds)])

    def draw(self, canvas: Canvas, world: int) -> None:
        """A table of the agents, and the environment's own picture.

        The picture needs ``render_mode="rgb_array"`` and an environment in this process; a single environment is made so.
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
        """Refused: another library's environment cannot be saved.

        Raises:
            CannotSave: always.
        """
        raise CannotSave(f"{self.id}: another library's environment cannot be saved; reset it instead")

    def load(self, snapshot: Mapping[str, np.ndarray]) -> TimeStep:
        """Refused, as `save` is."""
        raise CannotSave(f"{self.id}: another library's environment cannot be restored; reset it instead")


def _tick_seconds(env: Any) -> float | None:
    """Seconds of a tick by ``render_fps`` of an environment's metadata."""
    rate = (getattr(env, "metadata", None) or {}).get("render_fps")
    return 1 / float(rate) if isinstance(rate, int | float) and 0 < rate < math.inf else None
