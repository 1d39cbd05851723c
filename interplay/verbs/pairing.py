"""A match of two players of a tournament or a league on the page; their names come out of files, so they are admitted first.

A scripted policy is taken by its name, a program only if the folder's settings are trusted (`interplay.core.trust`), and a run only
from beneath the folder that the user opened or the one in which he is, where his own runs are, unless he trusts what he opened.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from interplay.core.errors import UserError
from interplay.core.loading import is_code, is_folder, split_player
from interplay.core.policy import Policy, RandomPolicy
from interplay.core.world import World
from interplay.evaluate.tournaments.folder import SETTINGS, kind_of, read_settings
from interplay.evaluate.tournaments.matchups import MatchupPolicy, check_sides, sides
from interplay.evaluate.tournaments.round_robins import RoundRobinSettings
from interplay.verbs.contestants import find_contestant
from interplay.verbs.players import Player


class Admission(NamedTuple):
    """What players that a file names may be.

    Attributes:
        within: the folder that the user opened.
        trust: he trusts what is in it: its files may name programs, and runs elsewhere.
        here: the folder in which he is; None: that is no place of his runs.
    """

    within: Path
    trust: bool = False
    here: Path | None = None

    def admit(self, name: str, part: str = "") -> str | None:
        """The folder of a run that a file names, ``FOLDER`` or ``FOLDER@PLAYER``; None if there is none of that name.

        Args:
            name: from the folder in which we are, or from the one that was opened.
            part: of the run, if it is there, e.g. one of its checkpoints.
        """
        roots = [os.path.realpath(root) for root in (self.within, self.here) if root is not None]
        outside = False
        for base in ("", str(self.within)):
            if not is_folder(path := os.path.join(base, name)):
                continue
            folder, player = split_player(path)
            folder = os.path.join(folder, part) if part and is_folder(os.path.join(folder, part)) else folder
            place = Path(os.path.realpath(folder))
            if self.trust or any(place.is_relative_to(root) for root in roots):
                return folder if player is None else f"{folder}@{player}"
            outside = True
        if outside:
            raise UserError(
                f"{name} lies outside of the folder that was opened; open one that holds it too, or add --trust"
            )
        return None


class Pair(MatchupPolicy):
    """Two players in one world; the first has the first seat."""

    def __init__(self, players: Sequence[Policy], words: Sequence[str], world: World) -> None:
        super().__init__(players, sides(world), [0])
        self._words, self.name = tuple(words), " against ".join(words)

    def of(self, slot: int) -> tuple[Policy, str]:
        """The player of a slot, and its name."""
        player = int(self.seating[0, slot])
        return self._players[player], self._words[player]


def seat_pair(folder: Path, names: Sequence[str], admission: Admission, seed: int = 0) -> tuple[World, Pair]:
    """The world of a tournament or a league, and two of its players.

    Args:
        names: of both, as they stand there; the first has the first seat.
    """
    if names[0] == names[1]:
        raise UserError(f"{names[0]}: it would play itself; choose two players")
    tournament = os.path.lexists(folder / SETTINGS)
    found = _of_tournament(folder, admission) if tournament else _of_league(folder, admission)
    for name in names:
        if name not in found.players:
            raise UserError(f"{name}: no such player in {folder}; choose one of the table")
    world = Player(RandomPolicy(), found.world, found.options).make_world(num_worlds=1, seed=seed)
    try:
        check_sides(world, 2)
        loaded = [found.load(name, world) for name in names]
        return world, Pair([policy for policy, _ in loaded], [words for _, words in loaded], world)
    except BaseException:
        world.close()
        raise


class _Field(NamedTuple):
    """A world, and its admitted players.

    Attributes:
        world: id.
        options: of it.
        players: their names.
        load: (name, world) -> the player, and its name.
    """

    world: str
    options: Mapping[str, Any]
    players: Sequence[str]
    load: Callable[[str, World], tuple[Policy, str]]


def _of_tournament(folder: Path, admission: Admission) -> _Field:
    if kind_of(folder) == "merge":
        raise UserError(
            f"{folder}: its homes share a world by quotas, and no two of them sit; watch a run of one"
        )
    settings = read_settings(folder, RoundRobinSettings, admission.trust)
    identities = dict(zip(settings.players, settings.identities, strict=True))

    def load(name: str, world: World) -> tuple[Policy, str]:
        identity = identities[name]
        # The name comes out of the file, so a folder is admitted as a folder.
        if is_code(name) or not (is_folder(name) or identity.startswith("checkpoint ")):
            return _scripted(name, world), name
        number = identity.removeprefix("checkpoint ").partition(" ")[0].partition("@")[0]
        place = admission.admit(name, os.path.join("checkpoints", number) if number.isdecimal() else "")
        if place is None:
            raise UserError(
                f"{name}: no such run folder here; start the viewer where the tournament was started"
            )
        one = find_contestant(place, world, settings.greedy, trust=admission.trust)
        return one.policy, name if one.identity == identity else f"{name}, as it is now"

    return _Field(settings.world, settings.options, settings.players, load)


def _of_league(run: Path, admission: Admission) -> _Field:
    from interplay.verbs.trainer import load_trainer

    trainer = load_trainer()
    from interplay.train.play.policy import population_names
    from interplay.train.run.checkpoint import find_checkpoint
    from interplay.train.run.pins import checksum_of, is_path
    from interplay.train.run.settings_file import settings_of

    checkpoint = find_checkpoint(run)
    settings = settings_of(checkpoint, admission.trust)
    own = population_names(checkpoint) if settings.league.learners else []

    def load(name: str, world: World) -> tuple[Policy, str]:
        if name in own:
            return trainer.load_policy(checkpoint, False, [name], admission.trust), name
        if is_code(name):
            return _scripted(name, world), name
        place = admission.admit(name) if is_path(settings.pins, name) else None
        if place is not None:
            same = settings.pins.players.get(name, checksum_of(place)) == checksum_of(place)
            policy = find_contestant(place, world, trust=admission.trust).policy
            return policy, name if same else f"{name}, as it is now"
        return _scripted(name, world), name

    return _Field(settings.world.id, settings.world.options, [*own, *settings.league.fixed], load)


def _scripted(name: str, world: World) -> Policy:
    from interplay.registry import make_policy

    return make_policy(world.id, name)
