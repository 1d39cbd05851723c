"""The table of a league: who its players are, how strong, who beat whom, and how its equilibrium mixes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from interplay.evaluate.tournaments.payoff import Payoff
from interplay.evaluate.tournaments.ratings.bradley_terry import elo
from interplay.evaluate.tournaments.ratings.nash import nash


class LeagueTable(NamedTuple):
    """N players who met somebody.

    Attributes:
        world: its id.
        agent_steps: of the run when this was so.
        names: of the players.
        learner: the learner that each is or was; "" for fixed players.
        since: (N,) int64, agent-steps at which each was frozen; those of now for learners, 0 for fixed players.
        elo: (N,) float64, the anchor's points are 0.
        anchor: its name.
        payoff: results between them.
        nash: (N,) float64, how an equilibrium of the mean outcomes mixes them; pairs that never met count as even.
    """

    world: str
    agent_steps: int
    names: tuple[str, ...]
    learner: tuple[str, ...]
    since: np.ndarray
    elo: np.ndarray
    anchor: str
    payoff: Payoff
    nash: np.ndarray

    @property
    def order(self) -> list[int]:
        """Numbers of the players, the best by Elo first."""
        return sorted(range(len(self.names)), key=lambda i: (-self.elo[i], i))

    @property
    def shares(self) -> np.ndarray:
        """(N, N) share of its matches against the column that the row won, draws counted half; NaN between players who never met."""
        return np.where(self.payoff.met > 0, self.payoff.win_rates(), np.nan)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; the pay-offs by seats, rows had the first."""
        return {
            "world": self.world,
            "agent_steps": self.agent_steps,
            "anchor": self.anchor,
            "players": [
                {
                    "name": name,
                    "learner": learner,
                    "since": int(since),
                    "elo": float(points),
                    "nash": float(share),
                }
                for name, learner, since, points, share in zip(
                    self.names, self.learner, self.since, self.elo, self.nash, strict=True
                )
            ],
            "outcomes": self.payoff.total.tolist(),
            "matches": self.payoff.matches.tolist(),
            "seat_advantage": None
            if np.isnan(self.payoff.seat_advantage())
            else self.payoff.seat_advantage(),
        }


def rate_league(payoff: Payoff, anchors: Sequence[int]) -> tuple[np.ndarray, int]:
    """Elo points of players from their results, and the player whose points are 0.

    Args:
        payoff: between N players who each met somebody.
        anchors: numbers of those who may be the one at 0, the first is taken.

    Returns:
        (N,) points, and the number of the one at 0.
    """
    points = elo(payoff.win_rates() * payoff.met)
    anchor = anchors[0] if len(anchors) else 0
    return points - points[anchor], anchor


def mix_league(payoff: Payoff) -> np.ndarray:
    """(N,) an equilibrium of the mean outcomes."""
    return nash(payoff.merged())
