"""Settings of the navigation worlds. The map's numbers are in `config`, which the external program reads without pydantic."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from interplay.core.settings import Settings
from interplay.worlds.navigation.config import FINE


class ProxySettings(Settings):
    """Settings of the proxy grid; numbers missing in the manual are our own choice."""

    configuration: Literal["regional", "position", "soft"] = "regional"  # a row of the manual's table 1
    view_range: Annotated[int, Field(ge=1, le=19)] = 5  # cells in each direction; regional only
    fine: Annotated[float, Field(ge=0, le=10)] = FINE  # for an invalid move; regional and position only
    random_start: bool = False  # episodes begin anywhere, for training; the manual's begin at the start
    time_limit: Annotated[int, Field(ge=1)] | None = 400  # steps; the shortest path takes 26


class TownSettings(Settings):
    """Settings of the simulator, a separate program for every copy."""

    reward: Literal["soft", "penalties"] = "soft"
    as_proxy: bool = False  # the proxy's observations and actions, so that policies trained there play here
    aim: bool = False  # as the proxy, steps lead to the middle of the target cell
    time_limit: Annotated[int, Field(ge=1)] | None = 400  # steps of 50 simulated seconds
