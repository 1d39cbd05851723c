"""Plays and records games with everything that measures of talk need, and plays them again without some of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.core.policy import Policy
from interplay.core.world import World
from interplay.evaluate.communication.ablation import Ablation, Ticker, ablate, fitting_arms
from interplay.evaluate.communication.belief import Beliefs
from interplay.evaluate.communication.edits import speaker_marginal
from interplay.evaluate.communication.listening import Influence, Views, measure_influence
from interplay.evaluate.communication.readers import reader_of
from interplay.evaluate.communication.recording import TalkRecorder
from interplay.evaluate.communication.table import Talk
from interplay.evaluate.communication.werewolf.believing import BeliefRecorder, ways_of
from interplay.evaluate.episodes import EpisodeTable, play
from interplay.evaluate.progress import Progress, no_progress

NO_ARM = "none"


class Subject:
    """The player that is studied, by the world's numbers of populations.

    Args:
        policy: who plays.
        seats: the world's populations that it was seated for; it knows them as 0, 1, ...
        names: of the world's populations.

    Attributes:
        queried: those of them that it moves itself; a run's own opponents move the others.
        foe: who those are that a run was trained to guess, where it brings them; else empty.
    """

    def __init__(self, policy: Any, seats: tuple[int, ...], names: tuple[str, ...]) -> None:
        self.policy, self._seats = policy, np.array(seats)
        opponents = getattr(getattr(policy, "settings", None), "foreign", {})
        self.queried = tuple(p for p in seats if not names or names[p] not in opponents)
        self.foe = opponents.get(policy.settings.belief.about, "") if opponents else ""

    def probabilities(self, observation: Any, mask: Any, population: np.ndarray) -> np.ndarray:
        """(N, choices), see `TrainedPolicy.probabilities`."""
        answer: np.ndarray = self.policy.probabilities(observation, mask, self._own(population))
        return answer

    def beliefs(self, observation: Any, population: np.ndarray) -> np.ndarray:
        """(N, n), see `TrainedPolicy.beliefs`."""
        answer: np.ndarray = self.policy.beliefs(observation, self._own(population))
        return answer

    def _own(self, population: np.ndarray) -> np.ndarray:
        return np.searchsorted(self._seats, population)


class Played(NamedTuple):
    """Recorded games, and what only games that were played here have.

    Attributes:
        talk: the record.
        table: the episodes, or None for games from disk.
        world: their world, closed later by whoever asks; or None.
        subject: the player that is studied, or None.
        views: what players saw.
        beliefs: of players who guess, or None.
    """

    talk: Talk
    table: EpisodeTable | None = None
    world: World | None = None
    subject: Subject | None = None
    views: Views | None = None
    beliefs: Beliefs | None = None


def play_games(
    world: World,
    policy: Policy,
    subject: Subject,
    games: int,
    seed: int = 0,
    foe: str = "",
    progress: Progress = no_progress,
) -> Played:
    """Plays and records games.

    Args:
        world: a batch in which somebody talks.
        policy: plays for everybody.
        subject: who of them is studied.
        games: how many.
        seed: of games and players.
        foe: the scripted policy of those who hide, as far as it is known: an exact observer takes them to play as it does.
        progress: hears how many games are over.

    Raises:
        UserError: for a world without talk.
    """
    recorder, views = TalkRecorder(reader_of(world), log_every=1), Views()
    noted: list[Any] = [recorder, views, Ticker("playing", games, progress)]
    player, believer = policy, None
    if getattr(subject.policy, "guesses", False):
        player = believer = BeliefRecorder(policy, subject, subject.queried, ways_of(foe or subject.foe))
        noted.append(believer)

    def note(batch: World, episode: Any) -> None:
        for each in noted:
            each.note(batch, episode)

    table = play(world, player, games, seed, on_step=note)
    talk = recorder.talk()
    named = Talk(talk.about._replace(policy=policy.name), talk.games, talk.boards)
    return Played(named, table, world, subject, views, None if believer is None else believer.scores())


def play_arms(
    played: Played,
    make: Callable[[str], World],
    policy: Callable[[], Policy],
    arms: Sequence[str] | None,
    metric: str,
    progress: Progress = no_progress,
) -> list[Ablation]:
    """Plays the same games with parts of the talk taken away; nothing for records and for worlds without arms.

    Args:
        played: the games as they were.
        make: arm -> world.
        policy: makes who plays, anew for each arm.
        arms: to play; None: those that fit the world.
        metric: of an episode, to compare by.
        progress: hears how many games of an arm are over.

    Raises:
        UserError: for an unknown arm or metric, or arms of games that were read from disk.
    """
    chosen = [name for name in arms or () if name != NO_ARM]
    settings: Any = getattr(played.world, "settings", None)
    if played.table is None or not hasattr(settings, "arm"):
        if chosen:
            raise UserError(
                f"arm {chosen[0]}: only games that are played now, of a world with arms, have them"
            )
        return []
    if arms is None:
        chosen = list(fitting_arms(settings))
    if not chosen or settings.arm != "full":
        return []
    _ = played.table[metric]  # refused before anything is played
    return ablate(
        make,
        policy,
        chosen,
        episodes=len(played.table),
        metric=metric,
        seed=played.table.seed,
        normal=played.table,
        progress=progress,
    )


def listen(played: Played) -> list[Influence]:
    """Board-edit influence on a trained policy; nothing for scripted ones, which say no probabilities."""
    subject, seen = played.subject, {} if played.views is None else played.views.observations()
    if not seen or subject is None or played.world is None or not hasattr(subject.policy, "probabilities"):
        return []
    queried = np.isin(seen["population"], subject.queried)
    seen = {name: leaf[queried] for name, leaf in seen.items()}
    if not queried.any():
        return []
    marginal = speaker_marginal(played.talk.utterances().word)
    return measure_influence(subject, played.world, seen, marginal, played.talk.about.phases)
