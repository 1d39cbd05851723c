"""Whom a run plays against, from what its settings name to policies that can play."""

from __future__ import annotations

from pathlib import Path

from interplay.core.errors import UserError
from interplay.core.loading import did_you_mean
from interplay.core.policy import Policy
from interplay.core.world import World
from interplay.train.checkpoint import find_checkpoint
from interplay.train.opponents import Opponents
from interplay.train.policy import find_opponent
from interplay.train.populations import Populations, find_populations
from interplay.train.settings import TrainSettings


def make_opponents(settings: TrainSettings, populations: Populations) -> dict[str, Policy]:
    """Population -> a policy of its own, not started.

    Raises:
        UserError: if there is no such policy or run.
    """
    return {name: find_opponent(settings, name) for name in populations.opponents}


def with_opponents(settings: TrainSettings, world: World) -> Populations:
    """The populations of a run, with those that others play.

    Raises:
        UserError: if opponents are named that cannot be, or nobody is left to learn.
    """
    found = find_populations(settings.population, world)
    if not settings.opponents:
        return found
    if settings.population.by == "kind":
        raise UserError(
            'opponents: population.by = "kind" makes all agents one population, which cannot play against somebody; '
            'use by = "world" or by = "name" with groups'
        )
    if len(found.names) == 1:
        raise UserError(
            f'opponents: {world.id} has one population; make several with population.by = "name" and groups'
        )
    for name in settings.opponents:
        if name not in found.names:
            near = did_you_mean(name, found.names, f"there are {', '.join(found.names)}")
            raise UserError(f"opponents: {world.id} has no population {name!r}; {near}")
    if len(settings.opponents) == len(found.names):
        raise UserError("opponents: all populations are played by others, nobody learns; leave one out")
    return found._replace(opponents=tuple(name for name in found.names if name in settings.opponents))


def check_opponents(settings: TrainSettings, world: World, populations: Populations) -> None:
    """Refuses opponents who cannot play in a world, before there is a run folder.

    Raises:
        UserError: as the opponent says it.
    """
    if populations.opponents:
        world.reset()
        Opponents(world, populations, make_opponents(settings, populations), (settings.seed, 0, 0))


def pinned(settings: TrainSettings) -> dict[str, str]:
    """The opponents with runs replaced by their checkpoints, so that all workers and later readers mean the same ones."""
    return {
        name: str(find_checkpoint(who)) if Path(who).is_dir() else who
        for name, who in settings.opponents.items()
    }
