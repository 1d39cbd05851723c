"""Exact probabilities of whole games under random play with one extra role: chains over who is living, by role.

Games begin with a night. A guard, a hunter or a witch chooses uniformly among what it may choose.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache

from tests.worlds.werewolf.chains import over, wolves_win


@cache
def wolves_win_with_guard(wolves: int, plain: int, guard: bool = True) -> Fraction:
    """P(wolves) before a night, one guard among the others: it guards another living player, uniformly."""
    others = plain + guard
    total = Fraction(0)
    saved = Fraction(plain, others) * Fraction(1, wolves + others - 1) if guard else Fraction(0)
    nights = [(saved, plain, guard), (Fraction(plain, others) - saved, plain - 1, guard)]
    if guard:
        nights.append((Fraction(1, others), plain, False))
    for chance, p, g in nights:
        if not chance:
            continue
        if over(wolves, p + g):
            total += chance
            continue
        living = wolves + p + g
        days = [(wolves, wolves - 1, p, g), (p, wolves, p - 1, g)] + ([(1, wolves, p, False)] if g else [])
        for number, w2, p2, g2 in days:
            if not number:
                continue
            won = Fraction(w2 > 0) if over(w2, p2 + g2) else wolves_win_with_guard(w2, p2, g2)
            total += chance * Fraction(number, living) * won
    return total


Crew = tuple[int, int, bool]  # wolves, plain others, whether the hunter lives


@cache
def wolves_win_with_hunter(wolves: int, plain: int, hunter: bool = True) -> Fraction:
    """P(wolves) before a night, one hunter among the others: whenever it dies it shoots a living player, uniformly."""
    others = plain + hunter
    nights: list[tuple[Fraction, Crew]] = []
    if plain:
        nights.append((Fraction(plain, others), (wolves, plain - 1, hunter)))
    if hunter:
        nights += _shots(Fraction(1, others), wolves, plain)
    total = Fraction(0)
    for chance, (w, p, h) in nights:
        if over(w, p + h):
            total += chance * (w > 0)
            continue
        living = w + p + h
        days = [(Fraction(w, living), (w - 1, p, h))]
        days += [(Fraction(p, living), (w, p - 1, h))] if p else []
        days += _shots(Fraction(1, living), w, p) if h else []
        for share, (w2, p2, h2) in days:
            won = Fraction(w2 > 0) if over(w2, p2 + h2) else wolves_win_with_hunter(w2, p2, h2)
            total += chance * share * won
    return total


def _shots(chance: Fraction, wolves: int, plain: int) -> list[tuple[Fraction, Crew]]:
    """The living after a dead hunter's shot, with probabilities."""
    living = wolves + plain
    shots = [(chance * Fraction(wolves, living), (wolves - 1, plain, False))]
    if plain:
        shots.append((chance * Fraction(plain, living), (wolves, plain - 1, False)))
    return shots


@cache
def wolves_win_with_witch(wolves: int, plain: int, potions: tuple[bool, bool] = (True, True)) -> Fraction:
    """P(wolves) before a night with a living witch that still has (heal, poison)."""
    others = plain + 1
    total = Fraction(0)
    if plain:
        for chance, w, p, left in _brews(wolves, plain, potions, witch_attacked=False):
            total += Fraction(plain, others) * chance * _after_dawn(w, p, True, left)
    for chance, w, p, left in _brews(wolves, plain, potions, witch_attacked=True):
        healed = potions[0] and not left[0]
        total += Fraction(1, others) * chance * _after_dawn(w, p, healed, left)
    return total


def _after_dawn(wolves: int, plain: int, witch: bool, potions: tuple[bool, bool]) -> Fraction:
    """P(wolves) before the vote of a day."""
    if over(wolves, plain + witch):
        return Fraction(wolves > 0)
    living, total = wolves + plain + witch, Fraction(0)
    for number, w, p, lives in ((wolves, wolves - 1, plain, witch), (plain, wolves, plain - 1, witch)):
        if number:
            total += Fraction(number, living) * _after_dusk(w, p, lives, potions)
    if witch:
        total += Fraction(1, living) * _after_dusk(wolves, plain, False, potions)
    return total


def _after_dusk(wolves: int, plain: int, witch: bool, potions: tuple[bool, bool]) -> Fraction:
    """P(wolves) after the vote of a day."""
    if over(wolves, plain + witch):
        return Fraction(wolves > 0)
    return wolves_win_with_witch(wolves, plain, potions) if witch else wolves_win(wolves, plain)


Night = tuple[Fraction, int, int, tuple[bool, bool]]  # chance, wolves and plain others at dawn, potions left


def _brews(wolves: int, plain: int, potions: tuple[bool, bool], witch_attacked: bool) -> list[Night]:
    """What a witch may do in a night in which she herself, or a plain player, is attacked: all equally likely."""
    heal, poison = potions
    dying = 0 if witch_attacked else 1  # plain players that die without a potion
    ways = [(1, wolves, plain - dying, potions)]  # a pass
    if heal:
        ways.append((1, wolves, plain, (False, poison)))
    if poison:
        spent = (heal, False)
        ways.append((wolves, wolves - 1, plain - dying, spent))
        ways.append((plain - dying, wolves, plain - dying - 1, spent))
        if not witch_attacked and not heal:  # poisoning the victim changes nothing else
            ways.append((1, wolves, plain - 1, spent))
    total = sum(number for number, *_ in ways)
    return [(Fraction(number, total), w, p, left) for number, w, p, left in ways if number]
