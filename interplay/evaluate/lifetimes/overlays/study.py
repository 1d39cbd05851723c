"""The input of an overlay: a world's state, its recorders, and a network's values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from interplay.core.errors import UserError
from interplay.evaluate.lifetimes.elsewhere import Expects
from interplay.evaluate.lifetimes.mmo.ghosts import Value
from interplay.evaluate.lifetimes.tick import Recorder
from interplay.evaluate.progress import Progress, no_progress


@dataclass(frozen=True)
class Study:
    """A world played for some recorded ticks.

    Attributes:
        world: the batch, at the last tick; its worlds share one map.
        population: the selected one, or None for all.
        seed: of the measures.
        ticks: recorded.
        recorders: name -> recorder.
        networks: values of a checkpoint, or None for a scripted policy.
        progress: called with (task, done, total).
        agent: the selected slot, or None.
        expects: values of observations of `agent` with its current memory; None as `networks`.
    """

    world: Any
    population: int | None = None
    seed: int = 0
    ticks: int = 0
    recorders: Mapping[str, Recorder] = field(default_factory=dict)
    networks: Value | None = None
    progress: Progress = no_progress
    agent: int | None = None
    expects: Expects | None = None

    def require_values(self) -> Value:
        """Values of the checkpoint's networks; UserError for a scripted policy."""
        if self.networks is None:
            raise UserError("a scripted policy has no values to show; name the run folder of a trained one")
        return self.networks

    def require_expects(self) -> Expects:
        """Values of the selected agent; UserError for a scripted policy."""
        self.require_values()
        assert self.expects is not None
        return self.expects

    @property
    def populations(self) -> tuple[int, ...]:
        """The shown populations, ascending."""
        return tuple(range(self.world.num_populations)) if self.population is None else (self.population,)

    @property
    def tiles(self) -> Any:
        """(T, T) uint8, of the first world."""
        return self.world.state.tiles[0]

    def seen(self, name: str) -> Any:
        """A recorder by name."""
        return self.recorders[name]
