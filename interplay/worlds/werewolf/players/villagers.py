"""Scripted villagers: a drawn lot, a password, an oracle (specification 11)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from interplay.core.errors import UserError
from interplay.core.world import TimeStep, World
from interplay.worlds.werewolf.players import crowds
from interplay.worlds.werewolf.players.knowledge import EXECUTION, PUBLIC_TALK, SHOT
from interplay.worlds.werewolf.players.scripted import Rule
from interplay.worlds.werewolf.players.vocabulary import find_word
from interplay.worlds.werewolf.roles import WEREWOLF


class CoordinatedLynch(Rule):
    """Villagers announce random numbers and execute the living player at their sum, modulo the living.

    One honest number makes the sum uniform, whatever wolves announce.

    Args:
        by: ``"target"``: the number is the place among the living of the named seat; ``"word"``: the first symbol.
    """

    name = "coordinated_lynch"
    side = False
    moments = (EXECUTION,)
    remembers = True

    def __init__(self, by: str = "target") -> None:
        if by not in ("target", "word"):
            raise UserError(f"coordinated_lynch: by = {by!r}; pass 'target' or 'word'")
        self._by_word = by == "word"

    def start(self, world: World, seed: int = 0) -> None:
        super().start(world, seed)
        s = self._settings
        if self._by_word and (not s.signal_length or s.signal_range < s.n_players):
            raise UserError(
                f"coordinated_lynch: {s.n_players} players cannot be numbered by signal_length = {s.signal_length}, "
                f"signal_range = {s.signal_range}; raise these or use by='target'"
            )

    def want(self, timestep: TimeStep, ours: np.ndarray, wanted: np.ndarray) -> None:
        alive = timestep.observation["status_map"]
        if self._by_word:
            talking = ours & (self._kinds[timestep.observation["phase"]] == PUBLIC_TALK)
            crowds.announce(talking, alive, self._settings.names, self._stream, self._action)
        crowds.want_lot(ours, alive, self._memory.boards, self._by_word, wanted)


class Password(Rule):
    """Villagers that say a secret word and name living players that did not.

    Args:
        word: a symbol for all places or a symbol for each; None: a word drawn from the policy's seed.
    """

    name = "password"
    side = False
    moments = (PUBLIC_TALK, EXECUTION, SHOT)
    remembers = True

    def __init__(self, word: int | Sequence[int] | None = None) -> None:
        self._given = word

    def start(self, world: World, seed: int = 0) -> None:
        super().start(world, seed)
        self._word = find_word(self._settings, self._given, seed, self.name)

    def want(self, timestep: TimeStep, ours: np.ndarray, wanted: np.ndarray) -> None:
        self.say(timestep, ours, self._word)
        crowds.want_silent(ours, self._memory.boards, self._word, wanted)


class Oracle(Rule):
    """Villagers that know all roles and execute the wolves together: an upper bound for honest players.

    Args:
        from_day: the day from which they know the roles; the first day is 1. They play at random before.
    """

    name = "oracle"
    side = False
    moments = (EXECUTION, SHOT)
    together = True

    def __init__(self, from_day: int = 1) -> None:
        self._from_day = from_day

    def lead(self, timestep: TimeStep) -> np.ndarray:
        ours: np.ndarray = super().lead(timestep) & (timestep.observation["day"] + 1 >= self._from_day)
        return ours

    def want(self, timestep: TimeStep, ours: np.ndarray, wanted: np.ndarray) -> None:
        wanted[:] = (self.world.state.role == WEREWOLF)[:, None]  # type: ignore[attr-defined]
