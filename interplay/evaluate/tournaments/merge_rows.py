"""Checks the result of one merge on one map when it is read: files may come from anywhere."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

MOST = 2**31  # ticks of a life, and lives of a cause
LISTS = ("ended", "cut")


def wrong_row(
    row: Mapping[str, Any], populations: Sequence[int], like: Mapping[str, Any] | None
) -> str | None:
    """Why a row is no result of `lives.LifeWatch`, in a few words; None if it is.

    Args:
        like: a valid row of the tournament with the same `per_life` metrics; None for the first.
    """
    homes, standing = row.get("homes"), row.get("standing")
    if row.get("populations") != list(populations):
        return "populations are others"
    if (
        not isinstance(standing, list)
        or len(standing) != sum(populations)
        or not all(map(_is_number, standing))
    ):
        return "standing is not a number for each population"
    if not isinstance(homes, list) or len(homes) != 2 or not all(isinstance(home, Mapping) for home in homes):
        return "homes are not two"
    for home in homes:
        for name in LISTS:
            ages = home.get(name)
            if not isinstance(ages, list) or not all(map(_is_count, ages)):
                return f"{name} is no list of ages"
        causes = home.get("causes")
        if not isinstance(causes, Mapping) or not all(map(_is_count, causes.values())):
            return "causes are no counts"
        if not isinstance(home.get("per_life"), Mapping):
            return "per_life tells nothing"
    reporting = [home for home in (*homes, *(like or {}).get("homes", ())) if home["ended"]]
    forms = [{name: _form(value) for name, value in home["per_life"].items()} for home in reporting]
    if any(None in form.values() or form != forms[0] for form in forms):
        return "per_life is not the same numbers for every home"
    return None


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < MOST


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and abs(value) < 1e300


def _form(value: Any) -> tuple[int, ...] | None:
    """The shape of nested lists of numbers; None for anything else."""
    try:
        array = np.asarray(value, np.float64)
    except (ValueError, TypeError, OverflowError):
        return None
    return array.shape if np.isfinite(array).all() and not isinstance(value, str | bool) else None
