"""Starts processes of the game and ends them."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
import weakref
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
        MissingExtraError: without protocol package or game.
        GameLost: if the process ends, or does not listen in time.
        UserError: if its version is not `game_version`.

    Attributes:
        client: the connection.
        process: the started program.
    """

    def __init__(self, settings: GameSettings) -> None:
        (port,) = free_ports(1)
        self._scratch = tempfile.mkdtemp(prefix="interplay-sc2-")
        self.process = _start(port, self._scratch)
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
        self.client = self._connect(port, settings)
        version = self.client.call(ping={}).game_version
        if settings.game_version != "any" and not _fits(version, settings.game_version):
            self.close()
            raise UserError(
                f"game_version = {settings.game_version}: {engine.game_folder()} has StarCraft II {version}; "
                'install that version, or set game_version = "any"'
            )

    def close(self) -> None:
        """Ends the process."""
        if client := self.__dict__.pop("client", None):
            client.close()
        self._end()

    def _connect(self, port: int, settings: GameSettings) -> Client:
        deadline, quiet = time.monotonic() + settings.start_seconds, time.monotonic() + AFTER
        while True:
            try:
                return Client(port, settings.answer_seconds)
            except (OSError, WebSocketException):
                if (code := self.process.poll()) is not None:
                    self._end()
                    raise GameLost(f"{engine.program()} ended with code {code} as it started") from None
                if time.monotonic() > deadline:
                    self._end()
                    raise GameLost(
                        f"StarCraft II did not listen within {settings.start_seconds:g} s"
                    ) from None
                if time.monotonic() > quiet:
                    print_line(f"StarCraft II at port {port} starts")
                    quiet += AFTER
                time.sleep(RETRY_SECONDS)


def _start(port: int, scratch: str) -> subprocess.Popen[bytes]:
    program, folder = engine.program(), engine.game_folder()
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
