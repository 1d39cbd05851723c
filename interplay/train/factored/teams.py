"""The teams of a world, grouped by kind and population."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.core.world import World
from interplay.train.distributions import Distribution
from interplay.train.populations import Populations
from interplay.train.settings import QmixGroup, TrainSettings
from interplay.train.views import TeamView, View, WorldView


class TeamGroup(NamedTuple):
    """Teams with members that share a network and a mixer.

    Attributes:
        kind: of agent.
        population: its number.
        teams: (G, M) int64 slots, padded with A up to the kind's largest team.
    """

    kind: str
    population: int
    teams: np.ndarray

    @property
    def name(self) -> str:
        """The name in checkpoints."""
        return f"{self.kind}-{self.population}"


def find_team_groups(
    settings: TrainSettings, world: World, populations: Populations
) -> tuple[TeamGroup, ...]:
    """The team groups of the populations that the run's networks play."""
    algorithm = settings.algorithm
    if populations.fixed is None:
        if len(populations.names) > 1:
            raise UserError(
                f"algorithm = {algorithm}: agents of {world.id} are born into populations, teams are fixed; "
                "use algorithm=ppo, or population.by=name"
            )
        fixed = np.zeros(len(world.agents), np.uint8)
    else:
        fixed = populations.fixed
    team_groups = []
    for kind in world.kinds:
        if Distribution(kind.action_space).deviations:
            raise UserError(
                f"algorithm = {algorithm}: {kind.name} of {world.id} has continuous actions ({kind.action_space}); "
                "use algorithm=ppo"
            )
    kinds = {slot: kind.name for kind in world.kinds for slot in kind.slots}
    teams: dict[tuple[str, int], list[tuple[int, ...]]] = {}
    for team in _teams(settings, world, fixed, len(populations.names)):
        owners = {(kinds[slot], int(fixed[slot])) for slot in team}
        if len(owners) > 1:
            names = ", ".join(world.agents[slot] for slot in team[:4])
            raise UserError(
                f"algorithm = {algorithm}: the team of {names} has agents of several kinds or populations, a mixer needs one network; "
                "use algorithm=ppo, or group them by population.by=name"
            )
        teams.setdefault(owners.pop(), []).append(team)
    for (name, population), own in teams.items():
        if populations.names[population] in populations.opponents:
            continue
        most = max(len(one) for each, many in teams.items() if each[0] == name for one in many)
        slots = np.full((len(own), most), len(world.agents))
        for row, team in zip(slots, own, strict=True):
            row[: len(team)] = team
        team_groups.append(TeamGroup(name, population, slots))
    return tuple(team_groups)


def find_marks(settings: TrainSettings, world: World, populations: Populations) -> dict[str, np.ndarray]:
    """One-hots of the members' indices in their teams, for ``agent_id``: kind name -> (A_kind, M) float32."""
    marks: dict[str, np.ndarray] = {}
    if settings.factored is None or not settings.factored.agent_id:
        return marks
    # Teams of opponents too: a policy that is loaded later has no opponents.
    team_groups = find_team_groups(settings, world, populations._replace(opponents=()))
    for kind in world.kinds:
        teams = [team_group.teams for team_group in team_groups if team_group.kind == kind.name]
        marks[kind.name] = np.zeros((len(world.agents) + 1, teams[0].shape[1]), np.float32)
        for slots in teams:
            marks[kind.name][slots] = np.eye(slots.shape[1])
        marks[kind.name] = marks[kind.name][list(kind.slots)]
    return marks


def find_state(settings: TrainSettings, world: World, team_groups: Sequence[TeamGroup]) -> View | None:
    """The mixers' input; None for sums."""
    group = settings.factored
    if not isinstance(group, QmixGroup):
        return None
    if group.state == "world" and world.state_space is None:
        raise UserError(f"qmix.state = world: {world.id} has no state; use qmix.state=team")
    if group.state != "team" and world.state_space is not None:
        return WorldView(world)
    slots = len(world.agents)
    teams = [[int(s) for s in team if s < slots] for team_group in team_groups for team in team_group.teams]
    named = {slot for team in teams for slot in team}
    return TeamView(world.kinds, [*teams, *([slot] for slot in range(slots) if slot not in named)])


def _teams(settings: TrainSettings, world: World, fixed: np.ndarray, count: int) -> list[tuple[int, ...]]:
    if world.teams is None and settings.population.by == "name":
        return [tuple(np.flatnonzero(fixed == number).tolist()) for number in range(count)]
    if world.teams is None:
        raise UserError(
            f"algorithm = {settings.algorithm}: {world.id} has no teams; group the agents: "
            "population.by=name 'population.groups={team=[\"*\"]}'"
        )
    named = {slot for team in world.teams for slot in team}
    alone = [(slot,) for slot in range(len(world.agents)) if slot not in named]
    return [*map(tuple, world.teams), *alone]
