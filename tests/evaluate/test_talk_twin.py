"""Measures of talk against slow twins that go through wild records board by board and seat by seat."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interplay.evaluate.communication.deception import (
    bussing,
    false_accusations,
    truthfulness,
    vote_switching,
)
from interplay.evaluate.communication.histories import ACTIONS, read_histories
from interplay.evaluate.communication.report import describe_language
from interplay.evaluate.communication.table import EXECUTION, TALK
from tests.evaluate.wild_talks import SEATS, SYMBOLS, WOLVES, wild_talk

seeds = st.integers(0, 2**32)


class Board:
    """One board as plain Python values."""

    def __init__(self, talk, row):
        boards = talk.boards
        self.row, self.game, self.day = row, int(boards.game[row]), int(boards.day[row])
        self.phase = talk.about.phases[boards.phase[row]]
        self.public, self.counted = bool(boards.public[row]), int(boards.counted[row])
        self.chosen = int(boards.chosen[row])
        self.team = talk.games.team[self.game].tolist()
        self.speakers = [seat for seat in range(SEATS) if boards.spoke[row, seat]]
        self.name = {seat: int(boards.names[row, seat, 0]) for seat in self.speakers}
        self.word = {seat: tuple(boards.words[row, seat].tolist()) for seat in self.speakers}


def boards_of(talk):
    return [Board(talk, row) for row in range(len(talk.boards.game))]


def same_day(boards, board):
    """The public talk boards before a board, of its game and day, in order."""
    return [
        b
        for b in boards[: board.row]
        if (b.game, b.day) == (board.game, board.day) and b.counted == TALK and b.public
    ]


def held(share, cases):
    """A `Share` is the mean of these cases, or has none."""
    assert share.number == len(cases)
    if cases:
        assert share.observed == pytest.approx(np.mean(cases))
    else:
        assert math.isnan(share.observed)


@settings(max_examples=40)
@given(seeds)
def test_bussing_is_the_share_of_wolves_votes_by_day_for_wolves(seed):
    talk = wild_talk(seed)
    cases = [
        board.team[name] == WOLVES
        for board in boards_of(talk)
        if board.counted == EXECUTION
        for seat, name in board.name.items()
        if name >= 0 and board.team[seat] == WOLVES
    ]
    held(bussing(talk, permutations=2), cases)


@settings(max_examples=60)
@given(seeds)
def test_accusations_are_those_of_the_first_talk_of_that_day_in_which_the_victim_was_named(seed):
    talk = wild_talk(seed)
    boards, cases = boards_of(talk), []
    for board in boards:
        if board.counted != EXECUTION or board.chosen < 0 or board.team[board.chosen] == WOLVES:
            continue
        namers = [
            [seat for seat, name in talked.name.items() if name == board.chosen]
            for talked in same_day(boards, board)
        ]
        first = next((found for found in namers if found), [])
        if first:
            cases.append(np.mean([board.team[seat] == WOLVES for seat in first]))
    held(false_accusations(talk, permutations=2), cases)


@settings(max_examples=60)
@given(seeds)
def test_switchers_vote_for_another_than_they_named_in_the_days_last_talk(seed):
    talk = wild_talk(seed)
    boards = boards_of(talk)
    cases = {-1: [], 0: [], WOLVES: []}
    last = {
        same_day(boards, board)[-1].row
        for board in boards
        if board.counted == EXECUTION and same_day(boards, board)
    }
    for row in sorted(last):
        talked = boards[row]
        vote = next(b for b in boards[row + 1 :] if b.counted == EXECUTION and b.game == talked.game)
        for seat, name in talked.name.items():
            voted = vote.name.get(seat, -1)
            if name >= 0 and voted >= 0:
                for group in (-1, talked.team[seat]):
                    cases[group].append(voted != name)
    for share, group in zip(vote_switching(talk, permutations=2), (-1, 0, WOLVES), strict=True):
        held(share, cases[group])


@settings(max_examples=40)
@given(seeds)
def test_statements_are_true_if_their_subject_is_what_they_say(seed):
    talk = wild_talk(seed)
    cases = {0: [], WOLVES: []}
    for board in boards_of(talk):
        if not board.public:
            continue
        for seat, (_, verb, subject, role) in board.word.items():
            if not 0 <= subject < SEATS:
                continue
            hides = board.team[subject] == WOLVES
            true = {1: talk.games.role[board.game, subject] == role, 2: hides, 3: not hides}.get(verb)
            if true is not None:
                cases[board.team[seat]].append(true)
    for share, team in zip(truthfulness(talk, permutations=2), (0, WOLVES), strict=True):
        held(share, cases[team])


@settings(max_examples=30)
@given(seeds)
def test_histories_hold_the_actions_of_each_seat_on_each_public_board(seed):
    talk = wild_talk(seed)
    histories = read_histories(talk)
    assert histories.names[-len(ACTIONS) :] == ACTIONS
    for game in range(len(talk)):
        boards = [b for b in boards_of(talk) if b.game == game and b.public]
        for place, board in enumerate(boards):
            before = boards[place - 1].name if place else {}
            for seat in range(SEATS):
                told = histories.features[game, place, seat].tolist()
                if seat not in board.speakers:
                    assert not any(told)
                    continue
                assert told == pytest.approx(actions(board, before, seat))
        assert not histories.features[game, len(boards) :].any()
        assert histories.label[game].tolist() == [team == WOLVES for team in talk.games.team[game]]
        for day in range(histories.until.shape[1]):
            own = [place for place, board in enumerate(boards) if board.day == day]
            assert histories.until[game, day] == (own[-1] + 1 if own else 0)
            living = boards[own[-1]].speakers if own else []
            assert np.flatnonzero(histories.living[game, day]).tolist() == living


def actions(board, before, seat):
    """A speaker's row: one-hot symbols, then `ACTIONS`."""
    others = [other for other in board.speakers if other != seat]
    named, word = board.name[seat], board.word[seat]
    voting = board.counted == EXECUTION
    symbols = [float(said == k) for said, count in zip(word, SYMBOLS, strict=True) for k in range(count)]
    return [
        *symbols,
        1.0,
        float(voting),
        sum(board.word[other] == word for other in others) / max(len(others), 1),
        sum(board.name[other] == seat for other in others) / max(len(others), 1),
        float(named in others and board.word[named] != word),
        float(voting and named >= 0 and before.get(seat, -1) == named),
        float(voting and named >= 0 and named == board.chosen),
    ]


@settings(max_examples=30)
@given(seeds)
def test_the_language_is_described_word_by_word(seed):
    talk = wild_talk(seed)
    said = [
        (board.phase, board.day, board.team[seat], word)
        for board in boards_of(talk)
        if board.public
        for seat, word in board.word.items()
        if min(word) >= 0
    ]
    for row in describe_language(talk):
        words = [
            word
            for phase, day, team, word in said
            if row.phase in ("all", phase)
            and row.day in (None, day)
            and row.team in ("all", talk.about.teams[team])
        ]
        counts = [words.count(word) for word in set(words)]
        share = np.array(counts) / len(words)
        assert (row.number, row.unique) == (len(words), len(counts))
        assert row.entropy == pytest.approx(-(share * np.log2(share)).sum(), abs=1e-9)
        assert row.most_entropy == pytest.approx(np.log2(np.prod(SYMBOLS)))
        assert row.commonest == pytest.approx(share.max())
        assert words.count(row.word) == max(counts)
        assert row.collapsed == (row.commonest >= 0.9)
    where = {(row.phase, row.day, row.team) for row in describe_language(talk)}
    for phase, day, team, _ in said:
        assert {("all", None, "all"), ("all", None, talk.about.teams[team]), (phase, None, "all")} <= where
        assert (phase, day, "all") in where
