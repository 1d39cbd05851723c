"""A villager's exact belief: all deals one by one, likelihoods multiplied by hand."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

ZERO, ONE = Fraction(0), Fraction(1)


class Event(NamedTuple):
    """The public events of one step."""

    talk: bool  # it was a public talk ...
    vote: bool  # ... or an execution's vote; neither: the night
    before: frozenset[int]  # living when it began
    after: frozenset[int]  # living when it was over
    legal: frozenset[int]  # who could be named
    names: list[list[int]]  # of each seat; -1: nobody
    words: list[list[int]]
    eaten: int | None  # killed by wolves in this step
    goes_on: bool  # after it the game was not over


class Game(NamedTuple):
    """The relevant rules, and assumptions about the players."""

    players: int
    wolves: int
    symbols: int
    self_vote: bool
    passes: bool  # a vote may be a pass
    wolf_ways: Sequence[str]
    villager_way: str
    wolf_word: list[int] | None
    villager_word: list[int] | None


def guesses(game: Game, events: Sequence[Event], viewer: int) -> list[Fraction]:
    """The chance that each seat is a wolf, for a villager; Bayes' rule over every deal and every assumed wolf."""
    seats, total = [ZERO] * game.players, ZERO
    for pack in combinations(range(game.players), game.wolves):
        if viewer in pack:
            continue
        for way in game.wolf_ways:
            p = likelihood(game, events, frozenset(pack), way, viewer)
            total += p
            for seat in pack:
                seats[seat] += p
    return [seat / total for seat in seats]


def likelihood(game: Game, events: Sequence[Event], pack: frozenset[int], way: str, viewer: int) -> Fraction:
    """The chance of the others' actions and of the deaths, in this deal."""
    p = ONE
    silent = set(range(game.players))
    for event in events:
        if event.talk or event.vote:
            p *= board_chance(game, event, pack, way, viewer, silent)
            silent = {j for j in range(game.players) if event.words[j] != game.villager_word}
        if event.eaten is not None:
            prey = event.before - pack
            p *= Fraction(1, len(prey)) if event.eaten in prey else ZERO
        wolves = event.after & pack
        if event.goes_on and (not wolves or len(wolves) >= len(event.after - pack)):
            return ZERO
    return p


def board_chance(
    game: Game, event: Event, pack: frozenset[int], way: str, viewer: int, silent: set[int]
) -> Fraction:
    p = ONE
    for seat in event.before - {viewer}:
        p *= word_chance(game, event.words[seat], game.wolf_word if seat in pack else game.villager_word)
        if seat not in pack:
            p *= villager_chance(game, event, seat, silent)
        elif way != "unite" or event.talk or not event.legal - pack:
            p *= wolf_chance(game, event, seat, pack, way)
    united = sorted(event.before & pack)
    if way == "unite" and event.vote and united and event.legal - pack:
        said = {name for seat in united for name in event.names[seat]}
        agreed = len(said) == 1 and said <= event.legal - pack
        p *= Fraction(1, len(event.legal - pack)) if agreed else ZERO
    return p


def word_chance(game: Game, word: list[int], always: list[int] | None) -> Fraction:
    if always is None:
        return Fraction(1, game.symbols ** len(word))
    return ONE if word == always else ZERO


def own_names(game: Game, event: Event, seat: int) -> frozenset[int]:
    return event.legal - ({seat} if event.vote and not game.self_vote else frozenset())


def villager_chance(game: Game, event: Event, seat: int, silent: set[int]) -> Fraction:
    legal = own_names(game, event, seat)
    if game.villager_way == "random":
        return each(event.names[seat], legal | ({-1} if game.passes and event.vote else frozenset()))
    suspects = legal & silent or legal
    said = set(event.names[seat])
    return Fraction(1, len(suspects)) if len(said) == 1 and said <= suspects else ZERO


def wolf_chance(game: Game, event: Event, seat: int, pack: frozenset[int], way: str) -> Fraction:
    legal = own_names(game, event, seat)
    if way == "random":
        return each(event.names[seat], legal | ({-1} if game.passes and event.vote else frozenset()))
    outside = legal - pack
    return each(event.names[seat], outside if way == "avoid_wolves" and outside else legal)


def each(names: list[int], among: frozenset[int]) -> Fraction:
    p = ONE
    for name in names:
        p *= Fraction(1, len(among)) if name in among else ZERO
    return p
