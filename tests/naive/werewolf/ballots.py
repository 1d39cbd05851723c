"""Ballots: counted names, the top, and the rule for a top (specification 4)."""

from __future__ import annotations

from typing import Any

from tests.naive.werewolf.crew import NONE

Ballot = list[int]  # names in order, n = pass

REVOTE, DRAW = "revote", "draw"  # verdicts beside a seat or NONE


def counted_names(ballot: Ballot, settings: Any) -> list[int]:
    """The names of a ballot that count: of the first k, each once unless duplicates pool."""
    names = [name for name in ballot[: settings.depth] if name != settings.n_players]
    return names if settings.count_duplicates else list(dict.fromkeys(names))


def count(ballots: list[Ballot], settings: Any) -> list[int]:
    """Votes of each seat."""
    votes = [0] * settings.n_players
    for ballot in ballots:
        for name in counted_names(ballot, settings):
            votes[name] += 1
    return votes


def top_seats(votes: list[int]) -> list[int]:
    """The seats with the highest count; empty without names."""
    return [seat for seat, number in enumerate(votes) if number == max(votes) and number > 0]


def suffices(votes: int, wolves: int, others: int, settings: Any) -> bool:
    """Whether so many votes on top are enough for an execution."""
    living = wolves + others
    if settings.rule == "majority":
        return 2 * votes > living
    if settings.rule == "threshold":
        return votes / (living if settings.quota_of == "living" else others - wolves) >= settings.quota
    return True


def verdict(votes: list[int], wolves: int, others: int, revotes: int, settings: Any) -> int | str:
    """The verdict of an execution's count: a seat, NONE, a revote of the tied, or a draw among them."""
    top = top_seats(votes)
    if not top or not suffices(max(votes), wolves, others, settings):
        return NONE
    if len(top) == 1:
        return top[0]
    if settings.rule == "unique_top" or settings.tie == "none":
        return NONE
    if settings.tie == "random":
        return DRAW
    if revotes < settings.revotes:
        return REVOTE
    return DRAW if settings.revote_final == "random" else NONE


def accord_charges(ballot: Ballot, chosen: int, settings: Any) -> int:
    """How many times a voter pays `accord` when `chosen` was chosen (specification 8)."""
    if settings.accord == "flat":
        return int(chosen not in counted_names(ballot, settings))
    if chosen in ballot:
        return ballot.index(chosen)
    return settings.names if settings.rank_absent is None else settings.rank_absent
