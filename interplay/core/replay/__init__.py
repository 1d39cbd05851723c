"""Recordings, ``*.replay``: the scenes of a match, all actions, and states to continue from (docs/specs/viewer.md 5)."""

from interplay.core.replay.layout import Header
from interplay.core.replay.marks import Mark
from interplay.core.replay.reader import ReplayReader
from interplay.core.replay.writer import ReplayWriter, WorldRecorder

__all__ = ["Header", "Mark", "ReplayReader", "ReplayWriter", "WorldRecorder"]
