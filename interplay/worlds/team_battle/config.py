"""Every number of the team battles once. Source: manual 6.2.1, specification 9.2 and 10; the time limits are our own choice."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from interplay.core.settings import Settings

MOST_TEAMS = 4  # one for each corner


class TeamBattleSettings(Settings):
    """Settings of one battle."""

    rows: Annotated[int, Field(ge=4, le=200)] = 8  # cells
    cols: Annotated[int, Field(ge=4, le=200)] = 8
    num_agents: Annotated[int, Field(ge=2, le=1_000)] = 24  # agent i is of team i mod teams
    teams: Annotated[int, Field(ge=2, le=MOST_TEAMS)] = 4
    start: Literal["corners", "anywhere"] = "corners"  # one cell off the team's corner, or anywhere
    view_range: Annotated[int, Field(ge=1, le=20)] = 3  # cells in each direction
    move_range: Annotated[int, Field(ge=0, le=20)] = 1
    attack_range: Annotated[int, Field(ge=0, le=20)] = 1
    strength: Annotated[float, Field(ge=0, le=1)] = 1.0  # health that a hit takes; agents begin with 1
    accuracy: Annotated[float, Field(ge=0, le=1)] = 1.0  # chance of an attack
    time_limit: Annotated[int, Field(ge=1)] | None = 200  # steps after which an episode is cut

    @model_validator(mode="after")
    def _fits(self) -> TeamBattleSettings:
        if self.num_agents < self.teams:
            raise ValueError(
                f"num_agents = {self.num_agents} cannot fill teams = {self.teams}; use at least {self.teams} agents"
            )
        if self.start == "anywhere" and self.num_agents > self.rows * self.cols:
            raise ValueError(
                f"num_agents = {self.num_agents} may not fit {self.rows} x {self.cols} cells; use at most {self.rows * self.cols}"
            )
        return self


VARIANTS: dict[str, dict[str, Any]] = {
    "team-battle": {},
    "team-battle-50": {"rows": 50, "cols": 50, "num_agents": 200, "start": "anywhere"},
}
