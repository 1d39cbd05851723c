"""The populations of a run, the sides of its world, and their players by ``opponents`` and ``pool``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from interplay.core.errors import UserError
from interplay.core.loading import did_you_mean
from interplay.core.world import NAMED_BEFOREHAND, World
from interplay.evaluate.tournaments.matches import RETURN
from interplay.train.play.policy import open_opponent
from interplay.train.populations import Populations, find_populations, group_by_name
from interplay.train.selfplay.casting import PAST, SELF, Casting, Role
from interplay.train.selfplay.league.casting import LeagueCasting
from interplay.train.selfplay.league.league import League
from interplay.train.selfplay.opponents import Guest, Opponents
from interplay.train.selfplay.pool import Others, Pool, pool_of
from interplay.train.settings import SidesGroup, TrainSettings, shares_of

ANY = "any"  # one of the sides, each equally likely
_NO_GUESTS = {"self": SELF, "past": PAST}


def sides_of(settings: TrainSettings, world: World, populations: Populations) -> Populations:
    """The sides of a run's world; a league without ``sides`` has teams, or else seats."""
    sides = settings.sides
    if settings.league.learners and sides.by == "population":
        sides = SidesGroup(by="seat" if world.teams is None else "team")
    return find_sides(sides, world, populations)


def find_sides(settings: SidesGroup, world: World, populations: Populations) -> Populations:
    """The sides of a world, in the form of populations."""
    if settings.by == "population":
        return populations
    if settings.by == "name":
        return group_by_name("sides.groups", settings.groups, world)
    slots = range(len(world.agents))
    if settings.by == "seat":
        return Populations(tuple(world.agents), np.array(slots, np.uint16))
    if world.teams is None:
        raise UserError(f'sides.by = "team": {world.id} has no teams; use "seat", or "name" with groups')
    named = {slot for team in world.teams for slot in team}
    teams = [*world.teams, *((slot,) for slot in slots if slot not in named)]
    side = np.zeros(len(slots), np.uint16)
    for number, team in enumerate(teams):
        side[list(team)] = number
    own = world.team_names or ()
    numbered = tuple(f"team{number}" for number in range(len(own), len(teams)))
    return Populations((*own, *numbered), side)


def opponents_of(settings: TrainSettings, sides: Populations) -> dict[str, Any]:
    """``opponents`` by the names of sides; a team's number is also a key, team0."""
    numbered = {f"team{number}": name for number, name in enumerate(sides.names)}
    named = numbered if settings.sides.by == "team" else {}
    found: dict[str, Any] = {}
    for key, who in settings.opponents.items():
        name = key if key in sides.names else named.get(key, key)
        if name in found:
            raise UserError(f"opponents: {key} and {name} are one side; leave one of them out")
        found[name] = who
    return found


def make_roles(settings: TrainSettings, populations: Populations, sides: Populations) -> list[Role]:
    """The draws for every episode."""
    roles, guests = [], 0
    for key, who in opponents_of(settings, sides).items():
        plays, shares = zip(*shares_of(who), strict=True)
        players = []
        for play in plays:
            players.append(_NO_GUESTS.get(play, guests))
            guests += play not in _NO_GUESTS
        roles.append(Role(_numbers(key, sides), np.array(players), np.array(shares)))
    if settings.pool.populations and not settings.has_past_selves:
        share, pooled = settings.pool.share, list(map(populations.names.index, settings.pool.populations))
        own = pooled if settings.sides.by == "population" else range(len(sides.names))
        roles.append(Role(np.array(own), np.array([PAST, SELF]), np.array([share, 1.0 - share])))
    return roles


def make_guests(settings: TrainSettings, sides: Populations) -> list[Guest]:
    """The policies that ``opponents`` names, in the order of `make_roles`."""
    guests = [Guest(play, open_opponent(settings, "league", play)) for play in settings.league.fixed]
    for key, who in settings.opponents.items():
        own = key if settings.sides.by == "population" and key != ANY else None
        seen = sides.names.index(key) if own is not None and sides.fixed is None else None
        for index, (play, _) in enumerate(shares_of(who)):
            if play not in _NO_GUESTS:
                name = key if isinstance(who, str) else f"{key}/{index}"
                guests.append(Guest(name, open_opponent(settings, f"opponents.{key}", play, own), seen))
    return guests


def with_opponents(settings: TrainSettings, world: World) -> Populations:
    """The populations of a run, with those of opponents."""
    if settings.league.learners:
        return _league(settings, world)
    found = find_populations(settings.population, world)
    if settings.opponents or settings.sides.by != "population":
        _check(settings, world, found, sides_of(settings, world, found))
    return found._replace(opponents=tuple(name for name in found.names if name in settings.foreign))


def check_opponents(settings: TrainSettings, world: World, populations: Populations) -> None:
    """Checks, before there is a run folder, that the opponents can play in a world."""
    guests = make_guests(settings, sides_of(settings, world, populations))
    if guests:
        world.reset()
        Opponents(world, guests, range(len(guests)), (settings.seed, 0, 0))


def check_score(settings: TrainSettings, world: World) -> None:
    """Checks that the world has the league's score for each agent; resets the world."""
    score = settings.league.score
    if not settings.league.learners or score in (None, RETURN):
        return
    world.reset()
    fitting = [name for name, values in world.metrics.items() if np.ndim(values) == 2]
    if score not in fitting:
        near = did_you_mean(
            score, [RETURN, *fitting], f"there are {', '.join([RETURN, *fitting])}; {NAMED_BEFOREHAND}"
        )
        raise UserError(
            f"league.score = {score!r}: {world.id} has no such metric with a value per agent; {near}"
        )


def _numbers(key: str, sides: Populations) -> np.ndarray:
    return np.arange(len(sides.names)) if key == ANY else np.array([sides.names.index(key)])


def _league(settings: TrainSettings, world: World) -> Populations:
    """The learners of a league, each of which can play every slot."""
    learners = tuple(settings.league.learners)
    found = Populations(learners, np.zeros(len(world.agents), np.uint8))
    if world.num_populations > 1:
        raise UserError(
            f"league: {world.id} has {world.num_populations} populations of its own; let them play each other without a league"
        )
    if world.persistent:
        raise UserError(
            f"league: worlds of {world.id} may never end, so there is no winner; leave out league"
        )
    sides = sides_of(settings, world, found)
    if len(sides.names) < 2:
        raise UserError(
            f'league: {world.id} has one side, and a match needs two; set sides.by = "seat", or "name" with groups'
        )
    return found


def _check(settings: TrainSettings, world: World, populations: Populations, sides: Populations) -> None:
    asked = {key: dict(shares_of(who)) for key, who in opponents_of(settings, sides).items()}
    by_population, noun = settings.sides.by == "population", "side"
    if by_population:
        noun = "population"
        if settings.population.by == "kind":
            raise UserError(
                'opponents: population.by = "kind" makes all agents one population, which has no opponent; '
                'use by = "world", by = "name" with groups, or sides'
            )
    if len(sides.names) == 1:
        raise UserError(
            f'opponents: {world.id} has one {noun}; make several with population.by = "name" and groups, '
            'or set sides.by = "seat"'
        )
    for name in asked:
        if name not in sides.names and name != ANY:
            near = did_you_mean(name, sides.names, f"there are {', '.join(sides.names)}")
            raise UserError(f"opponents: {world.id} has no {noun} {name!r}; {near}")
    if ANY in asked and len(asked) > 1:
        raise UserError(f"opponents: any beside {', '.join(asked.keys() - {ANY})}; leave one of them out")
    if len(asked) == len(sides.names) and not any("self" in who for who in asked.values()):
        raise UserError(f"opponents: all {noun}s are played by opponents, so none learns; leave one out")
    for name, who in asked.items():
        if world.persistent and (len(who) > 1 or name == ANY):
            raise UserError(
                f"opponents.{name}: worlds of {world.id} may never end, shares are of episodes; name one opponent"
            )
        if by_population and name != ANY and "past" in who and "self" not in who:
            raise UserError(
                f"opponents.{name}: past selves of a population that never plays itself; add self with a share"
            )
        pooled = settings.pool.populations
        kept = (name,) if by_population and name != ANY else populations.own
        lacking = [one for one in kept if one not in pooled] if "past" in who and pooled else []
        if lacking:
            raise UserError(
                f"opponents.{name}: past, but pool.populations = {list(pooled)} keeps no past selves of {lacking[0]}; "
                "add it there, or leave pool.populations out"
            )
    if settings.pool.populations and asked and not settings.has_past_selves:
        open_to_past = [ANY, *settings.pool.populations] if by_population else list(asked)
        both = [name for name in asked if name in open_to_past and name not in settings.foreign]
        if both:
            raise UserError(
                f"pool: past selves and opponents.{both[0]} would play the same side; "
                f'give past selves a share in opponents.{both[0]}: {{play = "past", share = ...}}'
            )


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
