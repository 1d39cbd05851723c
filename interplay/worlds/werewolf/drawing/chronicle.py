"""A game's state as text: heading, events, and the board with a row per seat (specification 10)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from interplay.core.transcript import Line, Span, line
from interplay.worlds.werewolf.config import VERBS
from interplay.worlds.werewolf.drawing.spectator import HIDDEN, Moment, fate_of
from interplay.worlds.werewolf.roles import NAMES, ROLES, VILLAGERS, WOLVES

if TYPE_CHECKING:
    from interplay.worlds.werewolf.config import WerewolfSettings

MOST_NAMES = 6  # of a ballot that are written out
MOST_SYMBOLS = 24  # of a word
COLOURS = 7  # of the palette: symbols of higher numbers have none
TEAMS = {VILLAGERS: "the villagers", WOLVES: "the wolves"}
TEAM_COLOURS = {VILLAGERS: 0, WOLVES: 5}  # palette numbers: blue and vermilion


def describe(moment: Moment, settings: WerewolfSettings) -> Iterator[Line]:
    """Describes the last step, or the beginning of the game."""
    yield line(Span(heading(moment), strong=True))
    if moment.phase == "":
        yield line(crew(settings))
    if moment.shown:
        yield from board(moment, settings)
        if moment.votes.any():
            yield line("votes: " if moment.counted else "named: ", standings(moment))
    for secret in moment.secrets:
        yield line(Span(secret, faint=True))
    for event in happenings(moment):
        yield line(Span(event, strong=True))
    if moment.over:
        yield from reveal_roles(moment)


def heading(moment: Moment) -> str:
    """E.g. ``"day 0, day talk, round 2 of 3"``."""
    if moment.phase == "":
        return f"the game begins with the {spaced(moment.following)}"
    several = f", round {moment.round} of {moment.rounds}" if moment.rounds > 1 else ""
    return f"day {moment.day}, {spaced(moment.phase)}{several}"


def happenings(moment: Moment) -> Iterator[str]:
    """The events of the phase: deaths, a revote, no death, the end."""
    for seat in np.flatnonzero(moment.fallen):
        yield f"seat {seat} is {fate_of(moment, int(seat))}"
    if moment.suspect.any():
        yield f"the vote is tied: another one among {listed(np.flatnonzero(moment.suspect))}"
    elif moment.counted and not moment.fallen.any() and not moment.night:
        yield "nobody is executed"
    elif (
        (moment.counted or moment.phase == "potions")
        and not moment.fallen.any()
        and moment.following != "potions"
    ):
        yield "nobody dies this night"
    if moment.cut:
        yield f"the game is cut after {moment.day + 1} days"
    elif moment.over:
        yield f"{TEAMS[moment.winner]} win"


def standings(moment: Moment) -> str:
    """The vote counts, the most named seat first: ``"5 x 3, 2 x 1"``."""
    order = np.lexsort((np.arange(len(moment.votes)), -moment.votes))
    return ", ".join(f"{seat} x {moment.votes[seat]}" for seat in order if moment.votes[seat])


def board(moment: Moment, settings: WerewolfSettings) -> Iterator[Line]:
    """One row per seat: role if known, names, word; for the dead the cause of death."""
    known = bool((moment.roles != HIDDEN).any())
    speaks = bool(settings.word_length)
    names = [ballot(moment.names[seat]) for seat in range(len(moment.alive))]
    wide = max(5, *map(len, names))
    head = "seat" + "  role" * known + "  " + "names".rjust(wide) + "  word" * speaks
    yield line(Span(head, faint=True))
    for seat, named in enumerate(names):
        role = int(moment.roles[seat])
        start = [Span(f"{seat:>4}"), *([_mark(role)] if known else [])]
        if not moment.alive[seat] and not moment.fallen[seat]:
            yield line(*start, "  ", Span(f"{fate_of(moment, seat)}", faint=True))
        else:
            spoken = word(moment.words[seat], settings) if speaks else ()
            yield line(*start, "  " + named.rjust(wide), "  ", *spoken)


def ballot(names: np.ndarray) -> str:
    """The names of a ballot in their order: ``"5>2>0"``, ``"-"`` for none.

    Example:
        >>> ballot(np.array([5, 2, -1])), ballot(np.array([-1])), ballot(np.arange(20))
        ('5>2', '-', '0>1>2>3>4>5>..')
    """
    given = [str(name) for name in names if name >= 0]
    more = [".."] if len(given) > MOST_NAMES else []
    return ">".join(given[:MOST_NAMES] + more) or "-"


def word(symbols: np.ndarray, settings: WerewolfSettings) -> Line:
    """A word's symbols in their colours, then its structured claim as text."""
    if (symbols < 0).all():
        return ()
    spans: list[Span] = []
    length = settings.signal_length
    for symbol in symbols[: min(length, MOST_SYMBOLS)]:
        spans.append(Span(f"{symbol} ", colour=int(symbol) if symbol < COLOURS else None))
    if length > MOST_SYMBOLS:
        spans.append(Span(f"and {length - MOST_SYMBOLS} more ", faint=True))
    if settings.claims:
        spans.append(Span(claim(symbols[length:], settings.n_players)))
    return tuple(spans)


def claim(parts: np.ndarray, players: int, short: bool = False) -> str:
    """A structured claim: ``"accuse 3 werewolf"``; short: ``"accuse 3 W"``.

    Example:
        >>> claim(np.array([2, 3, 1]), 9), claim(np.array([0, 9, 0]), 9), claim(np.array([1, 9, 2]), 9)
        ('accuse 3 werewolf', 'skip', 'claim seer')
    """
    verb, subject, role = (int(part) for part in parts)
    if VERBS[verb] == "skip":
        return "skip"
    about = f" {subject}" if subject < players else ""
    return f"{VERBS[verb]}{about} {ROLES[role].mark if short else NAMES[role]}"


def reveal_roles(moment: Moment) -> Iterator[Line]:
    """The seats of each role, once the game is over."""
    for number, role in enumerate(ROLES):
        seats = np.flatnonzero(moment.roles == number)
        if len(seats) and role.name != "villager":
            yield line(Span(role.name, colour=TEAM_COLOURS[role.team]), f": {listed(seats)}")


def listed(seats: np.ndarray) -> str:
    """Seats as a list: ``"2, 5 and 7"``.

    Example:
        >>> listed(np.array([2, 5, 7])), listed(np.array([2]))
        ('2, 5 and 7', '2')
    """
    words = [str(seat) for seat in seats]
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]


def spaced(name: str) -> str:
    """A phase's name with spaces: ``"day talk"``."""
    return name.replace("_", " ")


def crew(settings: WerewolfSettings) -> str:
    """The line-up: ``"9 players: 6 villagers, 3 werewolves"``."""
    counts = [
        f"{count} {name}{'s' * (count > 1)}"
        for name, count in zip(NAMES, settings.crew, strict=True)
        if count
    ]
    return f"{settings.n_players} players: " + ", ".join(counts).replace("werewolfs", "werewolves")


def _mark(role: int) -> Span:
    if role == HIDDEN:
        return Span(f"{'?':>6}", faint=True)
    return Span(f"{ROLES[role].mark:>6}", colour=TEAM_COLOURS[ROLES[role].team], strong=True)
