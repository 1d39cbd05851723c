"""Settings of recordings during training (docs/specs/viewer.md 2)."""

from __future__ import annotations

from pydantic import Field

from interplay.core.settings import Settings


class RecordGroup(Settings):
    """Windows: stretches of play of the run's first world, recorded to ``recordings/``.

    They do not change training. A window that would take more than 3 % of the time is left out.
    """

    every: int = Field(
        25,
        ge=0,
        description="Updates between two windows; 0: none. While a viewer watches, windows are consecutive.",
    )
    ticks: int = Field(500, ge=1, le=100_000, description="Steps of the world in a window.")
    keep: int = Field(
        20,
        ge=1,
        le=10_000,
        description="Most windows kept: the first, the newest, and others spread evenly over the run; 1: the newest.",
    )
