"""The protocol's messages, and where the game lies: the only module that imports `s2clientprotocol`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from interplay.core.errors import MissingExtraError

NO_PROTOCOL = 'StarCraft II support is not installed: run `pip install "interplay[sc2]"`.'
WRONG_PROTOCOL = (
    "The package s2clientprotocol does not work with this protobuf: run `pip uninstall s2clientprotocol pys2clientprotocol`, "
    'then `pip install "interplay[sc2]"`.'
)
NO_GAME = "StarCraft II was not found: install the game (Linux: Blizzard's headless package, 4.10) and set SC2PATH to its folder."


def missing() -> str:
    """The cure if the protocol package or the game is missing, else an empty string."""
    try:
        programs()
    except MissingExtraError as error:
        return str(error)
    return ""


def messages() -> Any:
    """The module with the protocol's messages (`sc2api_pb2`).

    Raises:
        MissingExtraError: without the package, or with another one in its place.
    """
    try:
        from s2clientprotocol import sc2api_pb2
    except ImportError as error:
        raise MissingExtraError(NO_PROTOCOL) from error
    except TypeError as error:  # s2clientprotocol, which needs a protobuf of long ago
        raise MissingExtraError(WRONG_PROTOCOL) from error
    return sc2api_pb2


def race(name: str) -> int:
    """The protocol's number of a race."""
    number: int = (
        messages().PlayerSetup.DESCRIPTOR.fields_by_name["race"].enum_type.values_by_name[name].number
    )
    return number


def game_folder() -> Path:
    """SC2PATH, else StarCraftII in the home folder."""
    return Path(os.environ.get("SC2PATH") or "~/StarCraftII").expanduser()


def programs() -> list[Path]:
    """The programs of the builds, ``Versions/BaseNNNNN/SC2_x64``, the newest first; at least one.

    Raises:
        MissingExtraError: without protocol package or game.
    """
    messages()
    builds = [
        path for path in game_folder().glob("Versions/Base*/SC2_x64") if path.parent.name[4:].isdecimal()
    ]
    if not builds:
        raise MissingExtraError(NO_GAME)
    return sorted(builds, key=lambda path: -int(path.parent.name[4:]))


def map_path(name: str) -> str:
    """The path of a map within the game's Maps folder, as create_game takes it.

    Raises:
        MissingExtraError: if there is none of that name.
    """
    wanted = f"{name.removesuffix('.SC2Map')}.SC2Map".lower()
    for folder in (game_folder() / "Maps", game_folder() / "maps"):
        for path in sorted(folder.rglob("*.SC2Map")):
            if path.name.lower() == wanted:
                return str(path.relative_to(folder))
    raise MissingExtraError(f"The StarCraft II map {name} was not found: put it under SC2PATH/Maps.")
