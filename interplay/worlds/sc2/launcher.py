"""Starts processes of the game and ends them."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
import weakref
from pathlib import Path
from typing import Any

from websockets.exceptions import WebSocketException

from interplay.core.errors import UserError
from interplay.core.overdue import AFTER, print_line
from interplay.worlds.sc2 import engine
from interplay.worlds.sc2.client import HOST, Client, GameLost
from interplay.worlds.sc2.config import GameSettings

RETRY_SECONDS = 0.1  # between attempts to connect to a process that starts
# Ends a game and its folder when the pipe to this process closes, also because it was killed.
KEEPER = 'read _; kill -9 "$0" 2> /dev/null; rm -rf "$1"'


def free_ports(number: int) -> list[int]:
    """So many ports that nothing listens at."""
    sockets = [socket.socket() for _ in range(number)]
    try:
        for one in sockets:
            one.bind((HOST, 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


class GameProcess:
    """One running game and the connection to it.

    Raises:
        GameLost: if the process ends, or does not listen in time.
        UserError: if the program cannot be run.

    Attributes:
        client: the connection.
        process: the started program.
        version: of the game, "4.10.0.75689".
    """

    def __init__(self, program: Path, settings: GameSettings) -> None:
        (port,) = free_ports(1)
        self._scratch = tempfile.mkdtemp(prefix="interplay-sc2-")
        try:
            self.process = _start(program, port, self._scratch)
        except OSError as error:
            shutil.rmtree(self._scratch)
            raise UserError(
                f"{program} cannot be run: {error.strerror}; make it executable, or install the game for this machine"
            ) from error
        try:
            keeper = subprocess.Popen(
                ["/bin/sh", "-c", KEEPER, str(self.process.pid), self._scratch],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )
        except BaseException:
            self.process.kill()
            raise
        self._end = weakref.finalize(
            self, _end, self.process, keeper, self._scratch
        )  # also when Python exits
        self.client = self._connect(program, port, settings)
        self.version: str = self.client.call(ping={}).game_version

    def close(self) -> None:
        """Ends the process."""
        if client := self.__dict__.pop("client", None):
            client.close()
        self._end()

    def _connect(self, program: Path, port: int, settings: GameSettings) -> Client:
        deadline, quiet = time.monotonic() + settings.start_seconds, time.monotonic() + AFTER
        while True:
            try:
                return Client(port, settings.answer_seconds)
            except (OSError, WebSocketException):
                if (code := self.process.poll()) is not None:
                    self._end()
                    raise GameLost(f"{program} ended with code {code} as it started") from None
                if time.monotonic() > deadline:
                    self._end()
                    raise GameLost(
                        f"StarCraft II did not listen within {settings.start_seconds:g} s"
                    ) from None
                if time.monotonic() > quiet:
                    print_line(f"StarCraft II at port {port} starts")
                    quiet += AFTER
                time.sleep(RETRY_SECONDS)


def start_game(settings: GameSettings) -> GameProcess:
    """A game of the newest build of `game_version`; only a running build says its version.

    Raises:
        MissingExtraError: without protocol package or game.
        UserError: if no build has that version.
    """
    versions = []
    for program in engine.programs():
        game = GameProcess(program, settings)
        if settings.game_version == "any" or _fits(game.version, settings.game_version):
            return game
        game.close()
        versions.append(game.version)
    raise UserError(
        f"game_version = {settings.game_version}: {engine.game_folder()} has StarCraft II {', '.join(versions)}; "
        'install that version, or set game_version = "any"'
    )


def _start(program: Path, port: int, scratch: str) -> subprocess.Popen[bytes]:
    folder = engine.game_folder()
    libraries = [os.environ.get("LD_LIBRARY_PATH"), f"{folder}/Libs/"]
    return subprocess.Popen(
        [
            str(program),
            *("-listen", HOST),
            *("-port", str(port)),
            *("-dataDir", f"{folder}/"),
            *("-tempDir", f"{scratch}/"),
        ],
        env={**os.environ, "LD_LIBRARY_PATH": ":".join(filter(None, libraries))},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # a terminal's Ctrl-C is for this process alone
    )


def _end(process: subprocess.Popen[Any], keeper: subprocess.Popen[Any], scratch: str) -> None:
    process.kill()  # it keeps nothing
    keeper.kill()
    keeper.wait()
    process.wait()  # from here on the game's number may be another process's
    assert keeper.stdin is not None
    keeper.stdin.close()
    shutil.rmtree(scratch, ignore_errors=True)


def _fits(version: str, wanted: str) -> bool:
    """Whether "4.10.0" begins with the numbers of "4.10"."""
    numbers, first = version.split("."), wanted.split(".")
    return numbers[: len(first)] == first
