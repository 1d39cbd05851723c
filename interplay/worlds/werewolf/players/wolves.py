"""Scripted wolves, and players that follow the crowd (specification 11)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from interplay.core.world import TimeStep, World
from interplay.worlds.werewolf.players import crowds
from interplay.worlds.werewolf.players.knowledge import EXECUTION, KILL, PACK_TALK, PUBLIC_TALK, by_name
from interplay.worlds.werewolf.players.scripted import Rule
from interplay.worlds.werewolf.players.vocabulary import find_word

TALK_AND_VOTES = (PACK_TALK, KILL, PUBLIC_TALK, EXECUTION)


class RandomTarget(Rule):
    """Wolves that draw each name of a ballot from all legal ones, the pack included, and never pass."""

    name = "random_target"
    moments = TALK_AND_VOTES
    whole = False


class StaticSignal(RandomTarget):
    """Wolves that name as `RandomTarget` and always say the same word.

    Args:
        word: a symbol for all places or a symbol for each; ``"seat"`` or ``"day"``: that number, modulo the symbols, at all
            places; None: a word drawn from the policy's seed.
    """

    name = "static_signal"

    def __init__(self, word: int | Sequence[int] | str | None = None) -> None:
        self._given = word

    def start(self, world: World, seed: int = 0) -> None:
        super().start(world, seed)
        varied = self._given in ("seat", "day")
        self._word = None if varied else find_word(self._settings, self._given, seed, self.name)

    def want(self, timestep: TimeStep, ours: np.ndarray, wanted: np.ndarray) -> None:
        super().want(timestep, ours, wanted)
        length, symbols = self._settings.signal_length, self._settings.signal_range
        if self._word is not None:
            self.say(timestep, ours, self._word)
        elif length:
            number = timestep.observation["own_id" if self._given == "seat" else "day"]
            self.say(timestep, ours, np.repeat((number % symbols)[..., None], length, axis=-1))


class MutedWolf(StaticSignal):
    """Wolves that name as `RandomTarget` and always say symbol 0."""

    name = "muted_wolf"

    def __init__(self) -> None:
        super().__init__(0)


class Unite(Rule):
    """Wolves that agree on one living player outside the pack at kill and execution; random in talk.

    The draw depends on the world, the episode and the step only.
    """

    name = "unite"
    together = True

    def want(self, timestep: TimeStep, ours: np.ndarray, wanted: np.ndarray) -> None:
        np.logical_not(self._pack.members, out=wanted)


class AvoidWolves(Unite):
    """Wolves that each draw names of living players outside the pack, in all phases."""

    name = "avoid_wolves"
    moments = TALK_AND_VOTES
    whole = False
    together = False


class Revenge(Rule):
    """Wolves that vote for the living outsider that named most of the pack in the last public talk.

    Every name of a ballot counts, dead mates' too. Each seat breaks ties alone; without an accuser any legal name is drawn.
    """

    name = "revenge"
    remembers = True
    others_only = False

    def want(self, timestep: TimeStep, ours: np.ndarray, wanted: np.ndarray) -> None:
        mask: Any = timestep.action_mask
        crowds.want_accusers(
            mask["action"],
            ours,
            self._pack.members,
            self._memory.boards,
            self.others_only,
            self._count,
            wanted,
        )


class Defend(Revenge):
    """As `Revenge`, counting only accusations of other members of the pack."""

    name = "defend"
    others_only = True


class Bandwagon(Rule):
    """All players name the legal player named most on their last board; else at random."""

    name = "bandwagon"
    side: bool | None = None
    moments = TALK_AND_VOTES
    remembers = True
    spares = False

    def want(self, timestep: TimeStep, ours: np.ndarray, wanted: np.ndarray) -> None:
        mask: Any = timestep.action_mask
        at_night, board = self._night(timestep)
        crowds.want_most_named(
            mask["action"],
            ours,
            self._pack.members,
            self.spares,
            self._memory.boards,
            at_night,
            board,
            self._count,
            wanted,
        )

    def _night(self, timestep: TimeStep) -> tuple[np.ndarray, np.ndarray]:
        """Seats that last saw the pack's board, and that board."""
        seen = timestep.observation
        board = by_name(seen["pack_targets" if "pack_targets" in seen else "targets"], 3)
        return self._pack.wolf & self._memory.pack_spoke[:, None] & (not self.spares), board


class MimicWolf(Bandwagon):
    """Wolves that repeat the outsiders' commonest word on the last public board, ties at random.

    They name the outsider named most on it; ties and no board: a random outsider.
    """

    name = "mimic_wolf"
    side = True
    spares = True

    def want(self, timestep: TimeStep, ours: np.ndarray, wanted: np.ndarray) -> None:
        super().want(timestep, ours, wanted)
        crowds.repeat_words(
            ours, self._pack.members, self._memory.boards, self._settings.names, self._stream, self._action
        )
