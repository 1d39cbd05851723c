"""Ratings of a league's players by all matches so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from interplay.evaluate.tournaments.ratings.league_table import LeagueTable, mix_league, rate_league

if TYPE_CHECKING:
    from interplay.train.selfplay.league.league import League


def ratings(league: League) -> dict[str, float]:
    """Elo points of all players with matches; the first fixed, or else the oldest frozen one, has 0."""
    players = _met(league)
    if not len(players):
        return {}
    points, _ = rate_league(league.payoff.among(players), _anchors(league, players))
    return {league.name(int(one)): float(p) for one, p in zip(players, points, strict=True)}


def table(league: League, world: str, agent_steps: int, score: str) -> LeagueTable:
    """The table of a league in the world with id `world`, after `agent_steps`; `score` decides its matches."""
    players = _met(league)
    payoff = league.payoff.among(players)
    points, anchor = rate_league(payoff, _anchors(league, players))
    at, fixed = players - 2 * league.learners, players >= league.learners + league.places
    frozen = (at >= 0) & ~fixed
    owner = np.where(frozen, league.owner[np.clip(at, 0, len(league.owner) - 1)], players)
    since = np.where(frozen, league.since[np.clip(at, 0, len(league.owner) - 1)], agent_steps)
    return LeagueTable(
        world,
        agent_steps,
        tuple(league.name(int(one)) for one in players),
        tuple("" if f else league.names[o] for f, o in zip(fixed, owner, strict=True)),
        np.where(fixed, 0, since),
        points,
        league.name(int(players[anchor])),
        payoff,
        mix_league(payoff),
        score,
    )


def _met(league: League) -> np.ndarray:
    """Numbers of the players with matches."""
    players = league.all_players
    return players[league.payoff.met[np.ix_(players, players)].any(axis=1)]


def _anchors(league: League, players: np.ndarray) -> list[int]:
    """Indices in `players` of candidates for 0 points: fixed players, then frozen ones, the oldest first."""
    return [int(at) for one in [*league.fixed, *league.frozen] for at in np.flatnonzero(players == one)]
