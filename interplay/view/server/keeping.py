"""What people play, recorded: from the moment in which the first of them takes a slot to the end of the session."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from interplay import __version__
from interplay.core.errors import UserError
from interplay.core.files import os_errors_as_user_errors
from interplay.core.replay import WorldRecorder
from interplay.core.replay.layout import HUMAN, SUFFIX
from interplay.core.world import World
from interplay.view.output import check_output
from interplay.view.run_log import one_line

TAKEN, GIVEN = "taken", "given"  # kinds of marks


def check_target(path: Path) -> None:
    """Refuses a file that cannot be written to, before anybody plays; what was played once cannot be played again.

    Raises:
        UserError: for another suffix, a folder that is not there, or a file that is.
    """
    check_output(path, (SUFFIX,))
    if os.path.lexists(path):
        raise UserError(f"--out {path}: it is there already; name another file, or move it away")


class Keeper:
    """Records a world while people play it.

    Args:
        path: of the file, which is made when the first one takes a slot. Cut short by a full disk or a killed process it can be watched
            as far as it came.
        options: that the world was made with.
        seed: of its first reset.
        warn: is told in one line why the recording ended before the play, or is not complete.
    """

    def __init__(
        self,
        path: Path,
        options: Mapping[str, Any] | None = None,
        seed: int = 0,
        warn: Callable[[str], object] = lambda line: None,
    ) -> None:
        self.path, self._options, self._seed, self._warn = path, dict(options or {}), seed, warn
        self._recorder: WorldRecorder | None = None

    @property
    def open(self) -> bool:
        """Whether something is being recorded."""
        return self._recorder is not None

    def take(
        self, world: World, slot: int, policy: str, under_way: bool, players: Sequence[str] = ()
    ) -> None:
        """A person plays a slot from now on; with the first one the recording begins.

        Args:
            world: in play.
            slot: that is taken.
            policy: who plays the others, in words.
            under_way: whether an episode is.
            players: the player of each slot, in words; empty: `policy` of all.

        Raises:
            UserError: if it cannot be written, or another session has written it.
        """
        if self._recorder is not None:
            self._recorder.add_mark(TAKEN, slot)
            return
        check_target(self.path)
        others = list(players) or [policy] * len(world.agents)
        players = [HUMAN if one == slot else words for one, words in enumerate(others)]
        header = {
            "policy": f"{policy} and people",
            "players": tuple(players),
            "options": self._options,
            "seed": self._seed,
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
            "interplay": __version__,
        }
        self._recorder = WorldRecorder(self.path, world, header=header, growing=True)
        self._recorder.add_mark(TAKEN, slot)
        with self._given_up():
            self._recorder.begin(under_way)

    def give(self, slot: int) -> None:
        """The policy plays a slot again."""
        if self._recorder is not None:
            self._recorder.add_mark(GIVEN, slot)

    def begin(self) -> None:
        """The world was reset."""
        if self._recorder is not None:
            with self._given_up():
                self._recorder.begin()

    def step(self, action: Any, last: bool) -> None:
        """The world was stepped."""
        if self._recorder is not None:
            with self._given_up():
                self._recorder.step(action, last)

    def close(self) -> None:
        """The file is complete."""
        if self._recorder is not None:
            recorder = self._recorder
            with self._given_up(), recorder:
                self._recorder = None

    @contextmanager
    def _given_up(self) -> Iterator[None]:
        """Nothing more is recorded after an error: what comes later would not follow what is there."""
        try:
            with os_errors_as_user_errors(
                "recording into", self.path, "what was played before can be watched"
            ):
                yield
        except BaseException as error:
            self._warn(one_line(str(error)))
            recorder, self._recorder = self._recorder, None
            if recorder is not None:
                with suppress(Exception):
                    recorder.__exit__(type(error), error, error.__traceback__)
            raise
