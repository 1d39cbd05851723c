"""Plays and records games for measures of talk, replays them without parts of it, and tests the loss (specification 17 and 18)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.core.policy import Policy
from interplay.core.world import World
from interplay.evaluate.communication.belief import Beliefs
from interplay.evaluate.communication.listening import Influence, Views, measure_influence, speaker_marginal
from interplay.evaluate.communication.recording import TalkRecorder, reader_of
from interplay.evaluate.communication.table import Talk, Utterances, pick
from interplay.evaluate.communication.werewolf.believing import BeliefRecorder, ways_of
from interplay.evaluate.episodes import EpisodeTable, play
from interplay.evaluate.progress import Progress, no_progress
from interplay.evaluate.statistics import Estimate, estimate, student, student_quantile

ARMS = ("signals_off", "signals_shuffled", "talk_off", "targets_off")  # columns of every evaluation
LEVEL = 0.05  # chance of a false positive, over all arms
FEWEST = 3  # pairs for a test
NO_ARM = "none"


class Ablation(NamedTuple):
    """One arm against the normal game, on the same episodes' seeds.

    Attributes:
        arm: what was removed.
        metric: of the means.
        normal, ablated: means with standard errors.
        difference: normal minus ablated, mean over paired episodes.
        error: standard error of that mean; None for a single episode.
        episodes: pairs with a value.
        adjusted: p of the difference, corrected for the number of tested arms; None for a single arm.
    """

    arm: str
    metric: str
    normal: Estimate
    ablated: Estimate
    difference: float
    error: float | None
    episodes: int
    adjusted: float | None = None

    @property
    def p(self) -> float:
        """Two-sided p of Student's paired test, uncorrected; 1 for fewer than 3 pairs.

        If all pairs have the same difference, so that the error is 0, it is that of the sign test, 2 / 2^n.
        """
        if self.error is None or self.difference == 0 or self.episodes < FEWEST:
            return 1.0
        if not self.error:
            return 2.0 ** (1 - self.episodes)
        return student(self.difference / self.error, self.episodes - 1)

    @property
    def listens(self) -> bool:
        """Whether the normal game is better, at a level of 5 % over all arms."""
        p = self.p if self.adjusted is None else self.adjusted
        return self.difference > 0 and p < LEVEL

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the difference, uncorrected; infinite for too few pairs."""
        few = self.error is None or self.episodes < FEWEST
        if few or (self.error == 0 and self.difference != 0 and self.p >= LEVEL):
            half = math.inf
        else:
            half = student_quantile(self.episodes - 1, LEVEL) * (self.error or 0.0)
        return self.difference - half, self.difference + half


def pair(arm: str, normal: EpisodeTable, ablated: EpisodeTable, metric: str) -> Ablation:
    """The paired difference of a metric.

    Args:
        normal, ablated: the same episodes under both conditions.
        metric: a column with one number per episode.
    """
    if len(normal) != len(ablated) or (normal["seed"] != ablated["seed"]).any():
        raise UserError(f"arm {arm}: other episodes than the normal ones; play both with one seed and number")
    ours, theirs = (np.asarray(table[metric], np.float64) for table in (normal, ablated))
    if ours.ndim != 1:
        raise UserError(f"metric {metric}: one number per agent; name one per episode, such as win_vil")
    gap = estimate(ours - theirs)
    return Ablation(arm, metric, estimate(ours), estimate(theirs), gap.mean, gap.standard_error, gap.n)


def ablate(
    make: Callable[[str], World],
    policy: Callable[[], Policy],
    arms: Sequence[str] = ARMS,
    *,
    episodes: int,
    metric: str = "win_vil",
    seed: int = 0,
    normal: EpisodeTable | None = None,
    progress: Progress | None = None,
    **play_options: Any,
) -> list[Ablation]:
    """Plays the same episodes with each arm and tests the differences together, see `holm`.

    Args:
        make: arm -> world; ``"full"`` is the normal one.
        policy: makes a fresh policy for each arm, so that all begin with the same random draws.
        episodes: per arm.
        metric: column with one number per episode.
        normal: episodes of the normal game, if already played.
        progress: called with (arm, done, total).
        play_options: of `evaluate.play`.
    """
    tables: dict[str, EpisodeTable] = {} if normal is None else {"full": normal}
    for arm in dict.fromkeys(("full", *arms)):
        if arm not in tables:
            world = make(arm)
            ticker = Ticker(f"playing {arm}", episodes, progress)
            tables[arm] = play(world, policy(), episodes, seed, on_step=ticker.add, **play_options)
            world.close()
    return holm([pair(arm, tables["full"], tables[arm], metric) for arm in arms])


def holm(ablations: Sequence[Ablation]) -> list[Ablation]:
    """Adjusts p for the number of arms m: the k-th smallest p times m - k + 1, made monotonic.

    Source: Holm 1979, "A simple sequentially rejective multiple test procedure"; valid for dependent arms, which all share the normal
    games.
    """
    order = sorted(range(len(ablations)), key=lambda at: ablations[at].p)
    found, floor = list(ablations), 0.0
    for k, at in enumerate(order):
        floor = max(floor, min(ablations[at].p * (len(order) - k), 1.0))
        found[at] = ablations[at]._replace(adjusted=floor)
    return found


def fitting_arms(settings: Any) -> tuple[str, ...]:
    """Arms that a werewolf game supports: signal arms need words, talk arms need rounds of talk."""
    talks = any(row.resolver == "none" and row.rounds for row in settings.table)
    return tuple(
        arm
        for arm in ARMS
        if not (arm.startswith("signals") and not settings.word_length)
        and not (arm in ("talk_off", "targets_off") and not talks)
    )


class Ticker:
    """Reports the number of finished episodes, as a hook of `evaluate.play`.

    Example:
        >>> ticker = Ticker("playing", 4, lambda what, done, of: print(what, done, of))
        >>> ticker.add(None, np.array([0, 1]))
        playing 0 4
        >>> ticker.add(None, np.array([3, -1]))
        playing 3 4
    """

    def __init__(self, what: str, episodes: int, progress: Progress | None) -> None:
        self._what, self._episodes, self._progress = what, episodes, progress
        self._begun = 0

    def add(self, _world: World | None, episode: np.ndarray) -> None:
        """Hook of `play`: (W,) number of each world's episode, -1 for none."""
        self._begun = max(self._begun, int(episode.max(initial=-1)) + 1)
        if self._progress is not None:
            self._progress(self._what, self._begun - int(np.count_nonzero(episode >= 0)), self._episodes)


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

    def make_arm(arm: str) -> World:
        world: Any = make(arm)
        if arm == "signals_resampled":
            world.marginal = symbol_shares(played.talk)
        elif arm == "signals_replayed":
            world.replay = words_to_replay(played.talk)
        return world

    return ablate(
        make_arm,
        policy,
        chosen,
        episodes=len(played.table),
        metric=metric,
        seed=played.table.seed,
        normal=played.table,
        progress=progress,
    )


def symbol_shares(talk: Talk) -> np.ndarray:
    """(L, S) share of each symbol at each place of the words of all boards."""
    words = _spoken(talk).word
    most = max(talk.about.symbols)
    return np.stack([np.bincount(place, minlength=most) / len(words) for place in words.T])


def words_to_replay(talk: Talk) -> np.ndarray:
    """(G, D, phases, n, L) words by game, day, phase and seat, those of a phase's last round.

    A seat without a word there has one of the same phase and day, else of the same phase, drawn from all games.
    """
    said, rng = _spoken(talk), np.random.default_rng(0)
    shape = len(talk), int(said.day.max()) + 1, len(talk.about.phases), talk.seats
    words = np.zeros((*shape, said.word.shape[1]), np.int16)
    for phase in np.unique(said.phase):
        of_phase = said.phase == phase
        for day in range(shape[1]):
            same = of_phase & (said.day == day)
            pool = said.word[same if same.any() else of_phase]
            words[:, day, phase] = pool[rng.integers(len(pool), size=(shape[0], shape[3]))]
    words[said.game, said.day, said.phase, said.speaker] = said.word
    return words


def _spoken(talk: Talk) -> Utterances:
    """Utterances with a word, of public boards and others."""
    said = talk.utterances(np.ones(len(talk.boards.game), bool))
    return pick(said, np.flatnonzero((said.word >= 0).all(axis=1)))


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
