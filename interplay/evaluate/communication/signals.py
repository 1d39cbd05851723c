"""Information of words about their speaker's role and next vote (specification 17), with permutation nulls."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from interplay.core.errors import UserError
from interplay.evaluate.communication.null import (
    PERMUTATIONS,
    Cases,
    Finding,
    find_spots,
    findings,
    permute,
    runs,
    spans_of,
)
from interplay.evaluate.communication.table import EXECUTION, Array, Talk, pick, whole_words
from interplay.evaluate.progress import Progress, no_progress

PER_CELL = 10  # utterances per cell of the table for whole words to be analysed


def prepare(talk: Talk, rows: Array | None = None, stretch: Array | None = None) -> Cases:
    """Utterances with their readings: each symbol, the whole word given enough data, and the name.

    Args:
        rows: (B,) bool; None: the public boards.
        stretch: (B,) next execution, over which a vote is fixed: its boards are permuted alike; None: each for itself.
    """
    utterances = talk.utterances(rows)
    if not len(utterances.board):
        raise UserError(f"{talk.about.world}: no utterances on these boards; record longer games")
    of_rows = utterances.board if stretch is None else stretch[utterances.board]
    spans, number = spans_of(utterances, of_rows, np.zeros_like(of_rows))
    span = spans[number, utterances.speaker]
    order = np.lexsort((span, utterances.board))
    utterances, span, number = pick(utterances, order), span[order], number[order]
    start, block = runs(utterances.board), runs(utterances.board, span)
    keys = np.stack([number, span], axis=1)[block[:-1]]
    first, same = np.unique(keys, axis=0, return_index=True, return_inverse=True)[1:]
    group, spots = find_spots(talk, utterances.phase[start[:-1]], utterances.day[start[:-1]])
    word = whole_words(utterances.word)
    parts = [f"symbol {place}" for place in range(utterances.word.shape[1])]
    readings = [utterances.word[:, place] for place in range(utterances.word.shape[1])]
    spoken = (utterances.word >= 0).all(axis=1) if readings else np.zeros(0, bool)
    different = len(np.unique(word[spoken])) if readings else 0
    kinds = len(talk.about.teams) if stretch is None else talk.seats  # of the other variable
    if len(readings) > 1 and different and len(word) >= PER_CELL * different * kinds:
        parts.append("word")
        readings.append(np.where(spoken, np.unique(word, return_inverse=True)[1], -1))
    if (utterances.name >= 0).any():
        parts.append("name")
        readings.append(utterances.name)
    if not readings:
        raise UserError(
            f"{talk.about.world}: boards with neither words nor names; choose a world with either"
        )
    return Cases(
        start=start,
        group=group.astype(np.int64),
        spots=spots,
        code=np.ascontiguousarray(np.stack(readings, axis=1), np.int32),
        parts=tuple(parts),
        word=word.astype(np.int64),
        block=block,
        like=first[same.reshape(-1)],
        utterances=utterances,
    )


def signal_role(
    talk: Talk, permutations: int = PERMUTATIONS, seed: int = 0, progress: Progress = no_progress
) -> list[Finding]:
    """I(reading; speaker's team) on public boards, context independence, and distance between teams.

    Returns:
        Findings of the statistics ``information`` (bits), ``context`` (Bogin et al. 2018: how far one word denotes one
        team) and, with two teams, ``distance``: half the summed difference between the two teams' shares of each word.
    """
    cases = prepare(talk)
    weight = np.eye(len(talk.about.teams), dtype=np.int32)[cases.utterances.role]
    found, counts = permute(
        cases,
        weight,
        by_player=True,
        permutations=permutations,
        seed=seed,
        progress=_named(progress, "words and roles"),
    )
    statistics = ["information", "context"] + ["distance"] * (len(talk.about.teams) == 2)
    return _flat(findings("signal-role", name, cases, found, counts) for name in statistics)


def signal_vote(
    talk: Talk, permutations: int = PERMUTATIONS, seed: int = 0, progress: Progress = no_progress
) -> list[Finding]:
    """Information of words about the speaker's next vote: the named seat, its team, and whether its word differed.

    ``share`` of ``signal-differs`` is the rate at which the named seat's word on the same board differed from the speaker's;
    ``agreement`` of the part ``name`` is the rate at which the vote repeats the name of the talk.
    """
    cases, vote = _with_votes(talk)
    utterances = cases.utterances
    own = _one_hot(vote, talk.seats)
    team = _one_hot(talk.team_of(utterances.game, vote), len(talk.about.teams))
    options: dict[str, Any] = {"permutations": permutations, "seed": seed}
    by_name, counts = permute(cases, own, progress=_named(progress, "words and votes"), **options)
    by_team, _ = permute(cases, team, progress=_named(progress, "words and teams of votes"), **options)
    report = findings("signal-vote", "information", cases, by_name, counts)
    if "name" in cases.parts:
        report += findings("signal-vote", "agreement", cases, by_name, counts, ("name",))
    report += findings("signal-named-role", "information", cases, by_team, counts)
    if talk.about.symbols:
        row = _row_of(talk, cases, vote)
        differs, number = permute(
            cases, own, named=row, progress=_named(progress, "votes against other words"), **options
        )
        report += findings("signal-differs", "information", cases, differs, number)
        report += findings("signal-differs", "share", cases, differs, number, cases.parts[:1])
    return report


def heard_vote(
    talk: Talk, permutations: int = PERMUTATIONS, seed: int = 0, progress: Progress = no_progress
) -> list[Finding]:
    """Information of i's word about other seats' next votes: the seat named by j, and whether it is i."""
    cases, vote = _with_votes(talk)
    utterances = cases.utterances
    board = np.repeat(np.arange(len(cases.group)), np.diff(cases.start))
    cast = np.zeros((len(cases.group), talk.seats), np.int32)
    voted = vote >= 0
    np.add.at(cast, (board[voted], vote[voted]), 1)
    others = cast[board] - _one_hot(vote, talk.seats)
    at_me = others[np.arange(len(board)), utterances.speaker]
    options: dict[str, Any] = {"permutations": permutations, "seed": seed}
    by_name, counts = permute(cases, others, progress=_named(progress, "words and others' votes"), **options)
    hits = np.stack([others.sum(axis=1) - at_me, at_me], axis=1)
    by_hit, _ = permute(
        cases, hits, progress=_named(progress, "words and votes against their speaker"), **options
    )
    report = findings("heard-vote", "information", cases, by_name, counts)
    return report + findings("heard-named-me", "information", cases, by_hit, counts)


def signals_positively(report: list[Finding]) -> bool:
    """Positive signalling: words (else names) inform about the speaker's role or next vote above chance.

    Above 95 % of the permutations for either of the two: about a tenth of silent players pass, so check p as well.
    """
    return any(
        f.above
        for f in report
        if f.measure in ("signal-role", "signal-vote")
        and f.statistic == "information"
        and f.phase == "all"
        and f.part == headline_parts(report)[0]
    )


def headline_parts(report: list[Finding]) -> tuple[str, ...]:
    """The main readings: the best symbol of a longer word, the only one of a short word; the name."""
    parts = {f.part for f in report}
    return tuple(
        part
        for part in ("best symbol", "symbol 0", "name")
        if part in parts and not (part == "symbol 0" and "best symbol" in parts)
    )


def _with_votes(talk: Talk) -> tuple[Cases, Array]:
    """Public utterances before an execution, and the speaker's vote in it (U,), -1 = none."""
    if not (talk.boards.counted == EXECUTION).any():
        raise UserError(f"{talk.about.world}: no votes; use signal_role alone")
    follows = talk.next_execution()
    cases = prepare(talk, talk.boards.public & (follows >= 0), follows)
    utterances = cases.utterances
    return cases, talk.next_votes()[utterances.board, utterances.speaker]


def _row_of(talk: Talk, cases: Cases, seat: Array) -> Array:
    """(U,) row of a seat's utterance on the same board, or -1."""
    utterances = cases.utterances
    at = np.full((len(cases.group), talk.seats), -1, np.int64)
    board = np.repeat(np.arange(len(cases.group)), np.diff(cases.start))
    at[board, utterances.speaker] = np.arange(len(board))
    return np.where(seat >= 0, at[board, np.maximum(seat, 0)], -1)


def _one_hot(number: Array, kinds: int) -> Array:
    """(U, Y) int32; a row of zeros for -1."""
    return (number[:, None] == np.arange(kinds)).astype(np.int32)


def _named(progress: Progress, what: str) -> Any:
    return lambda done, of: progress(what, done, of)


def _flat(parts: Iterable[list[Finding]]) -> list[Finding]:
    return [finding for part in parts for finding in part]
