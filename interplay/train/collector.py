"""Plays one shard's worlds step by step and keeps the samples.

A world that is over is reset after its last step was stored, so the last observation of a truncated episode can still be evaluated.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import numpy as np
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.core.world import World
from interplay.evaluate.tournaments.matches import RETURN, default_score
from interplay.train import step_kernels
from interplay.train.distributions import Distribution
from interplay.train.observations import RowCopier
from interplay.train.populations import Blocks, cut_alone
from interplay.train.run.episodes import EpisodeStatistics, LifeStatistics
from interplay.train.run.recording import WindowRecorder
from interplay.train.samples import NetworkInput, PendingSamples, SampleLayout, TrajectoryBuffer
from interplay.train.selfplay.matchups import make_casting, make_guests, sides_of
from interplay.train.selfplay.membership import Membership
from interplay.train.selfplay.opponents import Opponents
from interplay.train.settings import TrainSettings

if TYPE_CHECKING:
    from interplay.train.factored.recorder import TeamRecorder
    from interplay.train.learner import Learner

# Every eighth idle step (not the agent's turn, or dead but present) trains the value, never the policy. Counted from a rollout's
# first step: the rollout before it was bootstrapped with the value of that state.
IDLE_EVERY = 8


class StepRows(NamedTuple):
    """One step's rows of one kind, for the networks and for `PendingSamples`.

    Attributes:
        picked: (n,) indices among (W, A_kind), sorted by network, learning ones first; valid until the kind's next call.
        where: (n,) the same as indices among (W, A).
        network: (n,) number of the row's network.
        kept: number of first rows that belong to learning networks.
        blocks: of the rows; None: one block of one network.
        seen: the rows, then padding.
    """

    picked: np.ndarray
    where: np.ndarray
    network: np.ndarray
    kept: int
    blocks: Blocks | None
    seen: NetworkInput


class StepOutputs(NamedTuple):
    """The outputs of a kind's networks in one step.

    Attributes:
        step_rows: the rows.
        outputs: (n, columns + 2), actions, log-probabilities and values.
        memory: (n, size) after the step, or None.
    """

    step_rows: StepRows
    outputs: np.ndarray
    memory: np.ndarray | None


class Collector:
    """Plays one shard's worlds and keeps their samples.

    Attributes:
        buffer: the trajectories.
        opponents: play the slots that the networks do not.
        casting: assigns players to sides.
        membership: the slots of the learner and of each side.
        present: (W, A) bool, the slot's life goes on: acting, idle, or dead but earning.
        pending: kind name -> samples that are not trained on yet.
        lives, episodes: statistics.
        learns: (Q + R + G,) bool, populations with samples to keep; the others, past selves and guests only act.
        truth: (W, A) bool, slots of the guessed population in the present step.
        acted: actions of this run's networks in the last rollout, without those of past selves.
        memory: kind name -> (W A_kind, size) float32, for kinds with memory.
        fresh: (W, A) bool, a life's memory is empty.
        keys: kind name -> data of its random key, uint32; actions of step t of update u are drawn with ``fold_in(key, u T + t)``.
        most_blocks: kind name -> most blocks of its rows.
        tap: records the first world, or None.
        recorder: keeps frames of teams instead of samples, and no values are computed; None: samples are kept.
        room: shards of the run, the size of the networks' input arrays.
    """

    tap: WindowRecorder | None = None
    recorder: TeamRecorder | None = None

    def __init__(self, index: int, world: World, learner: Learner, settings: TrainSettings) -> None:
        self.world, self.room = world, settings.train.shards
        self.networks = networks = learner.networks
        self._populations = populations = learner.populations
        self._view, self._score = learner.view, settings.league.score
        self._mask_dead = learner.algorithm.mask_dead
        self._kinds_that_learn = learner.kinds_that_learn
        self.present = np.zeros((world.num_worlds, len(world.agents)), bool)
        self.buffer = TrajectoryBuffer(
            learner.algorithm.horizon, learner.algorithm.rollout, self.present.shape
        )
        sides = sides_of(settings, world, populations)
        self.casting = casting = make_casting(settings, learner.pool, populations, sides, world)
        guests = make_guests(settings, sides)
        numbers = range(learner.pool.first + learner.pool.places, 2**16)[: len(guests)]
        self.opponents = Opponents(world, guests, numbers, (settings.seed, index, 0))
        self.membership = Membership(settings, world, learner)
        self.lives = LifeStatistics(world, populations, self.membership.others)
        self.episodes = EpisodeStatistics(world, self.lives.in_episode.shape[1], self.membership.logged)
        self.acted = 0
        self.truth = np.zeros(self.present.shape, bool)
        self._guessed = next(iter(networks.values())).guessed
        others = (np.ones(casting.places, bool), np.zeros(casting.guests, bool))
        self._played = np.concatenate([populations.played, *others])
        self._own = self._played & (np.arange(len(self._played)) < len(populations.names))
        self._alone = len(self._played) == 1  # a single network plays all slots
        self.pending: dict[str, PendingSamples] = {}
        self.set_learning(populations.played)
        key = jax.random.fold_in(jax.random.key(settings.seed), 1_000_000 + index)
        drawn = {name: jax.random.fold_in(key, i) for i, name in enumerate(networks)}
        self.keys = {name: np.asarray(jax.random.key_data(own)) for name, own in drawn.items()}
        self._slots = {name: np.array(network.kind.slots) for name, network in networks.items()}
        self.block = {name: min(own.block, self.rows(name)) for name, own in networks.items()}
        masks = world.by_kind(world.timestep.action_mask)
        self.pending = {name: self._allocate(name, masks[name] is not None) for name in networks}
        sizes = {name: own.memory for name, own in networks.items() if own.memory}
        self.memory = {name: np.zeros((self.rows(name), size), np.float32) for name, size in sizes.items()}
        self.fresh = np.ones(self.present.shape, bool)
        self._network = self._born = np.zeros(self.present.shape, np.uint8)
        self._teaches = self._acting = self.present
        self._happened = 0  # in the last step, see `step_kernels.settle`
        self._rows = {name: np.zeros((3, self.rows(name)), np.int64) for name in networks}
        self._copiers = {name: RowCopier(own.layout) for name, own in networks.items()}
        self.most_blocks = {
            name: own.most_blocks(self.rows(name), self.block[name], casting.places)
            for name, own in networks.items()
        }
        self._counts = np.zeros((2, len(self._played)), np.int64)
        self._choosing = {name: _first_choices(own.distribution) for name, own in networks.items()}
        chosen = all(first is not None for first in self._choosing.values())
        self._sampled = chosen and not guests  # all actions are choices that networks drew

    def set_learning(self, learns: np.ndarray) -> None:
        """Sets which populations learn, (Q,) bool; drops pending samples of the others."""
        self.learns = np.append(learns, np.zeros(len(self._played) - len(learns), bool))
        # Rows are sorted by this order: learning networks first, so that the rows of the others can be dropped.
        self._order = np.argsort(~self.learns, kind="stable")
        self._rank = np.argsort(self._order).astype(np.uint16)
        for pending in self.pending.values():
            pending.keep(self.learns[pending.population[: pending.count]], 0)

    # -- a step -----------------------------------------------------------------------------------------

    def begin_step(self, t: int) -> np.ndarray:
        """Returns the mask (W, A) of slots to run the networks on: acting slots, and in some steps idle ones."""
        self._seat()
        self._teaches = teaches = self.buffer.acting[self.buffer.earlier + t]
        self._acting = self.world.timestep.acting.copy()
        self.acted += step_kernels.find_present(
            self.world.timestep.acting,
            self._network,
            self._own,
            self.learns,
            self._mask_dead,
            self.world.dead_stay,
            self.present,
            self.lives.living,
            teaches,
        )
        if self.recorder is not None:
            self.recorder.begin_step(teaches, self._network)
            return teaches
        return teaches if t % IDLE_EVERY else teaches | self._learning()

    def step(self, t: int, results: Mapping[str, StepOutputs]) -> None:
        """Keeps the networks' outputs, lets opponents act, and steps the world."""
        timestep, at = self.world.timestep, self.buffer.earlier + t
        actions = {name: self._act(name, result, at) for name, result in results.items()}
        ours = actions if len(actions) > 1 else next(iter(actions.values()))
        action = self.opponents.act(ours, timestep, self._network)
        # Sampled choices are in range, so their check is skipped unless `step` was replaced.
        unchecked = self._sampled and getattr(self.world.step, "__func__", None) is World.step
        timestep = self.world.step_unchecked(action) if unchecked else self.world.step(action)
        if self.tap is not None:
            self.tap.step(action)
        buffer, lives, episodes = self.buffer, self.lives, self.episodes
        self._happened = step_kernels.settle(
            timestep.reward,
            timestep.terminated,
            timestep.truncated,
            timestep.over,
            self.present,
            self._network,
            self.learns,
            lives.living,
            episodes.windows.current,
            buffer.reward[at],
            buffer.ended[at],
            buffer.bootstrap[at],
            lives.steps,
            lives.earned,
            episodes.returns,
            episodes.lengths,
            episodes.windows.of,
        )
        if self.recorder is not None:
            self.recorder.end_step(buffer.acting[at], buffer.ended[at])

    def _act(self, name: str, result: StepOutputs, at: int) -> np.ndarray | Mapping[str, np.ndarray]:
        """Stores the outputs of a kind's networks; returns the actions for `World.step`."""
        step_rows, outputs, memory = result
        own, value, first = self.networks[name].distribution, self.buffer.value[at], self._choosing[name]
        action: Any
        space: Any = own.space
        if first is None:
            flat = np.zeros((self.rows(name), own.columns), np.float32)
            step_kernels.place(outputs, step_rows.picked, step_rows.where, value, flat)
            action = own.to_world(flat.reshape(self.world.num_worlds, -1, own.columns))
        else:
            action = np.zeros((self.rows(name), own.columns), space.dtype)
            step_kernels.choose(outputs, step_rows.picked, step_rows.where, first, value, action)
            action = action.reshape(self.world.num_worlds, -1, *space.shape)
        self._keep(name, step_rows, outputs, at)
        if memory is not None:
            step_kernels.remember(
                memory, step_rows.picked, step_rows.where, self._teaches, self.memory[name], self.fresh
            )
        return action

    def truncated_mask(self) -> np.ndarray | None:
        """(W, A) mask of learners truncated in this step, for bootstrap values; None if there are none."""
        if self.recorder is not None or not self._happened & step_kernels.CUT:
            return None
        timestep = self.world.timestep
        # For the view: a world that is over has no acting slots, without the limit the last ones would go on.
        self._acting = timestep.acting | (timestep.truncated & self._acting)
        return timestep.truncated & self._learning()

    def end_step(self, t: int) -> None:
        """Counts ended lives and episodes, and resets worlds that are over."""
        if not self._happened & (step_kernels.ENDED | step_kernels.OVER):
            return
        timestep, ended = self.world.timestep, self.buffer.ended[self.buffer.earlier + t]
        lived = self.casting.lived(self._born, self._network)
        learner = self.membership.learner(self._network) if self.membership.others else None
        self.lives.end(self.present & ended, lived, learner)
        over_some = bool(self._happened & step_kernels.OVER)
        if over_some:
            self.casting.record(timestep.over, self._scores())
            members = self.membership.of(self.world, self._network)
            self.episodes.end(timestep, self.lives.in_episode, members)
        self.present &= ~ended
        if self.memory:
            self._forget(ended)
        if over_some:
            over = timestep.over.copy()  # the world's own buffer, which the reset clears
            self.world.reset(over)
            if self.tap is not None and over[0]:
                self.tap.begin()
            self.lives.begin(over)
            self.opponents.forget(over)
            self.casting.draw(over)

    def last_mask(self) -> np.ndarray:
        """(W, A) mask of learners present after the last step, for the last values."""
        if self.recorder is not None:
            return np.zeros(self.present.shape, bool)
        self._seat()
        self._acting = self.world.timestep.acting
        self.present |= self._acting
        return self._learning()

    def _forget(self, ended: np.ndarray) -> None:
        """Clears the memory of ended lives; the next life in a slot begins with zeros."""
        self.fresh |= ended
        for name, memory in self.memory.items():
            memory[ended[:, self._slots[name]].reshape(-1)] = 0.0

    def begin_anew(self) -> None:
        """Clears lives and memory after new episodes began in all worlds."""
        self.present[:] = False
        if self.memory:
            self._forget(np.ones(self.present.shape, bool))

    def _scores(self) -> np.ndarray:
        """(W, A) float64 scores of all slots in episodes that are over with this step."""
        self._score = self._score or default_score(self.world)
        if self._score == RETURN:
            return self.episodes.returns
        return np.asarray(self.world.metrics[self._score], np.float64)

    def _seat(self) -> None:
        """Finds the population and the network of each slot."""
        if self._alone:
            return
        self._born = self.casting.born(self._populations.of(self.world))
        np.equal(self._born, self._guessed, out=self.truth)
        self._network = self.casting.seat(self._born, self.world)

    def _learning(self) -> np.ndarray:
        """(W, A) mask of present slots of learning networks."""
        return self.present if self._alone else self.present & self.learns[self._network]

    # -- rows for the networks ----------------------------------------------------------------------------

    def write_inputs(self, name: str, wanted: np.ndarray, out: NetworkInput) -> StepRows:
        """Writes a kind's network inputs into the first rows of `out`, for slots in `wanted` that networks play."""
        step_rows = self._sort(name, wanted, out)
        own, picked = self.networks[name], step_rows.picked
        timestep = self.world.timestep
        observation = own.with_marks(self.world.by_kind(timestep.observation)[name], self.world.num_worlds)
        self._copiers[name].write(observation, picked, out.rows)
        if not out.has_more:
            return step_rows
        seen = out.part(slice(len(picked)))
        if seen.view is not None and self._view is not None:
            view = self._view.of(self.world, self._acting).reshape(-1, self._view.size)
            seen.view[...] = view[step_rows.where]
        if seen.memory is not None and seen.fresh is not None:
            step_kernels.copy_rows(self.memory[name], picked, seen.memory, 0)
            seen.fresh[...] = self.fresh.reshape(-1)[step_rows.where]
        if seen.mask is not None:
            mask = self.world.by_kind(timestep.action_mask)[name]
            flat = own.distribution.flat_mask(mask, (self.world.num_worlds, len(self._slots[name])))
            seen.mask[...] = True if flat is None else flat.reshape(-1, flat.shape[-1])[picked]
        return step_rows

    def rows(self, name: str) -> int:
        """Slots of a kind in all worlds."""
        return self.world.num_worlds * len(self._slots[name])

    def input_rows(self, name: str) -> int:
        """Rows that a call of a kind's networks reads: all slots, and the overhang of the last block."""
        return self.rows(name) + (0 if self.most_blocks[name] == 1 else self.block[name])

    def _sort(self, name: str, wanted: np.ndarray, out: NetworkInput) -> StepRows:
        rows, slots = self._rows[name], self._slots[name]
        n = step_kernels.pick(wanted, slots, self._network, self._played, self._rank, self._counts, rows)
        picked, where, player = rows[:, :n]
        block, most = self.block[name], self.most_blocks[name]
        if self._alone:
            blocks = None if most == 1 else cut_alone(n, block, most)
            return StepRows(picked, where, player, n, blocks, out)
        counts = self._counts[0]
        cuts = np.zeros((3, most), np.int32)
        number = step_kernels.cut(counts, self._order, block, *cuts)
        blocks = Blocks(cuts[0], cuts[1], cuts[2], np.array(number, np.int32))
        kept = int(counts[: np.count_nonzero(self.learns)].sum())
        return StepRows(picked, where, player, kept, blocks, out)

    def _keep(self, name: str, step_rows: StepRows, outputs: np.ndarray, at: int) -> None:
        """Keeps the rows of learning networks of the kinds that learn."""
        if self.recorder is not None:
            self.recorder.keep(name, step_rows.picked, outputs)
            return
        if name not in self._kinds_that_learn:
            return
        pending, where = self.pending[name], step_rows.where[: step_rows.kept]
        truth = None
        if pending.truth is not None:
            truth = self.truth[where // self.truth.shape[1]][:, self._slots[name]]
        pending.append(step_rows.seen, outputs, at, where, step_rows.network, self._teaches, truth)

    def _allocate(self, name: str, masked: bool) -> PendingSamples:
        own, steps = self.networks[name], self.buffer.earlier + self.buffer.steps
        layout = SampleLayout(
            own.layout,
            own.distribution.columns,
            own.distribution.choices if masked else None,
            len(self._slots[name]) if own.guesses else None,
            own.memory,
            self._view.size if self._view is not None else 0,
        )
        return PendingSamples(layout, steps * self.rows(name))

    # -- numbers that are not finite ----------------------------------------------------------------------

    def refuse_bad_numbers(self, update: int) -> None:
        """Checks observations, rewards and network outputs of the last rollout."""
        self.refuse_bad_observations(update)
        buffer = self.buffer
        values = (buffer.value[buffer.earlier :], buffer.bootstrap[buffer.earlier :], buffer.last_value)
        for name, pending in self.pending.items():
            new = slice(pending.kept, pending.count)
            bad = None if np.isfinite(pending.log_prob[new]).all() else "log_prob of the network"
            if bad is None and not all(np.isfinite(value[..., self._slots[name]]).all() for value in values):
                bad = "value of the network"
            if bad is not None:
                of = f" of {name}" if len(self.networks) > 1 else ""
                raise UserError(
                    f"update {update}: {bad}{of} is not finite; check the world, or lower the learning rate"
                )
        rewards = buffer.reward[buffer.earlier :]
        if not np.isfinite(rewards).all():
            t, w, a = (int(i) for i in np.argwhere(~np.isfinite(rewards))[0])
            place = self._place(t, w, a)
            raise UserError(
                f"update {update}: reward is not finite ({rewards[t, w, a]}{place}); check the world"
            )

    def refuse_bad_observations(self, update: int) -> None:
        """Checks the observations of the last rollout, as far as it was played."""
        if self.recorder is not None and self.recorder.bad is not None:
            raise UserError(f"update {update}: {self.recorder.bad} is not finite; check the world")
        for name, pending in self.pending.items():
            new = slice(pending.kept, pending.count)
            layout, rows = self.networks[name].layout, pending.seen.rows
            bad = layout.name_bad(rows, new)
            if bad is None:
                continue
            first = next(i for i in range(new.start, new.stop) if layout.name_bad(rows, slice(i, i + 1)))
            bad = layout.name_bad(rows, slice(first, first + 1))
            w, a = divmod(int(pending.slot[first]), self.present.shape[1])
            place = self._place(int(pending.step[first]) - self.buffer.earlier, w, a)
            of = f" of {name}" if len(self.networks) > 1 else ""
            raise UserError(
                f"update {update}: {bad}{of} is not finite in float32{place}; give finite numbers that it holds"
            )

    def _place(self, t: int, w: int, a: int) -> str:
        """``", agent red_0, world 3, step 17 of the rollout"``."""
        return f", agent {self.world.agents[a]}, world {w}, step {t + 1} of the rollout"


def _first_choices(distribution: Distribution) -> np.ndarray | None:
    """(columns,) int64, the number of each head's first choice; None unless an action is one array of choices."""
    (part, *more) = distribution.parts
    if more or not part.choices or isinstance(distribution.space, spaces.Dict):
        return None
    start = np.asarray(getattr(part.space, "start", 0), np.int64)
    return np.broadcast_to(start, part.space.shape or ()).reshape(-1).copy()
