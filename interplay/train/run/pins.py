"""The checkpoints of other runs that a run's settings name, pinned by their checksums, as in tournaments.

A run goes on, and is evaluated, with these alone. A relative path is looked up from ``pins.folder``, in which the run
began, then from the working folder; the checksum decides which of the two is meant. A name without a slash is a policy's.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from interplay.core.errors import UserError
from interplay.core.loading import is_folder, split_player
from interplay.core.settings import changed
from interplay.train.run.checkpoint import find_checkpoint
from interplay.train.run.manifest import read_manifest
from interplay.train.settings import PinsGroup, TrainSettings, shares_of

OWN = ("self", "past")  # in `opponents`: networks of the run itself
RESUME = "take this one with `interplay resume RUN --accept-settings`"
_SHOWN = 16  # hexadecimal digits of a checksum


def find_player(pins: PinsGroup, name: str, cure: str = RESUME) -> str:
    """The path of a player that the settings name, if it is the pinned one; a name without a pin stays.

    Args:
        cure: what else to do than to put the pinned checkpoint back.

    Raises:
        UserError: if another one is there, or none.
    """
    pin = pins.players.get(name)
    if pin is None:
        return name
    found = {path: checksum_of(path) for path in _places(pins, name)}
    for path, checksum in found.items():
        if checksum == pin:
            return path
    if found:
        path, checksum = next(iter(found.items()))
        raise UserError(f"{path} is checkpoint {checksum}, pinned is {pin}; put that one back, or {cure}")
    where = "there" if os.path.isabs(name) else f"in {pins.folder or '.'}, nor in the working folder"
    raise UserError(f"{name} is not {where}; put checkpoint {pin} back")


def pin_players(
    settings: TrainSettings,
    say: Callable[[str], object] | None = None,
    typed: bool = False,
    begins: bool = False,
    accept: bool = False,
    cure: str = RESUME,
) -> TrainSettings:
    """The settings with a pin for every checkpoint that they name; run folders are replaced by their newest checkpoints.

    Args:
        say: called with a line for each new pin.
        typed: the names are as a user typed them, so that a folder goes before a policy of its name.
        begins: the run has no checkpoint yet, so that ``train.start_from`` is read.
        accept: where another checkpoint is than the pinned one, it gets the pin.
        cure: as for `find_player`.

    Raises:
        UserError: as `find_player`.
    """
    settings = _with_checkpoints(settings, typed, begins)
    pins, players, folder = settings.pins, dict(settings.pins.players), settings.pins.folder
    for key, name in named(settings, begins):
        places = _places(pins, name)
        try:
            find_player(pins, name, cure)
        except UserError as error:
            if not (accept and places):
                raise UserError(f"{key}: {error}") from None
            del players[name]
        if not places:
            continue
        if not os.path.isabs(name):
            folder = folder or os.getcwd()
        if name not in players:
            players[name] = checksum_of(places[0])
            if say is not None:
                say(f"{key}: {places[0]} is checkpoint {players[name]}; from here on it is pinned")
    return changed(settings, {"pins": {"folder": folder, "players": players}}, "train")


def named(settings: TrainSettings, begins: bool) -> Iterator[tuple[str, str]]:
    """Key and name of every player in the settings that may be a run; ``train.start_from`` is read by a run that begins."""
    for side, players in settings.opponents.items():
        yield from ((f"opponents.{side}", play) for play, _ in shares_of(players) if play not in OWN)
    for learner in settings.league.learners.values():
        yield from (("league", meeting.play) for meeting in learner.meets if meeting.play)
    yield from (("train.evaluate_against", play) for play in settings.train.evaluate_against)
    if begins and settings.train.start_from is not None:
        yield "train.start_from", settings.train.start_from


def checksum_of(path: str) -> str:
    """The beginning of the checksum of a checkpoint's manifest, which has those of all its files."""
    return str(read_manifest(find_checkpoint(split_player(path)[0]))["checksum"])[:_SHOWN]


def _places(pins: PinsGroup, name: str) -> list[str]:
    """The folders that a path leads to, from `pins.folder` and from the working folder."""
    paths = dict.fromkeys((os.path.join(pins.folder, name), name)) if is_path(pins, name) else ()
    return [path for path in paths if is_folder(path)]


def is_path(pins: PinsGroup, name: str) -> bool:
    """Whether a name in the settings of a run that has begun is a path of a run; else it is a policy's."""
    return name in pins.players or "/" in name


def _with_checkpoints(settings: TrainSettings, typed: bool, begins: bool) -> TrainSettings:
    """Replaces run folders without a pin by their newest checkpoints, so that all readers use the same ones."""
    pins, start = settings.pins, settings.train.start_from

    def newest(name: str) -> str:
        if name in pins.players or (name == start and not begins):
            return name
        places = [name] if typed and is_folder(name) else _places(pins, name)
        if not places:
            return name
        folder, player = split_player(places[0])
        path = str(find_checkpoint(folder)) + ("" if player is None else f"@{player}")
        path = path if os.path.isabs(name) else path.removeprefix(os.path.join(pins.folder, ""))
        return path if "/" in path else f"./{path}"

    return renamed(settings, newest)


def renamed(settings: TrainSettings, rename: Callable[[str], str]) -> TrainSettings:
    """The settings with other names for the players that may be runs."""

    def of_side(play: str) -> str:
        return play if play in OWN else rename(play)

    opponents = {
        key: of_side(players)
        if isinstance(players, str)
        else [{"play": of_side(play), "share": share} for play, share in shares_of(players)]
        for key, players in settings.opponents.items()
    }
    league = settings.league.model_dump()
    for learner in league["learners"].values():
        for meeting in learner["meets"]:
            meeting["play"] = rename(meeting["play"]) if meeting["play"] else ""
    train: dict[str, Any] = {"evaluate_against": tuple(map(rename, settings.train.evaluate_against))}
    if settings.train.start_from is not None:
        train["start_from"] = rename(settings.train.start_from)
    return changed(settings, {"opponents": opponents, "train": train, "league": league}, "train")
