"""Recorders that overlays share, by name."""

from __future__ import annotations

from typing import Any

from interplay.evaluate.lifetimes.coverage import VisitRecorder, WalkerRecorder
from interplay.evaluate.lifetimes.mmo.attacks import AttackRecorder, BlowRecorder
from interplay.evaluate.lifetimes.survival import LifeRecorder
from interplay.evaluate.lifetimes.tick import STYLES, Recorder
from interplay.evaluate.lifetimes.tracks import TrackRecorder


def visits(world: Any) -> VisitRecorder:
    """Of the agents."""
    return VisitRecorder(world.num_worlds, world.num_populations, world.settings.side)


def walkers_visits(world: Any) -> Recorder:
    """Of random walkers with the same births, places and lengths of life."""
    return WalkerRecorder(visits(world))


def lives(world: Any) -> LifeRecorder:
    """Tables of lives."""
    return LifeRecorder(world.num_populations)


def tracks(_world: Any) -> TrackRecorder:
    """Every step of every life."""
    return TrackRecorder()


def attacks(world: Any) -> AttackRecorder:
    """Landed attacks."""
    causes = tuple(world.causes.index(style) for style in STYLES)
    reach = tuple(min(tiles, world.settings.vision) for tiles in world.settings.reach)
    return AttackRecorder(world.num_populations, reach, causes)


def blows(world: Any) -> BlowRecorder:
    """Landed attacks on the map."""
    return BlowRecorder(world.num_populations, world.settings.side)
