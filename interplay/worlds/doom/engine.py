"""The ViZDoom engine: the only file that imports vizdoom."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from interplay.core.errors import MissingExtraError, UserError
from interplay.worlds.doom.buttons import buttons_of
from interplay.worlds.doom.config import DoomSettings
from interplay.worlds.doom.variables import ENGINE_NAMES, variables_of

CURE = 'The ViZDoom game is not installed: run `pip install "interplay[vizdoom]"` (free Doom assets are included).'
CIG_2017 = (
    "The map cig2017.wad is not part of the vizdoom package: get it from the ViZDoom competition files and pass "
    "`wad=<file>`, or use the included `cig` map."
)
OLDEST = (1, 3)  # release with classes of labels and new episodes of a match in the same processes
FILES = {"basic": "basic", "cig": "cig", "duel": "multi_duel", "deathmatch": "multi_deathmatch"}
# Classes of things in `labels`; 0 is the ground and whatever is not named here.
CLASSES = (
    *("", "Self", "Player", "Monster", "Weapon", "Ammo", "Health", "Armor"),
    *("Explosive", "Key", "Powerup", "Item", "Corpse", "SFX"),
)


def missing() -> str:
    """The line with the cure if the package is not installed, else an empty string."""
    return "" if find_spec("vizdoom") else CURE


def load_vizdoom() -> Any:
    """The package."""
    try:
        import vizdoom
    except ImportError:
        raise MissingExtraError(CURE) from None
    if tuple(map(int, vizdoom.__version__.split(".")[:2])) < OLDEST:
        raise MissingExtraError(
            f'vizdoom {vizdoom.__version__} is too old: run `pip install "interplay[vizdoom]"`'
        )
    return vizdoom


def find_map(settings: DoomSettings) -> str:
    """The absolute path of the map file."""
    included = Path(load_vizdoom().scenarios_path)
    if settings.wad:
        path = Path(settings.wad).expanduser().absolute()
    else:
        path = included / f"{FILES[settings.map]}.wad"
    if path.is_file():
        return str(path)
    if path.name == "cig2017.wad":
        raise UserError(CIG_2017)
    raise UserError(f"doom: there is no map file {path}; pass wad = the path of a .wad file")


def make_game(settings: DoomSettings, path: str, player: int, port: int, seed: int) -> Any:
    """A game of one player that `init` starts; player 0 hosts the match, the others join it.

    The engine writes its files to the working directory.
    """
    vzd = load_vizdoom()
    game = vzd.DoomGame()
    game.set_doom_scenario_path(path)
    game.set_doom_map(settings.level)
    game.set_doom_config_path(str(Path.cwd() / f"player{player}.ini"))
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
    game.set_labels_buffer_enabled(settings.labels)
    game.set_depth_buffer_enabled(settings.depth)
    game.set_automap_buffer_enabled(settings.automap)
    game.set_available_buttons([getattr(vzd.Button, name.upper()) for name in buttons_of(settings)])
    names = list(ENGINE_NAMES.values())[: variables_of(settings)]
    game.set_available_game_variables([getattr(vzd.GameVariable, name) for name in names])
    if settings.together:
        game.add_game_args(match_arguments(settings, player, port))
    return game


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


class View:
    """Reads a game into one player's rows of the shared arrays.

    Args:
        rows: name -> this player's part.
    """

    def __init__(self, game: Any, rows: dict[str, np.ndarray]) -> None:
        self._game, self._rows = game, rows
        self._variables = game.get_available_game_variables()

    def read(self) -> None:
        """Writes all rows; the last pictures stay where the engine gives none, as after its episode's end."""
        game, rows = self._game, self._rows
        state = game.get_state()
        if state is None:
            rows["variables"][:] = [game.get_game_variable(variable) for variable in self._variables]
        else:
            rows["screen"][:] = state.screen_buffer.reshape(rows["screen"].shape)
            rows["variables"][:] = state.game_variables
            self._read_others(state)
        rows["tic"][...] = game.get_episode_time()
        rows["dead"][...] = game.is_player_dead()
        rows["ended"][...] = game.is_episode_finished()

    def _read_others(self, state: Any) -> None:
        """The pictures that are options; the engine leaves them out with `no_cheat`."""
        rows = self._rows
        if "labels" in rows and state.labels_buffer is not None:
            classes = np.zeros(256, np.uint8)
            for label in state.labels:
                category = label.object_category
                classes[label.value] = CLASSES.index(category) if category in CLASSES else 0
            rows["labels"][:] = classes[state.labels_buffer].reshape(rows["labels"].shape)
        if "depth" in rows and state.depth_buffer is not None:
            rows["depth"][:] = state.depth_buffer.reshape(rows["depth"].shape)
        if "automap" in rows and state.automap_buffer is not None:
            rows["automap"][:] = state.automap_buffer.reshape(rows["automap"].shape)


def add_bots(game: Any, count: int) -> None:
    """Lets the host of a match add built-in players."""
    game.send_game_command("removebots")
    for _ in range(count):
        game.send_game_command("addbot")
