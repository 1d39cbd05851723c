"""The learner's slots in an episode and those of each side, for a run's metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from interplay.core.world import World
from interplay.train.populations import Populations
from interplay.train.run.side_sums import LoggedSides
from interplay.train.selfplay.casting import SELF
from interplay.train.selfplay.matchups import find_sides, make_roles, opponents_of, sides_of
from interplay.train.settings import SidesGroup, TrainSettings, shares_of

if TYPE_CHECKING:
    from interplay.train.learner import Learner

MOST = 8  # most sides that are logged without `sides`


class Membership:
    """The learner's slots and those of each side.

    Attributes:
        logged: names of the sides, and of those that the learner plays if others take part.
    """

    def __init__(self, settings: TrainSettings, world: World, learner: Learner) -> None:
        populations, learns = learner.populations, learner.learns
        self._learns, self._count = learns, len(populations.names)
        self._slots = np.zeros(len(world.agents), bool)
        for kind in world.kinds:
            self._slots[list(kind.slots)] = kind.name in learner.kinds_that_learn
        # If slots change populations within an episode, its metrics belong to no side.
        self._divided = populations.fixed is None and self._count > 1 and world.respawns
        others = _has_others(settings, populations, sides_of(settings, world, populations))
        others = others or not learns.all() or not self._slots.all()
        sides, brief = _sides(settings, world, populations, others)
        self._sides = sides._replace(names=()) if self._divided else sides
        names = self._sides.names
        league = settings.league.learners if self._count > 1 else {}
        self._learners = [q for q, name in enumerate(league) if name not in names]
        played = self._of_learner(settings, sides, populations) if others else None
        own = tuple(populations.names[q] for q in self._learners)
        self.logged = LoggedSides((*names, *own), len(names), played, brief)

    @property
    def others(self) -> bool:
        """Whether players other than the learner take part in the run."""
        return self.logged.learner is not None

    def learner(self, network: np.ndarray) -> np.ndarray:
        """(W, A) mask of the learner's slots, from their networks."""
        own = np.append(self._learns, False)[np.minimum(network, self._count)]
        return own & self._slots

    def of(self, world: World, network: np.ndarray) -> np.ndarray:
        """(1 + sides, W, A) masks of the slots of the learner and of each side, from their networks."""
        found = np.zeros((1 + len(self.logged.names), *network.shape), bool)
        if self._divided:
            found[0] = not self.others
            return found
        found[0] = self.learner(network)
        side = self._sides.of(world)
        for number in range(self.logged.parts):
            found[1 + number] = side == number
        for row, q in enumerate(self._learners, 1 + self.logged.parts):
            found[row] = network == q
        return found

    def _of_learner(
        self, settings: TrainSettings, sides: Populations, populations: Populations
    ) -> tuple[str, ...]:
        """Names of the sides that the learner plays in some episodes."""
        opponents = {name: dict(shares_of(who)) for name, who in opponents_of(settings, sides).items()}
        closed = {name for name, plays in opponents.items() if "self" not in plays}
        if sides.fixed is not None and populations.fixed is not None:
            learns = self._learns[populations.fixed] & self._slots
            closed |= {name for s, name in enumerate(sides.names) if not learns[sides.fixed == s].any()}
        elif sides.names == populations.names:
            closed |= {name for name, learns in zip(sides.names, self._learns, strict=True) if not learns}
        return tuple(name for name in sides.names if name not in closed)


def _has_others(settings: TrainSettings, populations: Populations, sides: Populations) -> bool:
    """Whether opponents, past selves or a league take part."""
    if settings.league.learners or populations.opponents:
        return True
    roles = make_roles(settings, populations, sides)
    drawn = [(role.players != SELF) & (role.shares > 0) for role in roles]
    return any(one.any() for one in drawn)


def _sides(
    settings: TrainSettings, world: World, populations: Populations, others: bool
) -> tuple[Populations, bool]:
    """The sides to log, and whether to log only metrics without a meaningful mean over all agents."""
    sides = sides_of(settings, world, populations)
    if others or len(sides.names) > 1:
        return sides, False
    if world.teams is not None and len(world.teams) > 1:
        teams = find_sides(SidesGroup(by="team"), world, populations)
        if len(teams.names) <= MOST:
            return teams, False
    seats = find_sides(SidesGroup(by="seat"), world, populations)
    return (seats if 1 < len(seats.names) <= MOST else seats._replace(names=())), True
