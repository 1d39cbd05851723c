"""All measures of the talk in recorded games, and the statistics of its words (specification 17)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from interplay.core.json_values import plain
from interplay.evaluate.communication import signals
from interplay.evaluate.communication.belief import Beliefs
from interplay.evaluate.communication.deception import (
    Share,
    bussing,
    false_accusations,
    truthfulness,
    vote_switching,
)
from interplay.evaluate.communication.games import Ablation
from interplay.evaluate.communication.listening import Influence
from interplay.evaluate.communication.null import PERMUTATIONS, Finding
from interplay.evaluate.communication.probe import LEAST_GAMES, Probed, probe_roles
from interplay.evaluate.communication.table import EXECUTION, Array, Talk, whole_words
from interplay.evaluate.information import entropy
from interplay.evaluate.progress import Progress, no_progress

COLLAPSED = 0.9  # share of the commonest word that counts as collapse to one word
LEAST_INFLUENCE = 0.01  # nats of mean influence that count as listening; every network has a little


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


# Lists of a report -> properties of their entries that `TalkReport.to_dict` adds.
_ALSO = {
    "findings": ("corrected", "above"),
    "language": ("collapsed",),
    "deception": ("unusual",),
    "probes": ("above",),
    "transfer": ("above",),
    "ablations": ("p", "listens"),
    "influences": (),
}


@dataclass
class TalkReport:
    """Measures of recorded games.

    Attributes:
        games, boards, utterances: number recorded; public boards.
        permutations: of every null.
        findings: information of words, with nulls.
        language: statistics of the words.
        deception: shares with nulls.
        probes: predictability of roles from the history of this run.
        transfer: the same, fitted here and tested on another run.
        ablations: losses without parts of the talk.
        influences: influence of words on a policy with action probabilities.
        beliefs: scores of beliefs of players and of an exact observer; None for policies without beliefs.
    """

    games: int
    boards: int
    utterances: int
    permutations: int
    findings: list[Finding]
    language: list[Language]
    deception: list[Share] = field(default_factory=list)
    probes: list[Probed] = field(default_factory=list)
    transfer: list[Probed] = field(default_factory=list)
    ablations: list[Ablation] = field(default_factory=list)
    influences: list[Influence] = field(default_factory=list)
    beliefs: Beliefs | None = None

    @property
    def signalling(self) -> bool:
        """Positive signalling, see `signals.signals_positively`."""
        return signals.signals_positively(self.findings)

    @property
    def listening(self) -> bool | None:
        """Positive listening: an ablation reduces wins, or an edit changes choices; None if not measured."""
        if not self.ablations and not self.influences:
            return None
        moved = any(
            part.mean >= LEAST_INFLUENCE
            for influence in self.influences
            for part in (influence.name, influence.word)
        )
        return moved or any(ablation.listens for ablation in self.ablations)

    @property
    def collapsed(self) -> bool:
        """Whether the language collapsed to one word."""
        return bool(self.language) and self.language[0].collapsed

    @property
    def roles_show(self) -> bool | None:
        """Whether roles are predictable above chance; None if not measured."""
        pooled = [probed for probed in self.probes if probed.day is None]
        return any(probed.above for probed in pooled) if pooled else None

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "games": self.games,
            "boards": self.boards,
            "utterances": self.utterances,
            "permutations": self.permutations,
            "positive_signalling": self.signalling,
            "positive_listening": self.listening,
            "one_word_collapse": self.collapsed,
            "roles_show": self.roles_show,
            **{
                name: [
                    plain({**one._asdict(), **{key: getattr(one, key) for key in also}})
                    for one in getattr(self, name)
                ]
                for name, also in _ALSO.items()
            },
            "beliefs": plain(self.beliefs),
        }


def measure_talk(
    talk: Talk,
    *,
    other: Talk | None = None,
    models: Sequence[str] = ("logistic", "gru"),
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    progress: Progress = no_progress,
) -> TalkReport:
    """Measures recorded games; measures that need missing votes, words or a hidden team are left out.

    Args:
        other: games of another run, for the transfer of the role probe.
        models: of the role probe; empty: no probe.
        permutations: of every null.
        seed: of permutations, split and fits.
        progress: called with (task, done, total).
    """
    options: dict[str, Any] = {"permutations": permutations, "seed": seed}
    hides, votes = talk.about.wolves >= 0, bool((talk.boards.counted == EXECUTION).any())
    found = signals.signal_role(talk, progress=progress, **options)
    if votes:
        found += signals.signal_vote(talk, progress=progress, **options)
        found += signals.heard_vote(talk, progress=progress, **options)
    report = TalkReport(
        games=len(talk),
        boards=int(talk.boards.public.sum()),
        utterances=int(talk.boards.spoke[talk.boards.public].sum()),
        permutations=permutations,
        findings=found,
        language=describe_language(talk),
    )
    if hides and votes:
        report.deception = [
            bussing(talk, **options),
            false_accusations(talk, **options),
            *vote_switching(talk, **options),
            *truthfulness(talk, **options),
        ]
    if hides and models and len(talk) >= LEAST_GAMES:
        progress("role probe", 0, len(models))
        report.probes = probe_roles(talk, models=tuple(models), **options)
        if other is not None:
            report.transfer = probe_roles(talk, other, models=tuple(models), **options)
    return report
