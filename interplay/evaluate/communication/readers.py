"""Finds the reader of a world's boards."""

from __future__ import annotations

from interplay.core.errors import UserError
from interplay.core.loading import load
from interplay.core.world import World
from interplay.evaluate.communication.broadcasts import BroadcastReader
from interplay.evaluate.communication.reading import Reader


def reader_of(world: World) -> Reader:
    """The reader named in `World.instruments`, or one for messages in observations.

    Raises:
        UserError: for a world without talk.
    """
    if "talk" in world.instruments:
        return load(world.instruments["talk"])()
    reader = BroadcastReader()
    if not reader.acting(world).any():
        raise UserError(f"{world.id}: no talk; choose a world such as werewolf/9-l1s9")
    return reader
