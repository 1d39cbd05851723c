"""Records a session from the first slot that a person takes to its end."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from interplay.core.errors import UserError
from interplay.core.files import os_errors_as_user_errors
from interplay.core.replay import WorldRecorder
from interplay.core.replay.layout import HUMAN, SUFFIX
from interplay.core.world import World
from interplay.view.output import check_output
from interplay.view.replays import begin_header
from interplay.view.run_log import one_line

TAKEN, GIVEN = "taken", "given"  # kinds of marks


def check_target(path: Path) -> None:
    """Checks the file before play, which cannot be repeated."""
    check_output(path, (SUFFIX,))
    if os.path.lexists(path):
        raise UserError(f"--out {path}: it exists already; name another file, or move it away")


class Keeper:
    """Records a world while people play it.

    Args:
        path: of the file, which is made when the first slot is taken. If a full disk or a kill cuts it short, the rest can
            still be watched.
        warn: called with one line if the recording ends before the play or is incomplete.
    """

    def __init__(
        self,
        path: Path,
        options: Mapping[str, Any] | None = None,
        seed: int = 0,
        warn: Callable[[str], object] = lambda line: None,
    ) -> None:
        self.path, self._options, self._seed, self._warn = path, options, seed, warn
        self._recorder: WorldRecorder | None = None

    @property
    def open(self) -> bool:
        """Whether the recording has begun and not ended."""
        return self._recorder is not None

    def take(
        self, world: World, slot: int, policy: str, under_way: bool, players: Sequence[str] = ()
    ) -> None:
        """Marks that a person plays a slot; the first one begins the recording.

        Args:
            policy: name of the policy of other slots.
            under_way: whether an episode has begun.
            players: name of the player of each slot; empty: `policy` for all.
        """
        if self._recorder is not None:
            self._recorder.add_mark(TAKEN, slot)
            return
        check_target(self.path)
        others = list(players) or [policy] * len(world.agents)
        seated = tuple(HUMAN if one == slot else words for one, words in enumerate(others))
        header = begin_header(self._options, self._seed, policy=f"{policy} and people", players=seated)
        self._recorder = WorldRecorder(self.path, world, header=header, growing=True)
        self._recorder.add_mark(TAKEN, slot)
        with self._given_up():
            self._recorder.begin(under_way)

    def give(self, slot: int) -> None:
        """Marks that the policy plays a slot again."""
        if self._recorder is not None:
            self._recorder.add_mark(GIVEN, slot)

    def begin(self) -> None:
        """Records a reset."""
        if self._recorder is not None:
            with self._given_up():
                self._recorder.begin()

    def step(self, action: Any, last: bool) -> None:
        """Records a step."""
        if self._recorder is not None:
            with self._given_up():
                self._recorder.step(action, last)

    def close(self) -> None:
        """Completes the file."""
        if self._recorder is not None:
            recorder = self._recorder
            with self._given_up(), recorder:
                self._recorder = None

    @contextmanager
    def _given_up(self) -> Iterator[None]:
        """Ends the recording after an error: later steps would not follow the recorded ones."""
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
