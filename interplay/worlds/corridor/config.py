"""Every number of MultiCorridor's worlds once. Source: manual 6.1, specification 9.1.

The time limits are our own choice.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from interplay.core.settings import Settings


class CorridorSettings(Settings):
    """Settings of one corridor."""

    end: Annotated[int, Field(ge=2, le=10_000)] = 10  # cells; the last one is the goal
    num_agents: Annotated[int, Field(ge=1, le=1_000)] = 5  # fewer than cells, the last one is never a start
    order: Literal["all", "turns"] = "all"  # all agents act in every step, or one after another
    time_limit: Annotated[int, Field(ge=1)] | None = 60  # steps after which an episode is cut

    @model_validator(mode="after")
    def _fits(self) -> CorridorSettings:
        if self.num_agents >= self.end:
            raise ValueError(
                f"num_agents = {self.num_agents} do not fit a corridor of end = {self.end} cells, whose last one stays free; "
                f"use at most {self.end - 1}"
            )
        return self


VARIANTS: dict[str, dict[str, Any]] = {
    "multi-corridor": {},
    "multi-corridor-turns": {"order": "turns", "time_limit": 300},  # five agents share the steps
}
