"""The base of scripted players: random choices, changed by a rule."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from interplay.core import seeding
from interplay.core.hashing import mix64
from interplay.core.policy import Policy
from interplay.core.ranges import ANYTHING, FLAG, Range, exactly, index
from interplay.core.world import TimeStep, World
from interplay.worlds.werewolf.config import WerewolfSettings
from interplay.worlds.werewolf.phases import phase_names
from interplay.worlds.werewolf.players import choosing
from interplay.worlds.werewolf.players.knowledge import (
    EXECUTION,
    KILL,
    Memory,
    Pack,
    kinds_of_phases,
)

_TABLES = ("_telling", "_public", "_no_words", "_no_roles", "_sets/members", "_sets/inside")


class Random(Policy):
    """Draws names and symbols uniformly among the legal ones, in every phase."""

    name = "random"
    no_memory = (*Policy.no_memory, "_heads", "_action")  # the last are working arrays

    def start(self, world: World, seed: int = 0) -> None:
        super().start(world, seed)
        settings: WerewolfSettings = world.settings  # type: ignore[attr-defined]
        n, b, symbols = settings.n_players, settings.names, settings.symbols
        self._settings = settings
        own = np.uint64(zlib.crc32(f"policy/{self.name}".encode()))
        self._stream = choosing.Stream(
            seed=mix64(seeding.world_seeds(seed, world.num_worlds, world.first_world) ^ own),
            episode=np.zeros(world.num_worlds, np.uint64),
            step=np.zeros(world.num_worlds, np.uint64),
        )
        self._heads = choosing.Heads(n, b, np.array(symbols, np.uint64), np.zeros(n + 1, np.uint64))
        self._action = np.zeros((world.num_worlds, n, b + len(symbols)), np.int16)

    def memory_ranges(self) -> Mapping[str, Range]:
        """Tables made by `start` must match; names on boards are seats, phases are numbers."""
        seats = index(self._settings.n_players, none=True)
        phases = index(len(phase_names(self._settings.rows)), none=True)
        words = index(max(self._settings.symbols, default=1), none=True)
        known = {"targets": seats, "talk_targets": seats, "words": words, "talk_words": words}
        known |= {"before": phases, "_told": index(2, none=True)}
        ranges: dict[str, Range] = {}
        for path, array in self.save().items():
            name = path.rpartition("/")[2]
            if array.ndim and name != "rng":
                made = path.endswith(_TABLES) or "/_creed/" in path
                ranges[path] = (
                    exactly(array) if made else known.get(name, FLAG if array.dtype == bool else ANYTHING)
                )
        return ranges

    def forget(self, which: np.ndarray) -> None:
        self._stream.episode[which] += np.uint64(1)
        self._stream.step[which] = 0

    def act(self, timestep: TimeStep) -> np.ndarray:
        """Names and words, (W, A, b + L) int16, valid until the next call.

        Rows of idle seats are arbitrary legal choices.
        """
        mask: Any = timestep.action_mask
        choosing.play_at_random(mask["action"], timestep.acting, self._heads, self._stream, self._action)
        self.rule(timestep, mask["action"])
        self._stream.step[:] += np.uint64(1)
        return self._action

    def rule(self, timestep: TimeStep, mask: np.ndarray) -> None:
        """Applies the rule to the random actions."""


class Rule(Random):
    """A player with a rule for one side.

    Attributes:
        side: True for wolves, False for all others, None for all players.
        moments: kinds of phases with names by rule.
        whole: one name fills a ballot.
        together: the acting seats of the side share their draws.
        remembers: needs replaced boards.
    """

    no_memory = (*Random.no_memory, "_kinds", "_ruled", "_count", "_wanted")
    side: bool | None = True
    moments: tuple[int, ...] = (KILL, EXECUTION)
    whole = True
    together = False
    remembers = False

    def start(self, world: World, seed: int = 0) -> None:
        super().start(world, seed)
        n = self._settings.n_players
        kinds = kinds_of_phases(self._settings)
        self._kinds = kinds
        self._ruled = np.isin(kinds, self.moments)
        self._pack = Pack(self._settings, world.num_worlds)
        self._memory = Memory(self._settings, world.num_worlds)
        self._count = np.zeros(n, np.int32)
        self._wanted = np.zeros((world.num_worlds, n, n), bool)

    def forget(self, which: np.ndarray) -> None:
        super().forget(which)
        self._pack.forget(which)
        self._memory.forget(which)

    def rule(self, timestep: TimeStep, mask: np.ndarray) -> None:
        seen = timestep.observation
        self._pack.look(seen, mask, timestep.acting)
        if self.remembers:
            self._memory.look(seen)
        ours = self.lead(timestep)
        self.want(timestep, ours, self._wanted)
        choosing.name_among(
            mask,
            ours & self._ruled[seen["phase"]],
            self._wanted,
            self.whole,
            self.together,
            self._heads,
            self._stream,
            self._action,
        )

    def lead(self, timestep: TimeStep) -> np.ndarray:
        """Seats that follow the rule now: (W, A) bool."""
        acting = timestep.acting
        return acting if self.side is None else acting & (self._pack.wolf == self.side)

    def want(self, timestep: TimeStep, ours: np.ndarray, wanted: np.ndarray) -> None:
        """Writes the names that each seat of `ours` (W, A) would give: `wanted` (W, A, A) bool."""
        wanted[:] = True

    def say(self, timestep: TimeStep, ours: np.ndarray, word: np.ndarray) -> None:
        """Makes the speaking seats of `ours` (W, A) bool say a word, (L,) or (W, A, L), without a claim."""
        mask: Any = timestep.action_mask
        speaking = ours & mask["action"][:, :, -1]  # all symbols are legal, or only the first
        first, length = self._settings.names, word.shape[-1]
        words = self._action[:, :, first:]
        words[speaking, :length] = word if word.ndim == 1 else word[speaking]
        words[speaking, length:] = 0
