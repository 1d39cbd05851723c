"""The odds of random play on paper: closed form, recurrence, and the published figures (specification 14)."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import pytest

from interplay.worlds.werewolf.config import WerewolfSettings
from interplay.worlds.werewolf.theory import odds
from tests.worlds.werewolf import chains
from tests.worlds.werewolf.closed_form import closed_form
from tests.worlds.werewolf.role_chains import wolves_win_with_guard, wolves_win_with_hunter

# Specification 14.3: players -> P(wolves), mean days, the pack sharing one villager by day, each wolf naming its own.
PUBLISHED = {
    5: (Fraction(1), Fraction(0), 1.0, 1.0),
    6: (Fraction(13, 15), Fraction(7, 5), 0.983704, 0.972444),
    7: (Fraction(11, 12), Fraction(4, 3), 0.984809, 0.976309),
    9: (Fraction(31, 32), Fraction(3, 2), 0.999703, 0.996807),
    10: (Fraction(31, 35), Fraction(61, 21), 0.998716, 0.987810),
    11: (Fraction(149, 160), Fraction(223, 80), 0.998628, 0.989515),
}
# Specification 14.4: players -> mean return of a wolf and a villager, then metrics.
RETURNS = {
    6: (14.80821, -22.59778, 0.13111, 0.34314, 0.22667, 0.59587),
    7: (17.32602, -25.57266, 0.10185, 0.46037, 0.18056, 0.60007),
    9: (19.47763, -28.18966, 0.08030, 0.38280, 0.13715, 0.48690),
    10: (12.60140, -25.71162, 0.11507, 0.34871, 0.15505, 0.47165),
    11: (14.82926, -28.29387, 0.09473, 0.40245, 0.12938, 0.46937),
}
MEASURES = ("suicide_refnorm", "accord_refnorm", "suicide", "accord")
ROLE_CHECKS = {  # specification 14.5: players -> P(wolves) with one guard, with one hunter
    7: (0.876911, 0.786111),
    9: (0.947151, 0.900025),
    10: (0.890737, 0.891482),
    11: (0.903141, 0.836983),
}


def test_the_closed_form_the_recurrence_and_our_own_chain_agree():
    for living in range(3, 60):
        for wolves in range(1, (living + 1) // 2):
            expected = 1 - chains.wolves_win_by_day(wolves, living - wolves)
            assert closed_form(wolves, living) == expected
            assert odds.villagers_win(wolves, living - wolves, day=True) == expected
            assert odds.villagers_win(wolves, living - wolves + 1) == expected  # night first, one player more


@pytest.mark.parametrize("n", PUBLISHED)
def test_published_odds(n):
    wolves = isqrt(n)
    chance, days, shared, independent = PUBLISHED[n]
    assert 1 - odds.villagers_win(wolves, n - wolves) == chance == chains.wolves_win(wolves, n - wolves)
    assert days == chains.expected_days(wolves, n - wolves)
    assert float(chains.wolves_win(wolves, n - wolves, chains.shared)) == pytest.approx(shared, abs=6e-7)
    assert float(chains.wolves_win(wolves, n - wolves, chains.independent)) == pytest.approx(
        independent, abs=6e-7
    )


@pytest.mark.parametrize("n", RETURNS)
def test_published_returns_and_metrics(n):
    wolves = isqrt(n)
    wolf, villager, *shares = RETURNS[n]
    found = chains.mean_returns(wolves, n - wolves)
    assert [float(x) for x in found] == pytest.approx([wolf, villager], abs=6e-6)
    measured = chains.metrics(wolves, n - wolves)
    assert [float(measured[name]) for name in MEASURES] == pytest.approx(shares, abs=6e-6)


@pytest.mark.parametrize("n", ROLE_CHECKS)
def test_published_odds_with_a_guard_or_a_hunter(n):
    wolves = isqrt(n)
    guard, hunter = ROLE_CHECKS[n]
    plain = n - wolves - 1
    assert float(wolves_win_with_guard(wolves, plain)) == pytest.approx(guard, abs=6e-7)
    assert float(wolves_win_with_hunter(wolves, plain)) == pytest.approx(hunter, abs=6e-7)


def test_the_balanced_number_of_wolves_is_nearest_to_even():
    for n in range(5, 40):
        for by_day, chance in ((False, chains.wolves_win), (True, chains.wolves_win_by_day)):
            away = {w: abs(chance(w, n - w) - Fraction(1, 2)) for w in range(1, (n - 1) // 2 + 1)}
            first = "day_talk" if by_day else "night_talk"
            made = WerewolfSettings(n_players=n, wolves="balanced", first_phase=first)
            assert away[made.num_wolves] == min(away.values())
