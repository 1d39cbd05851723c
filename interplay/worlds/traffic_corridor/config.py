"""Every number of the world once. Source: specification 9.4; lengths other than 5, and the time limit, are our own choice."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from interplay.core.settings import Settings

ROWS = 3  # the middle one is the corridor


class TrafficCorridorSettings(Settings):
    """Settings of one corridor."""

    cols: Annotated[int, Field(ge=3, le=100)] = 5  # cells; all but the first and the last are corridor
    view_range: Annotated[int, Field(ge=1, le=20)] = 3  # cells in each direction
    time_limit: Annotated[int, Field(ge=1)] | None = 60  # steps after which an episode is cut
