"""Every number of the mazes once. Source: manual 6.2.2, specification 9.3; the many-agent maze and the time limits are our own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field, model_validator

from interplay.core.settings import Settings

# 8 x 18 cells, 65 walls; every cell has a distinct view at range two.
MAZE_FILE = Path(__file__).with_name("maze.txt")


class MazeSettings(Settings):
    """Settings of one navigator in the maze of the file."""

    view_range: Annotated[int, Field(ge=1, le=17)] = 2  # cells in each direction
    time_limit: Annotated[int, Field(ge=1)] | None = 200  # steps after which an episode is cut


class MultiMazeSettings(Settings):
    """Settings of many navigators in drawn mazes."""

    rows: Annotated[int, Field(ge=4, le=100)] = 10  # cells
    cols: Annotated[int, Field(ge=4, le=100)] = 10
    num_navigators: Annotated[int, Field(ge=1, le=200)] = 5
    num_walls: Annotated[int, Field(ge=0, le=2_000)] = (
        20  # at most so many walls of the drawn maze, those next to the target first
    )
    strict_maze: bool = False  # True: mazes as the release draws them, with some fewer passages
    view_range: Annotated[int, Field(ge=1, le=20)] = 4  # cells in each direction
    time_limit: Annotated[int, Field(ge=1)] | None = 100  # steps after which an episode is cut

    @model_validator(mode="after")
    def _fits(self) -> MultiMazeSettings:
        most = self.rows * self.cols // 4  # fewer cells of any maze are walls, or passages
        for name in ("num_walls", "num_navigators"):
            if getattr(self, name) > most:
                raise ValueError(
                    f"{name} = {getattr(self, name)} may exceed a maze of {self.rows} x {self.cols} cells; use at most {most}"
                )
        return self
