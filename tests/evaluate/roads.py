"""Reads printed tables, and statistics by the definition, for tests that compute a printed number a second time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np


def table(text: str, title: str) -> list[list[str]]:
    """The cells of the indented rows below a printed title, without the names of written files."""
    lines = text.splitlines()
    (start,) = (n for n, line in enumerate(lines) if line.startswith(title))
    rows: list[list[str]] = []
    for line in lines[start + 1 :]:
        if not line.startswith(" ") and rows:
            break
        if line.strip() and not line.startswith("  written: "):
            rows.append(re.split(r"  +", line.strip()))
    return rows


def four(value: float) -> str:
    """A number as tables show it; a dash for none."""
    return "-" if value != value else f"{value:.4g}"


def wilson(count: float, n: int) -> tuple[float, float]:
    """The ends p at which |count / n - p| is 1.959964 standard errors sqrt(p (1 - p) / n): roots of a quadratic."""
    z2, share = 1.959964**2, count / n
    roots = np.roots([1 + z2 / n, -(2 * share + z2 / n), share**2])
    return float(roots.real.min()), float(roots.real.max())


def share_cell(count: float, n: int) -> str:
    """A share with its interval, as `interplay evaluate` shows it."""
    low, high = wilson(count, n)
    return f"{count / n:.2f} [{low:.2f}, {high:.2f}]"


def mean_cell(values: Iterable[float]) -> str:
    """A mean with its standard error, as `interplay evaluate` shows it; NaN left out."""
    own = [value for value in map(float, values) if value == value]
    if not own:
        return "-"
    mean = sum(own) / len(own)
    if len(own) == 1:
        return f"{mean:.4g}"
    error = (sum((value - mean) ** 2 for value in own) / (len(own) - 1) / len(own)) ** 0.5
    return f"{mean:.4g} ± {error:.2g}"


def living(ended: Sequence[int], cut: Sequence[int], ticks: int) -> list[float]:
    """S(0), S(1), ...: the product-limit curve by its definition."""
    share, curve = 1.0, []
    for t in range(ticks):
        reached = sum(age >= t for age in (*ended, *cut))
        share *= 1 - sum(age == t for age in ended) / max(reached, 1)
        curve.append(share)
    return curve
