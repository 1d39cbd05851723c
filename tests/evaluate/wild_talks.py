"""Random valid recorded games: days of any length, talk by night, silent seats, votes without a result."""

from __future__ import annotations

import numpy as np

from interplay.evaluate.communication.table import (
    BOARD_TYPES,
    EXECUTION,
    KILL,
    NONE,
    TALK,
    About,
    Boards,
    Games,
    Talk,
)

SEATS, WOLVES, VERBS = 5, 1, ("skip", "claim", "accuse", "defend")
SYMBOLS = (2, len(VERBS), SEATS + 1, 2)  # a word of one symbol, then verb, subject and role of a claim
# What may follow on a day: (phase, what names do, whether all see it), by night before the day.
_NIGHT = ((0, TALK, False), (0, KILL, False))
_DAY = ((1, TALK, True), (1, TALK, True), (2, EXECUTION, True), (1, TALK, True), (2, EXECUTION, True))


def wild_talk(seed: int, games: int = 4) -> Talk:
    """Games with random valid boards."""
    rng = np.random.default_rng(seed)
    team = np.array([rng.permutation([WOLVES, WOLVES, 0, 0, 0]) for _ in range(games)], np.int8)
    rows = []
    for game in range(games):
        steps = [
            (day, *what)
            for day in range(int(rng.integers(1, 4)))
            for what in (*_NIGHT, *_DAY)
            if rng.random() < 0.7
        ]
        rows += [_board(rng, game, step, *what) for step, what in enumerate(steps or [(0, 1, TALK, True)])]
    boards = Boards(
        *(np.array([row[name] for row in rows], BOARD_TYPES.get(name, np.bool_)) for name in Boards._fields)
    )
    about = About(
        "wild", phases=("night", "talk", "vote"), symbols=SYMBOLS, teams=("villagers", "wolves"),
        roles=("villager", "werewolf"), verbs=VERBS, wolves=WOLVES,
    )  # fmt: skip
    nobody = np.full(games, NONE, np.int8)
    return Talk(
        about,
        Games(np.arange(games), np.zeros((games, 2), np.uint64), team.astype(np.uint8), team, nobody),
        boards,
    )


def _board(rng: np.random.Generator, game: int, step: int, day: int, phase: int, counted: int, public: bool):
    spoke = rng.random(SEATS) < 0.8
    worded = spoke & (rng.random(SEATS) < 0.9)
    names = np.where(spoke, rng.integers(-1, SEATS, SEATS), NONE)
    words = np.stack([rng.integers(0, count, SEATS) for count in SYMBOLS], axis=1)
    return {
        "game": game, "step": step, "day": day, "phase": phase, "round": 0, "public": public,
        "counted": counted, "chosen": NONE if counted == TALK else rng.integers(-1, SEATS), "tied": False,
        "alive": np.ones(SEATS, bool), "spoke": spoke, "died": np.zeros(SEATS, bool),
        "names": names[:, None], "words": np.where(worded[:, None], words, -1), "reward": np.zeros((SEATS, 1)),
    }  # fmt: skip
