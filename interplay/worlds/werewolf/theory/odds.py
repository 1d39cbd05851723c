"""Exact odds under random play (specification 14): wolves and villagers, night first, plurality, ties at random.

At night a villager dies. By day all are equally likely to be executed, so the chance of executing a wolf is the wolves' share of the
living. Wolves win at parity, tested after each death.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache


@cache
def villagers_win(wolves: int, villagers: int, day: bool = False) -> Fraction:
    """The villagers' chance of winning before a night or, with `day`, before a vote; by recurrence.

    Example:
        >>> 1 - villagers_win(2, 4)
        Fraction(13, 15)
    """
    if wolves == 0:
        return Fraction(1)
    if wolves >= villagers:
        return Fraction(0)
    if not day:
        return villagers_win(wolves, villagers - 1, day=True)
    hit = Fraction(wolves, wolves + villagers)
    return hit * villagers_win(wolves - 1, villagers) + (1 - hit) * villagers_win(wolves, villagers - 1)


def balanced_wolves(players: int, day: bool = False) -> int:
    """The number of wolves with the most even odds, before a night or, with `day`, before a vote; the smaller of two.

    Example:
        >>> balanced_wolves(21)
        2
    """
    counts = range(1, (players - 1) // 2 + 1)
    return min(counts, key=lambda w: abs(villagers_win(w, players - w, day) - Fraction(1, 2)))
