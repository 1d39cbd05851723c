"""Public history as features: public words and actions of each seat, board by board.

Seats are permuted in every game, so features do not depend on a seat's index: they are its own words and actions, and their relation to
those of other seats.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.evaluate.communication.table import EXECUTION, NONE, Array, Talk, whole_words

# Features beside the symbols, which have one column each.
ACTIONS = (
    "spoke",
    "execution",
    "agreement",  # share of the other speakers whose word is the same
    "named_by",  # share of the other speakers that name this seat
    "named_otherwise",  # 1 if the seat that it names sent another word
    "follows_talk",  # in an execution: 1 if it names the same seat as before
    "hit",  # in an execution: 1 if the seat that it names is executed
)


class Histories(NamedTuple):
    """Public histories of games.

    Attributes:
        features: (G, T, n, F) float32, of each public board in order; 0 beyond a game's last.
        until: (G, D) int64, public boards up to the end of each day; 0 after the game's end.
        living: (G, D, n) bool, speakers of the day's last board.
        label: (G, n) bool, members of the hiding team.
        names: of the F features.
    """

    features: Array
    until: Array
    living: Array
    label: Array
    names: tuple[str, ...]


def read_histories(talk: Talk) -> Histories:
    """The public histories of recorded games."""
    if talk.about.wolves < 0:
        raise UserError(f"{talk.about.world}: no hidden team, so there is no role to predict")
    boards = talk.boards
    rows = np.flatnonzero(boards.public)
    if not len(rows):
        raise UserError(f"{talk.about.world}: no public boards; record longer games")
    game, day = boards.game[rows], boards.day[rows]
    first = np.searchsorted(game, np.arange(len(talk)))
    place = np.arange(len(rows)) - first[game]
    actions = _actions(talk, rows)
    features = np.zeros((len(talk), int(place.max()) + 1, talk.seats, actions.shape[2]), np.float32)
    features[game, place] = actions
    days = int(day.max()) + 1
    until = np.zeros((len(talk), days), np.int64)
    living = np.zeros((len(talk), days, talk.seats), bool)
    until[game, day] = place + 1  # later boards of a day overwrite earlier ones
    living[game, day] = boards.spoke[rows]
    names = [f"{place}={symbol}" for place, count in enumerate(talk.about.symbols) for symbol in range(count)]
    return Histories(features, until, living, talk.games.team == talk.about.wolves, (*names, *ACTIONS))


def summaries(histories: Histories) -> Array:
    """(G, D, n, 2 F) float32: mean features over talk boards, and over executions, up to each day's end."""
    execution = histories.features[..., histories.names.index("execution")][..., None]
    spoke = histories.features[..., histories.names.index("spoke")][..., None]
    blocks = []
    for wanted in (spoke * (1 - execution), spoke * execution):
        sums = np.cumsum(histories.features * wanted, axis=1)
        count = np.maximum(np.cumsum(wanted, axis=1), 1)
        blocks.append(sums / count)
    mean = np.concatenate(blocks, axis=-1)
    at = np.maximum(histories.until - 1, 0)
    return np.take_along_axis(mean, at[:, :, None, None], axis=1)


def _actions(talk: Talk, rows: Array) -> Array:
    """(R, n, F) features of public boards."""
    boards, n = talk.boards, talk.seats
    spoke, words = boards.spoke[rows], boards.words[rows]
    shape = spoke.shape
    names = boards.names[rows, :, 0] if boards.names.shape[2] else np.full(shape, NONE)
    word = whole_words(words.reshape(spoke.size, words.shape[2])).reshape(shape)
    others = np.maximum(spoke.sum(axis=1, keepdims=True) - 1, 1)
    pair = spoke[:, :, None] & spoke[:, None, :] & ~np.eye(n, dtype=bool)
    same = (word[:, :, None] == word[:, None, :]) & pair
    points = (names[:, :, None] == np.arange(n)) & spoke[:, :, None]
    executed = boards.counted[rows] == EXECUTION
    earlier = _talked_before(talk)[rows]
    columns = [
        spoke,
        np.broadcast_to(executed[:, None], shape),
        same.sum(axis=2) / others,
        (points & pair).sum(axis=1) / others,
        (points & pair & ~same).any(axis=2),
        executed[:, None] & (names >= 0) & (names == earlier),
        executed[:, None] & (names >= 0) & (names == boards.chosen[rows][:, None]),
    ]
    symbols = [
        (words[:, :, place, None] == np.arange(count)) for place, count in enumerate(talk.about.symbols)
    ]
    return (
        np.concatenate([*symbols, np.stack(columns, axis=2)], axis=2, dtype=np.float32, casting="unsafe")
        * spoke[:, :, None]
    )


def _talked_before(talk: Talk) -> Array:
    """(B, n) seat named by each seat on the previous public board, or NONE."""
    boards = talk.boards
    found = np.full(boards.spoke.shape, NONE)
    public = np.flatnonzero(boards.public)
    if boards.names.shape[2] and len(public) > 1:
        same = boards.game[public[1:]] == boards.game[public[:-1]]
        found[public[1:][same]] = boards.names[public[:-1][same], :, 0]
    return found
