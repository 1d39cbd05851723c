"""Evaluates an agent's network, in play or for a recording that names its checkpoint (docs/specs/viewer.md 6)."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.core.policy import Policy
from interplay.core.replay.layout import Header
from interplay.core.world import Array, World
from interplay.view.server.config import MANIFESTS, MISSED_SECONDS
from interplay.view.server.heads import Seat, seats_of
from interplay.view.server.sources import Sources
from interplay.view.server.stamps import Stamp, stamp_of

_NAMED = re.compile(r"([0-9a-f]{64})(?:@([A-Za-z0-9._-]{1,100}))?")  # as `TrainedPolicy.checkpoint`
NOT_HERE = "No network outputs: its checkpoint is in no run of the opened folder."
CHANGES = "No network outputs: its player is drawn anew for every episode."
REMEMBERS = "No network outputs: its network has memory, which was not recorded."


def look_at(policy: Policy, world: World, slot: int, seat: Seat, memory: Array | None) -> Any:
    """Outputs of the network of an acting slot (`Look`); None if it has no network that can be evaluated.

    Args:
        memory: (size,) of its network, or None.
    """
    look = getattr(policy, "look", None)
    if look is None or not getattr(policy, "plays", lambda _: True)(slot):
        return None
    seen = world.by_kind(world.timestep.observation)[seat.kind.name]
    mask = world.by_kind(world.timestep.action_mask)[seat.kind.name]
    try:
        return look(
            {name: np.asarray(array)[0, seat.column] for name, array in seen.items()},
            None if mask is None else seat.legal(world),
            memory,
            world.agents[slot],
            int(world.population[0, slot]),
        )
    except UserError:
        return None


def _is_learner(header: Header, slot: int) -> bool:
    """Whether a slot is played by the checkpoint that the header names."""
    return slot < len(header.players) and header.players[slot] == header.learner


class Named(NamedTuple):
    """A checkpoint that a recording names; `player` is a member of its run's league, or empty."""

    folder: Path
    player: str = ""

    @property
    def populations(self) -> list[str] | None:
        """Populations that these weights played; None: all."""
        return [self.player] if self.player else None


class Checkpoints:
    """Finds checkpoints in the runs of a folder by the keys that recordings have."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._sums: dict[
            Path, tuple[Stamp, str]
        ] = {}  # of manifests, since a run may be replaced under its name

    def find(self, key: str) -> Named | None:
        """The checkpoint that a header names; None if it names none, or if it is in no run."""
        named = _NAMED.fullmatch(key)
        folder = None if named is None else self._with_checksum(named[1])
        return None if named is None or folder is None else Named(folder, named[2] or "")

    def _with_checksum(self, checksum: str) -> Path | None:
        from interplay.train.run.checkpoint import list_checkpoints
        from interplay.train.run.manifest import NAME, read_manifest

        looked = 0
        for run in self._sources.runs():
            try:
                checkpoints = list_checkpoints(run)
            except UserError:
                continue  # opening the run reports it
            for path in reversed(checkpoints):
                try:
                    stamp = stamp_of(path / NAME)
                    known = self._sums.get(path)
                    if known is None or known[0] != stamp:
                        if looked == MANIFESTS:
                            continue
                        looked += 1
                        known = self._sums[path] = (stamp, str(read_manifest(path)["checksum"]))
                    if known[1] == checksum and read_manifest(path)["checksum"] == checksum:
                        return path
                except UserError:
                    continue  # perhaps still being written
        return None


class Networks:
    """Loads the checkpoints that recordings name. For one thread at a time.

    Args:
        trust: allows runs that name programs, see `interplay.core.trust`.
        clock: returns seconds.
    """

    def __init__(
        self, sources: Sources, trust: bool = False, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._sources, self._trust, self._clock = sources, trust, clock
        self._checkpoints = Checkpoints(sources)
        self._loaded: tuple[str, Any] | None = None
        self._missed = ("", -math.inf)  # the last key without a checkpoint, and when it was looked for

    def look(self, header: Header, world: World, slot: int) -> tuple[Any, str | None]:
        """Outputs of the network that played a slot, and a note if there are none; both may be None.

        Args:
            world: restored at the tick.
        """
        if not _NAMED.fullmatch(header.checkpoint) or not world.timestep.acting[0, slot]:
            return None, None
        if len(header.lineup) > 1 and not _is_learner(header, slot):
            return None, None if header.players else CHANGES
        try:
            policy = self._policy(header.checkpoint)
            if policy is None:
                return None, NOT_HERE
            if not hasattr(policy, "look"):
                return None, None
            if policy.settings.network.remembers:
                return None, REMEMBERS
            if getattr(policy, "world", None) is not world:
                policy.start(world)
            return look_at(policy, world, slot, seats_of(world)[slot], None), None
        except UserError as error:
            return None, self._sources.words(error)

    def _policy(self, key: str) -> Any:
        if self._loaded is not None and self._loaded[0] == key:
            return self._loaded[1]
        missed, when = self._missed
        if missed == key and self._clock() - when < MISSED_SECONDS:
            return None
        found = self._checkpoints.find(key)
        if found is None:
            self._missed = (key, self._clock())
            return None
        from interplay.train.play.policy import load_policy

        policy = load_policy(found.folder, populations=found.populations, trust=self._trust)
        if getattr(policy, "checkpoint", key) != key:  # the run was replaced meanwhile
            return None
        self._loaded = (key, policy)
        return policy
