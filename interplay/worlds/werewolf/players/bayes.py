"""Villagers that act on an exact belief (specification 11)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from interplay.core.world import TimeStep, World
from interplay.worlds.werewolf.players.knowledge import EXECUTION, PUBLIC_TALK, SHOT
from interplay.worlds.werewolf.players.scripted import Rule
from interplay.worlds.werewolf.theory.belief import Belief, Ways

EQUAL = 1e-9  # smaller differences of probabilities are rounding errors


class BayesVillager(Rule):
    """Villagers that name the likeliest wolf among the legal names, in talk and votes; ties at random.

    The belief assumes certain ways of playing (`Ways`). Villagers of its own kind play otherwise, so it is exact about wolves only.
    It sends its `villager_word`, or a random word. The arguments are those of `Ways`.
    """

    name = "bayes"
    side = False
    moments = (PUBLIC_TALK, EXECUTION, SHOT)

    def __init__(
        self,
        wolves: Sequence[str] = Ways.wolves,
        villagers: str = Ways.villagers,
        wolf_word: int | Sequence[int] | None = None,
        villager_word: int | Sequence[int] | None = None,
    ) -> None:
        self._ways = Ways(tuple(wolves), villagers, wolf_word, villager_word)

    def start(self, world: World, seed: int = 0) -> None:
        super().start(world, seed)
        self._word = self._ways.creed(self._settings).villager_word
        self.belief = Belief(self._settings, world.num_worlds, self._ways)
        self._pack, self._memory = self.belief.pack, self.belief.memory

    def forget(self, which: np.ndarray) -> None:
        super().forget(which)
        self.belief.forget(which)

    def want(self, timestep: TimeStep, ours: np.ndarray, wanted: np.ndarray) -> None:
        self.belief.look(timestep)
        naming = ours & self._ruled[timestep.observation["phase"]]
        mask: Any = timestep.action_mask
        legal = mask["action"][:, :, : self._settings.n_players]
        chance = np.where(legal, self.belief.posterior(naming), -1.0)
        np.greater_equal(chance, chance.max(axis=-1, keepdims=True) - EQUAL, out=wanted)
        if len(self._word):
            self.say(timestep, ours, self._word)
