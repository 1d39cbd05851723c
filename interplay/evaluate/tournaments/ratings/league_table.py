"""The table of a league: players, Elo, results between them, and their mixture in equilibrium."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from interplay.evaluate.tournaments.payoff import Payoff
from interplay.evaluate.tournaments.ratings.bradley_terry import elo
from interplay.evaluate.tournaments.ratings.nash import nash


class LeagueTable(NamedTuple):
    """N players with at least one match.

    Attributes:
        world: id.
        agent_steps: of the run at this time.
        names: of the players.
        learner: the learner that each is or was; "" for fixed players.
        since: (N,) int64, agent-steps at which each was frozen; current ones for learners, 0 for fixed players.
        elo: (N,) float64; 0 for the anchor.
        anchor: name.
        payoff: results between the players.
        nash: (N,) float64, an equilibrium mixture of the mean outcomes; pairs that never met count as even.
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
        """Indices of the players, the best by Elo first."""
        return sorted(range(len(self.names)), key=lambda i: (-self.elo[i], i))

    @property
    def shares(self) -> np.ndarray:
        """(N, N) win rate of the row against the column, draws half; NaN without matches."""
        return np.where(self.payoff.met > 0, self.payoff.win_rates(), np.nan)

    def to_dict(self) -> dict[str, Any]:
        """JSON values; in payoffs the row had the first seat."""
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
    """(N,) Elo points from results, and the index of the anchor, with 0 points: the first of `anchors`."""
    points = elo(payoff.win_rates() * payoff.met)
    anchor = anchors[0] if len(anchors) else 0
    return points - points[anchor], anchor


def mix_league(payoff: Payoff) -> np.ndarray:
    """(N,) an equilibrium mixture of the mean outcomes."""
    return nash(payoff.merged())
