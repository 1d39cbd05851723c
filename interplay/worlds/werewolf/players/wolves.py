"""Scripted wolves, and whoever follows the crowd (specification 11)."""

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
    """Wolves: any legal name, also at talk, also of the pack by day; never a pass. A draw for each name of a ballot."""

    name = "random_target"
    moments = TALK_AND_VOTES
    whole = False


class StaticSignal(RandomTarget):
    """Wolves that name as `RandomTarget` and always say the same word: the static that gives them away.

    Args:
        word: a symbol for all places or a symbol for each; ``"seat"`` or ``"day"``: the number of the seat or of the day, counted
            round, at all places; None: a word drawn from the policy's seed.
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
    """Wolves: at kill and execution all name one living player outside the pack, drawn together; talk at random.

    The draw depends on the world, the episode and the step alone, not on where in a batch the wolves are.
    """

    name = "unite"
    together = True

    def want(self, timestep: TimeStep, ours: np.ndarray, wanted: np.ndarray) -> None:
        np.logical_not(self._pack.members, out=wanted)


class AvoidWolves(Unite):
    """Wolves: each on its own names living players outside the pack, also by day and at talk. A draw for each name of a ballot."""

    name = "avoid_wolves"
    moments = TALK_AND_VOTES
    whole = False
    together = False


class Revenge(Rule):
    """Wolves: at kill and execution, the living player outside the pack who named most of the pack in the last public talk.

    Every name of a ballot counts, dead mates' too. Ties are drawn by each on its own; without an accuser, any legal name.
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
    """As `Revenge`, for who named other members of the pack: mates are defended, not oneself."""

    name = "defend"
    others_only = True


class Bandwagon(Rule):
    """Everybody names the legal player who was named most on the last board that it saw; ties and no board: at random."""

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
        """Whose last board is the pack's, and what it shows."""
        seen = timestep.observation
        board = by_name(seen["pack_targets" if "pack_targets" in seen else "targets"], 3)
        return self._pack.wolf & self._memory.pack_spoke[:, None] & (not self.spares), board


class MimicWolf(Bandwagon):
    """Wolves that say the word that most players outside the pack said on the last public board, ties at random.

    They name the player outside the pack who was named most on it, ties and no board: at random among those.
    """

    name = "mimic_wolf"
    side = True
    spares = True

    def want(self, timestep: TimeStep, ours: np.ndarray, wanted: np.ndarray) -> None:
        super().want(timestep, ours, wanted)
        crowds.repeat_words(
            ours, self._pack.members, self._memory.boards, self._settings.names, self._stream, self._action
        )
