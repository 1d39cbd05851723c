"""Plays on from a recording: restores the world at a tick and finds the checkpoint that played (docs/specs/viewer.md 5)."""

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
    """A world restored from a recording; the state of its policies is not restored.

    Attributes:
        under_way: the restored place in the recording.
        header: of the recording, untrusted.
        checkpoint: named by the header; None if it is in no run of the opened folder.
    """

    world: World
    under_way: UnderWay
    header: Header
    checkpoint: Named | None = None


def continue_at(path: Path, tick: int, checkpoints: Checkpoints) -> Continued:
    """Restores the world of a recording (an untrusted file) at a tick."""
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
    """Slots with a life that ended in the episode of a tick, by the recording's marks."""
    gone: set[int] = set()
    for mark in sorted((one for one in marks if one.tick <= tick), key=lambda one: one.tick):
        if mark.kind == "end" and mark.tick < tick:
            gone.clear()
        elif mark.kind in ("death", "cut"):
            gone.update(mark.rows)
        elif mark.kind == "birth":
            gone.difference_update(mark.rows)
    return tuple(sorted(gone))
