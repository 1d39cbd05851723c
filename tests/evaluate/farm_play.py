"""Matches for tests of the farm; results are a pure function of their number."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from interplay.core.errors import UserError
from interplay.core.policy import Policy
from interplay.core.processes import HERE, Process
from interplay.core.world import TimeStep, World

Result = Mapping[str, Mapping[str, Any]]


def begin(
    folder: str, seconds: float = 0.001, kill_every: int = 0, wrong: int = -1
) -> Callable[[int], Result]:
    """Matches that leave a mark in a folder when played.

    Args:
        folder: of the marks.
        seconds: duration of a match.
        kill_every: every n-th match kills its process the first time.
        wrong: the match that raises.
    """

    def play(match: int) -> Result:
        mark = Path(folder) / f"{match}-{os.getpid()}"
        first = not any(Path(folder).glob(f"{match}-*"))
        mark.touch()
        if kill_every and match % kill_every == 0 and first:
            os.kill(os.getpid(), signal.SIGKILL)
        if match == wrong:
            raise UserError(f"match {match}: it cannot be played; leave it out")
        time.sleep(seconds)
        return {str(match): {"scores": [float(match % 7), float(match % 5)]}}

    return play


class NotBegun:
    """A process that waits for a core."""

    exitcode = None

    def join(self) -> None: ...

    def terminate(self) -> None: ...

    def kill(self) -> None: ...


class FewCores:
    """This machine, where only the first processes get a core; those after them never begin.

    Args:
        ended: they end at once.

    Attributes:
        kept: their pipes.
    """

    def __init__(self, cores: int, ended: bool = False) -> None:
        self._left, self._ended = cores, ended
        self.kept: list[Any] = []

    def start(self, work: Callable[..., None], arguments: tuple[Any, ...]) -> tuple[Any, Process]:
        self._left -= 1
        if self._left >= 0:
            return HERE.start(work, arguments)
        mine, theirs = multiprocessing.Pipe()
        self.kept.append(theirs)
        if self._ended:
            theirs.close()
        return mine, NotBegun()

    def cores(self) -> int:
        return 2


def dies(folder: str, wrong: int) -> Callable[[tuple[int, ...]], Result]:
    """Units of several matches; one match kills every process, and marks its death in the folder."""
    one = begin(folder)

    def play(matches: tuple[int, ...]) -> Result:
        if wrong in matches:
            (Path(folder) / f"death-{os.getpid()}").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return {key: result for match in matches for key, result in one(match).items()}

    return play


def stalls(folder: str, seconds: float) -> Callable[[int], Result]:
    """Match 0 freezes its process the first time, match 1 computes for some seconds."""
    one = begin(folder)

    def play(match: int) -> Result:
        if match == 0 and not any(Path(folder).glob("0-*")):
            (Path(folder) / "0-frozen").touch()
            os.kill(os.getpid(), signal.SIGSTOP)
        until = time.monotonic() + seconds * (match == 1)
        while time.monotonic() < until:
            pass
        return one(match)

    return play


class Stalls(Policy):
    """Always the first action; does not come back from an act if the file of the variable STALLS is there, which it removes."""

    name = "stalls"

    def act(self, timestep: TimeStep) -> np.ndarray:
        mark = Path(os.environ["STALLS"])
        if mark.exists():
            mark.unlink()
            while True:
                pass
        return np.zeros(timestep.acting.shape, np.int64)


class Raises(Policy):
    """Raises inside NumPy, at its second act."""

    name = "raises"

    def start(self, world: World, seed: int = 0) -> None:
        super().start(world, seed)
        self.acts = 0

    def act(self, timestep: TimeStep) -> np.ndarray:
        self.acts += 1
        return np.zeros(timestep.acting.shape, np.int64).reshape(
            timestep.acting.shape if self.acts < 2 else (7, 5)
        )
