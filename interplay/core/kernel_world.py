"""The base of worlds with kernels that step ranges of a batch, with observations as views of their buffers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from interplay.core.chunks import Chunks
from interplay.core.jit import arrays_of
from interplay.core.world import ArrayWorld, Kind, TimeStep


class KernelWorld(ArrayWorld):
    """An `ArrayWorld`; its subclasses also set `self._views`, the time step of views that every step returns.

    Args:
        num_worlds, agents, kinds, seed, first_world: as of `World`.
        threads: ranges of worlds stepped at the same time; the results do not depend on it.
    """

    _views: TimeStep

    def __init__(
        self,
        num_worlds: int,
        agents: Sequence[str],
        kinds: Sequence[Kind],
        seed: int = 0,
        first_world: int = 0,
        threads: int = 1,
    ) -> None:
        super().__init__(num_worlds, agents, kinds, seed, first_world)
        self._chunks = Chunks(num_worlds, threads)

    def close(self) -> None:
        self._chunks.close()

    def _run(self, kernel: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Calls ``kernel(*arguments, thread, first world, end)`` for every range of worlds; returns the results."""
        found: list[Any] = []
        self._chunks.run(lambda *part: found.append(kernel(*arguments, *part)))
        return found

    def _read(self) -> TimeStep:
        return self._views

    def _arrays(self) -> dict[str, np.ndarray]:
        return arrays_of(self.state)


def read_only(array: np.ndarray) -> np.ndarray:
    """A read-only view, for arrays that kernels rewrite only where they change."""
    view = array.view()
    view.flags.writeable = False
    return view
