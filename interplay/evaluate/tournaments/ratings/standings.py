"""The standings of a tournament: win matrix, ratings with intervals, circles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any

import numpy as np

from interplay.core import seeding
from interplay.core.errors import MissingExtraError
from interplay.core.html import html_table
from interplay.evaluate.results import NAMES, OUTCOME, Share, share_of
from interplay.evaluate.statistics import Z_975, student_quantile
from interplay.evaluate.tournaments.matches import Match
from interplay.evaluate.tournaments.matchups import seat
from interplay.evaluate.tournaments.payoff import Payoff
from interplay.evaluate.tournaments.ratings.alpha_rank import alpha_rank
from interplay.evaluate.tournaments.ratings.bradley_terry import elo
from interplay.evaluate.tournaments.ratings.skill import Skill, skills

RESAMPLES = 400  # of the bootstrap
LEVEL = 0.95  # of its intervals
FEW_ROUNDS = 20  # of a player; with fewer, a warning is shown beside the intervals
LEAST_UNSEEN = 1e-4  # wins; fewer give odds that the fit cannot resolve
_BOOTSTRAP = 0x70003


@dataclass(frozen=True)
class Standings:
    """Ratings and results of the P players.

    Attributes:
        names: of the players.
        matches: number counted.
        wins: (P, P) float64, wins[i, j] = matches that i won against j, plus half of the drawn and cut ones.
        draws: (P, P) int64, drawn matches.
        mean_score: (P,) float64, the mean score of each player over its matches.
        elo: (P,) float64, see `interplay.evaluate.tournaments.ratings.bradley_terry.elo`.
        interval: (P, 2) float64, 95 % bootstrap interval of `elo` over rounds; see `rate_players`.
        rounds: (P,) int64, rounds in which each player took part; intervals of few are rough, see `FEW_ROUNDS`.
        alpha_rank: (P,) float64, see `interplay.evaluate.tournaments.ratings.alpha_rank`; payoffs are win rates.
        skill: openskill's ratings, or None if it is not installed.
        seats: outcomes between two players by seat order; None without seats.
        score: what decided matches: ``outcome``, ``return`` or another metric; ``life`` in merges.
        cut: (P, P) int64, matches without a winner that a limit ended, separated from draws if the score is the outcome.
        tally: (P, 4) int64, matches that each player won, lost, drew, and that were cut, each counted once.
        actions: per player, "sampled" or "greedy"; empty for scripted ones.
        aborted: matches that cost three processes and are not rated.
        circles: players a, b, c of which a beats b, b beats c and c beats a, each more often than not.
    """

    names: tuple[str, ...]
    matches: int
    wins: np.ndarray
    draws: np.ndarray
    cut: np.ndarray
    tally: np.ndarray
    mean_score: np.ndarray
    elo: np.ndarray
    interval: np.ndarray
    rounds: np.ndarray
    alpha_rank: np.ndarray
    skill: tuple[Skill, ...] | None
    circles: tuple[tuple[str, str, str], ...]
    seats: Payoff | None = None
    score: str = "return"
    actions: tuple[str, ...] = ()
    aborted: int = 0

    def _repr_html_(self) -> str:
        """The ratings, for notebooks."""
        rows = [
            (
                self.label(i),
                f"{self.elo[i]:+z.0f}",
                f"{self.interval[i, 0]:+z.0f} .. {self.interval[i, 1]:+z.0f}",
                *(str(share) for share in self.shares(i).values()),
            )
            for i in self.order
        ]
        columns = ("player", "Elo", "95 %", *(f"{name} [95 %]" for name in self.results))
        return html_table(f"ratings over {self.title}", columns, rows)

    @property
    def title(self) -> str:
        """Number of matches, and what decided them."""
        return f"{self.matches:,} matches, by {self.score}"

    def label(self, player: int, name: str | None = None) -> str:
        """The name of a player with its action rule."""
        rule = self.actions[player] if self.actions else ""
        return (name or self.names[player]) + (f", {rule}" if rule else "")

    @property
    def results(self) -> tuple[str, ...]:
        """Names of the shares that sum to 1; ``cut`` only if the score is the outcome."""
        return NAMES if self.score == OUTCOME else NAMES[:3]

    def counts(self, player: int) -> dict[str, int]:
        """Matches that a player won, lost, drew, and that were cut."""
        return dict(zip(self.results, self.tally[player].tolist(), strict=False))

    def shares(self, player: int) -> dict[str, Share]:
        """The shares of `counts`, with Wilson's intervals over rounds: matches of one seed may repeat each other."""
        counts, rounds = self.counts(player), int(self.rounds[player])
        played = sum(counts.values())
        return {name: share_of(count * rounds / max(played, 1), rounds) for name, count in counts.items()}

    @property
    def order(self) -> tuple[int, ...]:
        """Indices of the players, the best by Elo first."""
        return tuple(sorted(range(len(self.names)), key=lambda i: (-self.elo[i], i)))

    @property
    def win_share(self) -> np.ndarray:
        """(P, P) points of i against j per match, drawn and cut ones half; NaN without matches."""
        played = self.wins + self.wins.T
        return np.where(played > 0, self.wins / np.where(played > 0, played, 1.0), np.nan)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers, ready for JSON; the best player first."""
        players = []
        for i in self.order:
            row: dict[str, Any] = {
                "player": self.names[i],
                "elo": float(self.elo[i]),
                "elo_interval": self.interval[i].tolist(),
                "rounds": int(self.rounds[i]),
                "alpha_rank": float(self.alpha_rank[i]),
                "mean_score": float(self.mean_score[i]),
                "points": float(self.wins[i].sum()),
                "matches": float(self.tally[i].sum()),
                **self.counts(i),
                "shares": {name: share._asdict() for name, share in self.shares(i).items() if share.n},
                "actions": self.actions[i] if self.actions else "",
            }
            if self.skill is not None:
                row["openskill"] = self.skill[i]._asdict()
            players.append(row)
        return {
            "matches": self.matches,
            "score": self.score,
            "players": players,
            "names": list(self.names),
            "points": self.wins.tolist(),
            "draws": self.draws.tolist(),
            "cuts": self.cut.tolist(),
            "circles": [list(circle) for circle in self.circles],
            **({} if self.seats is None else {"seats": _plain(self.seats)}),
            **({"aborted": self.aborted} if self.aborted else {}),
        }


def points_title(standings: Standings) -> str:
    """The heading of the matrix of `Standings.win_share`."""
    half = "draws and cut matches" if "cut" in standings.results else "draws"
    return f"points against, % ({half} count half)"


def rate_players(
    names: Sequence[str],
    matches: Sequence[Match],
    together: int,
    seed: int = 0,
    resamples: int = RESAMPLES,
    score: str = "return",
    apart: bool = False,
) -> Standings:
    """Rates the players of a tournament.

    In ratings and points a match of more than two players counts as one between each two of them. Intervals are those of the
    Bayesian bootstrap (Rubin 1981). Every round, i.e. the K matches of one matchup that share a seed and are not independent, gets a weight drawn from
    Gamma(1). Both players of a pair get Gamma(1/2) extra wins (Jeffreys' prior), so that 20 wins of 20 do not mean certainty.
    A bootstrap of few rounds underestimates the spread. So intervals are widened about their median: for a player of R rounds by
    Student's quantile with R - 1 degrees of freedom over the normal one, and by sqrt(R / (R - 1)). Three rounds alone never
    separate two players.

    Args:
        together: K, players of a match.
        score: what decided the matches; if it is the outcome, even matches ended by a limit are cut, not drawn.
        apart: every player has one side, so that its outcome alone shows whether it won.
    """
    ordered = sorted(matches, key=lambda m: (m.match, m.matchup))
    wins, even = _tally(len(names), ordered, together)
    limited = [m for m in ordered if score == OUTCOME and m.more.get("truncated")]
    cut = _tally(len(names), limited, together)[1]
    rng = seeding.generator(seed, _BOOTSTRAP)
    total = wins.sum(axis=0)
    weighed = np.tensordot(rng.gamma(1.0, size=(resamples, len(wins))), wins, 1)
    unseen = np.maximum(rng.gamma(0.5, size=weighed.shape), LEAST_UNSEEN) * ((total + total.T) > 0)
    share, rounds = (1.0 - LEVEL) / 2, _rounds(wins)
    low, middle, high = np.quantile(elo(weighed + unseen, draws=0.0), [share, 0.5, 1.0 - share], axis=0)
    wide = np.array([_widening(int(n)) for n in rounds])
    interval = np.stack([middle - wide * (middle - low), middle + wide * (high - middle)], axis=1)
    try:
        skill: tuple[Skill, ...] | None = tuple(skills(len(names), ordered))
    except MissingExtraError:
        skill = None
    played = total + total.T
    payoffs = np.where(played > 0, total / np.where(played > 0, played, 1.0), 0.5)
    return Standings(
        tuple(names),
        len(ordered),
        total,
        even - cut,
        cut,
        _tally_results(len(names), ordered, score, apart),
        _mean_scores(len(names), ordered),
        elo(total),
        interval,
        rounds,
        alpha_rank(payoffs),
        skill,
        _circles(names, payoffs),
        score=score,
    )


def _tally_results(
    players: int, matches: Sequence[Match], score: str = "return", apart: bool = False
) -> np.ndarray:
    """(P, 4) int64, matches that each player won, lost, drew, and that were cut, in the order of `NAMES`.

    The players with the best score win a match, the others lose it; it is drawn, or cut, if all scores are equal. Outcomes of players
    with one side each count by their sign, as in `interplay.evaluate.results`: a place in the middle is drawn.

    Example:
        >>> _tally_results(3, [Match((0, 1, 2), 0, (5.0, 3.0, 3.0), {}), Match((0, 1, 2), 1, (5.0, 5.0, 3.0), {})]).tolist()
        [[2, 0, 0, 0], [1, 1, 0, 0], [0, 2, 0, 0]]
    """
    found = np.zeros((players, len(NAMES)), np.int64)
    for match in matches:
        best, even = max(match.scores), min(match.scores) == max(match.scores)
        limit = score == OUTCOME and match.more.get("truncated", False)
        for player, own in zip(match.matchup, match.scores, strict=True):
            ahead = own if apart and score == OUTCOME else 0 if even else 1 if own == best else -1
            result = "won" if ahead > 0 else "lost" if ahead < 0 else "cut" if limit else "drawn"
            found[player, NAMES.index(result)] += 1
    return found


def tally_seats(players: int, matches: Sequence[Match]) -> Payoff:
    """Results by seat: the row sat before the column. A match of K players counts for every two of them.

    Seats are those of `interplay.evaluate.tournaments.matchups.seat`.
    """
    met = [
        (match.matchup[i], match.matchup[j], np.sign(match.scores[i] - match.scores[j]))
        for match in matches
        for i, j in combinations(seat(len(match.matchup), len(match.matchup), match.match), 2)
    ]
    payoff = Payoff.empty(players)
    if met:
        row, column, outcome = (np.array(part) for part in zip(*met, strict=True))
        payoff.add(row, column, outcome)
    return payoff


def _plain(seats: Payoff) -> dict[str, list[list[float]]]:
    """Wins of the row, seated before the column, draws half; and matches."""
    won = (seats.total + seats.matches) / 2
    return {"wins": won.tolist(), "matches": seats.matches.tolist()}


def _tally(players: int, matches: Sequence[Match], together: int) -> tuple[np.ndarray, np.ndarray]:
    """Wins of every round (R, P, P), even matches half; and the number of even matches (P, P)."""
    rounds: dict[tuple[tuple[int, ...], int], int] = {}
    for match in matches:
        rounds.setdefault((match.matchup, match.match // together), len(rounds))
    wins = np.zeros((len(rounds), players, players))
    draws = np.zeros((players, players), np.int64)
    for match in matches:
        own = wins[rounds[match.matchup, match.match // together]]
        for (i, a), (j, b) in permutations(zip(match.matchup, match.scores, strict=True), 2):
            own[i, j] += 1.0 if a > b else 0.5 if a == b else 0.0
            draws[i, j] += a == b
    return wins, draws


def _rounds(wins: np.ndarray) -> np.ndarray:
    """(P,) int64, rounds of (R, P, P) in which each player took part."""
    return ((wins + np.swapaxes(wins, 1, 2)).sum(axis=2) > 0).sum(axis=0)


def _widening(rounds: int) -> float:
    """Factor that widens the bootstrap interval of few rounds; one round counts as two.

    Example:
        >>> [round(_widening(n), 2) for n in (2, 3, 10, 1000)]
        [9.17, 2.69, 1.22, 1.0]
    """
    rounds = max(rounds, 2)
    return float(student_quantile(rounds - 1, 1 - LEVEL) / Z_975 * math.sqrt(rounds / (rounds - 1)))


def _mean_scores(players: int, matches: Sequence[Match]) -> np.ndarray:
    sums, counts = np.zeros(players), np.zeros(players)
    for match in matches:
        for player, score in zip(match.matchup, match.scores, strict=True):
            sums[player] += score
            counts[player] += 1
    return sums / np.maximum(counts, 1)


def _circles(names: Sequence[str], share: np.ndarray) -> tuple[tuple[str, str, str], ...]:
    found = []
    for a, b, c in combinations(range(len(names)), 3):
        for x, y, z in ((a, b, c), (a, c, b)):
            if share[x, y] > 0.5 and share[y, z] > 0.5 and share[z, x] > 0.5:
                found.append((names[x], names[y], names[z]))
    return tuple(found)
