"""An exact belief about the wolves, from public evidence and a viewer's own knowledge (specification 11).

Every set of players that may be the pack is a hypothesis (84 among 9 players, 5985 among 21; a villager excludes its own).
Its weight is the likelihood of all public evidence under assumed ways of playing:

- names in talk and executions, and words, by `Ways`, independent between players;
- the eaten player: no wolf, and uniform among living outsiders, as under all `Ways` of wolves;
- the game's continuation after each death, and revealed roles;
- a seer's or a medium's private information.

It is exact for games of werewolves and villagers in which every living player speaks and votes by day. Deaths by potions and
shots, nights without a death, and claims are ignored.
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
from interplay.worlds.werewolf.state import NONE
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
    """Assumptions about how players play.

    Attributes:
        wolves: scripted policies by which wolves may name, equally likely a priori; all wolves of a game use one.
        villagers: the scripted policy by which villagers name: ``"random"`` or ``"password"``.
        wolf_word: the wolves' constant word, a symbol or a sequence; None: random words.
        villager_word: the same of villagers.
    """

    wolves: Sequence[str] = ("random_target", "avoid_wolves", "unite")
    villagers: str = "random"
    wolf_word: int | Sequence[int] | None = None
    villager_word: int | Sequence[int] | None = None

    def creed(self, settings: WerewolfSettings) -> likelihood.Creed:
        """The assumptions as kernels read them."""
        for name in self.wolves:
            _known(name, WAYS_OF_WOLVES, "wolves")
        _known(self.villagers, WAYS_OF_VILLAGERS, "villagers")
        if not self.wolves:
            raise UserError("bayes: wolves = (): name at least one policy")
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
    """The beliefs of all players but wolves, in a batch of games. `look` must get every time step.

    Attributes:
        pack: known packs.
        memory: the public boards.
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
        self._told = np.full((num_worlds, n, n), NONE, np.int8)
        self._no_roles = np.full((num_worlds, n), NONE, np.int8)
        self._belief = np.zeros((num_worlds, n, n))

    def forget(self, which: np.ndarray) -> None:
        """Resets the restarted worlds, (W,) bool."""
        self.pack.forget(which)
        self.memory.forget(which)
        hypotheses.restart(which, self._sets)
        self._alive[which] = True
        self._silent[which] = True
        self._untested[which] = False
        self._told[which] = NONE

    def look(self, timestep: TimeStep) -> None:
        """Reads a time step, at least of seats that act for the same side."""
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
        """The chance that seat j is a wolf as seat i sees it: (W, A, A) float64, a copy.

        Args:
            viewers: (W, A) bool, beliefs to compute; None: all. Other rows are unchanged.
        """
        queried = np.ones(self.pack.wolf.shape, bool) if viewers is None else viewers
        wolves = self.pack.wolf & queried
        hypotheses.believe(self._sets, queried & ~wolves, self._told, self._belief)
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
        fresh = going_on & (before != NONE) & self._public[before]
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
        """Stores the context of the next board: legal names, seats that had not sent the word, private information."""
        seen, acting, n = timestep.observation, timestep.acting, self._n
        may = (mask[:, :, : n + 1] & acting[..., None]).any(axis=1)
        if (
            not self._creed.self_vote
        ):  # a single actor (its mask excludes itself) may be named by others, but not in a revote
            alone = (acting.sum(axis=1) == 1) & (before != seen["phase"][:, 0])
            may[:, :n] |= acting & alone[:, None]
        may[~acting.any(axis=1), :n] = self._alive[~acting.any(axis=1)]
        self._legal[:] = may
        word = self._creed.villager_word
        self._silent[:] = (self.memory.boards.words[..., : len(word)] != word).any(axis=-1)
        self._silent |= ~self.memory.boards.seen[:, None]
        if "private_info" in seen and "role" in seen:
            informed = np.isin(seen["role"], (SEER, MEDIUM))
            self._told[informed] = seen["private_info"][informed]


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


def _known(name: str, ways: Mapping[str, int], argument: str) -> None:
    if name not in ways:
        raise UserError(f"bayes: {argument} = {name!r}: unknown; {did_you_mean(name, ways, ', '.join(ways))}")
