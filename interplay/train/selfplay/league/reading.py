"""Reads the table of a run's league from its newest checkpoint."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from interplay.core.errors import UserError
from interplay.evaluate.tournaments.ratings.league_table import LeagueTable
from interplay.train.populations import Populations
from interplay.train.run.checkpoint import find_checkpoint, read_checkpoint
from interplay.train.run.settings_file import settings_of
from interplay.train.selfplay.league.league import League
from interplay.train.selfplay.league.standing import table


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
    score = settings.league.score or str(checkpoint.record["league_score"])
    return table(league, settings.world.id, checkpoint.agent_steps, score)
