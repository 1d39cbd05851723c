"""Checks the result of one merge on one map when it is read: files may come from anywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError

Count = Annotated[int, Field(ge=0, lt=2**31)]  # ticks of a life, or lives of a cause


class _Home(BaseModel):
    model_config = ConfigDict(strict=True)
    ended: list[Count]
    cut: list[Count]
    causes: dict[str, Count]
    per_life: dict[str, Any]


class _Row(BaseModel):
    model_config = ConfigDict(strict=True)
    homes: list[_Home] = Field(min_length=2, max_length=2)
    populations: list[int]
    standing: list[FiniteFloat]


def wrong_row(
    row: Mapping[str, Any], populations: Sequence[int], like: Mapping[str, Any] | None
) -> str | None:
    """Why a row is no result of `lives.LifeWatch`, in a few words; None if it is.

    Args:
        like: a valid row of the tournament with the same `per_life` metrics; None for the first.
    """
    try:
        found = _Row.model_validate(row)
    except ValidationError as error:
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    if found.populations != list(populations) or len(found.standing) != sum(populations):
        return f"populations are not {list(populations)}"
    reporting = [home for home in (*row["homes"], *(like or {}).get("homes", ())) if home["ended"]]
    forms = [{name: _form(value) for name, value in home["per_life"].items()} for home in reporting]
    if any(None in form.values() or form != forms[0] for form in forms):
        return "per_life is not the same numbers for every home"
    return None


def _form(value: Any) -> tuple[int, ...] | None:
    """The shape of nested lists of numbers; None for anything else."""
    try:
        array = np.asarray(value, np.float64)
    except (ValueError, TypeError, OverflowError):
        return None
    return array.shape if np.isfinite(array).all() and not isinstance(value, str | bool) else None
