"""Records the steps of a collector as frames in the replays of team groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from interplay.core.world import TimeStep
from interplay.train.factored.learner import TeamLearner
from interplay.train.factored.replay import FrameLayout, Replay, TeamInput
from interplay.train.factored.teams import TeamGroup
from interplay.train.settings import TrainSettings

if TYPE_CHECKING:
    from interplay.train.collector import Collector


class TeamRecorder:
    """Writes the frames of one shard's teams into replays, instead of its collector's samples.

    Attributes:
        team_groups: of the run.
        replays: one per team group.
        bad: name of a non-finite input in the last rollout, or None.
    """

    def __init__(self, collector: Collector, learner: TeamLearner, settings: TrainSettings) -> None:
        group = settings.factored
        assert group is not None, "teams learn by value factorisation"
        self._collector, self._world, self._networks = collector, collector.world, collector.networks
        self.team_groups, self._view, self._group = learner.team_groups, learner.state, group
        self.bad: str | None = None
        own, rows = self._networks, {name: collector.rows(name) for name in self._networks}
        columns = {name: network.distribution.columns for name, network in own.items()}
        self._taken = {name: np.zeros((rows[name], columns[name]), np.float32) for name in own}
        self._seen = {name: network.layout.allocate(rows[name]) for name, network in own.items()}
        self._slots = {name: np.array(network.kind.slots) for name, network in own.items()}
        # Columns of the members among the slots of their kind; the last column is padding.
        self._columns = []
        for team_group in self.team_groups:
            place = np.full(len(self._world.agents) + 1, len(self._slots[team_group.kind]))
            place[self._slots[team_group.kind]] = np.arange(len(self._slots[team_group.kind]))
            self._columns.append(place[team_group.teams])
        capacity = max(group.replay // (group.sequence * settings.train.shards), 1)
        self.replays = [
            Replay(self._layout(team_group), self._world.num_worlds * len(team_group.teams), capacity)
            for team_group in self.team_groups
        ]

    def _layout(self, team_group: TeamGroup) -> FrameLayout:
        network, layout = self._networks[team_group.kind], self._collector.pending[team_group.kind].layout
        return FrameLayout(
            network.layout,
            team_group.teams.shape[1],
            self._group.sequence + 1,
            layout.columns,
            layout.choices,
            network.memory,
            self._view.size if self._view is not None else 0,
        )

    # -- a step -----------------------------------------------------------------------------------------

    def begin_step(self, acts: np.ndarray, network: np.ndarray) -> None:
        """Begins frames of the teams that decide.

        Args:
            acts: (W, A) bool, slots that act.
            network: (W, A), number of the player of each slot.
        """
        for name, taken in self._taken.items():
            taken.fill(0)
            self._write_rows(name, acts)
        for number, (team_group, replay) in enumerate(zip(self.team_groups, self.replays, strict=True)):
            acting = self._of_teams(acts, team_group) & self._learnt(team_group, network)[:, None]
            teams = np.flatnonzero(acting.any(axis=1))
            if len(teams):
                replay.see(teams, self._observe(number, teams, acting[teams], self._collector.fresh))

    def keep(self, name: str, picked: np.ndarray, outputs: np.ndarray) -> None:
        """Keeps the actions of a kind's rows until `end_step`."""
        self._taken[name][picked] = outputs[:, :-2]

    def end_step(self, chose: np.ndarray, ended: np.ndarray) -> None:
        """Adds a step to the open frames.

        Args:
            chose: (W, A) bool, slots that acted in it.
            ended: (W, A) bool, slots of lives or episodes that ended in it.
        """
        timestep = self._world.timestep
        if (timestep.truncated & ended).any():
            for name in self._seen:
                self._write_rows(name, timestep.truncated)
        for number in range(len(self.team_groups)):
            self._add(number, timestep, chose, ended)

    def _add(self, number: int, timestep: TimeStep, chose: np.ndarray, ended: np.ndarray) -> None:
        """Adds a step to the open frames of one team group."""
        team_group, replay, present = self.team_groups[number], self.replays[number], self._collector.present
        teams = np.flatnonzero(replay.open)
        if not len(teams):
            return
        # Teams that do not act keep their last choice.
        chosen = teams[self._of_teams(chose, team_group)[teams].any(axis=1)]
        replay.act(chosen, self._members(self._taken[team_group.kind], number)[chosen])
        here = self._of_teams(present, team_group)[teams]
        earned = (self._of_teams(timestep.reward, team_group)[teams] * here).sum(axis=1, dtype=np.float32)
        if self._group.reward == "mean":
            earned /= np.maximum(here.sum(axis=1), 1).astype(np.float32)
        replay.earn(teams, earned * np.float32(self._group.reward_scale), self._group.gamma)
        over = np.logical_not(self._of_teams(present & ~ended, team_group)[teams].any(axis=1))
        cut = self._cut_short(timestep.truncated & present, number)[teams] & over[:, None]
        some = cut.any(axis=1)
        if some.any():
            replay.cut(
                teams[some], self._observe(number, teams[some], cut[some], np.zeros(present.shape, bool))
            )
        replay.end(teams[over & ~some])

    def _cut_short(self, cut: np.ndarray, number: int) -> np.ndarray:
        """(W G, M) bool, members truncated while able to act: those that acted last, or all where none did."""
        cut = self._of_teams(cut, self.team_groups[number])
        chose = cut & self.replays[number].chose
        return np.where(chose.any(axis=1, keepdims=True), chose, cut)

    # -- observations of teams ------------------------------------------------------------------------------

    def _write_rows(self, name: str, wanted: np.ndarray) -> None:
        """Writes a kind's observations into rows; sets `bad` for a non-finite leaf of a slot in `wanted`."""
        own, seen = self._networks[name], self._seen[name]
        layout, observation = own.layout, self._world.by_kind(self._world.timestep.observation)[name]
        layout.write(own.with_marks(observation, self._world.num_worlds), None, seen)
        if self.bad is None and layout.name_bad(seen, slice(None)) is not None:
            index = np.flatnonzero(wanted[:, self._slots[name]])
            picked = {dtype: rows[index] for dtype, rows in seen.items()}
            self.bad = layout.name_bad(picked, slice(None))

    def _observe(self, number: int, teams: np.ndarray, acts: np.ndarray, fresh: np.ndarray) -> TeamInput:
        """Inputs of n teams of a group with acting members `acts` (n, M); zeros for the others."""
        team_group, view = self.team_groups[number], self._view
        rows = {d: self._members(array, number)[teams] for d, array in self._seen[team_group.kind].items()}
        for array in rows.values():
            array[~acts] = 0
        memory = np.zeros((*acts.shape, 0), np.float32)
        if team_group.kind in self._collector.memory:
            memory = self._members(self._collector.memory[team_group.kind], number)[teams]
        state = np.zeros((len(teams), 0), np.float32)
        if view is not None:
            acting = self._of_slots(acts, teams, team_group)
            state = view.of(self._world, acting, team_group.teams[:, 0]).reshape(-1, view.size)[teams]
        if self.bad is None and not np.isfinite(state).all():
            self.bad = "the mixer's input (qmix.state)"
        return TeamInput(
            rows,
            self._legal(number, teams, acts),
            acts,
            self._of_teams(fresh, team_group)[teams],
            memory,
            state,
        )

    def _legal(self, number: int, teams: np.ndarray, acts: np.ndarray) -> np.ndarray | None:
        """(n, M, choices) bool; all True for members that do not act, or that have no legal choice when truncated."""
        team_group, network = self.team_groups[number], self._networks[self.team_groups[number].kind]
        if self._collector.pending[team_group.kind].layout.choices is None:
            return None
        slots = len(self._slots[team_group.kind])
        mask = self._world.by_kind(self._world.timestep.action_mask)[team_group.kind]
        flat = network.distribution.flat_mask(mask, (self._world.num_worlds, slots))
        if flat is None:
            return np.ones((*acts.shape, network.distribution.choices), bool)
        legal = self._members(flat.reshape(-1, flat.shape[-1]), number)[teams]
        legal[~acts | ~legal.any(axis=2)] = True
        return legal

    def _members(self, rows: np.ndarray, number: int) -> np.ndarray:
        """(W A_kind, n) rows of a kind's agents as (W G, M, n) rows of members; zeros for padding."""
        columns, worlds = self._columns[number], self._world.num_worlds
        shaped = rows.reshape(worlds, -1, rows.shape[-1])
        padding = np.zeros((worlds, 1, rows.shape[-1]), rows.dtype)
        picked = np.concatenate([shaped, padding], axis=1)[:, columns]
        return picked.reshape(-1, columns.shape[1], rows.shape[-1])

    def _of_teams(self, slots: np.ndarray, team_group: TeamGroup) -> np.ndarray:
        """(W, A) values of slots as (W G, M) values of members; zeros for padding."""
        padding = np.zeros((len(slots), 1), slots.dtype)
        members = np.concatenate([slots, padding], axis=1)[:, team_group.teams]
        return members.reshape(-1, team_group.teams.shape[1])

    def _of_slots(self, members: np.ndarray, teams: np.ndarray, team_group: TeamGroup) -> np.ndarray:
        """(n, M) bool of members of n teams as (W, A) bool of slots; False for all other slots."""
        world, team = np.divmod(teams, len(team_group.teams))
        slots = np.zeros((self._world.num_worlds, len(self._world.agents) + 1), bool)
        slots[world[:, None], team_group.teams[team]] = members
        return slots[:, :-1]

    def _learnt(self, team_group: TeamGroup, network: np.ndarray) -> np.ndarray:
        """(W G,) bool, teams that learn and are played by the run's network alone."""
        foreign = self._of_teams(network != team_group.population, team_group)
        return np.logical_not(foreign.any(axis=1)) & bool(self._collector.learns[team_group.population])
