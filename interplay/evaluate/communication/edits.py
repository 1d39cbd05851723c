"""Positive listening by board edits: how much a policy's choice depends on what one seat said (specification 17).

For viewer j and the row of seat i that it sees: E KL[pi_j(. | board) || mean over s' of pi_j(. | board with row i := s')], with s'
drawn from the words that speakers say. A row that the viewer is not shown cannot be edited: nothing is asked about it and the
result is exactly 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.evaluate.communication.table import Array

# Field of the observation with words -> the field of earlier boards whose first entry repeats it, if there is one.
BLOCKS = {"public_signals": "past_signals", "pack_signals": "", "signal": ""}
SILENT = -1

Probabilities = Callable[
    [Mapping[str, Array]], Array
]  # observation name -> (N, ...), to probabilities (N, choices)


class Marginal(NamedTuple):
    """The words that speakers say.

    Attributes:
        words: (M, L).
        share: (M,) probabilities, sum 1.
    """

    words: Array
    share: Array


def speaker_marginal(words: Array, most: int = 32, rng: np.random.Generator | None = None) -> Marginal:
    """The distribution of recorded words.

    Args:
        words: (U, L), of utterances; rows with -1 are left out.
        most: different words that are kept; of more, so many are drawn by how often they were said.
        rng: for that draw.

    Raises:
        UserError: if nobody said a word.
    """
    spoken = words[(words >= 0).all(axis=1)] if words.shape[1] else words[:0]
    if not len(spoken):
        raise UserError(
            "board edits: nobody said a word; record games of a world with signal_length of 1 or more"
        )
    different, counts = np.unique(spoken, axis=0, return_counts=True)
    if len(different) <= most:
        return Marginal(different, counts / counts.sum())
    rng = rng or np.random.default_rng(0)
    kept = rng.choice(len(different), most, p=counts / counts.sum())
    different, again = np.unique(different[kept], axis=0, return_counts=True)
    return Marginal(different, again / again.sum())


def editable(observation: Mapping[str, Array], field: str = "public_signals") -> Array:
    """(N, n) bool: rows of a board with a word that the viewer is shown.

    Raises:
        UserError: for an observation without that board.
    """
    if field not in observation:
        there = [name for name in BLOCKS if name in observation]
        raise UserError(
            f"board edits: no field {field}; the observation has {', '.join(there) or 'no words'}"
        )
    return np.asarray((np.asarray(observation[field]) >= 0).all(axis=2))


def edited(observation: Mapping[str, Array], field: str, row: Array, word: Array) -> dict[str, Array]:
    """Observations in which one row of the board holds another word.

    Args:
        observation: name -> (N, ...).
        field: of the board's words, (N, n, L).
        row: (N,) seat whose word is replaced.
        word: (N, L).

    Returns:
        New arrays where something was changed; the board's copy among earlier boards is changed with it.
    """
    changed = dict(observation)
    at = np.arange(len(row))
    board = np.array(observation[field])
    before = board.copy()
    board[at, row] = word
    changed[field] = board
    copy = BLOCKS.get(field, "")
    if copy in observation and np.shape(observation[copy])[1]:
        past = np.array(observation[copy])
        same = (past[:, 0] == before).all(axis=(1, 2))
        past[at[same], 0, row[same]] = word[same]
        changed[copy] = past
    return changed


def board_influence(
    probabilities: Probabilities,
    observation: Mapping[str, Array],
    marginal: Marginal,
    heads: Sequence[int],
    field: str = "public_signals",
) -> Array:
    """KL of what a policy does to what it would do had a seat said something else.

    Args:
        probabilities: the policy, with the same hidden state for every edit.
        observation: of N viewers, name -> (N, ...).
        marginal: words to put in the place of what was said.
        heads: choices of each head of the action, in the order of the probabilities.
        field: of the words that are edited.

    Returns:
        (N, n, heads) nats; exactly 0 for rows that the viewer is not shown.
    """
    shown = editable(observation, field)
    viewer, row = np.nonzero(shown)
    influence = np.zeros((*shown.shape, len(heads)))
    if not len(viewer):
        return influence
    real = _heads(probabilities(observation), heads)
    mixed = [np.zeros((len(viewer), count)) for count in heads]
    seen = {name: np.asarray(leaf)[viewer] for name, leaf in observation.items()}
    for word, share in zip(marginal.words, marginal.share, strict=True):
        words = np.broadcast_to(word, (len(viewer), len(word)))
        answers = _heads(probabilities(edited(seen, field, row, words)), heads)
        for mix, answer, own in zip(mixed, answers, real, strict=True):
            # Summed as differences, so that a policy that does not care gets exactly its own probabilities back.
            mix += share * (answer - own[viewer])
    for h, (mix, own) in enumerate(zip(mixed, real, strict=True)):
        influence[viewer, row, h] = divergence(own[viewer], own[viewer] + mix)
    return influence


def divergence(p: Array, q: Array) -> Array:
    """KL[p || q] along the last axis in nats; 0 log 0 = 0.

    Example:
        >>> divergence(np.array([0.5, 0.5]), np.array([0.25, 0.75])).round(4).item()
        0.1438
    """
    ratio = np.divide(p, q, out=np.ones_like(p), where=p > 0)
    return np.maximum((p * np.log(ratio)).sum(axis=-1), 0.0)


def _heads(probabilities: Array, heads: Sequence[int]) -> list[Array]:
    p = np.asarray(probabilities, np.float64)
    if p.shape[1] != sum(heads):
        raise UserError(
            f"board edits: {p.shape[1]} probabilities, the heads have {sum(heads)}; give those of this world"
        )
    return np.split(p, np.cumsum(heads)[:-1], axis=1)
