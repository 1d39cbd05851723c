"""Exact probabilities of one count of ballots: how high the top is, and whether it is a wolf."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import factorial


@cache
def mean_top(voters: int, names: int) -> Fraction:
    """Mean of the highest count when so many voters each name one of so many, independent and uniform.

    Whoever is chosen is on top, so this over `voters` is the share that named the chosen player.
    """
    below = [_ways(voters, names, top) for top in range(voters + 1)]  # no count exceeds `top`
    at_most = [Fraction(factorial(voters) * ways, names**voters) for ways in below]
    return sum((1 - chance for chance in at_most[:-1]), Fraction(0))


@cache
def _ways(voters: int, names: int, top: int) -> Fraction:
    """Sum over the counts of each name, none above `top`, of the product of 1/count!."""
    if names == 0:
        return Fraction(int(voters == 0))
    most = min(top, voters)
    return sum(
        (_ways(voters - k, names - 1, top) * Fraction(1, factorial(k)) for k in range(most + 1)), Fraction(0)
    )


@cache
def wolf_is_executed(wolves: int, villagers: int, pack: str) -> float:
    """The chance that a vote executes a wolf if villagers name any living player and the pack spares its own.

    Args:
        wolves: living.
        villagers: living.
        pack: "shared": all wolves name one villager drawn for all; "independent": each wolf draws its own.
    """
    living = wolves + villagers
    if pack == "shared":  # by symmetry the first villager is the one they share
        extra, free, norm = wolves, 0, float(living) ** villagers
    else:
        extra, free, norm = 0, wolves, float(living) ** villagers * float(villagers) ** wolves

    @cache
    def go(bin_: int, left: int, packs: int, top: int, tied: int, tied_wolves: int) -> float:
        """Weighted sum over the counts of the seats from `bin_` on of the wolves' share of the top."""
        if bin_ == living:
            return tied_wolves / tied if left == 0 and packs == 0 else 0.0
        is_wolf, total = bin_ < wolves, 0.0
        for a in range(left + 1):
            for b in range(1 if is_wolf else packs + 1):
                count = a + b + (extra if bin_ == wolves else 0)
                if count > top:
                    state = (count, 1, int(is_wolf))
                elif count == top:
                    state = (top, tied + 1, tied_wolves + is_wolf)
                else:
                    state = (top, tied, tied_wolves)
                total += go(bin_ + 1, left - a, packs - b, *state) / factorial(a) / factorial(b)
        return total

    return go(0, villagers, free, 0, 0, 0) * factorial(villagers) * factorial(free) / norm
