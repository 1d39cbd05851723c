"""Curriculum: stages of a run with their own world options, and the condition that ends each."""

from __future__ import annotations

import re
from typing import Any

from pydantic import Field, field_validator, model_validator

from interplay.core.settings import Settings
from interplay.core.settings_text import show

CONDITION = re.compile(
    r"\s*(?P<metric>[^<>\s]+)\s*(?P<sign>[<>])\s*(?P<value>[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*"
)


class StageGroup(Settings):
    """One stage."""

    options: dict[str, Any] = Field({}, description="World options of this stage, over world.options.")
    until: float | str | None = Field(
        None,
        description='End: a share of the run (up to 1), agent-steps (above 1), or a metric, "won > 0.8"; off: none.',
    )

    @field_validator("until")
    @classmethod
    def _is_a_border(cls, until: float | str | None) -> float | str | None:
        if isinstance(until, str) and CONDITION.fullmatch(until) is None:
            raise ValueError(f'{show(until)} is no condition; write a metric and a bound, "won > 0.8"')
        if not isinstance(until, str) and until is not None and until <= 0:
            raise ValueError(f"{until:g} is not above 0; give a share of the run, or agent-steps")
        return until


class CurriculumGroup(Settings):
    """Stages in order; each begins with new worlds."""

    stages: tuple[StageGroup, ...] = Field(
        (), description="In order; every stage but the last has an end, `until`."
    )
    episodes: int = Field(
        100,
        ge=1,
        description="Episode metrics are averaged over at least this many latest ones of the stage.",
    )

    @model_validator(mode="after")
    def _each_ends_but_the_last(self) -> CurriculumGroup:
        for number, stage in enumerate(self.stages, 1):
            if (stage.until is None) != (number == len(self.stages)):
                cure = "leave it out" if stage.until is not None else "set it"
                raise ValueError(
                    f"stages: until = {show(stage.until)} of stage {number} of {len(self.stages)}; {cure}: each but the last has an end"
                )
        return self
