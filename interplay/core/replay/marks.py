"""Marks on the time line: births, deaths, ends, and the named phases of an episode."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.core.reading import parse_json
from interplay.core.world import Array, World

KINDS = ("birth", "death", "cut", "phase", "end")


class Mark(NamedTuple):
    """Something that happened.

    Attributes:
        tick: at which it did.
        kind: ``birth``: a slot began to live in the middle of an episode; ``death``: a life ended by the rules while the world went
            on, or is not among the living at its end; ``cut``: a life was cut by a limit; ``phase``: another part of the episode began
            (`World.phase`); ``end``: the episode ended.
        rows: slots; of a phase and an end none.
    """

    tick: int
    kind: str
    rows: tuple[int, ...] = ()


class Marks:
    """Follows one world of a batch and lists the events of each step."""

    def __init__(self, world: World, index: int = 0) -> None:
        self._world, self._index = world, index
        self._living = np.zeros(len(world.agents), bool)
        self._phase: str | None = None

    def begin(self, under_way: bool = False) -> None:
        """Starts after a reset, or within an episode where the dead may still be present."""
        self._phase = phase_of(self._world, self._index)
        if self._later() or (under_way and self._world.dead_stay):
            self._living = self._world.timestep.acting[self._index].copy()
            return
        # Without later births, agents that wait for their turn are alive too; slots that are unused in this episode are not.
        alive = self._alive()
        self._living = np.ones_like(self._living) if alive is None else alive.copy()

    def step(self, tick: int) -> list[Mark]:
        """What the step that led to this tick has done."""
        step, w = self._world.timestep, self._index
        acting, over = step.acting[w], bool(step.over[w])
        ended, cut = step.terminated[w], step.truncated[w]
        if over:
            alive = self._alive()
            dead = self._living & ended & ~alive if alive is not None else np.zeros_like(ended)
        elif self._world.dead_stay:
            dead = self._living & ~acting
        else:
            dead = self._living & ended
        gone = dead | ended | cut
        born = acting & (~self._living | gone) if self._later() else np.zeros_like(acting)
        self._living = (self._living & ~gone) | born
        found = [("birth", born), ("death", dead), ("cut", np.zeros_like(cut) if over else cut)]
        marks = [Mark(tick, kind, tuple(np.flatnonzero(rows).tolist())) for kind, rows in found if rows.any()]
        before, self._phase = self._phase, phase_of(self._world, w)
        if self._phase != before:
            marks.append(Mark(tick, "phase"))
        return [*marks, Mark(tick, "end")] if over else marks

    def _later(self) -> bool:
        return self._world.respawns or self._world.persistent

    def _alive(self) -> Array | None:
        alive = np.asarray(self._world.metrics.get("alive", 0))
        return alive[self._index].astype(bool) if alive.ndim == 2 else None


def phase_of(world: World, index: int) -> str | None:
    """The part of the episode that a world names."""
    phase = world.phase(index)
    if not isinstance(phase, str | None):
        raise UserError(f"{world.id}: phase(world) gave {phase!r:.60}; let it return a word, or None")
    return phase


def write_marks(marks: Iterable[Mark]) -> bytes:
    """One line of JSON each."""
    return b"".join(json.dumps(mark._asdict()).encode() + b"\n" for mark in marks)


def read_marks(data: bytes, slots: int) -> list[Mark]:
    """What `write_marks` gave; kinds of later versions are kept."""
    found = []
    for line in data.splitlines():
        try:
            value = parse_json(line)
            mark = Mark(value["tick"], value["kind"], tuple(value["rows"]))
        except (ValueError, KeyError, TypeError):
            raise UserError("a mark is damaged; record it again") from None
        sound = type(mark.tick) is int and 0 <= mark.tick < 2**32 and isinstance(mark.kind, str)
        if not sound or any(type(row) is not int or not 0 <= row < slots for row in mark.rows):
            raise UserError("a mark is damaged; record it again")
        found.append(mark)
    return found
