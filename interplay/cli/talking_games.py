"""The games that `interplay talk` measures: from what a user types to a world and its policies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from interplay.core.errors import UserError
from interplay.core.policy import Policy
from interplay.core.world import World
from interplay.evaluate import PolicyMap
from interplay.evaluate.communication import games, read_talk
from interplay.evaluate.communication.games import Ablation, Played, Subject
from interplay.evaluate.communication.shards import holds_talk
from interplay.evaluate.communication.werewolf.reader import hiding_populations
from interplay.evaluate.lineup import learner_of
from interplay.evaluate.progress import Progress


class Wanted(NamedTuple):
    """The options of `interplay talk`."""

    player: str
    world: str
    options: tuple[str, ...]
    against: str
    games: int
    num_worlds: int
    greedy: bool
    seed: int
    trust: bool = False


def play_games(wanted: Wanted, progress: Progress) -> Played:
    """Plays and records the games, or reads them."""
    if Path(wanted.player).is_dir() and holds_talk(wanted.player):
        if wanted.against or wanted.options:
            raise UserError(
                f"{wanted.player}: these games were played already; leave out --against and options of the world"
            )
        return Played(read_talk(wanted.player))
    world, policy, subject = _open(wanted)
    return games.play_games(world, policy, subject, wanted.games, wanted.seed, wanted.against, progress)


def play_arms(
    wanted: Wanted, played: Played, arms: Sequence[str] | None, metric: str, progress: Progress
) -> list[Ablation]:
    """See `interplay.evaluate.communication.games.play_arms`."""
    return games.play_arms(
        played, lambda arm: _open(wanted, arm)[0], lambda: _open(wanted)[1], arms, metric, progress
    )


def _open(wanted: Wanted, arm: str = "") -> tuple[World, Policy, Subject]:
    """The world, its players, and the agents that are measured; a second player takes the team that hides."""
    from interplay.core.settings import parse_overrides
    from interplay.verbs.players import find_player

    typed = [*wanted.options, *([f"arm={arm}"] if arm else [])]
    found = find_player(
        wanted.player, wanted.world, parse_overrides(typed), wanted.greedy, trust=wanted.trust
    )
    batch = found.make_world(min(wanted.num_worlds, wanted.games), wanted.seed)
    names, every = tuple(batch.population_names or ()), tuple(range(batch.num_populations))
    if not wanted.against:
        return batch, found.policy, Subject(learner_of(found.policy), every, names)
    hiding = hiding_populations(batch)
    if not hiding:
        raise UserError(f"--against: no team hides in {batch.id}; leave it out")
    theirs = find_player(wanted.against, found.world, found.options, wanted.greedy, trust=wanted.trust).policy
    own, theirs = learner_of(found.policy), learner_of(theirs)
    players = PolicyMap({p: theirs if p in hiding else own for p in every}, by="population")
    seats = tuple(p for p in every if p not in hiding)
    return batch, players, Subject(own, seats, names)
