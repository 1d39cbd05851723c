"""The input of an overlay: the world's state, what recorders have seen, and a network's values."""

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
    """One world played for some ticks with recorders looking on.

    Attributes:
        world: the batch, at the last tick; its worlds share one map.
        population: the one that was asked for, or None for all.
        seed: of what is drawn while measuring.
        ticks: that were recorded.
        recorders: name -> recorder, as the overlays needed them.
        networks: values of a checkpoint, or None for a scripted policy.
        progress: hears of progress.
        agent: the slot that somebody looks at, or None.
        expects: what the network of `agent` expects of observations of that agent, with what it remembers now; None as `networks`.
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
        """Values of the checkpoint's networks.

        Raises:
            UserError: if a scripted policy plays, which expects nothing.
        """
        if self.networks is None:
            raise UserError("a scripted policy has no values to show; name the run folder of a trained one")
        return self.networks

    def require_expects(self) -> Expects:
        """Values of the agent that is looked at; errors as of `require_values`."""
        self.require_values()
        assert self.expects is not None
        return self.expects

    @property
    def populations(self) -> tuple[int, ...]:
        """Those to look at, ascending."""
        return tuple(range(self.world.num_populations)) if self.population is None else (self.population,)

    @property
    def tiles(self) -> Any:
        """(T, T) uint8, of the first world."""
        return self.world.state.tiles[0]

    def seen(self, name: str) -> Any:
        """What a recorder has recorded."""
        return self.recorders[name]
