"""Deception by the hidden team: bussing, accusations, claims, changed names (specification 17).

Each share has a null: the same actions permuted among the speakers of the same board, so the number per board is hypergeometric.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from interplay.evaluate.communication.null import PERMUTATIONS, beside_null, permute
from interplay.evaluate.communication.signals import prepare
from interplay.evaluate.communication.table import EXECUTION, NONE, TALK, Array, Talk
from interplay.kernels.permuted import AGREEMENT

CLAIM, ACCUSE, DEFEND = "claim", "accuse", "defend"


class Share(NamedTuple):
    """A share and its null.

    Attributes:
        name: of the measure.
        number: of cases.
        observed, null_mean, null_05, null_95, p, permutations: as in `null.Finding`; NaN without cases.
        p_below: share of the permutations, including the record, at or below the observed value.
    """

    name: str
    number: int
    observed: float
    null_mean: float
    null_05: float
    null_95: float
    p: float
    p_below: float
    permutations: int

    @property
    def unusual(self) -> str:
        """``"more"`` or ``"less"`` than chance at a one-sided level of 5 %, else ``""``."""
        if not self.number:
            return ""
        return "more" if self.p <= 0.05 else "less" if self.p_below <= 0.05 else ""


def bussing(talk: Talk, permutations: int = PERMUTATIONS, seed: int = 0) -> Share:
    """Share of the wolves' day votes that name a wolf; null: the board's votes permuted among its voters."""
    votes = talk.votes(EXECUTION)
    wolves = talk.about.wolves
    board = votes.board
    size = len(talk.boards.game)
    drawn = np.bincount(board[votes.team == wolves], minlength=size)
    hits = np.bincount(board[votes.named_team == wolves], minlength=size)
    voters = np.bincount(board, minlength=size)
    both = int(((votes.team == wolves) & (votes.named_team == wolves)).sum())
    return _share("bussing", both, drawn, hits, voters, int(drawn.sum()), permutations, seed)


def false_accusations(talk: Talk, permutations: int = PERMUTATIONS, seed: int = 0) -> Share:
    """For executed villagers named in that day's talk: the share of wolves among the first accusers.

    Null: the names of that board permuted among its speakers.
    """
    boards, wolves = talk.boards, talk.about.wolves
    held = np.flatnonzero((boards.counted == EXECUTION) & (boards.chosen >= 0))
    victim = boards.chosen[held]
    hit = talk.team_of(boards.game[held], victim) != wolves
    held, victim = held[hit], victim[hit]
    first = _first_board_naming(talk, held, victim)
    known = first >= 0
    first, victim = first[known], victim[known]
    spoke = boards.spoke[first]
    namers = spoke & (boards.names[first, :, 0] == victim[:, None])
    wolf = talk.games.team[boards.game[first]] == wolves
    number = namers.sum(axis=1)
    observed = (namers & wolf).sum(axis=1) / np.maximum(number, 1)
    rng = np.random.default_rng([seed, 1])
    among, all_ = (spoke & wolf).sum(axis=1), spoke.sum(axis=1)
    if not len(first):
        return _no_cases("false accusation")
    null = rng.hypergeometric(among, all_ - among, number, (permutations, len(first))) / number
    return _beside("false accusation", len(first), float(observed.mean()), null.mean(axis=1))


def vote_switching(talk: Talk, permutations: int = PERMUTATIONS, seed: int = 0) -> list[Share]:
    """Share of votes that differ from the voter's name in the day's last talk, in total and by team.

    Null: the names of the talk permuted among its speakers.
    """
    held = np.flatnonzero(talk.boards.counted == EXECUTION)
    before = _last_talk(talk, held)
    rows = np.isin(np.arange(len(talk.boards.game)), before[before >= 0])
    names = ["all", *talk.about.teams]
    if not (rows[:, None] & talk.boards.spoke & (talk.boards.names[:, :, 0] >= 0)).any():
        return [_no_cases(f"switch, {name}") for name in names]
    cases = prepare(talk, rows)
    at = cases.parts.index("name")
    utterances = cases.utterances
    cases = cases._replace(code=np.ascontiguousarray(cases.code[:, [at]]), parts=("name",))
    voted = talk.next_votes()[utterances.board, utterances.speaker]
    both = (voted >= 0) & (utterances.name >= 0)
    found = []
    for team, name in enumerate(names, -1):
        counted = both & ((utterances.role == team) | (team < 0))
        weight = (np.where(counted, voted, -1)[:, None] == np.arange(talk.seats)).astype(np.int32)
        kept = 1 - permute(cases, weight, permutations=permutations, seed=seed)[0][:, 0, 0, AGREEMENT]
        count = int(counted.sum())
        found.append(
            _beside(f"switch, {name}", count, kept[0], kept[1:]) if count else _no_cases(f"switch, {name}")
        )
    return found


def truthfulness(talk: Talk, permutations: int = PERMUTATIONS, seed: int = 0) -> list[Share]:
    """Share of true statements by team; empty without structured claims.

    A claim states the role of its subject; an accusation, that its subject belongs to the hiding team; a defence, that it does not.
    Null: the truth of the board's statements permuted among their speakers.
    """
    verbs = talk.about.verbs
    if not verbs:
        return []
    utterances = talk.utterances()
    verb, subject, role = utterances.word[:, -3], utterances.word[:, -2], utterances.word[:, -1]
    about_somebody = (subject >= 0) & (subject < talk.seats)
    at = np.where(about_somebody, subject, 0)
    hides = talk.games.team[utterances.game, at] == talk.about.wolves
    kind = {name: verb == verbs.index(name) for name in (CLAIM, ACCUSE, DEFEND) if name in verbs}
    made = np.any(list(kind.values()), axis=0) & about_somebody
    true = np.zeros(len(verb), bool)
    for name, chosen in kind.items():
        right = {CLAIM: talk.games.role[utterances.game, at] == role, ACCUSE: hides, DEFEND: ~hides}[name]
        true[chosen] = right[chosen]
    size = len(talk.boards.game)
    all_made = np.bincount(utterances.board[made], minlength=size)
    all_true = np.bincount(utterances.board[made & true], minlength=size)
    found = []
    for t, name in enumerate(talk.about.teams):
        own = made & (utterances.role == t)
        drawn = np.bincount(utterances.board[own], minlength=size)
        both = int((own & true).sum())
        found.append(
            _share(f"true, {name}", both, drawn, all_true, all_made, int(own.sum()), permutations, seed)
        )
    return found


def _share(
    name: str, both: int, drawn: Array, marked: Array, size: Array, count: int, permutations: int, seed: int
) -> Share:
    """A share both / count; its null draws `drawn` of `size` with `marked` marks on each board."""
    if not count:
        return _no_cases(name)
    rng = np.random.default_rng([seed, 3])
    some = (drawn > 0) & (marked > 0)
    null = rng.hypergeometric(
        marked[some], (size - marked)[some], drawn[some], (permutations, int(some.sum()))
    ).sum(axis=1)
    return _beside(name, count, both / count, null / count)


def _beside(name: str, count: int, observed: float, null: Array) -> Share:
    found = beside_null(observed, null)
    below = (1 + int((null <= observed + 1e-12).sum())) / (1 + len(null))
    return Share(name=name, number=count, p_below=below, **found)


def _no_cases(name: str) -> Share:
    nan = float("nan")
    return Share(name, 0, nan, nan, nan, nan, nan, nan, 0)


def _last_talk(talk: Talk, held: Array) -> Array:
    """(H,) the last public talk board of the day before each execution, or NONE."""
    boards = talk.boards
    rows = np.flatnonzero((boards.counted == TALK) & boards.public)
    return _on_the_day(talk, held, np.append(rows, NONE)[np.searchsorted(rows, held) - 1])


def _first_board_naming(talk: Talk, held: Array, victim: Array) -> Array:
    """(H,) the day's first public talk board that names the victim, or NONE."""
    boards = talk.boards
    found = np.full(len(held), NONE)
    at = _last_talk(talk, held)
    while (at >= 0).any():
        safe = np.maximum(at, 0)
        named = ((boards.names[safe, :, 0] == victim[:, None]) & boards.spoke[safe]).any(axis=1) & (at >= 0)
        found[named] = at[named]
        at = np.where(at >= 0, _last_talk(talk, at), NONE)
    return found


def _on_the_day(talk: Talk, held: Array, before: Array) -> Array:
    boards = talk.boards
    same = (
        (before >= 0) & (boards.game[before] == boards.game[held]) & (boards.day[before] == boards.day[held])
    )
    return np.where(same, before, NONE)
