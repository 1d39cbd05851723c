"""Recordings that are played on: the world as it stood at a tick, and the checkpoint that played it (docs/specs/viewer.md 5)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from interplay.core.files import os_errors_as_user_errors
from interplay.core.replay import ReplayReader
from interplay.core.replay.layout import Header
from interplay.core.replay.marks import Mark
from interplay.core.world import World
from interplay.view.server.config import STEPPED, WALK_SECONDS
from interplay.view.server.networks import Checkpoints, Named
from interplay.view.server.play import UnderWay


class Continued(NamedTuple):
    """A recorded world that somebody plays on. Of the policies that played nothing is restored.

    Attributes:
        world: as it stood.
        under_way: where that was.
        header: of the recording: words from anybody.
        checkpoint: that the header names; None: it is in no run of the folder that is opened, or none is named.
    """

    world: World
    under_way: UnderWay
    header: Header
    checkpoint: Named | None = None


def continue_at(path: Path, tick: int, checkpoints: Checkpoints) -> Continued:
    """The world of a recording as it stood at a tick.

    Args:
        path: of the file, from anybody.
        tick: of the recording.
        checkpoints: among which the one that played is looked for.

    Raises:
        UserError: if it cannot be played on from there, see `ReplayReader.world_at`.
    """
    with (
        os_errors_as_user_errors("reading", path),
        ReplayReader(path, links=False, patience=WALK_SECONDS) as reader,
    ):
        world = reader.world_at(tick, most=STEPPED)
        try:
            frame = next(reader.frames(tick, tick + 1), None)
            first = frame is not None and frame.first
            found = checkpoints.find(reader.header.checkpoint)
            return Continued(world, UnderWay(tick, first, _gone(reader.marks(), tick)), reader.header, found)
        except BaseException:
            world.close()
            raise


def _gone(marks: Iterable[Mark], tick: int) -> tuple[int, ...]:
    """Whose life has ended in the episode of a tick, as far as the recording's marks tell."""
    gone: set[int] = set()
    for mark in sorted((one for one in marks if one.tick <= tick), key=lambda one: one.tick):
        if mark.kind == "end" and mark.tick < tick:
            gone.clear()
        elif mark.kind in ("death", "cut"):
            gone.update(mark.rows)
        elif mark.kind == "birth":
            gone.difference_update(mark.rows)
    return tuple(sorted(gone))
