"""Ratings by openskill (Weng and Lin 2011), an optional extra that only this file imports."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from interplay.core.errors import MissingExtraError
from interplay.evaluate.tournaments.matches import Match


class Skill(NamedTuple):
    """openskill's posterior of a player.

    Attributes:
        mu: mean.
        sigma: standard deviation.
    """

    mu: float
    sigma: float


def skills(players: int, matches: Iterable[Match]) -> list[Skill]:
    """Plackett-Luce ratings of all players, updated match by match in the order given.

    All players start at openskill's mu = 25, sigma = 25 / 3. As with every sequential rating the order has a small effect: give the
    matches in a fixed order, not in the order of completion.

    Raises:
        MissingExtraError: if openskill is not installed.
    """
    try:
        from openskill.models import PlackettLuce
    except ImportError as error:
        raise MissingExtraError(
            'ratings by openskill need openskill; install it with pip install "interplay[tournament]"'
        ) from error
    model = PlackettLuce()
    table = [model.rating() for _ in range(players)]
    for match in matches:
        rated = model.rate([[table[player]] for player in match.matchup], ranks=list(map(float, match.ranks)))
        for player, (rating,) in zip(match.matchup, rated, strict=True):
            table[player] = rating
    return [Skill(float(rating.mu), float(rating.sigma)) for rating in table]
