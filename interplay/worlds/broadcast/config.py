"""Every number of the world of broadcasters and blockers once.

Source: manual 6.2.3, specification 9.5. The numbers of agents, the tolerance and the time limit are our own choice.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, model_validator

from interplay.core.settings import Settings

BROADCASTER, BLOCKER = 1, 2  # encodings
FAILED_MOVE = -0.1  # for a step off the map or into a cell that is not free
ENTROPY = 0.01  # penalty of every step, for all agents


class BroadcastSettings(Settings):
    """Settings of one map."""

    rows: Annotated[int, Field(ge=1, le=1_000)] = 7  # cells
    cols: Annotated[int, Field(ge=1, le=1_000)] = 7  # cells
    broadcasters: Annotated[int, Field(ge=1, le=100)] = 4
    blockers: Annotated[int, Field(ge=0, le=100)] = 3
    broadcast_range: Annotated[int, Field(ge=0, le=1_000)] = 6  # cells in each direction
    view_range: Annotated[int, Field(ge=0, le=100)] = 3  # cells in each direction
    move_range: Annotated[int, Field(ge=0, le=100)] = 1  # cells of a blocker's step
    done_tolerance: Annotated[float, Field(gt=0, le=2)] = 0.01  # of messages in -1..1, around their mean
    time_limit: Annotated[int, Field(ge=1)] | None = 100  # steps after which an episode is cut

    @model_validator(mode="after")
    def _fits(self) -> BroadcastSettings:
        cells, number = self.rows * self.cols, self.broadcasters + self.blockers
        if number > cells:
            raise ValueError(
                f"broadcasters + blockers = {number} do not fit {self.rows} x {self.cols} = {cells} cells, each takes one; "
                f"use at most {cells}, or enlarge rows or cols"
            )
        return self


VARIANTS: dict[str, dict[str, Any]] = {"broadcast": {}}
