"""Reads printed tables, and statistics by the definition, for tests that compute a printed number a second time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from interplay.core.policy import Policy


def table(text: str, title: str) -> list[list[str]]:
    """The cells of the indented or numbered rows below a printed title, without the names of written files."""
    lines = text.splitlines()
    (start,) = (n for n, line in enumerate(lines) if line.startswith(title))
    rows: list[list[str]] = []
    for line in lines[start + 1 :]:
        if rows and not (line.startswith(" ") or line[:1].isdigit()):
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


def ratings(wins: np.ndarray, drawn: float) -> np.ndarray:
    """Elo points, mean 0: strengths at the fixed point of Hunter (2004), with `drawn` matches more for each pair that met."""
    wins = np.array(wins) + drawn / 2 * (wins + np.transpose(wins) > 0)
    played, strength = wins + wins.T, np.ones(len(wins))
    points = wins.sum(axis=1)
    for _ in range(200_000):
        before = strength
        strength = points / (played / (strength[:, None] + strength)).sum(axis=1)
        strength = strength / np.exp(np.log(strength).mean())
        if np.abs(np.log(strength / before)).max() < 1e-12:
            break
    return 400 * np.log10(strength)


def visited(payoffs: np.ndarray, alpha: float = 10.0, m: int = 50) -> np.ndarray:
    """Alpha-rank: the share of time at each strategy of the chain of take-overs, by powers of its matrix."""
    count = len(payoffs)
    chain = np.zeros((count, count))
    for s in range(count):
        for r in set(range(count)) - {s}:
            p = np.arange(1, m)
            gain = ((p - 1) * payoffs[r, r] + (m - p) * payoffs[r, s]) - (
                p * payoffs[s, r] + (m - p - 1) * payoffs[s, s]
            )
            rho = 1 / (1 + np.exp(-np.cumsum(alpha * gain / (m - 1))).sum())
            chain[s, r] = rho / (count - 1)
    chain += np.diag(1 - chain.sum(axis=1))
    for _ in range(200):  # the power 2 ** 200
        chain = chain @ chain
        chain /= chain.sum(axis=1, keepdims=True)
    return chain[0]


class Steps(Policy):
    """Goes one way on the line; the wind decides the rest."""

    direction = 0

    @property
    def name(self) -> str:
        return type(self).__name__

    def act(self, timestep):
        return np.broadcast_to([self.direction, 0], (*timestep.acting.shape, 2))


class Left(Steps):
    pass


class Stay(Steps):
    direction = 1


class Right(Steps):
    direction = 2
