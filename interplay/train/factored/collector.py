"""Playing for the replay: the same steps as `rollout`, of which teams keep frames instead of samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from interplay.core.world import TimeStep
from interplay.train.factored.frames import FrameLayout
from interplay.train.factored.replay import Look, Replay
from interplay.train.factored.teams import Troop
from interplay.train.rollout import Answer, Collector, Stage
from interplay.train.samples import PendingSamples, SampleLayout
from interplay.train.settings import VdnGroup
from interplay.train.views import View


class TeamCollector(Collector):
    """One shard's worlds under way; `keep_frames` says what is kept of them.

    Attributes:
        replays: of each troop.
        bad: what was not finite in the last rollout, or None.
    """

    replays: list[Replay]

    def keep_frames(
        self, troops: Sequence[Troop], view: View | None, group: VdnGroup, stretches: int
    ) -> None:
        """Makes room for so many complete stretches of every troop."""
        worlds, own = self.world.num_worlds, self.networks
        self._troops, self._view_of_mixers, self._group = tuple(troops), view, group
        self.bad: str | None = None
        columns = {name: network.distribution.columns for name, network in own.items()}
        self._taken = {name: np.zeros((self.rows(name), columns[name]), np.float32) for name in own}
        self._seen = {name: network.layout.allocate(self.rows(name)) for name, network in own.items()}
        # Places of members among all slots, and among those of their kind; the last of each is nobody's.
        self._columns = []
        for troop in self._troops:
            place = np.full(len(self.world.agents) + 1, len(self._slots[troop.kind]))
            place[self._slots[troop.kind]] = np.arange(len(self._slots[troop.kind]))
            self._columns.append(place[troop.teams])
        self.replays = [
            Replay(self._layout(troop), worlds * len(troop.teams), stretches) for troop in self._troops
        ]

    def _layout(self, troop: Troop) -> FrameLayout:
        network, layout = self.networks[troop.kind], self.pending[troop.kind].layout
        return FrameLayout(
            network.layout,
            troop.teams.shape[1],
            self._group.sequence + 1,
            layout.columns,
            layout.choices,
            network.memory,
            self._view_of_mixers.size if self._view_of_mixers is not None else 0,
        )

    # -- a step -----------------------------------------------------------------------------------------

    def begin_step(self, t: int) -> np.ndarray:
        """Keeps what teams see who decide; gives who is asked, (W, A) bool: those who act."""
        super().begin_step(t)
        for name in self.networks:
            self._taken[name].fill(0)
            self._look_at(name, self._teaches)
        for number, (troop, replay) in enumerate(zip(self._troops, self.replays, strict=True)):
            acts = self._of_teams(self._teaches, troop) & self._learnt(troop)[:, None]
            teams = np.flatnonzero(acts.any(axis=1))
            if len(teams):
                replay.see(teams, self._sight(number, teams, acts[teams], self.fresh))
        return self._teaches

    def step(self, t: int, answers: Mapping[str, Answer]) -> None:
        """Takes the step, and tells the frames what came of it."""
        super().step(t, answers)
        timestep, at = self.world.timestep, self.buffer.earlier + t
        chose, ended = self.buffer.acting[at], self.buffer.ended[at]
        for name in self.networks:
            if (timestep.truncated & ended).any():
                self._look_at(name, timestep.truncated)
        for number in range(len(self._troops)):
            self._tell(number, timestep, chose, ended)

    def cut(self) -> None:
        """Nobody: no values are asked for while worlds are played."""

    def after(self) -> np.ndarray:
        """Nobody, as `cut`."""
        return np.zeros(self.present.shape, bool)

    def _tell(self, number: int, timestep: TimeStep, chose: np.ndarray, ended: np.ndarray) -> None:
        """What the teams of a troop chose and earned in a step, and whose episodes are over with it.

        Args:
            number: of the troop.
            timestep: after the step.
            chose: (W, A) bool, who chose in it.
            ended: (W, A) bool, whose life ended in it, or whose world's episode.
        """
        troop, replay = self._troops[number], self.replays[number]
        teams = np.flatnonzero(replay.open)
        if not len(teams):
            return
        # Others wait: what they chose last stands.
        chosen = teams[self._of_teams(chose, troop)[teams].any(axis=1)]
        replay.act(chosen, self._members(self._taken[troop.kind], number)[chosen])
        there = self._of_teams(self.present, troop)[teams]
        earned = (self._of_teams(timestep.reward, troop)[teams] * there).sum(axis=1, dtype=np.float32)
        if self._group.reward == "mean":
            earned /= np.maximum(there.sum(axis=1), 1).astype(np.float32)
        replay.earn(teams, earned * np.float32(self._group.reward_scale), self._group.gamma)
        over = np.logical_not(self._of_teams(self.present & ~ended, troop)[teams].any(axis=1))
        cut = self._cut_short(timestep.truncated & self.present, number)[teams] & over[:, None]
        some = cut.any(axis=1)
        if some.any():
            nobody = np.zeros(self.present.shape, bool)
            replay.cut(teams[some], self._sight(number, teams[some], cut[some], nobody))
        replay.end(teams[over & ~some])

    def _cut_short(self, cut: np.ndarray, number: int) -> np.ndarray:
        """(W G, M) bool, of members whose lives were cut those who would have gone on choosing: who chose last, or else all."""
        cut = self._of_teams(cut, self._troops[number])
        chose = cut & self.replays[number].chose
        mask: np.ndarray = np.where(chose.any(axis=1, keepdims=True), chose, cut)
        return mask

    # -- what teams see -----------------------------------------------------------------------------------

    def _look_at(self, name: str, asked: np.ndarray) -> None:
        """Writes what a kind's agents see into rows; numbers that are not finite are told of those in `asked`."""
        own, seen = self.networks[name], self._seen[name]
        layout, observation = own.layout, self.world.by_kind(self.world.timestep.observation)[name]
        layout.write(own.told(observation, self.world.num_worlds), None, seen)
        if self.bad is None and layout.name_bad(seen, slice(None)) is not None:
            index = np.flatnonzero(asked[:, self._slots[name]])
            picked = {dtype: rows[index] for dtype, rows in seen.items()}
            self.bad = layout.name_bad(picked, slice(None))

    def _sight(self, number: int, teams: np.ndarray, acts: np.ndarray, fresh: np.ndarray) -> Look:
        """What n teams of a troop see, of whom (n, M) act; who does not act is seen as nothing."""
        troop, view = self._troops[number], self._view_of_mixers
        rows = {d: self._members(array, number)[teams] for d, array in self._seen[troop.kind].items()}
        for array in rows.values():
            array[~acts] = 0
        memory = np.zeros((*acts.shape, 0), np.float32)
        if troop.kind in self.memory:
            memory = self._members(self.memory[troop.kind], number)[teams]
        state = np.zeros((len(teams), 0), np.float32)
        if view is not None:
            state = view.of(self.world, troop.teams[:, 0]).reshape(-1, view.size)[teams]
        if self.bad is None and not np.isfinite(state).all():
            self.bad = "what the mixer sees (qmix.state)"
        return Look(
            rows, self._legal(number, teams, acts), acts, self._of_teams(fresh, troop)[teams], memory, state
        )

    def _legal(self, number: int, teams: np.ndarray, acts: np.ndarray) -> np.ndarray | None:
        """(n, M, choices): everything for who does not act, and for who was cut where the world tells no choices then."""
        troop, network = self._troops[number], self.networks[self._troops[number].kind]
        if self.pending[troop.kind].layout.choices is None:
            return None
        slots = len(self._slots[troop.kind])
        mask = self.world.by_kind(self.world.timestep.action_mask)[troop.kind]
        flat = network.distribution.flat_mask(mask, (self.world.num_worlds, slots))
        if flat is None:
            return np.ones((*acts.shape, network.distribution.choices), bool)
        legal = self._members(flat.reshape(-1, flat.shape[-1]), number)[teams]
        legal[~acts | ~legal.any(axis=2)] = True
        return legal

    def _members(self, rows: np.ndarray, number: int) -> np.ndarray:
        """(W A_kind, n) numbers of a kind's agents as those of members, (W G, M, n); nobody has zeros."""
        columns, worlds = self._columns[number], self.world.num_worlds
        shaped = rows.reshape(worlds, -1, rows.shape[-1])
        nobody = np.zeros((worlds, 1, rows.shape[-1]), rows.dtype)
        picked = np.concatenate([shaped, nobody], axis=1)[:, columns]
        return picked.reshape(-1, columns.shape[1], rows.shape[-1])

    def _of_teams(self, slots: np.ndarray, troop: Troop) -> np.ndarray:
        """(W, A) of slots as (W G, M) of members; nobody has zero."""
        nobody = np.zeros((len(slots), 1), slots.dtype)
        members = np.concatenate([slots, nobody], axis=1)[:, troop.teams]
        return members.reshape(-1, troop.teams.shape[1])

    def _learnt(self, troop: Troop) -> np.ndarray:
        """(W G,) bool, teams that the run's network plays and that learn."""
        foreign = self._of_teams(self._network != troop.population, troop)
        own: np.ndarray = np.logical_not(foreign.any(axis=1)) & bool(self.learns[troop.population])
        return own

    # -- what replaces samples ------------------------------------------------------------------------------

    def _keep(self, name: str, stage: Stage, outputs: np.ndarray, at: int) -> None:
        """Keeps what the networks chose until the step is told."""
        self._taken[name][stage.picked] = outputs[:, :-2]

    def _allocate(self, name: str, masked: bool) -> PendingSamples:
        """No samples wait; what they would be made of tells what networks are asked with."""
        own = self.networks[name]
        choices = own.distribution.choices if masked else None
        return PendingSamples(
            SampleLayout(own.layout, own.distribution.columns, choices, None, own.memory), 1
        )
