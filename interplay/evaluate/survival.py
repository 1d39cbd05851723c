"""Lengths of lives of which some have not ended yet: the product-limit curve with its errors, and its means."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.evaluate.lifetimes import survival_curve
from interplay.evaluate.tick import Array

_ROUNDING = 1e-12  # of a product that is 1/2: whose median it is must not hang on its last bit


class Survival(NamedTuple):
    """The Kaplan-Meier curve; it steps down at `time` and holds its value until the next.

    Attributes:
        time: (D,) ascending, lengths at which a life ended.
        at_risk: (D,) lives of that length or longer.
        deaths: (D,) lives that ended there.
        share: (D,) S(t), share of lives that go on beyond it.
        error: (D,) standard error of S(t) by Greenwood's formula.
        longest: the longest length seen, ended or not.
    """

    time: Array
    at_risk: Array
    deaths: Array
    share: Array
    error: Array
    longest: float

    def at(self, time: Array | float) -> Array:
        """S(t) at any times; 1 before the first death."""
        steps = np.concatenate([[1.0], self.share])
        found: Array = steps[np.searchsorted(self.time, np.asarray(time, np.float64), side="right")]
        return found


def kaplan_meier(length: Array, ended: Array) -> Survival:
    """S(t) = product over t_i <= t of (1 - d_i / n_i), Kaplan and Meier (1958).

    d_i lives ended at length t_i, n_i lives reached it (those cut at t_i included). Standard error by Greenwood:
    S(t) sqrt(sum over t_i <= t of d_i / (n_i (n_i - d_i))).

    Args:
        length: (L,) ticks; of a life that has not ended, so far.
        ended: (L,) bool.

    Raises:
        UserError: if there are no lives.

    Example:
        >>> kaplan_meier(np.array([2, 3, 3, 5]), np.array([True, True, False, True])).share.tolist()
        [0.75, 0.5, 0.0]
    """
    length, ended = np.asarray(length, np.int64), np.asarray(ended, bool)
    if len(length) == 0:
        raise UserError("no lives, so there is no table of lives; watch more ticks")
    time, share = survival_curve(length[ended], length[~ended])
    deaths = np.unique(length[ended], return_counts=True)[1]
    at_risk = len(length) - np.searchsorted(np.sort(length), time, side="left")
    left = at_risk - deaths
    terms = np.divide(deaths, at_risk * left, out=np.zeros(len(time)), where=left > 0)
    return Survival(time, at_risk, deaths, share, share * np.sqrt(np.cumsum(terms)), float(length.max()))


def restricted_mean(survival: Survival, limit: float | None = None) -> float:
    """Mean length of life up to a limit: the integral of S(t) from 0 to it.

    Args:
        survival: from `kaplan_meier`.
        limit: ticks; None = the longest length seen. Beyond that the curve is unknown and is held at its last value.

    Example:
        >>> restricted_mean(kaplan_meier(np.array([2, 3, 3, 5]), np.array([True, True, False, True])), 4)
        3.25
    """
    end = survival.longest if limit is None else float(limit)
    inside = survival.time[survival.time < end]
    edges = np.concatenate([[0.0], inside, [end]])
    heights = np.concatenate([[1.0], survival.share[: len(inside)]])
    return float((np.diff(edges) * heights).sum())


def median_life(survival: Survival) -> float:
    """The least t with S(t) <= 1/2, NaN if the curve does not come down so far."""
    below = np.flatnonzero(survival.share <= 0.5 + _ROUNDING)
    return float(survival.time[below[0]]) if len(below) else float("nan")
