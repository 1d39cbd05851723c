"""Makes the networks beside a run's own, and the casting: of past selves and guests, or of a league."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from interplay.core.world import World
from interplay.train.populations import Populations
from interplay.train.selfplay.casting import Casting
from interplay.train.selfplay.league.casting import LeagueCasting
from interplay.train.selfplay.league.league import League
from interplay.train.selfplay.matchups import make_roles
from interplay.train.selfplay.others import Others
from interplay.train.selfplay.pool import Pool, pool_of
from interplay.train.settings import TrainSettings


def make_others(settings: TrainSettings, populations: Populations, first: Mapping[str, np.ndarray]) -> Others:
    """Makes the networks that act beside a run's own; `first` are the learners' initial weights, (Q, P) by kind."""
    if settings.league.learners:
        return League(settings.league, populations, first, settings.seed)
    sizes = {name: vectors.shape[1] for name, vectors in first.items()}
    return Pool(pool_of(settings, populations), populations, sizes)


def make_casting(
    settings: TrainSettings, others: Others, populations: Populations, sides: Populations, world: World
) -> Casting:
    """Makes the casting of a shard's worlds."""
    if isinstance(others, League):
        return LeagueCasting(others, sides, world, settings.seed)
    assert isinstance(others, Pool)
    return Casting(make_roles(settings, populations, sides), sides, others, world, settings.seed)
