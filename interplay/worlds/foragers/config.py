"""Every number of the worlds of foragers and hunters once. Source: manual 4.1, specification 9.6.

The time limit is our own choice.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from interplay.core.settings import Settings

RESOURCE, FORAGER, HUNTER = 1, 2, 3  # encodings

VIEW_RANGE = 3  # cells that foragers and hunters see in each direction
MOVE_RANGE = 1  # cells of a step
FORAGE_RANGE = 1  # cells at which a forager reaches a resource
HUNT_RANGE = 2  # cells at which a hunter reaches a forager

KILL = 1.0  # for a resource collected, or a forager caught
KILLED = -1.0  # for the forager that was caught
FAILED_ATTACK = -0.1  # for an attack without a target in reach
FAILED_MOVE = -0.1  # for a step off the map or into a cell that is not free
ENTROPY = 0.01  # penalty of every step


class ForagersSettings(Settings):
    """Settings of one map."""

    rows: Annotated[int, Field(ge=1, le=1_000)] = 20  # cells
    cols: Annotated[int, Field(ge=1, le=1_000)] = 20  # cells
    resources: Annotated[int, Field(ge=1, le=10_000)] = 11
    foragers: Annotated[int, Field(ge=1, le=1_000)] = 5
    hunters: Annotated[int, Field(ge=0, le=1_000)] = 0
    sight: Literal["encoding", "stacked"] = "encoding"  # one matrix of encodings, or a layer for each of them
    time_limit: Annotated[int, Field(ge=1)] | None = 300  # steps after which an episode is cut

    @model_validator(mode="after")
    def _fits(self) -> ForagersSettings:
        cells = self.rows * self.cols
        # No two resources share a cell, nor two hunters; a resource and a hunter may.
        for name, number in (("resources", self.resources), ("hunters", self.hunters)):
            if number > cells:
                raise ValueError(
                    f"{name} = {number} do not fit {self.rows} x {self.cols} = {cells} cells, each takes one; "
                    f"use at most {cells}, or enlarge rows or cols"
                )
        return self


VARIANTS: dict[str, dict[str, Any]] = {
    "foraging": {"foragers": 1},
    "foragers": {},
    "hunters-foragers": {"hunters": 2},
}
