"""The ViZDoom engine: the only file that imports vizdoom."""

from __future__ import annotations

import socket
import struct
import subprocess
from collections.abc import Mapping
from importlib.metadata import distributions
from math import hypot
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np

from interplay.core.errors import MissingExtraError, UserError
from interplay.worlds.doom.buttons import buttons_of
from interplay.worlds.doom.config import BLAST, DoomSettings
from interplay.worlds.doom.variables import ENGINE_NAMES, variables_of

CURE = 'The ViZDoom game is not installed: run `pip install "interplay[vizdoom]"` (free Doom assets are included).'
CIG_2017 = (
    "The map cig2017.wad is not part of the vizdoom package: get it from the ViZDoom competition files and pass "
    "`wad=<file>`, or use the included `cig` map."
)
OLDEST = (1, 3)  # release with categories of things, and new episodes of a match in the same processes
FILES = {"basic": "basic", "cig": "cig", "duel": "multi_duel", "deathmatch": "multi_deathmatch"}
CATEGORIES = """Ammo Armor Artifact Breakable Bridge Decoration DynamicLight Explosive Gibs Gore Hazard Health InteractiveObject
Internal Key LightSource MapSpot Monster Player Power Powerup PuzzleItem QuestItem Self SFX ScriptThing Token Vegetation Weapon"""
CLASSES = ("", *CATEGORIES.split())  # of things in `labels`; 0 is the ground and whatever has none
ENEMIES = ("Monster", "Player")
BARREL = "ExplosiveBarrel"  # by name: its category, Hazard, has other things too
_CLASS = {name: number for number, name in enumerate(CLASSES)}


def missing() -> str:
    """The line with the cure if the package is not installed, or too old, else an empty string."""
    for one in distributions(name="vizdoom"):
        if tuple(map(int, one.version.split(".")[:2])) < OLDEST:
            return f'vizdoom {one.version} is too old: run `pip install "interplay[vizdoom]"`'
        return ""
    return CURE


def load_vizdoom() -> Any:
    """The package."""
    if line := missing():
        raise MissingExtraError(line)
    import vizdoom

    return vizdoom


def engine_errors() -> tuple[type[Exception], ...]:
    """What the package raises when an engine fails."""
    vzd = load_vizdoom()
    names = [name for name in dir(vzd) if name.endswith("Exception")]
    return tuple(getattr(vzd, name) for name in names)


def find_map(settings: DoomSettings) -> str:
    """The absolute path of the map file."""
    included = Path(load_vizdoom().scenarios_path)
    if settings.wad:
        path = Path(settings.wad).expanduser().absolute()
    else:
        path = included / f"{FILES[settings.map]}.wad"
    if path.is_file():
        if settings.level.upper() not in lumps_of(path):
            raise UserError(f"doom: {path} has no level {settings.level}; pass level = one of its own")
        return str(path)
    if path.name == "cig2017.wad":
        raise UserError(CIG_2017)
    raise UserError(f"doom: there is no map file {path}; pass wad = the path of a .wad file")


def lumps_of(path: Path) -> set[str]:
    """Names of the parts of a map file, levels among them. The engine plays another map for a missing level or a broken file."""
    with path.open("rb") as file:
        kind, count, place = struct.unpack("<4sII", file.read(12).ljust(12, b"\0"))
        if kind not in (b"IWAD", b"PWAD") or place + 16 * count > path.stat().st_size:
            raise UserError(f"doom: {path} is no whole .wad file; pass wad = the path of one")
        file.seek(place)
        table = file.read(16 * count)
    return {
        table[at + 8 : at + 16].rstrip(b"\0").decode("ascii", "replace") for at in range(0, len(table), 16)
    }


def make_game(
    settings: DoomSettings, path: str, launcher: Path, folder: Path, player: int, port: int, seed: int
) -> Any:
    """A game of one player that `init` starts; player 0 hosts the match, the others join it.

    Args:
        path: of the map file.
        launcher: of `write_launcher`.
        folder: of this match, where the engine writes.
    """
    program = folder / f"player{player}"
    program.symlink_to(launcher)
    vzd = load_vizdoom()
    game = vzd.DoomGame()
    game.set_vizdoom_path(str(program))
    game.set_doom_game_path(str(Path(vzd.root_path) / "freedoom2.wad"))
    game.set_doom_scenario_path(path)
    game.set_doom_map(settings.level)
    game.set_doom_config_path(str(folder / f"player{player}.ini"))
    game.set_window_visible(False)
    game.set_mode(vzd.Mode.PLAYER)
    game.set_doom_skill(settings.skill)
    game.set_episode_start_time(settings.start)
    game.set_episode_timeout(0)  # the world counts
    game.set_living_reward(settings.living_reward)
    game.set_seed(seed)
    height, width = settings.size
    game.set_screen_resolution(getattr(vzd.ScreenResolution, f"RES_{width}X{height}"))
    game.set_screen_format(vzd.ScreenFormat.RGB24 if settings.colour else vzd.ScreenFormat.GRAY8)
    game.set_render_hud(False)
    game.set_labels_buffer_enabled(settings.labelled)
    game.set_depth_buffer_enabled(settings.depth)
    game.set_automap_buffer_enabled(settings.automap)
    game.set_available_buttons([getattr(vzd.Button, name.upper()) for name in buttons_of(settings)])
    names = list(ENGINE_NAMES.values())[: variables_of(settings)]
    game.set_available_game_variables([getattr(vzd.GameVariable, name) for name in names])
    if settings.hosted:
        game.add_game_args(match_arguments(settings, player, port))
    return game


# The engine makes files where it is started and prints; Ctrl-C would end it. An engine that ends before the package has heard of it
# would take this process with it (vizdoom 1.3.2 reads a null pointer), so its parent then stays, stopped, until `guard` kills it.
LAUNCH = """#!/bin/sh
exec 2> /dev/null
trap '' INT
cd "${{0%/*}}" || kill -STOP $$
player=${{0##*/}}
{engine} "$@" > /dev/null 2>&1 &
printf '%s\\n' $$ $! "$@" > $player.engine
wait $!
: > $player.ended
[ -f $player.ready ] || kill -STOP $$
"""


def write_launcher(folder: Path) -> Path:
    """Writes the program that starts engines, and what becomes of them (see `interplay.worlds.doom.guard`).

    Another process writes it: this one may fork meanwhile, and a program that any process has open for writing cannot be started.
    """
    program = folder / "launch"
    text = LAUNCH.format(engine=quote(load_vizdoom().exe_path))
    write = ["/bin/sh", "-c", 'cat > "$0" && chmod 700 "$0"', str(program)]
    subprocess.run(write, input=text.encode(), check=True)
    return program


def match_arguments(settings: DoomSettings, player: int, port: int) -> str:
    """The engine's arguments of a match over the loopback (specification 7.1)."""
    own = f"+name player_{player} +colorset {player}"
    if player:
        return f"-join 127.0.0.1 -port {port} {own}"
    rules = "+sv_forcerespawn 1 +sv_respawnprotect 1 +sv_noautoaim 1 +sv_spawnfarthest 1 +sv_nocrouch 1"
    cheat = " +viz_nocheat 1" if settings.no_cheat else ""
    return (
        f"-host {settings.players} -port {port} -netmode 0 -deathmatch {rules}{cheat} "
        f"+viz_respawn_delay 0 {own}"
    )


def add_bots(game: Any, count: int) -> None:
    """Lets the host of a match add built-in players."""
    game.send_game_command("removebots")
    for _ in range(count):
        game.send_game_command("addbot")


def classes_of(state: Any) -> np.ndarray:
    """The labels of a picture as classes, (H, W) uint8."""
    return _translated(state, {label.value: _CLASS.get(label.object_category, 0) for label in state.labels})


def enemies_of(state: Any) -> np.ndarray:
    """Where a picture shows monsters and other players, (H, W) uint8: 255, else 0."""
    return _translated(
        state, {label.value: 255 for label in state.labels if label.object_category in ENEMIES}
    )


def shows_enemy(state: Any) -> bool:
    """Whether a monster or another player is in a picture."""
    return any(label.object_category in ENEMIES for label in state.labels)


def aims_at_barrel(state: Any, x: float, y: float) -> bool:
    """Whether a barrel in the picture's middle columns would hurt a player at x, y if it exploded."""
    width = state.labels_buffer.shape[1]
    return any(
        label.object_name == BARREL
        and 2 * label.x <= width <= 2 * (label.x + label.width)
        and hypot(label.object_position_x - x, label.object_position_y - y) < BLAST
        for label in state.labels
    )


def _translated(state: Any, meaning: Mapping[int, int]) -> np.ndarray:
    """The labels of a picture as what they mean, 0 for all others."""
    table, labels = bytearray(256), state.labels_buffer
    for value, meant in meaning.items():
        table[value] = meant
    table[0] = 0  # the engine's values run out at 255 things
    return np.frombuffer(labels.tobytes().translate(table), np.uint8).reshape(labels.shape)


def free_port() -> int:
    """A UDP port of the loopback that nothing uses."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
