"""The table of a league: players, Elo, results between them, and their mixture in equilibrium."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.evaluate.tournaments.payoff import ENOUGH, Payoff
from interplay.evaluate.tournaments.ratings.bradley_terry import elo

_CLOSE = 1e-6


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
        nash: (N,) float64, the equilibrium mixture of `mix_league`.
        score: what decides a match.
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
    score: str

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
            "score": self.score,
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
    """(N,) an equilibrium mixture of the mean outcomes; pairs with less than `ENOUGH` matches count as even.

    A player that is even with all, for want of matches, is an equilibrium by itself: players with fewer such pairs are preferred.
    """
    unknown = (payoff.met < ENOUGH).mean(axis=1)
    return nash(2.0 * payoff.win_rates(ENOUGH) - 1.0, unknown)


def nash(payoff: np.ndarray, cost: np.ndarray | None = None) -> np.ndarray:
    """A mixture of players that no player beats, by a linear programme.

    Args:
        payoff: (N, N) antisymmetric, of the row against the column, see `Payoff.merged`.
        cost: (N,) of each player; of several equilibria the cheapest is returned. None: any.

    Returns:
        (N,) float64, weights that sum to 1.

    Example:
        >>> nash(np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])).round(6).tolist()
        [0.333333, 0.333333, 0.333333]
    """
    payoff = np.asarray(payoff, np.float64)
    square = payoff.ndim == 2 and payoff.shape[0] == payoff.shape[1] and len(payoff) > 0
    if not square or not np.isfinite(payoff).all() or np.abs(payoff + payoff.T).max() > _CLOSE:
        raise UserError(
            f"Nash: payoffs {payoff.shape} must be an antisymmetric square matrix of finite numbers, as Payoff.merged gives"
        )
    from scipy.optimize import linprog

    count = len(payoff)
    # x^T payoff >= 0 for every column: the value of an antisymmetric game is 0.
    found = linprog(
        np.zeros(count) if cost is None else cost,
        (payoff - payoff.T) / 2.0,
        np.zeros(count),
        np.ones((1, count)),
        [1.0],
        method="highs",
    )
    if found.status != 0:
        raise UserError(f"Nash: the linear programme of {count} players has no solution ({found.message})")
    weights = np.maximum(found.x, 0.0)
    return weights / weights.sum()


def exploitability(mixture: np.ndarray, payoff: np.ndarray) -> float:
    """Payoff of the best single player against a mixture; 0 at an equilibrium.

    Args:
        mixture: (N,) weights that sum to 1.
        payoff: (N, N) of the row against the column.

    Example:
        >>> exploitability(np.array([1.0, 0.0, 0.0]), np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]]))
        1.0
    """
    return float((np.asarray(payoff) @ np.asarray(mixture)).max())
