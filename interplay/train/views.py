"""Inputs of a central critic: the observations of an agent's team, or the state of its world.

Views are made during rollouts and stored with the samples; policies never read them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from interplay.core.errors import UserError
from interplay.core.world import Kind, World
from interplay.train.networks.flat import flat_size
from interplay.train.populations import Populations
from interplay.train.settings import TrainSettings


class View(Protocol):
    """A critic's input of `size` numbers per agent."""

    size: int

    def of(self, world: World, acting: np.ndarray, slots: np.ndarray | None = None) -> np.ndarray:
        """(W, A, size) float32, the critic's inputs now; (W, n, size) for n `slots`.

        Args:
            acting: (W, A) bool, slots that act; at a time limit those that would act next.
        """
        ...


class TeamView:
    """The observations of a team side by side: the agent's own first, then the others' in slot order.

    The last number of each observation is 1 if the agent acts. Smaller teams are padded with zeros.

    Args:
        teams: slots of each team; every slot is in one.
    """

    def __init__(self, kinds: Sequence[Kind], teams: Sequence[Sequence[int]]) -> None:
        self._kinds = tuple(kinds)
        slots = sum(len(kind.slots) for kind in kinds)
        self._width = max(flat_size(kind.observation_space) for kind in kinds)
        most = max(len(team) for team in teams)
        self._team = np.full((slots, most), slots)  # the slot after the last is padding
        for team in teams:
            for slot in team:
                self._team[slot, : len(team)] = [slot, *(other for other in team if other != slot)]
        self.size = most * (self._width + 1)

    def of(self, world: World, acting: np.ndarray, slots: np.ndarray | None = None) -> np.ndarray:
        worlds, every = world.num_worlds, len(self._team)
        team = self._team if slots is None else self._team[slots]
        seen = np.zeros((worlds, every + 1, self._width + 1), np.float32)
        observations = world.by_kind(world.timestep.observation)
        for kind in self._kinds:
            flat = _flat(kind, observations[kind.name], worlds)
            seen[:, list(kind.slots), : flat.shape[2]] = flat
        seen[:, :every, -1] = acting
        return seen[:, team].reshape(worlds, len(team), self.size)


class WorldView:
    """The world's state, and the agent's slot as a one-hot.

    If every team has its own state, an agent gets its team's, and the one-hot of its place there, so that symmetric sides look alike.

    Args:
        world: with a state, reset.
    """

    def __init__(self, world: World) -> None:
        slots = len(world.agents)
        _, states, self._state = world.team_states().shape
        self._team, place = np.zeros(slots, int), np.arange(slots)
        for number, team in enumerate(world.teams or ()) if states > 1 else ():
            self._team[list(team)], place[list(team)] = number, range(len(team))
        self._marks = np.eye(slots, dtype=np.float32)[place]
        self.size = self._state + slots

    def of(self, world: World, acting: np.ndarray, slots: np.ndarray | None = None) -> np.ndarray:
        asked = slice(None) if slots is None else slots
        marks = self._marks[asked]
        view = np.empty((world.num_worlds, len(marks), self.size), np.float32)
        view[:, :, : self._state] = world.team_states()[:, self._team[asked]]
        view[:, :, self._state :] = marks
        return view


def find_view(settings: TrainSettings, world: World, populations: Populations) -> View | None:
    """The view of the run's critics; None for the policy's own input."""
    critic = settings.network.critic
    if critic == "own":
        return None
    if critic == "world":
        if world.state_space is None:
            raise UserError(
                f"network.critic = world: {world.id} has no state to show; give it a state_space and state() (with processes=0), "
                "or use network.critic=team or own"
            )
        return WorldView(world)
    teams = _teams(world, populations, settings.population.by == "name")
    if teams is None:
        raise UserError(
            f"network.critic = team: {world.id} has no teams; "
            'name them with population.by = "name" and groups, or use network.critic=own'
        )
    return TeamView(world.kinds, teams)


def _teams(world: World, populations: Populations, named_groups: bool) -> list[list[int]] | None:
    """The world's teams, with single agents as teams of their own; else the populations by name."""
    if world.teams is not None:
        teams = [list(team) for team in world.teams]
        named = {slot for team in teams for slot in team}
        return teams + [[slot] for slot in range(len(world.agents)) if slot not in named]
    if not named_groups or populations.fixed is None:
        return None
    numbers = range(len(populations.names))
    return [np.flatnonzero(populations.fixed == number).tolist() for number in numbers]


def _flat(kind: Kind, observation: Mapping[str, np.ndarray], worlds: int) -> np.ndarray:
    """(W, A_kind, numbers) float32."""
    leaves = [
        np.asarray(observation[key]).reshape(worlds, len(kind.slots), -1)
        for key in kind.observation_space.spaces
    ]
    return np.concatenate(leaves, axis=2).astype(np.float32)
