"""Beliefs of players and of an exact observer in their place, at every vote by day."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from interplay.core.errors import UserError
from interplay.core.policy import Policy
from interplay.core.world import TimeStep, World
from interplay.evaluate.communication.belief import Beliefs, calibrate
from interplay.evaluate.communication.table import Array
from interplay.worlds.werewolf.players.knowledge import EXECUTION, kinds_of_phases
from interplay.worlds.werewolf.theory.belief import WAYS_OF_WOLVES, Belief, Ways
from interplay.worlds.werewolf.world import WerewolfWorld


class HasBeliefs(Protocol):
    """A policy with beliefs."""

    def beliefs(self, observation: Mapping[str, Array], population: Array) -> Array:
        """(N, n), probability that each seat belongs to the hiding team."""


class BeliefRecorder(Policy):
    """Wraps a policy and records beliefs of voters; `add` is a hook of `evaluate.play`.

    Args:
        believer: source of beliefs; started by `policy`, or the same object.
        queried: indices of the world's populations to query.
        ways: assumptions of the exact observer about the players.
    """

    def __init__(
        self, policy: Policy, believer: HasBeliefs, queried: tuple[int, ...], ways: Ways | None = None
    ) -> None:
        self.name = policy.name
        self._policy, self._believer, self._ways = policy, believer, ways
        self._queried = np.array(queried)
        self._rows: list[tuple[Array, ...]] = []
        self._fresh: tuple[Array, ...] | None = None

    def start(self, world: World, seed: int = 0) -> None:
        """Prepares for playing `world`."""
        self.world = world
        if not isinstance(world, WerewolfWorld):
            raise UserError(
                f"beliefs: {world.id} has no exact observer; choose a world such as werewolf/9-l1s9"
            )
        self._policy.start(world, seed)
        self._exact = Belief(world.settings, world.num_worlds, self._ways)
        self._kinds = kinds_of_phases(world.settings)
        self._hiding = list(world.population_names or ()).index("werewolf")

    def forget(self, which: np.ndarray) -> None:
        self._policy.forget(which)
        self._exact.forget(which)

    def act(self, timestep: TimeStep) -> Any:
        self._exact.look(timestep)
        self._fresh = self._query(timestep)
        return self._policy.act(timestep)

    def add(self, world: World, episode: Array) -> None:
        """Keeps the beliefs before the step, for counted games."""
        if self._fresh is None:
            return
        rows, self._fresh = self._fresh, None
        game = episode[rows[0]]
        kept = game >= 0
        if kept.any():
            self._rows.append((game[kept], *(column[kept] for column in rows[1:])))

    def scores(self) -> Beliefs:
        """Scores of beliefs about other living players; UserError without votes."""
        if not self._rows:
            raise UserError("beliefs: no votes of players with beliefs; play more games")
        game, own, exact, truth, counted = (
            np.concatenate(columns) for columns in zip(*self._rows, strict=True)
        )
        _, at = np.unique(game, return_inverse=True)
        order = np.argsort(at, kind="stable")
        at = at[order]
        place = np.arange(len(at)) - np.searchsorted(at, at)
        shape = (int(at.max()) + 1, int(place.max()) + 1, own.shape[1])
        spread = {name: np.zeros(shape, kind) for name, kind in _SPREAD.items()}
        for name, column in zip(_SPREAD, (own, exact, counted), strict=True):
            spread[name][at, place] = column[order]
        wolf = np.zeros((shape[0], shape[2]), bool)
        wolf[at] = truth[order]
        counts = spread["counted"]
        return Beliefs(
            calibrate(spread["own"], wolf, counts, spread["exact"]), calibrate(spread["exact"], wolf, counts)
        )

    def _query(self, timestep: TimeStep) -> tuple[Array, ...] | None:
        """World, both beliefs, wolves and counted seats: a row for each queried voter."""
        seen, population = timestep.observation, np.asarray(self.world.population)
        voting = timestep.acting & (self._kinds[seen["phase"]] == EXECUTION)
        wolf = population == self._hiding
        voting &= np.isin(population, self._queried) & ~wolf
        w, a = np.nonzero(voting)
        if not len(w):
            return None
        own = self._believer.beliefs({name: leaf[w, a] for name, leaf in seen.items()}, population[w, a])
        exact = np.clip(self._exact.posterior(voting)[w, a], 0, 1)
        living = np.array(seen["status_map"][w, a] != 0)
        living[np.arange(len(w)), a] = False
        return w, own, exact, wolf[w], living


_SPREAD = {"own": np.float64, "exact": np.float64, "counted": bool}


def ways_of(foe: str) -> Ways:
    """The exact observer's model of wolves: the scripted policy `foe` if known, else the default."""
    return Ways(wolves=(foe,)) if foe in WAYS_OF_WOLVES else Ways()
