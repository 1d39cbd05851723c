"""Synthetic recorded games."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from interplay.evaluate.communication.table import EXECUTION, TALK, About, Boards, Games, Talk

Words = Callable[[np.ndarray, np.random.Generator], np.ndarray]  # team (G, n) -> words (G, n, L)
WOLVES = 1


def made_up(
    words: Words,
    games: int = 200,
    n: int = 9,
    days: int = 2,
    symbols: tuple[int, ...] = (4,),
    wolves: int = 3,
    seed: int = 0,
    votes: Callable[..., np.ndarray] | None = None,
    names: Callable[..., np.ndarray] | None = None,
) -> Talk:
    """Games with a talk board and an execution board a day; every day the seat that the votes name most dies.

    Args:
        words: word of each seat on each board.
        games, n, days, symbols, wolves: numbers.
        votes, names: (alive (G, n), words (G, n, L), team, rng) -> seats named by votes, or in talk; random if None.
    """
    rng = np.random.default_rng(seed)
    team = np.array([rng.permutation([WOLVES] * wolves + [0] * (n - wolves)) for _ in range(games)], np.int8)
    alive = np.ones((games, n), bool)
    rows: list[Boards] = []
    for day in range(days):
        talked = words(team, rng)
        for counted in (TALK, EXECUTION):
            said = talked if counted == TALK else words(team, rng)
            choose = (votes if counted == EXECUTION else names) or anybody
            name = choose(alive, talked, team, rng)
            chosen = _most_named(alive, name) if counted == EXECUTION else np.full(games, -1)
            died = np.zeros((games, n), bool)
            if counted == EXECUTION:
                died[np.arange(games), chosen] = True
            rows.append(_board(day, counted, alive, name, said, chosen, died))
            alive = alive & ~died
    stacked = Boards(
        *(np.stack(column, axis=1).reshape(-1, *column[0].shape[1:]) for column in zip(*rows, strict=True))
    )
    steps = len(rows)
    return Talk(
        About(
            "made-up", phases=("talk", "vote"), symbols=symbols, teams=("villagers", "wolves"), wolves=WOLVES
        ),
        Games(
            np.arange(games),
            np.zeros((games, 2), np.uint64),
            team.astype(np.uint8),
            team,
            np.zeros(games, np.int8),
        ),
        stacked._replace(
            game=np.repeat(np.arange(games), steps), step=np.tile(np.arange(steps, dtype=np.int32), games)
        ),
    )


def anybody(alive: np.ndarray, words: np.ndarray, team: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Every seat names a random living seat."""
    score = np.where(alive[:, None, :], rng.random((*alive.shape, alive.shape[1])), -1)
    return score.argmax(axis=2)


def random_words(symbols: tuple[int, ...]) -> Words:
    """Words without information."""
    return lambda team, rng: np.stack([rng.integers(0, s, team.shape) for s in symbols], axis=2)


def telling_words(team: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The word is the team."""
    return team[:, :, None].astype(np.int16)


def _most_named(alive: np.ndarray, name: np.ndarray) -> np.ndarray:
    counts = (name[:, :, None] == np.arange(alive.shape[1])) & alive[:, :, None]
    return np.where(alive, counts.sum(axis=1), -1).argmax(axis=1)


def _board(day, counted, alive, name, words, chosen, died) -> Boards:
    games, n = alive.shape

    def full(value, dtype):
        return np.full(games, value, dtype)

    return Boards(
        game=np.arange(games),
        step=full(0, np.int32),
        day=full(day, np.int16),
        phase=full(int(counted == EXECUTION), np.int8),
        round=full(0, np.int16),
        public=full(True, bool),
        counted=full(counted, np.int8),
        chosen=chosen.astype(np.int16),
        tied=full(False, bool),
        alive=alive.copy(),
        spoke=alive.copy(),
        died=died,
        names=np.where(alive, name, -1).astype(np.int16)[:, :, None],
        words=np.where(alive[:, :, None], words, -1).astype(np.int16),
        reward=np.zeros((games, n, 1), np.float32),
    )
