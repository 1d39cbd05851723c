"""What the interfaces of one bound stack share (specification 6)."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core import seeding
from interplay.core.errors import UserError
from interplay.core.hashing import mix64
from interplay.core.ranges import ANYTHING, FLAG, Range, count
from interplay.interfaces.nests import Array, Nest

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class Context:
    """State of a bound stack, or of a child of a Combine; every array has the axis of rows, B, first.

    Attributes:
        rows: B.
        slot: of the stack: a number or a name, part of the random stream's seed.
        raw: the raw observation of this step, read-only; for a Combine's child its entry of the outer's output.
        view: the input of features, at first `raw`; a view interface replaces it in `_observe`.
        parent: the context of the Combine that this is a child of, read-only; None in an independent stack.
        raw_observation_space, raw_action_space: at the inner end; copies, so that the environment's spaces never change.
        step: (B,) int64, environment steps since the episode began.
        episode: (B,) int64, from 0.
        info: the slot's options of `reset`, or None.
        memory: values that interfaces of the stack provide for each other, name -> anything.
        fresh: (B,) bool, rows of episodes without an observation yet.
        moving: (B,) bool, rows of the current hook; none in hooks that must not change memory.
        no_rows: (B,) bool, all False.
    """

    def __init__(
        self,
        obs_space: spaces.Space,
        act_space: spaces.Space,
        rows: int,
        slot: int | str,
        seeds: Array,
        parent: Context | None = None,
    ) -> None:
        self.raw_observation_space, self.raw_action_space = obs_space, act_space
        self.rows, self.slot, self.parent = rows, slot, parent
        self.raw: Nest = None
        self.view: Nest = None
        self.info: Any = None
        self.memory: dict[str, Any] = {}
        self.step, self.episode = np.zeros(rows, np.int64), np.zeros(rows, np.int64)
        self.fresh, self.no_rows = np.ones(rows, bool), np.zeros(rows, bool)
        self.moving = self.no_rows
        self.begun, self.seeds = False, seeds
        self._stream = seeding.new_stream(rows)
        self.seed(np.ones(rows, bool), seeds)

    @property
    def input(self) -> Nest:
        """What comes in at the inner end of this stack: `raw`."""
        return self.raw

    def seed(self, which: Array, seeds: Array | None) -> None:
        """Begins the random streams of rows: of new seeds, (B,) uint64, or of the next episode; a stream of an episode without observation is kept."""
        if seeds is None:
            which = which & ~self.fresh
            seeding.begin_episode(self._stream, which, None)
            self.episode[which] += 1
            return
        with np.errstate(over="ignore"):
            own = mix64(seeds + _GOLDEN * np.array([_number(self.slot) + 1], np.uint64))
        seeding.begin_episode(self._stream, which, own)
        self.episode[which] = 0

    def uniform(self, number: int) -> Array:
        """Random numbers in [0, 1) of each row's own stream: (B, number) float64, 0 in rows that do not move.

        Raises:
            UserError: in hooks that must not change memory, since each call would change the output; draw in `_begin` or
                `_note_observation` and keep the numbers.
        """
        from interplay.kernels.philox import draw_uniform

        if not self.moving.any():
            raise UserError(
                "interfaces draw random numbers in _begin, _note_observation or _note_action and keep them; _observe and _act only read"
            )
        drawn = np.zeros((self.rows, number))
        drawn[self.moving] = draw_uniform(self._stream, self.moving, number)
        return drawn

    def arrays(self) -> dict[str, Array]:
        """What a snapshot holds of it."""
        return {"step": self.step, "episode": self.episode, "fresh": self.fresh, "stream": self._stream}

    def ranges(self) -> Mapping[str, Range]:
        """What they may be."""
        return {"step": count(), "episode": count(), "fresh": FLAG, "stream": ANYTHING}


def _number(slot: int | str) -> int:
    return int(slot) if isinstance(slot, int | np.integer) else zlib.crc32(slot.encode()) + 2**32
