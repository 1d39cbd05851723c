"""Reads the table of a run's league from its newest checkpoint."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from interplay.core.errors import UserError
from interplay.core.files import short_path
from interplay.evaluate.tournaments.ratings.league_table import LeagueTable
from interplay.train.populations import Populations
from interplay.train.run.checkpoint import find_checkpoint, read_checkpoint
from interplay.train.run.settings_file import settings_of
from interplay.train.selfplay.league.league import League
from interplay.train.selfplay.league.standing import table
from interplay.train.settings import TrainSettings


def read_league(run: Path | str, trust: bool = False) -> LeagueTable:
    """The table of a run's league.

    Args:
        run: a run folder or one of its checkpoints.
        trust: allow programs that the run's settings name; needed once, for a run from elsewhere.

    Raises:
        UserError: if there is no sound checkpoint, the run has no league, or there are no matches yet.
    """
    path = find_checkpoint(run)
    settings = settings_of(path, trust)
    if not settings.league.learners:
        raise UserError(
            f"{run}: this run has no league; begin one with `interplay train WORLD --league pfsp`"
        )
    checkpoint = read_checkpoint(path)
    arrays = checkpoint.arrays.get("pool", {})
    populations = Populations(tuple(settings.league.learners), None)
    first = {key.removeprefix("first/"): a for key, a in arrays.items() if key.startswith("first/")}
    count = len(populations.names)
    if not first or any(a.ndim != 2 or len(a) != count or a.dtype != np.float32 for a in first.values()):
        raise UserError(
            f"{path}: the league's weights are not those of {count} learners; choose an earlier checkpoint"
        )
    league = League(settings.league, populations, first)
    league.load(arrays)
    if not league.payoff.met.any():
        raise UserError(_without_matches(settings, path.parents[1], checkpoint.agent_steps))
    score = settings.league.score or str(checkpoint.record["league_score"])
    return table(league, settings.world.id, checkpoint.agent_steps, score)


def _without_matches(settings: TrainSettings, run: Path, agent_steps: int) -> str:
    """Why a league has no results, and how to get some."""
    league, reason, after = settings.league, "", agent_steps
    rules = {meeting.by for learner in league.learners.values() for meeting in learner.meets}
    if agent_steps < league.period and not rules & {"current", "fixed"}:
        reason = f": league.period = {league.period:,} agent-steps, and the run has {agent_steps:,}"
        after = league.period
    # To the middle of a period, because its end drops the results of learners.
    middle = (agent_steps // league.period + 1) * league.period + league.period // 2
    steps = "" if settings.steps > after else f" --steps {middle}"
    measure = "" if league.measure else ", or with league.measure = 0 raised in its settings.toml"
    return (
        "league: there are no results between two players (matches of a learner with itself do not count, and the end of a period "
        f"drops those of a learner){reason}; train on with `interplay resume {short_path(run)}{steps}`{measure}"
    )
