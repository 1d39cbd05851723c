"""Assigns a league's players to the sides of each world, and records the results."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from interplay.core import seeding
from interplay.core.errors import UserError
from interplay.core.world import World
from interplay.evaluate.tournaments.payoff import Payoff
from interplay.train.populations import Populations
from interplay.train.selfplay.casting import Casting, uniform
from interplay.train.selfplay.league.league import League

_STREAM = 0x1EA6_0E01  # separates the draws from the worlds' own streams


class LeagueCasting(Casting):
    """The matches of one shard's worlds: mostly a learner on one side against drawn players on the others.

    The draws for an episode are a pure function of the run's seed, the world, the episode and the league's chances at its beginning.

    Args:
        sides: of the world, at least two; every slot's is fixed.

    Attributes:
        home: (W,) int64, the learner of the match; -1 for a match that only measures.
        player: (W, S) int64, number of the network, or of the fixed player, on each side.
        serial: (W, S) int64, their `League.serial` at the beginning of the match.
    """

    def __init__(self, league: League, sides: Populations, world: World, seed: int) -> None:
        assert sides.fixed is not None
        self.episode = np.zeros(world.num_worlds, np.int64)
        self.league, self._side = league, sides.fixed.astype(np.int64)
        self.places, self.guests = league.places, len(league.fixed)
        count = len(sides.names)
        self.home = np.zeros(world.num_worlds, np.int64)
        self.player = np.zeros((world.num_worlds, count), np.int64)
        self.serial = np.zeros_like(self.player)
        self._own = seeding.world_seeds(seed ^ _STREAM, world.num_worlds, world.first_world)
        self._results = Payoff.empty(league.players)
        self._seated = np.zeros((world.num_worlds, len(self._side)), np.uint16)
        self._cast(np.ones(world.num_worlds, bool))

    def born(self, population: np.ndarray) -> np.ndarray:
        """(W, A) the learner of the match; learner 0 for a match that only measures."""
        home = np.maximum(self.home, 0).astype(population.dtype)
        return np.broadcast_to(home[:, None], population.shape).copy()

    def lived(self, born: np.ndarray, network: np.ndarray) -> np.ndarray:
        return network  # mirrors, copies and fixed players have greater numbers than learners

    def seat(self, population: np.ndarray, world: World) -> np.ndarray:
        return self._seated

    def record(self, over: np.ndarray, scores: np.ndarray) -> None:
        """Counts the matches that are over.

        Args:
            over: (W,) bool.
            scores: (W, A) float64, of each agent; a side has the mean of its agents. A match with a score that is not finite, or with a
                player that was replaced meanwhile, does not count.
        """
        count = self.player.shape[1]
        of_side = np.stack([scores[over][:, self._side == side].mean(axis=1) for side in range(count)], 1)
        of_side[self.serial[over] != self.league.serial[self.player[over]]] = np.nan
        player = self.league.rated(self.player[over])
        for row in range(count):
            for column in range(row + 1, count):
                outcome = np.sign(of_side[:, row] - of_side[:, column])
                self._results.add(player[:, row], player[:, column], outcome)

    def take(self) -> np.ndarray:
        """(2 N N,) results of the matches since the last call."""
        results, self._results = self._results, Payoff.empty(self.league.players)
        return np.stack(results).ravel()

    def save(self) -> dict[str, np.ndarray]:
        return {
            "episode": self.episode,
            "home": self.home,
            "player": self.player,
            "serial": self.serial,
        }

    def bounds(self) -> Mapping[str, tuple[int, int]]:
        league = self.league
        return {
            "episode": (0, 2**53),
            "home": (-1, league.learners - 1),
            "player": (0, league.players - 1),
            "serial": (0, 2**53),
        }

    def restored(self) -> None:
        """Seats the restored players."""
        if not np.isin(self.player, self._present()).all():
            raise UserError(
                "checkpoint: a frozen player plays in a world and is not in the league; choose an earlier checkpoint"
            )
        self._sit()

    def _present(self) -> np.ndarray:
        league = self.league
        return np.concatenate([np.arange(2 * league.learners), league.frozen, league.fixed])

    def _cast(self, which: np.ndarray) -> None:
        league, count = self.league, self.player.shape[1]
        measured = (self._draw(0) < league.league.measure) & (len(league.pairs) > 0)
        home = (self._draw(1) * league.learners).astype(np.int64)
        side = (self._draw(2) * count).astype(np.int64)
        player = np.empty_like(self.player)
        ends = np.cumsum(league.chances, axis=1)
        for s in range(count):
            # Draws are scaled by the last end, which rounding may leave a little below 1.
            drawn = self._draw(4 + s)[:, None] * ends[home, -1:]
            player[:, s] = (drawn >= ends[home]).sum(axis=1)
        player[np.arange(len(side)), side] = home
        if len(league.pairs):
            pair = league.pairs[(self._draw(3) * len(league.pairs)).astype(np.int64)]
            seats = (np.arange(count)[None] + side[:, None]) % 2
            player = np.where(measured[:, None], np.take_along_axis(pair, seats, axis=1), player)
        self.home[which] = np.where(measured, -1, home)[which]
        self.player[which] = player[which]
        self.serial[which] = league.serial[player[which]]
        self._sit()

    def _sit(self) -> None:
        self._seated = self.player[:, self._side].astype(np.uint16)

    def _draw(self, number: int) -> np.ndarray:
        """(W,) float64 in [0, 1), draw `number` of each world's episode."""
        return uniform(self._own, self.episode, 0x1_0000, number)
