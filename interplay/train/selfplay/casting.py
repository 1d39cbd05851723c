"""Assigns a player to each side of a world for an episode: the learner, a past self, or a guest.

The draws are pure functions of the run's seed, the world and the episode. Rows of past selves are computed together with the learner's,
those of guests are not. Neither are trained on or counted as agent-steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from interplay.core import seeding
from interplay.core.hashing import mix64
from interplay.core.world import World
from interplay.train.populations import Populations
from interplay.train.selfplay.pool import Pool

SELF, PAST = -1, -2  # players that are not guests; guests are numbered from 0
_STREAM = 0x9001_5E1F  # separates the draws from the worlds' own streams


class Role(NamedTuple):
    """A draw for every episode: a side and its player.

    Attributes:
        sides: (C,) int64, numbers of the sides, each equally likely.
        players: (n,) int64: `SELF`, `PAST` or the number of a guest.
        shares: (n,) float64, of the episodes; they sum to 1.
    """

    sides: np.ndarray
    players: np.ndarray
    shares: np.ndarray


class Casting:
    """The players in one shard's worlds.

    Players have the numbers of networks: the populations, then past selves, then guests.

    Args:
        roles: the draws; E of them.
        pool: past selves of the run.

    Attributes:
        places: networks beside the run's own.
        guests: number of guests.
        episode: (W,) int64, number of the episode, from 0.
        side: (W, E) int64, the drawn side.
        player: (W, E) int64, its player: -1 the learner, then the members of the pool, then guests.
    """

    def __init__(
        self, roles: Sequence[Role], sides: Populations, pool: Pool, world: World, seed: int
    ) -> None:
        self._pool, self._roles, self._sides = pool, tuple(roles), sides
        self.places = pool.places
        self.guests = 1 + max((int(role.players.max(initial=SELF)) for role in roles), default=SELF)
        worlds = world.num_worlds
        self.episode = np.zeros(worlds, np.int64)
        self.side, self.player = (np.full((worlds, len(roles)), SELF, np.int64) for _ in range(2))
        self._streams = [
            seeding.world_seeds(seed ^ _STREAM ^ e << 40, worlds, world.first_world)
            for e in range(len(roles))
        ]
        self._cast(np.ones(worlds, bool))

    def draw(self, which: np.ndarray) -> None:
        """Draws for the worlds in the (W,) mask, which begin an episode."""
        self.episode[which] += 1
        self._cast(which)

    def born(self, population: np.ndarray) -> np.ndarray:
        """(W, A) the population of each slot's life, from its population by world or settings."""
        return population.copy()

    def lived(self, born: np.ndarray, network: np.ndarray) -> np.ndarray:
        """(W, A) the population that a life counts for; greater numbers count for none."""
        return born

    def seat(self, population: np.ndarray, world: World) -> np.ndarray:
        """(W, A) the player of each slot, from its population."""
        if (self.player == SELF).all():
            return population
        side, keep = self._sides.of(world), self._pool.settings.keep
        seated = population.astype(np.uint16)
        for drawn, player in zip(self.side.T[:, :, None], self.player.T[:, :, None], strict=True):
            guest = self._pool.first + self._pool.places + player - keep
            past = self._pool.place(population, player)
            other = np.where(player < keep, past, guest)
            seated = np.where((side == drawn) & (player != SELF), other, seated).astype(np.uint16)
        return seated

    def record(self, over: np.ndarray, scores: np.ndarray) -> None:
        """Records (W, A) scores of the worlds in the (W,) mask, which ended their episodes."""

    def take(self) -> np.ndarray:
        """Returns and clears the recorded sums; here empty."""
        return np.zeros(0)

    def restored(self) -> None:
        """Called after the arrays of `save` were restored."""

    def save(self) -> dict[str, np.ndarray]:
        """The state of the running episodes and of the next draws."""
        return {"episode": self.episode, "side": self.side, "player": self.player} if self._roles else {}

    def bounds(self) -> Mapping[str, tuple[int, int]]:
        """Bounds of the arrays of `save`."""
        most = self._pool.settings.keep + self.guests - 1
        return {"episode": (0, 2**53), "side": (0, len(self._sides.names) - 1), "player": (SELF, most)}

    def _cast(self, which: np.ndarray) -> None:
        there, keep = self._pool.kept, self._pool.settings.keep
        for e, role in enumerate(self._roles):
            player_draw, which_side, member = (self._uniform(e, number) for number in range(3))
            player = role.players[np.searchsorted(np.cumsum(role.shares[:-1]), player_draw, side="right")]
            past = (member * there).astype(np.int64) if there else np.full(len(player_draw), SELF)
            number = np.where(player == PAST, past, np.where(player == SELF, SELF, player + keep))
            self.player[which, e] = number[which]
            self.side[which, e] = role.sides[(which_side * len(role.sides)).astype(np.int64)][which]

    def _uniform(self, role: int, number: int) -> np.ndarray:
        """(W,) float64 in [0, 1), draw `number` of a role in each world's episode."""
        return uniform(self._streams[role], self.episode, 4, number)


def uniform(stream: np.ndarray, episode: np.ndarray, draws: int, number: int) -> np.ndarray:
    """(W,) float64 in [0, 1): draw `number` of `draws` in each world's episode, from (W,) uint64 streams."""
    with np.errstate(over="ignore"):
        counter = episode.astype(np.uint64) * np.uint64(draws) + np.uint64(number)
        words = mix64(stream + mix64(counter + np.uint64(0x9E3779B97F4A7C15)))
    return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
