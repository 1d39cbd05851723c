"""What of a run's play is recorded while it learns (docs/specs/viewer.md 2)."""

from __future__ import annotations

from pydantic import Field

from interplay.core.settings import Settings


class RecordGroup(Settings):
    """Windows: stretches of the run's first world as it is trained on, kept in ``recordings/`` to be watched.

    They change no bit of what is learnt and take less than 3 % of its time; a window that would take more is left out.
    """

    every: int = Field(
        25,
        ge=0,
        description="Updates between two windows; 0: none. While somebody watches, one follows another.",
    )
    ticks: int = Field(500, ge=1, le=100_000, description="Steps of the world in a window.")
    keep: int = Field(
        20,
        ge=1,
        le=10_000,
        description="Most windows that are kept: the first, the newest, and others spread evenly over the run; of 1 the newest.",
    )
