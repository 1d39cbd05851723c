"""Checks a checkpoint's record before a run resumes from it: right checksums do not exclude forged values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import pydantic
from pydantic import AfterValidator, Field

from interplay.core.errors import UserError
from interplay.train.run.checkpoint import Checkpoint

MOST_UPDATES = 2**32  # keys of random streams are 32 bits wide


def _distinct(names: list[str]) -> list[str]:
    if len({*names}) < len(names):
        raise ValueError("a name occurs twice")
    return names


_MISSING: Any = None  # default of keys that may be left out, but are never null

Count = Annotated[int, Field(ge=0, lt=2**63)]
Number = Annotated[float, Field(gt=-1e300, lt=1e300)]
Positive = Annotated[float, Field(ge=0, lt=1e300)]
Names = Annotated[list[str], AfterValidator(_distinct)]
Spans = list[tuple[Annotated[Count, Field(ge=1)], Number]]  # episodes and their sum, per update


class _Model(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(strict=True, allow_inf_nan=False)


class _Best(_Model):
    metric: str
    value: Number | None  # None, with agent_steps, until the first window is full
    agent_steps: Count | None
    window: tuple[Number, Number]
    measurements: tuple[Count, Count]

    @pydantic.model_validator(mode="after")
    def _both_or_none(self) -> _Best:
        if (self.value is None) != (self.agent_steps is None):
            raise ValueError("value and agent_steps go together")
        return self


class _Alternation(_Model):
    turn: str | None
    both: bool
    spans: Spans


class _Curriculum(_Model):
    stage: Count
    given: dict[str, Any]
    played: tuple[Count, dict[str, Any]]
    spans: Spans


class _Balance(_Model):
    moved: Names
    broken: Names


class _Spaces(_Model):
    observation: str
    action: str


class _Record(_Model):
    updates: Annotated[int, Field(ge=0, lt=MOST_UPDATES)]
    seconds: Positive
    episodes: Count
    spaces: dict[str, _Spaces] = {}
    world: dict[str, Any] = {}
    populations: Names = []
    best: _Best = _MISSING
    alternate: _Alternation = _MISSING
    curriculum: _Curriculum = _MISSING
    return_deviation: list[tuple[Number, Positive, Positive]] = []
    later_metrics: Names = []
    balance: _Balance = _MISSING


def check_record(checkpoint: Checkpoint) -> None:
    """Refuses a record that no run could have written."""
    _check(checkpoint.path, checkpoint.record)


def check_keys(checkpoint: Path, record: Mapping[str, Any], *keys: str) -> None:
    """As `check_record`, for those keys that are there."""
    found = {key: record[key] for key in keys if key in record}
    _check(checkpoint, {"updates": 0, "seconds": 0, "episodes": 0} | found)


def spaces_of(checkpoint: Checkpoint) -> dict[str, dict[str, str]] | None:
    """Kind name -> its spaces as text; None if the record has none."""
    spaces: dict[str, dict[str, str]] | None = checkpoint.record.get("spaces")
    if spaces is not None:
        check_keys(checkpoint.path, checkpoint.record, "spaces")
    return spaces


def _check(checkpoint: Path, record: Mapping[str, Any]) -> None:
    try:
        _Record.model_validate_json(json.dumps(record))  # as JSON: its lists are tuples too
    except pydantic.ValidationError as error:
        found = error.errors(include_url=False)[0]
        key = str(found["loc"][0])
        value = repr(record[key])[:60] if key in record else "missing"
        where = ".".join(map(str, found["loc"]))
        raise UserError(
            f"{checkpoint} is damaged: record.json: {key} is {value} ({where}: {found['msg']}); choose an earlier checkpoint"
        ) from None
