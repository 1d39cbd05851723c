"""The games that `interplay talk` measures: played now or read from disk, and played again with each arm."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.core.policy import Policy
from interplay.core.world import World
from interplay.evaluate import EpisodeTable, Populations, play
from interplay.evaluate.talk import Talk, TalkRecorder, read_talk, reader_of
from interplay.evaluate.talk.ablation import Ablation, Ticker, ablate, fitting_arms
from interplay.evaluate.talk.believing import BeliefRecorder, Beliefs
from interplay.evaluate.talk.edits import speaker_marginal
from interplay.evaluate.talk.listening import Influence, Views, measure_influence
from interplay.evaluate.talk.null import Tell
from interplay.evaluate.talk.shards import holds_talk
from interplay.worlds.werewolf.belief import WAYS_OF_WOLVES, Ways

NO_ARM = "none"


class Wanted(NamedTuple):
    """What was asked for; see the options of `interplay talk`."""

    player: str
    world: str
    options: tuple[str, ...]
    against: str
    games: int
    num_worlds: int
    greedy: bool
    seed: int
    trust: bool = False


class Played(NamedTuple):
    """Recorded games, and what only games that were played here have.

    Attributes:
        talk: the record.
        table: the episodes, or None for games from disk.
        world: their world, closed later by whoever asks; or None.
        ours: the player that was asked about, or None.
        asked: the world's populations whose choices are its own.
        views: what players saw.
        beliefs: of players who guess, or None.
    """

    talk: Talk
    table: EpisodeTable | None = None
    world: World | None = None
    ours: Ours | None = None
    asked: tuple[int, ...] = ()
    views: Views | None = None
    beliefs: Beliefs | None = None


def play_games(wanted: Wanted, tell: Tell) -> Played:
    """Plays and records the games, or reads them.

    Raises:
        UserError: for an unknown player, a world without talk, or damaged records.
    """
    if Path(wanted.player).is_dir() and holds_talk(wanted.player):
        if wanted.against or wanted.options:
            raise UserError(
                f"{wanted.player}: these games were played already; leave out --against and options of the world"
            )
        return Played(read_talk(wanted.player))
    world, everybody = _open(wanted)
    reader = reader_of(world)
    recorder, views = TalkRecorder(reader, log_every=1), Views()
    noted: list[Any] = [recorder, views, Ticker("playing", wanted.games, tell)]
    ours, recorded = everybody.ours, None
    player = everybody.policy
    if getattr(ours.policy, "guesses", False):
        player = recorded = BeliefRecorder(player, ours, ours.asked, _ways(wanted.against or ours.foe))
        noted.append(recorded)

    def note(batch: World, episode: Any) -> None:
        for each in noted:
            each.note(batch, episode)

    table = play(world, player, wanted.games, wanted.seed, on_step=note)
    talk = recorder.talk()
    named = Talk(talk.about._replace(policy=everybody.policy.name), talk.games, talk.boards)
    scores = None if recorded is None else recorded.scores()
    return Played(named, table, world, ours, ours.asked, views, scores)


def _ways(against: str) -> Ways:
    """How an exact observer takes wolves to play: as they do, where they are scripted in a way that it knows."""
    return Ways(wolves=(against,)) if against in WAYS_OF_WOLVES else Ways()


def ablate_arms(
    wanted: Wanted, played: Played, arms: Sequence[str] | None, metric: str, tell: Tell
) -> list[Ablation]:
    """Plays the same games with parts of the talk taken away; nothing for records and for worlds without arms.

    Raises:
        UserError: for an unknown arm or metric, or arms of games that were read from disk.
    """
    chosen = [name for name in arms or () if name != NO_ARM]
    settings: Any = getattr(played.world, "settings", None)
    if played.table is None or not hasattr(settings, "arm"):
        if chosen:
            raise UserError(
                f"--arm {chosen[0]}: only games that are played now, of a world with arms, have them"
            )
        return []
    if arms is None:
        chosen = list(fitting_arms(settings))
    if not chosen or settings.arm != "full":
        return []
    _ = played.table[metric]  # refused before anything is played

    def make(arm: str) -> World:
        return _open(wanted, arm)[0]

    return ablate(
        make,
        lambda: _open(wanted)[1].policy,
        chosen,
        episodes=wanted.games,
        metric=metric,
        seed=wanted.seed,
        normal=played.table,
        tell=tell,
    )


def listen(played: Played) -> list[Influence]:
    """Board-edit influence on a trained policy; nothing for scripted ones, which say no probabilities."""
    seen = {} if played.views is None else played.views.observations()
    if (
        not seen
        or played.ours is None
        or not hasattr(played.ours.policy, "probabilities")
        or played.world is None
    ):
        return []
    asked = np.isin(seen["population"], played.asked)
    seen = {name: leaf[asked] for name, leaf in seen.items()}
    if not asked.any():
        return []
    marginal = speaker_marginal(played.talk.utterances().word)
    return measure_influence(played.ours, played.world, seen, marginal, played.talk.about.phases)


class Ours:
    """The player that was asked about, by the world's numbers of populations.

    Args:
        policy: who plays.
        seats: the world's populations that it was seated for; it knows them as 0, 1, ...
        names: of the world's populations.

    Attributes:
        asked: those of them that it moves itself; a run's own opponents move the others.
        foe: who those are that a run was trained to guess, where it brings them; else empty.
    """

    def __init__(self, policy: Any, seats: tuple[int, ...], names: tuple[str, ...]) -> None:
        self.policy, self._seats = policy, np.array(seats)
        opponents = getattr(getattr(policy, "settings", None), "foreign", {})
        self.asked = tuple(p for p in seats if not names or names[p] not in opponents)
        self.foe = opponents.get(policy.settings.belief.about, "") if opponents else ""

    def probabilities(self, observation: Any, mask: Any, population: np.ndarray) -> np.ndarray:
        """(N, choices), see `TrainedPolicy.probabilities`."""
        said: np.ndarray = self.policy.probabilities(observation, mask, self._own(population))
        return said

    def beliefs(self, observation: Any, population: np.ndarray) -> np.ndarray:
        """(N, n), see `TrainedPolicy.beliefs`."""
        said: np.ndarray = self.policy.beliefs(observation, self._own(population))
        return said

    def _own(self, population: np.ndarray) -> np.ndarray:
        return np.searchsorted(self._seats, population)


class _Cast(NamedTuple):
    """Who plays: all together, and the one that was asked about."""

    policy: Policy
    ours: Ours


def _open(wanted: Wanted, arm: str = "") -> tuple[World, _Cast]:
    """The world and who plays it; a second player takes the populations of the team that hides."""
    from interplay.cli.players import find_player
    from interplay.core.settings import parse_overrides

    typed = [*wanted.options, *([f"arm={arm}"] if arm else [])]
    found = find_player(
        wanted.player, wanted.world, parse_overrides(typed), wanted.greedy, trust=wanted.trust
    )
    batch = found.make_world(min(wanted.num_worlds, wanted.games), wanted.seed)
    names, every = tuple(batch.population_names or ()), tuple(range(batch.num_populations))
    if not wanted.against:
        return batch, _Cast(found.policy, Ours(found.policy, every, names))
    hiding = _hiding(batch)
    theirs = find_player(wanted.against, found.world, found.options, wanted.greedy, trust=wanted.trust).policy
    players = Populations({p: theirs if p in hiding else found.policy for p in every})
    seats = tuple(p for p in every if p not in hiding)
    return batch, _Cast(players, Ours(found.policy, seats, names))


def _hiding(world: World) -> set[int]:
    """Populations of the team that hides.

    Raises:
        UserError: for a world without one.
    """
    from interplay.worlds.werewolf.roles import NAMES, ROLES, WOLVES

    teams = {role.name: role.team for role in ROLES}
    names = world.population_names or ()
    found = {number for number, name in enumerate(names) if name in NAMES and teams[name] == WOLVES}
    if not found:
        raise UserError(f"--against: no team hides in {world.id}; leave it out")
    return found
