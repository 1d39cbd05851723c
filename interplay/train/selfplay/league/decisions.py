"""Decisions at the end of a period: copies, restarts, and replacements by other learners."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from interplay.evaluate.tournaments.payoff import ENOUGH
from interplay.evaluate.tournaments.ratings.bradley_terry import win_probability
from interplay.train.selfplay.league.standing import ratings
from interplay.train.settings.league import LearnerGroup

if TYPE_CHECKING:
    from interplay.train.selfplay.league.league import League

EMPTY = -1  # owner of an empty place


class Decision(NamedTuple):
    """The decisions at the end of a period.

    Attributes:
        frozen: names of the new copies.
        restarted: numbers of the restarted learners.
        replaced: pairs of a learner and the one that replaces it.
    """

    frozen: tuple[str, ...]
    restarted: tuple[int, ...]
    replaced: tuple[tuple[int, int], ...] = ()


def decide(league: League, agent_steps: int) -> Decision:
    """Ends a period: makes copies, restarts and replaces learners."""
    frozen, restarted, points = [], [], ratings(league)
    for q, rule in enumerate(league.league.learners.values()):
        league.age[q] += 1
        anew = _begins_anew(league, q, rule)
        if rule.freeze:
            frozen.append(_freeze(league, q, agent_steps))
        if anew:
            league.age[q] = 0
            restarted.append(q)
            league.payoff.forget(q)
            league.serial[[q, league.learners + q]] += 1
            for name, stack in league.stacks.items():
                stack[q] = league.beginning(name, q)
    if league.league.decay < 1.0:
        league.payoff.total[...] *= league.league.decay
        league.payoff.matches[...] *= league.league.decay
    replaced = _replace(league, points, restarted) if league.league.pbt.rates else []
    return Decision(tuple(frozen), tuple(restarted), tuple(replaced))


def _replace(league: League, points: Mapping[str, float], restarted: Sequence[int]) -> list[tuple[int, int]]:
    """Replaces weak learners by others, by the ratings at the end of the period; restarted ones are left out."""
    rng, pbt, replaced = league.rng(), league.league.pbt, []
    for q, name in enumerate(league.names):
        other = int(rng.choice([other for other in range(league.learners) if other != q]))
        up, ahead = rng.random(len(pbt.rates)) < 0.5, league.names[other]
        if {q, other} & set(restarted) or not {name, ahead} <= points.keys():
            continue
        if win_probability(points[name], points[ahead]) >= pbt.below:
            continue
        replaced.append((q, other))
        league.factor[q] = league.factor[other] * np.where(up, pbt.change, 1.0 / pbt.change)
        league.payoff.forget(q)
        league.serial[[q, league.learners + q]] += 1
        for stack in league.stacks.values():
            stack[q] = stack[other]
    return replaced


def _begins_anew(league: League, q: int, rule: LearnerGroup) -> bool:
    if rule.restart_after is not None and league.age[q] >= rule.restart_after:
        return True
    met = league.payoff.met[q] >= ENOUGH
    return (
        rule.restart_above is not None
        and bool(met.any())
        and bool((league.payoff.win_rates()[q, met] > rule.restart_above).all())
    )


def _freeze(league: League, q: int, agent_steps: int) -> str:
    """Copies a learner; both count as new players, because the results so far are of weaker weights."""
    free = np.flatnonzero(league.owner < 0)
    if len(free):
        place = int(free[0])
    else:
        counts = np.bincount(league.owner, minlength=league.learners)
        owner = q if counts[q] == counts.max() else int(np.argmax(counts))
        most = np.flatnonzero(league.owner == owner)
        place = int(most[np.argmin(league.number[most])])
    player = 2 * league.learners + place
    league.copies[q] += 1
    league.serial[player] += 1
    league.owner[place], league.number[place], league.since[place] = q, league.copies[q], agent_steps
    league.payoff.forget(q)
    league.payoff.forget(player)
    for stack in league.stacks.values():
        stack[league.learners + place] = stack[q]
    return league.name(player)
