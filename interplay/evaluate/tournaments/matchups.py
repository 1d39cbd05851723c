"""Matchups and seating: sides of a world, matchups of players, and seats that rotate."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from interplay.core import seeding
from interplay.core.errors import UserError
from interplay.core.player_calls import of_player
from interplay.core.policy import Policy
from interplay.core.world import World
from interplay.evaluate.policy_map import SharedPlay


class Matchup(NamedTuple):
    """Players of a match.

    Attributes:
        players: indices of the K players, ascending.
        number: index of the matchup in the tournament; key of its random streams.
    """

    players: tuple[int, ...]
    number: int


def sides(world: World) -> tuple[tuple[int, ...], ...]:
    """The slots of each side: the world's teams, or single slots."""
    return world.teams or tuple((slot,) for slot in range(len(world.agents)))


def all_matchups(players: int, together: int) -> tuple[Matchup, ...]:
    """Every choice of `together` players, in lexicographic order.

    Example:
        >>> [matchup.players for matchup in all_matchups(3, 2)]
        [(0, 1), (0, 2), (1, 2)]
    """
    return tuple(Matchup(chosen, n) for n, chosen in enumerate(combinations(range(players), together)))


def check_sides(world: World, together: int) -> None:
    """Refuses a number of players that cannot share the world's sides equally."""
    if world.scripted:
        names = ", ".join(world.agents[slot] for slot in world.scripted)
        raise UserError(
            f"{world.id}: the game plays {names} itself; use `interplay evaluate` to measure a player against it"
        )
    count = len(sides(world))
    fitting = [str(k) for k in range(2, count + 1) if count % k == 0]
    if not fitting:
        raise UserError(
            f"{world.id}: {count} side, and a match needs two; use `interplay evaluate` to compare players there"
        )
    if str(together) not in fitting:
        raise UserError(
            f"{world.id}: {together} players cannot share its {count} sides equally; "
            f"let {' or '.join(fitting)} play together (--per-match)"
        )


def seat(together: int, count: int, match: int) -> np.ndarray:
    """Index among the K players for each side in match number `match`, (count,) int64.

    Seats rotate over K matches, then over K more in reverse order. So over 2K matches every player has each seat equally often, before
    and behind every other player.

    Example:
        >>> [seat(2, 4, match).tolist() for match in range(2)]
        [[0, 1, 0, 1], [1, 0, 1, 0]]
    """
    order = np.arange(together)
    if (match // together) % 2:
        order = order[::-1]
    return order[(np.arange(count) + match) % together]


class MatchupPolicy(SharedPlay):
    """The K players of a matchup, with a seating per world.

    Args:
        matches: (W,) match numbers; see `seat`.
    """

    def __init__(
        self, players: Sequence[Policy], sides: Sequence[Sequence[int]], matches: Sequence[int]
    ) -> None:
        self._players = list(players)
        self.name = " against ".join(player.name for player in players)
        slots = sum(len(side) for side in sides)
        self.seating = np.zeros((len(matches), slots), np.int64)
        for w, match in enumerate(matches):
            for side, player in zip(sides, seat(len(players), len(sides), match), strict=True):
                self.seating[w, list(side)] = player

    def start(self, world: World, seed: int = 0) -> None:
        """Starts each policy on its own random stream."""
        super().start(world, seed)
        for policy, own in zip(self._players, seeding.world_seeds(seed, len(self._players)), strict=True):
            of_player(policy, policy.start, world, int(own))

    def players(self) -> np.ndarray:
        return self.seating
