"""An exact belief about who the wolves are, from what everybody saw and what a viewer knows of itself (specification 11).

Every set of players that may be the pack is a hypothesis (84 among 9 players, 5985 among 21; a villager is in none of its own).
Its weight is the likelihood of all public evidence, given how players are taken to play:

- names at talk and at executions, and words, by the ways of wolves and villagers (`Ways`), each player on its own;
- who was eaten: no wolf, and each living player outside the pack as likely, as under every way of wolves in `Ways`;
- that the game went on after each death, and roles that are revealed;
- for a seer or a medium, what it was told.

It is exact for games of werewolves and villagers in which every living player speaks and votes by day. Deaths by potions and
shots, and nights that pass without one, are taken to say nothing; claims are not read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from interplay.core.errors import UserError
from interplay.core.loading import did_you_mean
from interplay.core.world import TimeStep
from interplay.worlds.werewolf.config import WerewolfSettings
from interplay.worlds.werewolf.phases import LAST_SHOT, POTIONS
from interplay.worlds.werewolf.players.knowledge import (
    PUBLIC_TALK,
    Memory,
    Pack,
    kinds_of_phases,
    public_phases,
)
from interplay.worlds.werewolf.players.vocabulary import find_word
from interplay.worlds.werewolf.roles import MEDIUM, SEER
from interplay.worlds.werewolf.state import NOBODY
from interplay.worlds.werewolf.theory import hypotheses, likelihood

MOST_SETS = 200_000
WAYS_OF_WOLVES = {
    "random": likelihood.ANY,
    "random_target": likelihood.NAMES,
    "avoid_wolves": likelihood.OUTSIDE,
    "unite": likelihood.AS_ONE,
}
WAYS_OF_VILLAGERS = {"random": likelihood.RANDOM, "password": likelihood.PASSWORD}


@dataclass(frozen=True)
class Ways:
    """How players are taken to play.

    Attributes:
        wolves: names of scripted policies by which wolves may name, each as likely beforehand; all wolves of a game go by one.
        villagers: the scripted policy by which villagers name: ``"random"`` or ``"password"``.
        wolf_word: what wolves always say, a symbol or a word; None: words at random.
        villager_word: what villagers always say; None: words at random.
    """

    wolves: Sequence[str] = ("random_target", "avoid_wolves", "unite")
    villagers: str = "random"
    wolf_word: int | Sequence[int] | None = None
    villager_word: int | Sequence[int] | None = None

    def creed(self, settings: WerewolfSettings) -> likelihood.Creed:
        """As kernels take it.

        Raises:
            UserError: if there is no such way, or a word does not fit.
        """
        for name in self.wolves:
            _known(name, WAYS_OF_WOLVES, "wolves")
        _known(self.villagers, WAYS_OF_VILLAGERS, "villagers")
        if not self.wolves:
            raise UserError("bayes: wolves = (): name at least one way in which they may play")
        if self.villagers == "password" and self.villager_word is None:
            raise UserError("bayes: villagers = 'password' needs their word; pass villager_word")
        return likelihood.Creed(
            wolves=np.array([WAYS_OF_WOLVES[name] for name in self.wolves]),
            villagers=WAYS_OF_VILLAGERS[self.villagers],
            wolf_word=_word(settings, self.wolf_word),
            villager_word=_word(settings, self.villager_word),
            log_words=settings.signal_length * math.log(max(settings.signal_range, 1)),
            reads_words=settings.signal_length > 0 and not settings.arm.startswith("signals"),
            reads_talk=settings.arm != "targets_off",
            self_vote=settings.allow_self_vote,
        )


class Belief:
    """What each player that is no wolf believes, in a batch of games. It has to be shown every time step, with `look`.

    Args:
        settings: of the world.
        num_worlds: W.
        ways: how players are taken to play.

    Attributes:
        pack: who knows to be in whose pack.
        memory: the public boards.

    Raises:
        UserError: if there are too many sets of players that may be the pack.
    """

    def __init__(self, settings: WerewolfSettings, num_worlds: int, ways: Ways | None = None) -> None:
        n, wolves = settings.n_players, settings.num_wolves
        count = math.comb(n, wolves)
        if count > MOST_SETS:
            raise UserError(
                f"bayes: {wolves} wolves among {n} players are {count:,} hypotheses, more than {MOST_SETS:,}; "
                "play with fewer players or wolves"
            )
        self._n = n
        self._creed = (ways or Ways()).creed(settings)
        self._kinds, self._public = kinds_of_phases(settings), public_phases(settings)
        self.pack = Pack(settings, num_worlds)
        self.memory = Memory(settings, num_worlds)
        self._sets = _all_sets(n, wolves, num_worlds, len(self._creed.wolves))
        self._alive = np.ones((num_worlds, n), bool)
        self._silent = np.ones((num_worlds, n), bool)
        self._legal = np.zeros((num_worlds, n + 1), bool)
        self._untested = np.zeros(num_worlds, bool)
        self._told = np.full((num_worlds, n, n), NOBODY, np.int8)
        self._no_roles = np.full((num_worlds, n), NOBODY, np.int8)
        self._belief = np.zeros((num_worlds, n, n))

    def forget(self, which: np.ndarray) -> None:
        """The worlds in the (W,) bool mask `which` were restarted."""
        self.pack.forget(which)
        self.memory.forget(which)
        hypotheses.restart(which, self._sets)
        self._alive[which] = True
        self._silent[which] = True
        self._untested[which] = False
        self._told[which] = NOBODY

    def look(self, timestep: TimeStep) -> None:
        """Takes in a time step, of seats that act for the same side at least."""
        assert timestep.action_mask is not None
        seen, mask = timestep.observation, timestep.action_mask["action"]
        self.pack.look(seen, mask, timestep.acting)
        before = self.memory.before.copy()
        self.memory.look(seen)
        going_on = ~timestep.over
        alive = seen["status_map"][:, 0] != 0
        died = going_on & (alive != self._alive).any(axis=-1)
        self._untested |= died
        tested = going_on & self._untested & ~np.isin(seen["phase"][:, 0], (POTIONS, LAST_SHOT))
        self._untested &= ~tested
        hypotheses.weigh(self._evidence(seen, before, alive, going_on, tested), self._creed, self._sets)
        self._alive[going_on] = alive[going_on]
        self._look_ahead(timestep, mask, before)

    def posterior(self, viewers: np.ndarray | None = None) -> np.ndarray:
        """The chance that seat j is a wolf as seat i sees it: (W, A, A) float64, a copy; a wolf knows its pack.

        Args:
            viewers: (W, A) bool, whose belief is asked for; None: everybody's. Other rows are what they were.
        """
        asked = np.ones(self.pack.wolf.shape, bool) if viewers is None else viewers
        wolves = self.pack.wolf & asked
        hypotheses.believe(self._sets, asked & ~wolves, self._told, self._belief)
        self._belief[wolves] = self.pack.members[wolves]
        return self._belief.copy()

    def _evidence(
        self,
        seen: Mapping[str, np.ndarray],
        before: np.ndarray,
        alive: np.ndarray,
        going_on: np.ndarray,
        tested: np.ndarray,
    ) -> likelihood.Evidence:
        fresh = going_on & (before != NOBODY) & self._public[before]
        boards = self.memory.boards
        return likelihood.Evidence(
            going=tested,
            fresh=fresh,
            talk=self._kinds[before] == PUBLIC_TALK,
            targets=boards.targets,
            words=boards.words,
            silent=self._silent,
            legal=self._legal,
            was_alive=self._alive,
            alive=np.where(going_on[:, None], alive, self._alive),
            eaten=np.array(seen["last_eaten"][:, 0], np.int16),
            revealed=np.array(seen["revealed"][:, 0], np.int8) if "revealed" in seen else self._no_roles,
        )

    def _look_ahead(self, timestep: TimeStep, mask: np.ndarray, before: np.ndarray) -> None:
        """Keeps what the next board has to be read with: who may be named, who had not said the word, what one was told."""
        seen, acting, n = timestep.observation, timestep.acting, self._n
        may = (mask[:, :, : n + 1] & acting[..., None]).any(axis=1)
        if not self._creed.self_vote:  # who is asked alone may be named by the others, but in a revote
            alone = (acting.sum(axis=1) == 1) & (before != seen["phase"][:, 0])
            may[:, :n] |= acting & alone[:, None]
        may[~acting.any(axis=1), :n] = self._alive[~acting.any(axis=1)]
        self._legal[:] = may
        word = self._creed.villager_word
        self._silent[:] = (self.memory.boards.words[..., : len(word)] != word).any(axis=-1)
        self._silent |= ~self.memory.boards.seen[:, None]
        if "private_info" in seen and "role" in seen:
            hears = np.isin(seen["role"], (SEER, MEDIUM))
            self._told[hears] = seen["private_info"][hears]


def _all_sets(players: int, wolves: int, num_worlds: int, ways: int) -> hypotheses.Sets:
    members = np.array(list(combinations(range(players), wolves)), np.int16)
    inside = np.zeros((len(members), players), bool)
    np.put_along_axis(inside, members.astype(np.int64), True, axis=1)
    return hypotheses.Sets(
        members=members,
        inside=inside,
        weight=np.zeros((num_worlds, ways, len(members))),
        possible=np.ones((num_worlds, len(members)), bool),
        must=np.zeros((num_worlds, players), bool),
        villager=np.zeros(players),
        share=np.zeros((ways, len(members))),
    )


def _word(settings: WerewolfSettings, given: int | Sequence[int] | None) -> np.ndarray:
    return np.zeros(0, np.int16) if given is None else find_word(settings, given, 0, "bayes")


def _known(name: str, ways: Mapping[str, int], whose: str) -> None:
    if name not in ways:
        raise UserError(f"bayes: {whose} = {name!r}: unknown; {did_you_mean(name, ways, ', '.join(ways))}")
