"""Exact probabilities of whole games under random play: chains over who is living, written anew from the rules.

Games begin with a night. Wolves win when they are as many as all others, villagers when no wolf is left; tested after the night
and after the day.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from tests.worlds.werewolf.ballot_odds import mean_top, wolf_is_executed


def over(wolves: int, others: int) -> bool:
    return wolves == 0 or wolves >= others


@cache
def wolves_win(wolves: int, others: int, hit: Callable[[int, int], Any] | None = None) -> Any:
    """P(wolves) of a game that begins with a night; `hit(wolves, others)` is the chance that a vote falls on a wolf."""
    others -= 1  # the night
    if over(wolves, others):
        return Fraction(1)
    return wolves_win_by_day(wolves, others, hit)


@cache
def wolves_win_by_day(wolves: int, others: int, hit: Callable[[int, int], Any] | None = None) -> Any:
    """The same for a game that begins with a vote."""
    share = hit(wolves, others) if hit else Fraction(wolves, wolves + others)
    total: Any = 0
    for chance, after in ((share, (wolves - 1, others)), (1 - share, (wolves, others - 1))):
        if over(*after):
            total += chance * (after[0] > 0)
        else:
            total += chance * wolves_win(*after, hit)
    return total


def shared(wolves: int, others: int) -> float:
    return wolf_is_executed(wolves, others, "shared")


def independent(wolves: int, others: int) -> float:
    return wolf_is_executed(wolves, others, "independent")


@dataclass(frozen=True)
class Story:
    """One course of a game: the living at each kill and vote, and whether a wolf was executed."""

    chance: Fraction
    nights: tuple[tuple[int, int], ...]  # (wolves, others) when the pack votes
    days: tuple[tuple[int, int], ...]  # (wolves, others) when all vote
    hits: tuple[bool, ...]  # of each vote
    won_by_wolves: bool


def stories(wolves: int, others: int) -> list[Story]:
    """Every course of a game."""
    return _tell(wolves, others, Fraction(1), (), (), ())


def _tell(w: int, v: int, chance: Fraction, nights: Any, days: Any, hits: Any) -> list[Story]:
    nights = (*nights, (w, v))
    v -= 1
    if over(w, v):
        return [Story(chance, nights, days, hits, w > 0)]
    days = (*days, (w, v))
    told = []
    for hit, share in ((True, Fraction(w, w + v)), (False, Fraction(v, w + v))):
        after = (w - 1, v) if hit else (w, v - 1)
        record = (chance * share, nights, days, (*hits, hit))
        if over(*after):
            told.append(Story(*record, after[0] > 0))
        else:
            told += _tell(*after, *record)
    return told


def expected_days(wolves: int, others: int) -> Fraction:
    return sum((s.chance * len(s.days) for s in stories(wolves, others)), Fraction(0))


def night_accord(wolves: int, others: int) -> Fraction:
    """Mean share of the pack that named its victim."""
    return mean_top(wolves, others) / wolves


def day_accord(wolves: int, others: int) -> Fraction:
    """Mean share of voters that named the executed player."""
    return mean_top(wolves + others, wolves + others) / (wolves + others)


def metrics(wolves: int, others: int) -> dict[str, Fraction]:
    """Means over games of the shares of specification 10 under random play, self-votes allowed."""
    means = dict.fromkeys(("suicide", "suicide_refnorm", "accord", "accord_refnorm", "wolf_hit"), Fraction(0))
    for story in stories(wolves, others):
        days = len(story.days)
        suicide = sum((Fraction(1, w + v) for w, v in story.days), Fraction(0))
        accord = sum((night_accord(*s) for s in story.nights), Fraction(0))
        accord += sum((day_accord(*s) for s in story.days), Fraction(0))
        means["suicide"] += story.chance * (suicide / days if days else 0)
        means["suicide_refnorm"] += story.chance * suicide / (days + 1)
        means["accord"] += story.chance * accord / (len(story.nights) + days)
        means["accord_refnorm"] += story.chance * accord / (2 * (days + 1))
        means["wolf_hit"] += story.chance * (Fraction(sum(story.hits), days) if days else 0)
    return means


def mean_returns(wolves: int, others: int) -> tuple[Fraction, Fraction]:
    """(wolf, villager): mean return of a member with the default penalties."""
    day, death, accord, victory, lost = -1, -5, -1, 25, -25
    wolf = villager = Fraction(0)
    for story in stories(wolves, others):
        w_sum = v_sum = Fraction(0)
        for w, v in story.nights:
            w_sum += accord * w * (1 - night_accord(w, v))
            v_sum += death
        for (w, v), hit in zip(story.days, story.hits, strict=True):
            charge = day + accord * (1 - day_accord(w, v))
            w_sum += w * charge + death * hit
            v_sum += v * charge + death * (not hit)
        w_sum += wolves * (victory if story.won_by_wolves else lost)
        v_sum += others * (lost if story.won_by_wolves else victory)
        wolf += story.chance * w_sum / wolves
        villager += story.chance * v_sum / others
    return wolf, villager
