"""Statistics of the language: number and entropy of words (specification 17)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from interplay.evaluate.communication.table import Array, Talk, whole_words
from interplay.evaluate.information import entropy

COLLAPSED = 0.9  # share of the commonest word that counts as collapse to one word


class Language(NamedTuple):
    """The words of some utterances.

    Attributes:
        phase: name, or ``"all"``.
        day: number, or None.
        team: name, or ``"all"``.
        number: of utterances.
        entropy: of whole words, bits.
        most_entropy: its maximum, L log2 S.
        unique: distinct words.
        commonest: share of the commonest word.
        word: that word.
    """

    phase: str
    day: int | None
    team: str
    number: int
    entropy: float
    most_entropy: float
    unique: int
    commonest: float
    word: tuple[int, ...]

    @property
    def collapsed(self) -> bool:
        """Whether nearly all words are the same."""
        return self.commonest >= COLLAPSED

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {**self._asdict(), "word": list(self.word), "collapsed": self.collapsed}


def describe_language(talk: Talk) -> list[Language]:
    """Words of public boards: all, by team, by phase, and by phase and day; empty without words."""
    utterances = talk.utterances()
    spoken = np.asarray((utterances.word >= 0).all(axis=1) & bool(talk.about.symbols))
    if not spoken.any():
        return []
    rows: list[tuple[str, int | None, str, Array]] = [("all", None, "all", spoken)]
    for number, team in enumerate(talk.about.teams):
        rows.append(("all", None, team, spoken & (utterances.role == number)))
    for phase in np.unique(utterances.phase):
        own = spoken & (utterances.phase == phase)
        rows.append((talk.about.phases[phase], None, "all", own))
        rows += [
            (talk.about.phases[phase], int(day), "all", own & (utterances.day == day))
            for day in np.unique(utterances.day[own])
        ]
    most = float(np.log2(np.array(talk.about.symbols, np.float64)).sum())
    return [
        _describe(phase, day, team, utterances.word[rows_of], most)
        for phase, day, team, rows_of in rows
        if rows_of.any()
    ]


def _describe(phase: str, day: int | None, team: str, words: Array, most: float) -> Language:
    counts = np.bincount(whole_words(words))
    top = int(counts.argmax())
    different = np.unique(words, axis=0)
    return Language(
        phase,
        day,
        team,
        len(words),
        float(entropy(counts, base=2)),
        most,
        len(different),
        float(counts[top] / len(words)),
        tuple(int(symbol) for symbol in different[top]),
    )
