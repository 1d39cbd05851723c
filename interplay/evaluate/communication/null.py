"""Statistics of words and their null: words permuted among the speakers of the same board (specification 17).

These permutations keep the words of a board, its speakers, the number of each team and the day. They treat boards as independent. An
attribute that is fixed over a game, such as a team, is permuted among players instead, so that a player has one value on all its boards.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.evaluate.communication.table import Array, Talk, Utterances
from interplay.kernels.permuted import STATISTICS, permuted_statistics

PERMUTATIONS = 1_000
CHUNK = 25  # permutations between two progress reports
MOST_THREADS = 8  # permutations are seeded by index, so threads do not change results
POINT = 0.95  # quantile of the null above which a statistic is significant
LEAST = 30  # utterances for a day to be reported separately


class Finding(NamedTuple):
    """One statistic and its null.

    Attributes:
        measure: e.g. ``"signal-role"``.
        statistic: ``"information"`` (bits), ``"context"``, ``"distance"``, ``"agreement"`` or ``"share"``.
        part: of the word: ``"symbol 0"``, ``"best symbol"``, ``"word"``, or ``"name"``.
        phase: name, or ``"all"``.
        day: number, or None for all days.
        number: of counted utterances.
        observed: the recorded statistic.
        null_mean: its mean over the permutations.
        null_95: their 95 % quantile.
        null_05: their 5 % quantile.
        p: share of the permutations, including the record, that reach the observed value.
        permutations: number of them.
    """

    measure: str
    statistic: str
    part: str
    phase: str
    day: int | None
    number: int
    observed: float
    null_mean: float
    null_95: float
    null_05: float
    p: float
    permutations: int

    @property
    def corrected(self) -> float:
        """The observed value minus the null's mean, which removes the bias of small tables."""
        return self.observed - self.null_mean

    @property
    def above(self) -> bool:
        """Whether the observed value exceeds the null's 95 % quantile."""
        return self.observed > self.null_95


class Spot(NamedTuple):
    """Groups of boards reported together."""

    phase: str
    day: int | None
    groups: Array  # (G,) bool


class Cases(NamedTuple):
    """Counted utterances in the form of the kernel.

    Attributes:
        start: (B + 1,) first row of each board.
        group: (B,) table of each board: one for each phase and day.
        spots: reported sets of groups: all, each phase, each day of a phase.
        code: (U, C) int32 readings of the utterance, -1 = none.
        parts: names of the C readings.
        word: (U,) index of the whole word.
        block: (N + 1,) first of the rows of a board that are permuted, those that spoke on the same boards of a stretch.
        like: (N,) first block of the same speakers in the stretch, which has the same permutation.
        utterances: the U rows.
    """

    start: Array
    group: Array
    spots: tuple[Spot, ...]
    code: Array
    parts: tuple[str, ...]
    word: Array
    block: Array
    like: Array
    utterances: Utterances


class Players(NamedTuple):
    """Players of games in the form of the kernel; without players its rows.

    Attributes:
        player: (U,) player of each utterance; (0,) permutes utterances.
        block: (N + 1,) first of the players of a game that spoke on the same boards; or of rows, see `Cases`.
        like: (N,) block that has the same permutation.
        alike: (A + 1,) first of the games with as many players that spoke on the same boards.
    """

    player: Array
    block: Array
    like: Array
    alike: Array


def beside_null(observed: float, null: Array) -> dict[str, Any]:
    """The fields of a `Finding` that compare a value with its null (P,).

    Example:
        >>> found = beside_null(3.0, np.array([0.0, 1.0, 2.0, 3.0]))
        >>> found["null_mean"], found["p"], found["permutations"]
        (1.5, 0.4, 4)
    """
    low, high = np.quantile(null, [1 - POINT, POINT], method="inverted_cdf")
    reached = int((null >= observed - 1e-12 * max(1.0, abs(observed))).sum())
    return {
        "observed": float(observed),
        "null_mean": float(null.mean()),
        "null_95": float(high),
        "null_05": float(low),
        "p": (1 + reached) / (1 + len(null)),
        "permutations": len(null),
    }


def find_spots(talk: Talk, phase: Array, day: Array) -> tuple[Array, tuple[Spot, ...]]:
    """Groups boards by phase and day.

    Returns:
        (B,) index of each board's group, and the spots: all, then each phase, then each day of it.
    """
    keys, group = np.unique(np.stack([phase, day], axis=1), axis=0, return_inverse=True)
    names = talk.about.phases
    spots = [Spot("all", None, np.ones(len(keys), bool))]
    for number in np.unique(keys[:, 0]):
        own = keys[:, 0] == number
        spots.append(Spot(names[number], None, own))
        if own.sum() > 1:
            spots += [
                Spot(names[number], int(keys[g, 1]), np.arange(len(keys)) == g) for g in np.flatnonzero(own)
            ]
    return group.reshape(-1), tuple(spots)


def permute(
    cases: Cases,
    weight: Array,
    *,
    named: Array | None = None,
    by_player: bool = False,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Array, Array]:
    """Statistics of the record and of its permutations.

    Args:
        weight: (U, Y) int, counts of each utterance by the other variable.
        named: (U,) row of the seat named by the speaker, or -1; then the variable is whether that seat sent another word.
        by_player: the variable is fixed over a game and permuted among `alike` players; else words, among the speakers of a board.

    Returns:
        (1 + P, spots, C, 5) the statistics, the record's first; (spots,) counted utterances.
    """
    if permutations < 1:
        raise UserError(f"permutations = {permutations}: a null needs at least one; 1000 are usual")
    rows = len(cases.word)
    weight = np.ascontiguousarray(weight if named is None else np.zeros((rows, 2)), np.int32)
    single = bool((weight.sum(axis=1) <= 1).all())  # a faster branch of the kernel
    thing = np.where(weight.any(axis=1), weight.argmax(axis=1), -1).astype(np.int32)
    counted = weight.any(axis=1) if named is None else named >= 0
    players = Players(np.zeros(0, np.int64), cases.block, cases.like, np.zeros(1, np.int64))
    if by_player:
        players = order_players(cases)
        of_rows, thing = thing, np.zeros(players.block[-1], np.int32)
        thing[players.player] = of_rows
    pools = np.stack([spot.groups for spot in cases.spots])
    sizes = np.maximum(cases.code.max(axis=0, initial=0) + 1, 1).astype(np.int64)
    words = int(sizes.max())
    most = int(weight.sum()) if named is None else rows
    n_log_n = np.arange(most + 1, dtype=np.float64)
    n_log_n[1:] *= np.log2(n_log_n[1:])
    out = np.zeros((permutations + 1, len(pools), len(cases.parts), len(STATISTICS)))

    def measure(first: int) -> int:
        permuted_statistics(
            cases.start,
            cases.group,
            cases.code,
            sizes,
            thing if single else thing[:0],
            weight,
            np.zeros(0, np.int64) if named is None else named.astype(np.int64),
            cases.word,
            *players,
            pools,
            n_log_n,
            np.uint64(seed),
            first,
            np.zeros(players.block[-1], np.int64),
            np.zeros(players.alike[-1], np.int64),
            np.zeros((pools.shape[1], len(cases.parts), words, weight.shape[1]), np.int32),
            np.zeros((words + 1, weight.shape[1] + 1), np.int64),
            out[first : first + CHUNK],
        )
        return min(first + CHUNK, permutations)

    with ThreadPoolExecutor(min(MOST_THREADS, os.cpu_count() or 1)) as pool:
        for done in pool.map(measure, range(0, permutations + 1, CHUNK)):
            if progress is not None:
                progress(done, permutations)
    board = np.repeat(np.arange(len(cases.group)), np.diff(cases.start))
    per_group = np.bincount(cases.group[board], counted, minlength=pools.shape[1])
    return out, (pools @ per_group).astype(np.int64)


def order_players(cases: Cases) -> Players:
    """Numbers the players by games that are alike, by game, and by the boards on which they spoke."""
    said = cases.utterances
    spans, game = spans_of(said, said.game, np.repeat(cases.group, np.diff(cases.start)))
    games, seats = spans.shape
    kind = _numbered(np.sort(spans, axis=1))
    owner = np.repeat(np.arange(games), seats)
    order = np.lexsort((spans.reshape(-1), owner, kind[owner]))
    block = runs(owner[order], spans.reshape(-1)[order])
    return Players(
        np.argsort(order)[game * seats + said.speaker],
        block,
        np.arange(len(block) - 1),
        np.concatenate([[0], np.cumsum(np.bincount(kind))]),
    )


def spans_of(said: Utterances, stretch: Array, label: Array) -> tuple[Array, Array]:
    """Compares on which boards of a stretch seats spoke.

    Args:
        stretch: (U,) of boards, such as a game, ascending.
        label: (U,) of boards; boards of two stretches compare by their place and label.

    Returns:
        (S, n) number of each seat's set of boards, and (U,) the index of each stretch.
    """
    board = np.unique(said.board, return_inverse=True)[1]
    number = np.unique(stretch, return_inverse=True)[1]
    of_board = number[runs(board)[:-1]]
    place = np.arange(len(of_board)) - np.searchsorted(of_board, of_board)
    spoke = np.full((number.max() + 1, said.speaker.max() + 1, place.max() + 1), -1)
    spoke[number, said.speaker, place[board]] = label
    return _numbered(spoke.reshape(-1, spoke.shape[2])).reshape(spoke.shape[:2]), number


def runs(*columns: Array) -> Array:
    """First row of each run of equal rows, and the number of rows."""
    changes = np.any([np.diff(column) != 0 for column in columns], axis=0)
    return np.concatenate([[0], np.flatnonzero(changes) + 1, [len(columns[0])]])


def _numbered(rows: Array) -> Array:
    """(N,) index of each distinct row."""
    return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)


def findings(
    measure: str, statistic: str, cases: Cases, found: Array, counts: Array, parts: Sequence[str] = ()
) -> list[Finding]:
    """Findings of one statistic at every spot; longer words also get the maximum over their symbols.

    Args:
        found: (1 + P, spots, C, 5), of `permute`.
        counts: (spots,) utterances.
        parts: readings to report; empty: all.
    """
    values = found[..., STATISTICS.index(statistic)]
    places = [c for c, part in enumerate(cases.parts) if part.startswith("symbol")]
    reported = []
    for q, spot in enumerate(cases.spots):
        if spot.day is not None and counts[q] < LEAST:
            continue
        series = {part: values[:, q, c] for c, part in enumerate(cases.parts) if not parts or part in parts}
        if len(places) > 1 and not parts:
            series["best symbol"] = values[:, q, places].max(axis=1)
        reported += [
            Finding(
                measure,
                statistic,
                part,
                spot.phase,
                spot.day,
                int(counts[q]),
                **beside_null(line[0], line[1:]),
            )
            for part, line in series.items()
        ]
    return reported
