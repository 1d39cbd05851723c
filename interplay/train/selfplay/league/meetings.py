"""Matchmaking by the learners' rules, from players and results (specification interfaces 11.2).

Sources: prioritised fictitious self-play and exploiters, Vinyals et al. 2019, "Grandmaster level in StarCraft II"; response oracles, Lanctot
et al. 2017, "A unified game-theoretic approach to multiagent reinforcement learning"; Elo matching, Jaderberg et al. 2019, "Human-level
performance in 3D multiplayer games with population-based reinforcement learning".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from interplay.evaluate.tournaments.payoff import Payoff
from interplay.evaluate.tournaments.ratings.bradley_terry import win_probability
from interplay.evaluate.tournaments.ratings.league_table import mix_league
from interplay.train.selfplay.league.standing import ratings
from interplay.train.settings.league import MeetingGroup

if TYPE_CHECKING:
    from interplay.train.selfplay.league.league import League


_PAIRS = 8  # measured together


def chances(league: League) -> np.ndarray:
    """(Q, N) probabilities of a learner's opponents; a rule without candidates gives the learner itself."""
    found = np.zeros((league.learners, league.players))
    for q, learner in enumerate(league.league.learners.values()):
        for meeting in learner.meets:
            players, weights = _candidates(league, q, meeting)
            if not len(players):
                players, weights = np.array([q]), np.ones(1)
            found[q, players] += meeting.share * weights
    return found


def _candidates(league: League, q: int, meeting: MeetingGroup) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of a rule's candidates, and their weights, which sum to 1."""
    if meeting.by == "self":
        return np.array([q]), np.ones(1)
    if meeting.by == "fixed":
        return league.fixed[[league.league.fixed.index(meeting.play)]], np.ones(1)
    among = [league.names.index(name) for name in meeting.among]
    if meeting.by == "current":
        others = [other for other in among or range(league.learners) if other != q]
        return league.learners + np.array(others), np.full(len(others), 1.0 / len(others))
    which = {"first": slice(1), "latest": slice(-1, None), "uniform": slice(-meeting.last, None)}
    if meeting.by in which:
        frozen = np.concatenate([league.frozen_of([owner])[which[meeting.by]] for owner in among or [q]])
        return frozen, np.full(len(frozen), 1.0 / max(len(frozen), 1))
    frozen = league.frozen_of(among or range(league.learners))
    if not len(frozen):
        return frozen, np.zeros(0)
    if meeting.by == "nash":
        return frozen, mix_league(league.payoff.among(frozen))
    if meeting.by == "pfsp":
        return frozen, prioritised(league.payoff.win_rates(meeting.matches)[q, frozen], meeting.priority)
    points = ratings(league)
    mine = points.get(league.names[q], _before(league, q, points))
    theirs = [points.get(league.name(int(one)), mine) for one in frozen]
    return frozen, near_in_strength(np.array([win_probability(mine, other) for other in theirs]))


def _before(league: League, q: int, points: Mapping[str, float]) -> float:
    """Points of a learner without matches since its newest copy: of its newest copy with matches, or 0 after a restart."""
    rated = [points[name] for one in league.frozen_of([q]) if (name := league.name(int(one))) in points]
    return rated[-1] if rated and league.age[q] else 0.0


def least_played(league: League) -> np.ndarray:
    """(n, 2) pairs with the fewest matches, from which matches that only measure are drawn."""
    payoff, players, pairs = Payoff(*(array.copy() for array in league.payoff)), league.all_players, []
    for _ in range(_PAIRS):
        pair = payoff.least_played(players)
        if pair is None:
            break
        pairs.append(pair)
        payoff.matches[pair] += 1.0
    out = np.array(pairs, np.int64).reshape(-1, 2)
    # Mirrors play for learners, so that these matches are not trained on.
    return np.where(out < league.learners, out + league.learners, out)


# x: the learner's own win rate against a candidate.
PRIORITIES: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "linear": lambda x: 1.0 - x,
    "squared": lambda x: (1.0 - x) ** 2,
    "half": lambda x: np.minimum(0.5, 1.0 - x),
    "variance": lambda x: x * (1.0 - x),
    "variance_0.1": lambda x: np.maximum(x * (1.0 - x), 0.1),
    "variance_0.05": lambda x: np.maximum(x * (1.0 - x), 0.05),
}


def prioritised(win_rates: np.ndarray, priority: str = "squared") -> np.ndarray:
    """Prioritised fictitious self-play: prefers stronger or equal candidates; (N,) weights that sum to 1.

    Args:
        win_rates: (N,) of the learner against each candidate.
        priority: of `PRIORITIES`; if it gives only zeros, the weights are equal.

    Example:
        >>> prioritised(np.array([1.0, 0.5, 0.0])).tolist()
        [0.0, 0.2, 0.8]
    """
    return _shared(PRIORITIES[priority](np.asarray(win_rates, np.float64)))


def near_in_strength(win_rates: np.ndarray, deviation: float = 0.2) -> np.ndarray:
    """Elo matching: (N,) weights by a normal density of the predicted win rates (N,) around one half."""
    away = (np.asarray(win_rates, np.float64) - 0.5) / deviation
    return _shared(np.exp(-0.5 * away * away))


def _shared(weights: np.ndarray) -> np.ndarray:
    total = weights.sum()
    return weights / total if total > 0 else np.full(len(weights), 1.0 / max(len(weights), 1))
