"""Recorded communication, in the world-independent form that all measures read.

A board holds the utterances of one step: a row for each seat with the names and the word that others observed.
`interplay.evaluate.communication.recording` converts worlds to boards.

Axes: G games, B boards, n seats, b names, L places of a word, T terms of the reward, U utterances.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np

from interplay.core.errors import UserError

Array = np.ndarray
NONE = -1
T = TypeVar("T", bound=Any)  # a table: a named tuple of columns
TALK, KILL, EXECUTION = range(3)  # effect of a board's names: none, a kill by night, an execution by day


class About(NamedTuple):
    """Description of the numbers of a table.

    Attributes:
        world: id.
        policy: name.
        phases: names by index.
        symbols: choices at each place of a word, length L.
        teams: names by index.
        roles: names by index.
        terms: names of the parts of the reward, length T.
        verbs: of structured claims, with verb, subject and role at the last three places; empty without claims.
        wolves: index of the hiding team, or -1.
        arm: ablation of the communication; "full" is none.
    """

    world: str
    policy: str = ""
    phases: tuple[str, ...] = ("talk",)
    symbols: tuple[int, ...] = ()
    teams: tuple[str, ...] = ("all",)
    roles: tuple[str, ...] = ("all",)
    terms: tuple[str, ...] = ("reward",)
    verbs: tuple[str, ...] = ()
    wolves: int = NONE
    arm: str = "full"


class Games(NamedTuple):
    """One row per game, in the order of their numbers."""

    number: Array  # (G,) int64, of the episode
    stream: Array  # (G, 2) uint64, seed and episode of the world's random stream
    role: Array  # (G, n) uint8, number of the role
    team: Array  # (G, n) int8, number of the team
    winner: Array  # (G,) int8, number of the team, or NONE


class Boards(NamedTuple):
    """One row per step of a game, sorted by game and step."""

    game: Array  # (B,) int64, row of `Games`
    step: Array  # (B,) int32, from 0
    day: Array  # (B,) int16
    phase: Array  # (B,) int8
    round: Array  # (B,) int16
    public: Array  # (B,) bool, observed by all
    counted: Array  # (B,) int8: TALK, KILL or EXECUTION
    chosen: Array  # (B,) int16, seat that the votes chose, or NONE
    tied: Array  # (B,) bool, several shared the top of the count
    alive: Array  # (B, n) bool, before the step
    spoke: Array  # (B, n) bool, acted
    died: Array  # (B, n) bool, in this step
    names: Array  # (B, n, b) int16, or NONE
    words: Array  # (B, n, L) int16, or -1
    reward: Array  # (B, n, T) float32


# Types of the columns of `Games`.
GAME_TYPES = {
    "number": np.int64,
    "stream": np.uint64,
    "role": np.uint8,
    "team": np.int8,
    "winner": np.int8,
}
# Types of the columns of `Boards`; others are bool.
BOARD_TYPES = {
    "game": np.int64,
    "step": np.int32,
    "day": np.int16,
    "phase": np.int8,
    "round": np.int16,
    "counted": np.int8,
    "chosen": np.int16,
    "names": np.int16,
    "words": np.int16,
    "reward": np.float32,
}


class Utterances(NamedTuple):
    """One row per speaker of a board, sorted by board."""

    board: Array  # (U,) row of `Boards`
    game: Array  # (U,) row of `Games`
    step: Array  # (U,)
    day: Array  # (U,)
    phase: Array  # (U,)
    round: Array  # (U,)
    speaker: Array  # (U,) seat
    role: Array  # (U,) team of the speaker
    name: Array  # (U,) first named seat, or NONE
    word: Array  # (U, L)
    speakers: Array  # (U,) number of speakers on the board


class Votes(NamedTuple):
    """One row per vote with a name."""

    board: Array  # (V,) row of `Boards`
    game: Array
    day: Array
    counted: Array  # KILL or EXECUTION
    voter: Array  # seat
    name: Array  # seat
    team: Array  # of the voter
    named_team: Array


class Deaths(NamedTuple):
    """One row per death."""

    game: Array
    day: Array
    phase: Array
    seat: Array
    role: Array


@dataclass(frozen=True)
class Talk:
    """Recorded games.

    Attributes:
        about: description of the numbers.
        games: one row per game.
        boards: one row per step.
    """

    about: About
    games: Games
    boards: Boards

    def __post_init__(self) -> None:
        rows, games = len(self.boards.game), len(self.games.number)
        odd = [name for name, array in self.boards._asdict().items() if len(array) != rows]
        odd += [name for name, array in self.games._asdict().items() if len(array) != games]
        if odd:
            raise UserError(
                f"talk: column {odd[0]} has another length than the others; record the games again"
            )
        if rows and (self.boards.game.min() < 0 or self.boards.game.max() >= games):
            raise UserError("talk: a board belongs to no game; record the games again")
        if self.boards.words.shape[2] != len(self.about.symbols):
            raise UserError(
                f"talk: words have {self.boards.words.shape[2]} places, {len(self.about.symbols)} are described; "
                "record the games again"
            )

    def __len__(self) -> int:
        """Games."""
        return len(self.games.number)

    @property
    def seats(self) -> int:
        """n."""
        return int(self.games.team.shape[1])

    def team_of(self, game: Array, seat: Array) -> Array:
        """Team of seats (...,) of games (...,); NONE stays NONE."""
        return np.where(seat >= 0, self.games.team[game, np.maximum(seat, 0)], NONE)

    def utterances(self, rows: Array | None = None) -> Utterances:
        """Utterances of the boards in `rows` (B,) bool; None: of the public ones."""
        boards = self.boards
        wanted = boards.public if rows is None else rows
        board, speaker = np.nonzero(boards.spoke & wanted[:, None])
        game = boards.game[board]
        names = boards.names[board, speaker]
        return Utterances(
            board=board,
            game=game,
            step=boards.step[board],
            day=boards.day[board],
            phase=boards.phase[board],
            round=boards.round[board],
            speaker=speaker,
            role=self.games.team[game, speaker],
            name=names[:, 0] if names.shape[1] else np.full(len(board), NONE),
            word=boards.words[board, speaker],
            speakers=boards.spoke.sum(axis=1)[board],
        )

    def votes(self, counted: int = EXECUTION) -> Votes:
        """Votes, by first names."""
        boards = self.boards
        names = boards.names[:, :, 0] if boards.names.shape[2] else np.full(boards.spoke.shape, NONE)
        board, voter = np.nonzero(boards.spoke & (boards.counted == counted)[:, None] & (names >= 0))
        game, name = boards.game[board], names[board, voter]
        return Votes(
            board=board,
            game=game,
            day=boards.day[board],
            counted=boards.counted[board],
            voter=voter,
            name=name,
            team=self.games.team[game, voter],
            named_team=self.games.team[game, name],
        )

    def deaths(self) -> Deaths:
        """Deaths in order."""
        board, seat = np.nonzero(self.boards.died)
        game = self.boards.game[board]
        return Deaths(
            game=game,
            day=self.boards.day[board],
            phase=self.boards.phase[board],
            seat=seat,
            role=self.games.role[game, seat],
        )

    def next_execution(self) -> Array:
        """(B,) row of the first execution board of the same game after each board, or NONE."""
        boards = self.boards
        held = np.flatnonzero(boards.counted == EXECUTION)
        at = np.searchsorted(held, np.arange(len(boards.game)), side="right")
        follows = np.append(held, NONE)[at]
        same = (follows >= 0) & (boards.game[follows] == boards.game)
        return np.where(same, follows, NONE)

    def next_votes(self) -> Array:
        """(B, n) seat named by each seat in the next execution after the board, or NONE."""
        follows = self.next_execution()
        boards = self.boards
        if not boards.names.shape[2] or not len(follows):
            return np.full(boards.spoke.shape, NONE, np.int16)
        return np.where((follows >= 0)[:, None] & boards.spoke[follows], boards.names[follows, :, 0], NONE)

    def select(self, games: Array) -> Talk:
        """The games in the (G,) bool mask."""
        number = np.cumsum(games) - 1
        rows = games[self.boards.game]
        boards = pick(self.boards, rows)
        return Talk(self.about, pick(self.games, games), boards._replace(game=number[boards.game]))


def join(parts: Sequence[Talk]) -> Talk:
    """Concatenates tables."""
    if not parts:
        raise UserError("talk: no games were recorded; play at least one")
    about = parts[0].about
    for part in parts[1:]:
        if part.about != about:
            field = next(f for f in About._fields if getattr(part.about, f) != getattr(about, f))
            raise UserError(
                f"talk: games of different kinds, {field} is {getattr(about, field)!r} and {getattr(part.about, field)!r}; "
                "measure them one by one"
            )
    offsets = np.cumsum([0, *(len(part) for part in parts[:-1])])
    moved = [
        part.boards._replace(game=part.boards.game + at) for part, at in zip(parts, offsets, strict=True)
    ]
    return Talk(about, stack([part.games for part in parts]), stack(moved))


def whole_words(words: Array) -> Array:
    """Index of each distinct word: (U, L) -> (U,) int64; 0 if L = 0."""
    if not words.shape[1]:
        return np.zeros(len(words), np.int64)
    return np.unique(words, axis=0, return_inverse=True)[1].reshape(-1)


def pick(table: T, rows: Array) -> T:
    """Some rows of every column: a mask, or indices."""
    return type(table)(*(column[rows] for column in table))


def stack(tables: Sequence[T]) -> T:
    """Tables of one kind, one after another."""
    return type(tables[0])(*(np.concatenate(columns) for columns in zip(*tables, strict=True)))
