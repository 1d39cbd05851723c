"""One match: it starts the engines of its players, plays them, and notices engines that die or hang."""

from __future__ import annotations

import contextlib
import signal
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from interplay.worlds.doom.config import START, DoomSettings
from interplay.worlds.doom.engine import add_bots, engine_errors, free_port, make_game
from interplay.worlds.doom.guard import has_ended, kill_engines, sweep
from interplay.worlds.doom.player import Player

_LOOK = 0.02  # seconds between two looks at engines that start


class Match:
    """One match; the first episode starts its engines, and after a loss the next one starts new ones.

    Its players' calls have to be made at the same time, from a thread each: an engine waits for those of the other players.

    Args:
        path: of the map file.
        launcher: of `write_launcher`, beside which the match makes a folder for its engines.

    Attributes:
        players: in the order of the slots.
        trouble: why the match is lost; empty while it is not.
        seed: of the next episode.
        stuck: threads that wait for engines that have not started, until this process ends.
    """

    def __init__(self, settings: DoomSettings, path: str, launcher: Path, players: Sequence[Player]) -> None:
        self.players, self.trouble, self.seed, self.stuck = players, "", 0, 0
        self._settings, self._path, self._launcher = settings, path, launcher
        self._folder: Path | None = None  # of the running engines
        self._errors = engine_errors()
        self._due = [0.0] * len(players)  # monotonic time at which a call is overdue; 0: none is made
        self._starting: list[threading.Thread] = []
        self._begun = 0.0  # monotonic time of the start
        self._fresh = False  # the engines have not played an episode
        self._barrier = threading.Barrier(len(players))

    @property
    def busy(self) -> bool:
        """Whether a call is under way."""
        return any(self._due)

    @property
    def dead(self) -> bool:
        """Whether the match goes on without a living player."""
        return not self.trouble and all(player.dead and not player.ended for player in self.players)

    def start(self) -> None:
        """Makes the games, if none run; `launch` and `wait` have to follow."""
        if self._folder is None:
            self._folder, port = Path(tempfile.mkdtemp(dir=self._launcher.parent)), free_port()
            self._begun = time.monotonic()
            self._barrier = threading.Barrier(len(self.players))  # within a decision
            for a, player in enumerate(self.players):
                player.game = make_game(
                    self._settings, self._path, self._launcher, self._folder, a, port, self.seed
                )
                arguments = (player.game, self._folder, a, self._errors)
                self._starting.append(threading.Thread(target=_init, args=arguments, daemon=True))
        self._fresh = bool(self._starting)

    def launch(self) -> None:
        """Begins to start the engines."""
        for thread in self._starting:
            if thread.ident is None:
                thread.start()

    def wait(self) -> bool:
        """Waits a moment for engines that start; returns whether they have started, or are given up."""
        assert self._folder is not None
        if waiting := [thread for thread in self._starting if thread.is_alive()]:
            if not has_ended(self._folder) and time.monotonic() < self._begun + START:
                waiting[0].join(_LOOK)
                return False
            self.trouble = "its engines have not started"
            self._abandon()
        self._starting = []
        return True

    def work(self, a: int, held: list[float] | None) -> None:
        """Plays a decision of a player, or begins its episode if `held` is None; an engine's error loses the match."""
        self._due[a] = time.monotonic() + self._settings.deadline
        try:
            if held is None:
                self._begin(a)
            else:
                self.players[a].play(held, self._barrier.wait)
        except threading.BrokenBarrierError:
            self.lose("its players have lost each other")  # if it was not lost before
        except KeyboardInterrupt:
            self._barrier.abort()
            raise
        except self._errors as error:
            line = str(error).partition("\n")[0]
            self.lose(f"the engine of player_{a} has failed ({line})")
        finally:
            self._due[a] = 0.0

    def look(self) -> None:
        """Kills the engines of an overdue call, or of a lost match."""
        now = time.monotonic()
        if any(due and (self.trouble or now > due) for due in self._due):
            self.lose(f"its engines have not come back for {self._settings.deadline:g} s")

    def lose(self, why: str) -> None:
        """Kills all engines, so that calls come back; the first reason stays."""
        self.trouble = self.trouble or why
        self._barrier.abort()
        if self._folder is not None:
            kill_engines(self._folder)

    def end(self) -> str:
        """Ends the engines, and removes what they have left; no call may be under way. Returns the trouble."""
        trouble, self.trouble = self.trouble, ""
        if self._starting:
            self._abandon()
        if self._folder is None:
            return trouble
        kill_engines(self._folder)
        for player in self.players:
            player.game.close()  # would wait for a living engine, with the interpreter's lock held
            player.game = None
        sweep(self._folder)
        self._folder = None
        return trouble

    def _abandon(self) -> None:
        """Leaves engines that have not started to their threads, which must not come back before this process ends."""
        assert self._folder is not None
        kill_engines(self._folder)
        self.stuck += len(self._starting)
        self._starting, self._folder = [], None

    def _begin(self, a: int) -> None:
        settings, game = self._settings, self.players[a].game
        hosts = settings.hosted and a == 0
        if not self._fresh:
            if hosts:  # players may begin on one place, where the later one kills the other
                game.send_game_command("viz_respawn_delay 0")
            game.set_seed(self.seed)
            game.new_episode()
        if hosts:
            game.send_game_command(f"viz_respawn_delay {settings.respawn_delay}")
            add_bots(game, settings.bots)
        self.players[a].begin()


def _init(game: Any, folder: Path, player: int, errors: tuple[type[Exception], ...]) -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # until the engine's parent ignores it
    with contextlib.suppress(*errors):  # the first call of the game raises it again
        game.init()
        (folder / f"player{player}.ready").touch()
