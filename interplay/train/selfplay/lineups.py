"""Converts a run's training opponents to the rules of a lineup, for its evaluation."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from interplay.core.errors import UserError
from interplay.core.policy import Policy
from interplay.core.trust import Untrusted
from interplay.core.world import World
from interplay.evaluate.lineup import ANY, Choice, Rule, Side, teams_of
from interplay.train.play.policy import open_opponent
from interplay.train.populations import find_populations
from interplay.train.selfplay.matchups import sides_of
from interplay.train.settings import TrainSettings, shares_of

OWN = ("self", "past")  # in `opponents`: the learner, and a past self, which a checkpoint cannot play


def training_rules(settings: TrainSettings) -> list[Rule]:
    """The players of the sides in ``opponents``; the learner plays past selves."""
    return [
        Rule(key, tuple(_choice(settings, key, play, share) for play, share in shares_of(who)))
        for key, who in settings.opponents.items()
    ]


def opponents_in_words(settings: TrainSettings) -> str:
    """A run's opponents in training in one line, from its settings; empty without any.

    Example:
        >>> opponents_in_words(TrainSettings(world={"id": "battle/3m"}, opponents={"blue": "attack_move"}))
        'blue: attack_move'
    """
    sides = []
    for side, players in settings.opponents.items():
        parts = [play if share == 1 else f"{100 * share:g} % {play}" for play, share in shares_of(players)]
        sides.append(f"{'one side' if side == ANY else side}: {', '.join(parts)}")
    others = ["others of its league"] if settings.league.learners else []
    others += ["past selves"] if settings.pool.populations else []
    return " · ".join([*sides, *others])


def training_sides(settings: TrainSettings) -> Callable[[World], list[Side]]:
    """Returns a function that finds the run's sides in a world."""
    return partial(_sides, settings)


def meets_past_selves(settings: TrainSettings) -> bool:
    """Whether past selves played sides in training."""
    return settings.has_past_selves or bool(settings.pool.populations)


def _sides(settings: TrainSettings, world: World) -> list[Side]:
    populations = find_populations(settings.population, world)
    found = sides_of(settings, world, populations)
    if found.fixed is None:
        return [Side(name, population=number) for number, name in enumerate(found.names)]
    teams = {side.slots: side.name for side in teams_of(world)} if settings.sides.by == "team" else {}
    slots = [tuple(map(int, np.flatnonzero(found.fixed == number))) for number in range(len(found.names))]
    return [Side(teams.get(own, name), own) for name, own in zip(found.names, slots, strict=True)]


def _choice(settings: TrainSettings, key: str, play: str, share: float) -> Choice:
    if play in OWN:
        return Choice(play, share)
    population = key if settings.sides.by == "population" and key != ANY else None
    return Choice(play, share, partial(_open, settings, key, play, population))


def _open(settings: TrainSettings, key: str, play: str, population: str | None) -> Policy:
    try:
        return open_opponent(settings, f"opponents.{key}", play, population)
    except UserError as error:
        kind = Untrusted if isinstance(error, Untrusted) else UserError
        side = "SIDE" if key == ANY else key
        raise kind(
            f"{error}; or choose another player with --roles {side}=PLAYER ({side}=self: the run itself)"
        ) from None
