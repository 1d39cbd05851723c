"""Exact odds under random play (specification 14): wolves and villagers, night first, plurality, ties at random.

At night a villager dies. By day all are equally likely to be executed, so the chance of executing a wolf is the wolves' share of the
living. Wolves win at parity, tested after each death.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import comb


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


def closed_form(wolves: int, living: int) -> Fraction:
    """`villagers_win` before a vote among `living`, as a sum (14.2; Migdal 2010 for odd numbers).

    It is valid for wolves < living - wolves.

    Example:
        >>> closed_form(3, 8) == villagers_win(3, 5, day=True)
        True
    """
    end = 2 if living % 2 == 0 else 1
    total = Fraction(0)
    for i in range(wolves + 1):
        whole = _double_factorial(living - i) / _double_factorial(living)
        total += (-1) ** i * comb(wolves, i) * whole * _double_factorial(end) * _inverse(end - i)
    return total


def expected_days(wolves: int, villagers: int) -> Fraction:
    """Mean number of executions in a game that begins with a night.

    Example:
        >>> expected_days(3, 6)
        Fraction(3, 2)
    """
    return _days(wolves, villagers, False)


def balanced_wolves(players: int) -> int:
    """The number of wolves with the most even odds; the smaller of two.

    Example:
        >>> balanced_wolves(21)
        2
    """
    counts = range(1, (players - 1) // 2 + 1)
    return min(counts, key=lambda w: abs(villagers_win(w, players - w) - Fraction(1, 2)))


@cache
def _days(wolves: int, villagers: int, day: bool) -> Fraction:
    if wolves == 0 or wolves >= villagers:
        return Fraction(0)
    if not day:
        return _days(wolves, villagers - 1, True)
    hit = Fraction(wolves, wolves + villagers)
    return 1 + hit * _days(wolves - 1, villagers, False) + (1 - hit) * _days(wolves, villagers - 1, False)


def _double_factorial(n: int) -> Fraction:
    """n!!, for n >= -1."""
    product = Fraction(1)
    for factor in range(n, 1, -2):
        product *= factor
    return product


def _inverse(n: int) -> Fraction:
    """1 / n!!, also below zero: 0 for negative even n, and (-1)^k (2k - 1)!! for n = -2k - 1."""
    if n >= -1:
        return 1 / _double_factorial(n)
    if n % 2 == 0:
        return Fraction(0)
    k = (-n - 1) // 2
    return (-1) ** k * _double_factorial(2 * k - 1)
