"""Odds of random play in closed form."""

from __future__ import annotations

from fractions import Fraction
from math import comb


def closed_form(wolves: int, living: int) -> Fraction:
    """The villagers' chance before a vote among `living`, as a sum (specification 14.2; Migdal 2010 for odd numbers).

    It is valid for wolves < living - wolves.
    """
    end = 2 if living % 2 == 0 else 1
    total = Fraction(0)
    for i in range(wolves + 1):
        whole = _double_factorial(living - i) / _double_factorial(living)
        total += (-1) ** i * comb(wolves, i) * whole * _double_factorial(end) * _inverse(end - i)
    return total


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
