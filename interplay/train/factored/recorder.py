"""Recording for the replay: what teams observe, choose and earn in the steps of a collector, as frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from interplay.core.world import TimeStep
from interplay.train.factored.frames import FrameLayout
from interplay.train.factored.learner import TeamLearner
from interplay.train.factored.replay import Look, Replay
from interplay.train.factored.teams import Troop
from interplay.train.settings import TrainSettings

if TYPE_CHECKING:
    from interplay.train.rollout import Collector


class TeamRecorder:
    """Writes the frames of one shard's teams into replays; its collector keeps no samples then.

    Args:
        collector: plays the worlds.
        learner: of the run.
        settings: of the run.

    Attributes:
        troops: of the run.
        replays: of each troop.
        bad: what was not finite in the last rollout, or None.
    """

    def __init__(self, collector: Collector, learner: TeamLearner, settings: TrainSettings) -> None:
        group = settings.factored
        assert group is not None, "teams learn by value factorisation"
        self._collector, self._world, self._networks = collector, collector.world, collector.networks
        self.troops, self._view, self._group = learner.troops, learner.state, group
        self.bad: str | None = None
        own, rows = self._networks, {name: collector.rows(name) for name in self._networks}
        columns = {name: network.distribution.columns for name, network in own.items()}
        self._taken = {name: np.zeros((rows[name], columns[name]), np.float32) for name in own}
        self._seen = {name: network.layout.allocate(rows[name]) for name, network in own.items()}
        self._slots = {name: np.array(network.kind.slots) for name, network in own.items()}
        # Places of members among all slots, and among those of their kind; the last of each is padding.
        self._columns = []
        for troop in self.troops:
            place = np.full(len(self._world.agents) + 1, len(self._slots[troop.kind]))
            place[self._slots[troop.kind]] = np.arange(len(self._slots[troop.kind]))
            self._columns.append(place[troop.teams])
        capacity = max(group.replay // (group.sequence * settings.train.shards), 1)
        self.replays = [
            Replay(self._layout(troop), self._world.num_worlds * len(troop.teams), capacity)
            for troop in self.troops
        ]

    def _layout(self, troop: Troop) -> FrameLayout:
        network, layout = self._networks[troop.kind], self._collector.pending[troop.kind].layout
        return FrameLayout(
            network.layout,
            troop.teams.shape[1],
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
            self._look_at(name, acts)
        for number, (troop, replay) in enumerate(zip(self.troops, self.replays, strict=True)):
            acting = self._of_teams(acts, troop) & self._learnt(troop, network)[:, None]
            teams = np.flatnonzero(acting.any(axis=1))
            if len(teams):
                replay.see(teams, self._sight(number, teams, acting[teams], self._collector.fresh))

    def keep(self, name: str, picked: np.ndarray, outputs: np.ndarray) -> None:
        """Keeps the choices of a kind's rows until the step is taken."""
        self._taken[name][picked] = outputs[:, :-2]

    def end_step(self, chose: np.ndarray, ended: np.ndarray) -> None:
        """Adds a step that was taken to the open frames.

        Args:
            chose: (W, A) bool, slots that acted in it.
            ended: (W, A) bool, slots whose life or world's episode ended in it.
        """
        timestep = self._world.timestep
        if (timestep.truncated & ended).any():
            for name in self._seen:
                self._look_at(name, timestep.truncated)
        for number in range(len(self.troops)):
            self._add(number, timestep, chose, ended)

    def _add(self, number: int, timestep: TimeStep, chose: np.ndarray, ended: np.ndarray) -> None:
        """Adds a step to the open frames of one troop, as `end_step`."""
        troop, replay, present = self.troops[number], self.replays[number], self._collector.present
        teams = np.flatnonzero(replay.open)
        if not len(teams):
            return
        # Other teams wait, and their last choice stands.
        chosen = teams[self._of_teams(chose, troop)[teams].any(axis=1)]
        replay.act(chosen, self._members(self._taken[troop.kind], number)[chosen])
        there = self._of_teams(present, troop)[teams]
        earned = (self._of_teams(timestep.reward, troop)[teams] * there).sum(axis=1, dtype=np.float32)
        if self._group.reward == "mean":
            earned /= np.maximum(there.sum(axis=1), 1).astype(np.float32)
        replay.earn(teams, earned * np.float32(self._group.reward_scale), self._group.gamma)
        over = np.logical_not(self._of_teams(present & ~ended, troop)[teams].any(axis=1))
        cut = self._cut_short(timestep.truncated & present, number)[teams] & over[:, None]
        some = cut.any(axis=1)
        if some.any():
            replay.cut(
                teams[some], self._sight(number, teams[some], cut[some], np.zeros(present.shape, bool))
            )
        replay.end(teams[over & ~some])

    def _cut_short(self, cut: np.ndarray, number: int) -> np.ndarray:
        """(W G, M) bool, members whose lives were cut while they could still choose: those that chose last, or all where none did."""
        cut = self._of_teams(cut, self.troops[number])
        chose = cut & self.replays[number].chose
        mask: np.ndarray = np.where(chose.any(axis=1, keepdims=True), chose, cut)
        return mask

    # -- what teams see -----------------------------------------------------------------------------------

    def _look_at(self, name: str, asked: np.ndarray) -> None:
        """Writes a kind's observations into rows; keeps the name of a leaf that is not finite for a slot in `asked`."""
        own, seen = self._networks[name], self._seen[name]
        layout, observation = own.layout, self._world.by_kind(self._world.timestep.observation)[name]
        layout.write(own.with_marks(observation, self._world.num_worlds), None, seen)
        if self.bad is None and layout.name_bad(seen, slice(None)) is not None:
            index = np.flatnonzero(asked[:, self._slots[name]])
            picked = {dtype: rows[index] for dtype, rows in seen.items()}
            self.bad = layout.name_bad(picked, slice(None))

    def _sight(self, number: int, teams: np.ndarray, acts: np.ndarray, fresh: np.ndarray) -> Look:
        """Observations of n teams of a troop, (n, M) of their members acting; zeros for the others."""
        troop, view = self.troops[number], self._view
        rows = {d: self._members(array, number)[teams] for d, array in self._seen[troop.kind].items()}
        for array in rows.values():
            array[~acts] = 0
        memory = np.zeros((*acts.shape, 0), np.float32)
        if troop.kind in self._collector.memory:
            memory = self._members(self._collector.memory[troop.kind], number)[teams]
        state = np.zeros((len(teams), 0), np.float32)
        if view is not None:
            state = view.of(self._world, troop.teams[:, 0]).reshape(-1, view.size)[teams]
        if self.bad is None and not np.isfinite(state).all():
            self.bad = "what the mixer sees (qmix.state)"
        return Look(
            rows, self._legal(number, teams, acts), acts, self._of_teams(fresh, troop)[teams], memory, state
        )

    def _legal(self, number: int, teams: np.ndarray, acts: np.ndarray) -> np.ndarray | None:
        """(n, M, choices): all for members that do not act, and for cut ones where the world gives no choices then."""
        troop, network = self.troops[number], self._networks[self.troops[number].kind]
        if self._collector.pending[troop.kind].layout.choices is None:
            return None
        slots = len(self._slots[troop.kind])
        mask = self._world.by_kind(self._world.timestep.action_mask)[troop.kind]
        flat = network.distribution.flat_mask(mask, (self._world.num_worlds, slots))
        if flat is None:
            return np.ones((*acts.shape, network.distribution.choices), bool)
        legal = self._members(flat.reshape(-1, flat.shape[-1]), number)[teams]
        legal[~acts | ~legal.any(axis=2)] = True
        return legal

    def _members(self, rows: np.ndarray, number: int) -> np.ndarray:
        """(W A_kind, n) numbers of a kind's agents as those of members, (W G, M, n); zeros for padding."""
        columns, worlds = self._columns[number], self._world.num_worlds
        shaped = rows.reshape(worlds, -1, rows.shape[-1])
        padding = np.zeros((worlds, 1, rows.shape[-1]), rows.dtype)
        picked = np.concatenate([shaped, padding], axis=1)[:, columns]
        return picked.reshape(-1, columns.shape[1], rows.shape[-1])

    def _of_teams(self, slots: np.ndarray, troop: Troop) -> np.ndarray:
        """(W, A) of slots as (W G, M) of members; zeros for padding."""
        padding = np.zeros((len(slots), 1), slots.dtype)
        members = np.concatenate([slots, padding], axis=1)[:, troop.teams]
        return members.reshape(-1, troop.teams.shape[1])

    def _learnt(self, troop: Troop, network: np.ndarray) -> np.ndarray:
        """(W G,) bool, teams that the run's network plays and that learn."""
        foreign = self._of_teams(network != troop.population, troop)
        own: np.ndarray = np.logical_not(foreign.any(axis=1)) & bool(self._collector.learns[troop.population])
        return own
