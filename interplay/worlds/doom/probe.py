"""Tries whether the engine can start a map, in another process: an engine that fails as it starts ends its process (vizdoom 1.3.2)."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from interplay.core.errors import UserError
from interplay.worlds.doom.config import START, DoomSettings
from interplay.worlds.doom.engine import free_port, make_game, write_launcher
from interplay.worlds.doom.guard import kill_engines, sweep

_INCLUDED = "map01"  # level of the included maps, which need no trial


def check_map(settings: DoomSettings, path: str) -> None:
    """Refuses a map that the engine cannot start.

    Raises:
        UserError: if so.
    """
    if not settings.wad and settings.level == _INCLUDED:
        return
    # A built-in player in the place of the others, so that the match has several sides.
    alone = settings.model_copy(update={"players": 1, "bots": int(settings.together)})
    folder = Path(tempfile.mkdtemp(prefix="interplay-doom-"))
    program = f"import sys; sys.path[:0] = {sys.path}; from {__name__} import start_once; start_once(sys.stdin.read(), {path!r})"
    try:
        tried = subprocess.run(
            [sys.executable, "-c", program],
            input=alone.model_dump_json().encode(),
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=START,
        ).returncode
    except subprocess.TimeoutExpired:
        tried = -1
    kill_engines(folder, parents=True)
    sweep(folder)
    if tried != 0:
        raise UserError(
            f"doom: the engine cannot start {settings.level} of {path}; pass a level of that file in which players begin"
        )


def start_once(settings: str, path: str) -> None:
    """Starts an engine in the working directory and ends this process, by an error if the engine fails."""
    launcher, folder = write_launcher(Path.cwd()), Path.cwd()
    game = make_game(DoomSettings.model_validate_json(settings), path, launcher, folder, 0, free_port(), 1)
    Path("player0.ready").touch()  # so that the parent of a failed engine ends
    game.init()
    os._exit(0)
