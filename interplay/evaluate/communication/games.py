"""Plays and records games for measures of talk, and replays them without parts of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.core.policy import Policy
from interplay.core.world import World
from interplay.evaluate.communication.ablation import Ablation, Ticker, ablate, fitting_arms
from interplay.evaluate.communication.belief import Beliefs
from interplay.evaluate.communication.listening import Influence, Views, measure_influence, speaker_marginal
from interplay.evaluate.communication.reading import reader_of
from interplay.evaluate.communication.recording import TalkRecorder
from interplay.evaluate.communication.table import Talk
from interplay.evaluate.communication.werewolf.believing import BeliefRecorder, ways_of
from interplay.evaluate.episodes import EpisodeTable, play
from interplay.evaluate.progress import Progress, no_progress

NO_ARM = "none"


class Subject:
    """The policy under study, queried with the world's indices of populations.

    Args:
        seats: populations of the world that it plays; internally they are 0, 1, ...

    Attributes:
        queried: populations among `seats` that it controls itself; a run's own opponents control the others.
        foe: name of the run's own opponent that its belief is about; empty without one.
    """

    def __init__(self, policy: Any, seats: tuple[int, ...], names: tuple[str, ...]) -> None:
        self.policy, self._seats = policy, np.array(seats)
        opponents = getattr(getattr(policy, "settings", None), "foreign", {})
        self.queried = tuple(p for p in seats if not names or names[p] not in opponents)
        self.foe = opponents.get(policy.settings.belief.about, "") if opponents else ""

    def probabilities(self, observation: Any, mask: Any, population: np.ndarray) -> np.ndarray:
        """(N, choices), see `TrainedPolicy.probabilities`."""
        return self.policy.probabilities(observation, mask, self._own(population))

    def beliefs(self, observation: Any, population: np.ndarray) -> np.ndarray:
        """(N, n), see `TrainedPolicy.beliefs`."""
        return self.policy.beliefs(observation, self._own(population))

    def _own(self, population: np.ndarray) -> np.ndarray:
        return np.searchsorted(self._seats, population)


class Played(NamedTuple):
    """Recorded games, with further data if they were played in this process.

    Attributes:
        talk: the record.
        table: the episodes, or None for games from disk.
        world: their world, or None; closed by the caller.
        subject: the policy under study, or None.
        views: observations of players.
        beliefs: of policies with a belief head, or None.
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
        world: a batch of a world with talk.
        policy: acts for all agents.
        subject: the policy under study.
        games: number.
        seed: of games and players.
        foe: scripted policy of the hiding team, if known; the exact observer assumes it.
        progress: called with (task, games done, total).
    """
    recorder, views = TalkRecorder(reader_of(world), log_every=1), Views()
    hooks: list[Any] = [recorder, views, Ticker("playing", games, progress)]
    player, believer = policy, None
    if getattr(subject.policy, "guesses", False):
        player = believer = BeliefRecorder(policy, subject, subject.queried, ways_of(foe or subject.foe))
        hooks.append(believer)

    def add(batch: World, episode: Any) -> None:
        for each in hooks:
            each.add(batch, episode)

    table = play(world, player, games, seed, on_step=add)
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
    """Plays the same games with parts of the talk removed; empty for games from disk and worlds without arms.

    Args:
        played: the normal games.
        make: arm -> world.
        policy: makes a fresh policy for each arm.
        arms: None: all that the world supports.

    Raises:
        UserError: for an unknown metric, or arms of games from disk.
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
    """Board-edit influence on a trained policy; empty for scripted ones, which have no probabilities."""
    subject, seen = played.subject, {} if played.views is None else played.views.observations()
    if not seen or subject is None or played.world is None or not hasattr(subject.policy, "probabilities"):
        return []
    queried = np.isin(seen["population"], subject.queried)
    seen = {name: leaf[queried] for name, leaf in seen.items()}
    if not queried.any():
        return []
    marginal = speaker_marginal(played.talk.utterances().word)
    return measure_influence(subject, played.world, seen, marginal, played.talk.about.phases)
