"""Mean life from lives of which some were not followed to their end: the estimator of Kaplan and Meier."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from interplay.core import seeding


def survival_curve(
    ended: Sequence[int] | np.ndarray, cut: Sequence[int] | np.ndarray = ()
) -> tuple[np.ndarray, np.ndarray]:
    """The share of lives that last longer than t, from complete and cut ones.

    S(t) = product over t_i <= t of (1 - d_i / n_i), with d_i lives that ended at age t_i and n_i that had reached it (a life
    cut at t_i had). Source: Kaplan and Meier 1958, "Nonparametric estimation from incomplete observations".

    Args:
        ended: ages at which lives ended, ticks.
        cut: ages at which others were last seen alive.

    Returns:
        (T,) ascending ages t_i at which lives ended, and (T,) S(t_i).

    Example:
        >>> survival_curve([2, 4, 4], cut=[3])
        (array([2, 4]), array([0.75, 0.  ]))
    """
    ended, cut = np.sort(np.asarray(ended, np.int64)), np.sort(np.asarray(cut, np.int64))
    ages, deaths = np.unique(ended, return_counts=True)
    reached = (len(ended) - np.searchsorted(ended, ages)) + (len(cut) - np.searchsorted(cut, ages))
    return ages, np.cumprod(1.0 - deaths / np.maximum(reached, 1))


def restricted_mean(
    ended: Sequence[int] | np.ndarray, cut: Sequence[int] | np.ndarray = (), horizon: int = 5_000
) -> float:
    """The mean life, counted up to the horizon: the area under the survival curve from 0 to there.

    Completed lives alone would be biased, since the long ones are those that are cut. Beyond the last age that anybody
    was seen at, the curve is taken to stay where it is, up to the horizon.

    Args:
        ended: ages at which lives ended, ticks.
        cut: ages at which others were last seen alive.
        horizon: ticks.

    Returns:
        Ticks; NaN without any life.

    Example:
        >>> restricted_mean([2, 4, 4], cut=[3], horizon=10)
        3.5
        >>> restricted_mean([2, 4], cut=[10, 10], horizon=10)
        6.5
    """
    return float(restricted_means(count_ages(ended, horizon), count_ages(cut, horizon)))


def count_ages(ages: Sequence[int] | np.ndarray, horizon: int) -> np.ndarray:
    """(horizon + 1,) int64, how many lives have each age; those above the horizon count there."""
    return np.bincount(np.minimum(np.asarray(ages, np.int64), horizon), minlength=horizon + 1)


def restricted_means(ended: np.ndarray, cut: np.ndarray) -> np.ndarray:
    """`restricted_mean` of many sets of lives, given by their counts.

    Args:
        ended: (..., H + 1), lives that ended at each age 0 .. H, the horizon.
        cut: (..., H + 1), lives last seen alive at each age.

    Returns:
        (...) ticks.

    Example:
        >>> restricted_means(count_ages([2, 4, 4], 10), count_ages([3], 10)).item()
        3.5
    """
    both = ended + cut
    reached = np.cumsum(both[..., ::-1], axis=-1)[..., ::-1]
    alive = np.cumprod(1.0 - ended / np.maximum(reached, 1e-300), axis=-1)
    area = alive[..., :-1].sum(axis=-1)
    return np.where(reached[..., 0] > 0, area, np.nan)


def bootstrap_groups(
    groups: Sequence[int], seed: int, resamples: int, key: int = 0x70004
) -> list[np.ndarray]:
    """Indices drawn with replacement in two stages: whole groups, then members of each drawn group.

    Args:
        groups: of each member, e.g. the training run that a map was played with. One group: only members are drawn.
        seed: of the draws.
        resamples: how many.
        key: names the stream.

    Returns:
        Per resample the indices of members.
    """
    rng = seeding.generator(seed, key)
    labels = np.asarray(groups)
    members = [np.flatnonzero(labels == group) for group in np.unique(labels)]
    drawn = []
    for _ in range(resamples):
        picked = rng.integers(len(members), size=len(members))
        drawn.append(
            np.concatenate([members[g][rng.integers(len(members[g]), size=len(members[g]))] for g in picked])
        )
    return drawn
