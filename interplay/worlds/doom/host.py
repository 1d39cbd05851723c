"""The process of one match: it runs the engines of all players and obeys the world by a pipe.

Each player has an engine process of its own. This process leads their process group, so that one signal ends all of them, and
ends with the process that started it. Pictures and numbers go through shared memory; the pipe carries commands of a letter,
and an error in one line.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import shutil
import signal
import socket
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from interplay.core.processes import ignore_terminal_signals
from interplay.sim.batch.layout import place
from interplay.worlds.doom.config import DoomSettings
from interplay.worlds.doom.engine import View, add_bots, make_game
from interplay.worlds.doom.observe import shared_shapes

RESET, STEP, DONE = b"r", b"s", b"."
MOST = 400  # letters of an error
NAMES = "instances"  # file in a match's folder: names of its engines' shared memory, one a line


def sweep(folder: Path) -> None:
    """Removes a match's folder, and the shared memory that killed engines leave."""
    names = folder / NAMES
    for name in names.read_text().split() if names.is_file() else ():
        for path in Path("/dev/shm").glob(f"ViZDoom*{name}"):
            path.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


def run_match(
    pipe: Connection, memory: Any, num_worlds: int, w: int, settings: DoomSettings, path: str, folder: str
) -> None:
    """Runs the match of world `w` until the pipe closes.

    Args:
        memory: the shared block of all worlds.
        path: of the map file.
        folder: where the engines write.
    """
    os.setsid()
    ignore_terminal_signals()
    threading.Thread(target=_end_with_parent, args=(Path(folder),), daemon=True).start()
    os.chdir(folder)
    for stream in (1, 2):  # the engine prints there
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    arrays = place(shared_shapes(settings, num_worlds), memory)
    match = HostedMatch(settings, path, {name: array[w] for name, array in arrays.items()})
    try:
        while command := os.read(pipe.fileno(), 1):
            match.reset() if command == RESET else match.step()
            os.write(pipe.fileno(), DONE)
    except Exception as error:
        line = str(error).partition("\n")[0]
        with contextlib.suppress(OSError):  # the world is gone
            os.write(pipe.fileno(), f"{type(error).__name__}: {line}"[:MOST].encode())
    end(Path(folder))


class HostedMatch:
    """The games of one match; those of several players run in threads, as each waits for the others.

    Args:
        rows: shared arrays of this match, the axis of players first.
    """

    def __init__(self, settings: DoomSettings, path: str, rows: dict[str, Any]) -> None:
        self._settings, self._path, self._rows = settings, path, rows
        self._games: list[Any] = []
        self._views: list[View] = []
        self._threads = ThreadPoolExecutor(max(settings.players - 1, 1))

    def reset(self) -> None:
        """Begins an episode: the first starts the engines, later ones go on in the same."""
        if self._games:
            self._delay_respawns(0)
            self._each(self._begin)
        else:
            self._launch()
        self._delay_respawns(self._settings.respawn_delay)
        if self._settings.bots:
            add_bots(self._games[0], self._settings.bots)
        self._each(lambda player: self._views[player].read())

    def step(self) -> None:
        """Plays a decision of every player."""
        self._each(self._play)

    def _delay_respawns(self, seconds: int) -> None:
        """Sets the rule; a match begins with 0, as players may be put on one place, where the later one kills the other."""
        if self._settings.together:
            self._games[0].send_game_command(f"viz_respawn_delay {seconds}")

    def _launch(self) -> None:
        settings, port, seeds = self._settings, free_port(), self._rows["seed"]
        self._games = [
            make_game(settings, self._path, player, port, int(seeds[player]))
            for player in range(settings.players)
        ]
        self._each(lambda player: self._games[player].init())
        signal.signal(signal.SIGTERM, lambda *_: end(Path.cwd()))  # the engine's library has set its own
        Path(NAMES).write_text("\n".join(game.get_instance_id() for game in self._games))
        self._views = [
            View(game, {name: rows[player, ...] for name, rows in self._rows.items()})
            for player, game in enumerate(self._games)
        ]

    def _begin(self, player: int) -> None:
        game = self._games[player]
        game.set_seed(int(self._rows["seed"][player]))
        game.new_episode()

    def _play(self, player: int) -> None:
        game = self._games[player]
        self._rows["paid"][player] = game.make_action(
            self._rows["presses"][player].tolist(), self._settings.frames
        )
        self._views[player].read()

    def _each(self, call: Callable[[int], Any]) -> None:
        """Calls for every player; all have to be in the engine at once, or none comes back."""
        others = [self._threads.submit(call, player) for player in range(1, self._settings.players)]
        call(0)
        for other in others:
            other.result()


def free_port() -> int:
    """A UDP port of the loopback that nothing uses."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def end(folder: Path) -> None:
    """Ends this process and its engines at once."""
    sweep(folder)
    os.killpg(0, signal.SIGKILL)


def _end_with_parent(folder: Path) -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        end(folder)
