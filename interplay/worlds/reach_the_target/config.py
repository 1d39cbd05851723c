"""Every number of the world once. Source: specification 9.4; the time limit is our own choice."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from interplay.core.settings import Settings

MOST_RUNNERS = 4  # one for each corner


class ReachTheTargetSettings(Settings):
    """Settings of one chase: runners start in the corners, the target in the middle."""

    rows: Annotated[int, Field(ge=3, le=100)] = 7  # cells
    cols: Annotated[int, Field(ge=3, le=100)] = 7
    num_barriers: Annotated[int, Field(ge=0, le=1_000)] = 10  # anywhere but on the target
    num_runners: Annotated[int, Field(ge=1, le=MOST_RUNNERS)] = 4
    move_range: Annotated[int, Field(ge=1, le=20)] = 2  # of runners, cells in each direction
    view_range: Annotated[int, Field(ge=1, le=20)] = 3  # of runners
    target_view_range: Annotated[int, Field(ge=1, le=20)] = 7
    attack_range: Annotated[int, Field(ge=0, le=5)] = 1  # of the target
    strength: Annotated[float, Field(ge=0, le=1)] = 1.0  # health that a hit takes; agents begin with 1
    accuracy: Annotated[float, Field(ge=0, le=1)] = 1.0  # chance of an attack
    time_limit: Annotated[int, Field(ge=1)] | None = 50  # steps after which an episode is cut

    @model_validator(mode="after")
    def _fits(self) -> ReachTheTargetSettings:
        most = self.rows * self.cols - 1
        if self.num_barriers > most:
            raise ValueError(
                f"num_barriers = {self.num_barriers} do not fit {self.rows} x {self.cols} cells beside the target; "
                f"use at most {most}"
            )
        return self
