"""What people play, recorded: from the moment in which the first of them takes a slot to the end of the session."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from interplay import __version__
from interplay.core.errors import UserError
from interplay.core.replay import WorldRecorder
from interplay.core.replay.layout import HUMAN, SUFFIX
from interplay.core.world import World
from interplay.view.output import check_output

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
        path: of the file, which appears when it is complete.
        options: that the world was made with.
        seed: of its first reset.
    """

    def __init__(self, path: Path, options: Mapping[str, Any] | None = None, seed: int = 0) -> None:
        self.path, self._options, self._seed = path, dict(options or {}), seed
        self._recorder: WorldRecorder | None = None

    @property
    def open(self) -> bool:
        """Whether something is being recorded."""
        return self._recorder is not None

    def take(self, world: World, slot: int, policy: str, under_way: bool) -> None:
        """A person plays a slot from now on; with the first one the recording begins.

        Raises:
            UserError: if it cannot be written, or another session has written it.
        """
        if self._recorder is not None:
            self._recorder.note(TAKEN, slot)
            return
        check_target(self.path)
        players = [HUMAN if one == slot else policy for one in range(len(world.agents))]
        header = {
            "policy": f"{policy} and people",
            "players": tuple(players),
            "options": self._options,
            "seed": self._seed,
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
            "interplay": __version__,
        }
        self._recorder = WorldRecorder(self.path, world, header=header)
        self._recorder.note(TAKEN, slot)
        self._recorder.begin(under_way)

    def give(self, slot: int) -> None:
        """The policy plays a slot again."""
        if self._recorder is not None:
            self._recorder.note(GIVEN, slot)

    def begin(self) -> None:
        """The world was reset."""
        if self._recorder is not None:
            self._recorder.begin()

    def step(self, action: Any, last: bool) -> None:
        """The world was stepped."""
        if self._recorder is not None:
            self._recorder.step(action, last)

    def close(self) -> None:
        """The file is complete."""
        if self._recorder is not None:
            recorder, self._recorder = self._recorder, None
            with recorder:
                pass
