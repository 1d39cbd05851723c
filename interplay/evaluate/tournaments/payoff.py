"""Sums of outcomes and numbers of matches between players, by seat (specification interfaces 11.3)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

ENOUGH = 10  # least matches of a pair with a reliable win rate (specification interfaces 11.2, 11.3)


class Payoff(NamedTuple):
    """Results between N players; the row had the first seat, or began the match.

    Attributes:
        total: (N, N) float64, sums of the row's outcomes, each in [-1, 1].
        matches: (N, N) float64, finished matches; fractional after a decay.
    """

    total: np.ndarray
    matches: np.ndarray

    @classmethod
    def empty(cls, players: int) -> Payoff:
        """Without matches."""
        return cls(np.zeros((players, players)), np.zeros((players, players)))

    def add(self, row: np.ndarray, column: np.ndarray, outcome: np.ndarray) -> None:
        """Adds matches.

        Args:
            row: (n,) players in the first seat.
            column: (n,) their opponents.
            outcome: (n,) of the row, in [-1, 1]; NaN (aborted) is skipped, as are matches of a player against itself.
        """
        counts = np.isfinite(outcome) & (row != column)
        np.add.at(self.total, (row[counts], column[counts]), outcome[counts])
        np.add.at(self.matches, (row[counts], column[counts]), 1.0)

    @property
    def met(self) -> np.ndarray:
        """(N, N) matches between two players in either seat."""
        return self.matches + self.matches.T

    def merged(self) -> np.ndarray:
        """(N, N) mean outcome of the row over both seats: antisymmetric, 0 between players that never met.

        Example:
            >>> payoff = Payoff(np.array([[0.0, 3.0], [1.0, 0.0]]), np.array([[0.0, 4.0], [4.0, 0.0]]))
            >>> payoff.merged().tolist()  # three won and one lost in the first seat, the other one ahead by one in its own
            [[0.0, 0.25], [-0.25, 0.0]]
        """
        return np.divide(
            self.total - self.total.T, self.met, out=np.zeros_like(self.total), where=self.met > 0
        )

    def win_rates(self, least: int = 0) -> np.ndarray:
        """(N, N) win rate of the row, draws half; 0.5 with less than `least` matches."""
        return np.where(self.met >= max(least, 1), (1.0 + self.merged()) / 2.0, 0.5)

    def seat_advantage(self) -> float:
        """Mean outcome of the first seat; NaN without matches."""
        return float(self.total.sum() / self.matches.sum()) if self.matches.any() else float("nan")

    def least_played(self, among: np.ndarray) -> tuple[int, int] | None:
        """The first pair with the fewest matches among the players `among` (n,); None for less than two."""
        if len(among) < 2:
            return None
        met = self.met[np.ix_(among, among)]
        upper = np.triu_indices(len(among), 1)
        at = int(np.argmin(met[upper]))
        return int(among[upper[0][at]]), int(among[upper[1][at]])

    def among(self, players: np.ndarray) -> Payoff:
        """The results between the players (n,)."""
        return Payoff(*(array[np.ix_(players, players)] for array in self))

    def forget(self, player: int) -> None:
        """Clears the results of a player."""
        for array in (self.total, self.matches):
            array[player] = array[:, player] = 0.0
