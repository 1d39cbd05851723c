"""Playing a shard's worlds with populations: every step's rows are sorted by population, computed in blocks and kept.

Slots that do not act are not computed. An agent that waits or is dead but present gives a row for its value in every
`IDLE_EVERY`-th step, as in a run without populations.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import numpy as np

from interplay.core.errors import UserError
from interplay.core.world import TimeStep, World
from interplay.train.episodes import EpisodeStatistics
from interplay.train.lives import LifeStatistics
from interplay.train.opponents import Opponents
from interplay.train.pending import Pending
from interplay.train.pool import PastSelves
from interplay.train.populations import Blocks, Populations, cut_blocks, sort_rows
from interplay.train.shard import IDLE_EVERY
from interplay.train.stacked import Rows, StackedBrain
from interplay.train.time_line import TimeLine


class Stage(NamedTuple):
    """One step's rows of one kind on their way to the network and into `Pending`.

    Attributes:
        picked: (n,) rows among (W, A_kind), sorted by population.
        population: (n,) uint8.
        blocks: how they are cut.
    """

    picked: np.ndarray
    population: np.ndarray
    blocks: Blocks


class SortedCollector:
    """Plays one shard's worlds.

    Args:
        world: a batch, reset.
        brains: of each kind.
        populations: of the run.
        opponents: who play what the networks do not.
        past: who plays with weights of before.
        line: where rewards and ends are written.
        key: jax random key of the shard; actions of step t of update u are drawn with ``fold_in(key, u T + t)``.

    Attributes:
        present: (W, A) bool, the slot's life goes on: acting, waiting, or dead but earning.
        pending: kind name -> rows that are not learnt from yet.
        lives: statistics of the lives that ended.
        episodes: statistics of the episodes that ended.
        learns: (Q + R,) bool, the populations whose rows are kept; the others, and past selves, only act.
        truth: (W, A) bool, who is of the population that is guessed, in the step that is played; nobody without one.
        acted: actions that the networks took in the last rollout.
        seconds: spent in networks and in worlds in the last rollout.
    """

    def __init__(
        self,
        world: World,
        brains: Mapping[str, StackedBrain],
        populations: Populations,
        opponents: Opponents,
        past: PastSelves,
        line: TimeLine,
        key: jax.Array,
    ) -> None:
        self.world, self.brains, self.line = world, brains, line
        self.present = np.zeros((world.num_worlds, len(world.agents)), bool)
        self.episodes = EpisodeStatistics(world)
        self.lives = LifeStatistics(world, populations)
        self.acted = 0
        self.seconds: dict[str, float] = {}
        self.learns = np.append(populations.played, np.zeros(past.pool.places, bool))
        self._populations, self.opponents, self.past = populations, opponents, past
        self.truth = np.zeros(self.present.shape, bool)
        self._guessed = next(iter(brains.values())).guessed
        self._played = np.append(populations.played, np.ones(past.pool.places, bool))
        self._keys = {name: jax.random.fold_in(key, i) for i, name in enumerate(brains)}
        masks = world.by_kind(world.timestep.action_mask)
        self._stage: dict[str, Rows] = {}
        self.pending: dict[str, Pending] = {}
        self._slots = {name: np.array(brain.kind.slots) for name, brain in brains.items()}
        for name, brain in brains.items():
            rows, masked = world.num_worlds * len(brain.kind.slots), masks[name] is not None
            self._stage[name] = brain.allocate(rows, masked)
            choices = brain.distribution.choices if masked else None
            whole = (line.earlier + line.steps) * rows
            seats = len(brain.kind.slots) if brain.guesses else None
            self.pending[name] = Pending(brain.leaves, whole, brain.distribution.columns, choices, seats)

    def let_learn(self, learns: np.ndarray) -> None:
        """Says which populations learn from here on, (Q,) bool; rows of others that wait are forgotten."""
        if np.array_equal(learns, self.learns[: len(learns)]):
            return
        self.learns = np.append(learns, np.zeros(self.past.pool.places, bool))
        for pending in self.pending.values():
            pending.keep(self.learns[pending.population[: pending.count]], 0)

    def collect(self, forms: Mapping[str, Any], update: int) -> np.ndarray:
        """Plays T steps.

        Args:
            forms: kind name -> what `StackedBrain.unfold` gave.
            update: number of the update.

        Returns:
            (W, A) float32, value of the observation after the last step, 0 for slots without a life.
        """
        line, acting, stepping = self.line, 0.0, 0.0
        self.acted = 0
        for t in range(line.steps):
            began = time.perf_counter()
            timestep, at = self.world.timestep, line.earlier + t
            self.present |= timestep.acting
            line.acting[at] = timestep.acting
            born = self._populations.of(self.world).copy()
            np.equal(born, self._guessed, out=self.truth)
            population = self.past.seat(born)
            self.acted += int((timestep.acting & self._played[population]).sum())
            actions = self._act(forms, timestep, population, at, update * line.steps + t)
            acted = time.perf_counter()
            timestep = self.world.step(actions)
            self._store_outcome(forms, timestep, population, born, at)
            over = timestep.over.copy()  # the world's own buffer, which the reset clears
            if over.any():
                self.world.reset(over)
                self.opponents.forget(over)
                self.past.draw(over)
            acting, stepping = acting + acted - began, stepping + time.perf_counter() - acted
        began = time.perf_counter()
        self.present |= self.world.timestep.acting
        population = self.past.seat(self._populations.of(self.world))
        learns = self.present & self.learns[population]
        last = self._values(forms, self.world.timestep, learns, population)
        self.seconds = {"act": acting + time.perf_counter() - began, "step": stepping}
        return last

    def _act(
        self,
        forms: Mapping[str, Any],
        timestep: TimeStep,
        population: np.ndarray,
        at: int,
        counter: int,
    ) -> Any:
        """Asks networks and opponents for the agents that act, keeps what networks said, gives actions as the world takes them."""
        masks = self.world.by_kind(timestep.action_mask)
        wanted = timestep.acting
        if (at - self.line.earlier) % IDLE_EVERY == IDLE_EVERY - 1:
            wanted = timestep.acting | (self.present & self.learns[population])
        actions = {}
        for name, brain in self.brains.items():
            slots = self._slots[name]
            stage = self._sort(name, wanted, population)
            said = self._ask(name, forms, timestep, masks[name], stage, counter)
            where = self._where(slots, stage.picked)
            self.line.value[at].reshape(-1)[where] = said[:, -1]
            self._keep(name, said, stage.population, at, where, timestep.acting.reshape(-1)[where])
            flat = np.zeros((self.world.num_worlds * len(slots), brain.distribution.columns), np.float32)
            flat[stage.picked] = said[:, :-2]
            actions[name] = brain.distribution.to_world(flat.reshape(self.world.num_worlds, len(slots), -1))
        ours = actions if len(actions) > 1 else next(iter(actions.values()))
        return self.opponents.act(ours, timestep, population)

    def _keep(
        self,
        name: str,
        said: np.ndarray,
        population: np.ndarray,
        at: int,
        where: np.ndarray,
        acts: np.ndarray,
    ) -> None:
        """Puts the stage's rows of those who learn aside."""
        leaves, mask, pending = self._stage[name].leaves, self._stage[name].mask, self.pending[name]
        truth = None
        if pending.truth is not None:
            truth = self.truth[where // self.truth.shape[1]][:, self._slots[name]]
        own = self.learns[population]
        if own.all():
            pending.append(leaves, said, mask, at, where, population, acts, truth)
            return
        rows = np.flatnonzero(own)
        leaves = {key: leaf[rows] for key, leaf in leaves.items()}
        mask, truth = (None if each is None else each[rows] for each in (mask, truth))
        pending.append(leaves, said[rows], mask, at, where[rows], population[rows], acts[rows], truth)

    def _sort(self, name: str, wanted: np.ndarray, population: np.ndarray) -> Stage:
        """The rows of a kind that the network is asked for: those in `wanted` that are no opponent's."""
        brain, slots = self.brains[name], self._slots[name]
        index = np.flatnonzero((wanted & self._played[population])[:, slots])
        own = population[:, slots].reshape(-1)[index]
        order, counts = sort_rows(own, len(self._played))
        most = brain.most_blocks(self.world.num_worlds * len(slots), self.past.pool.places)
        return Stage(index[order], own[order], cut_blocks(counts, brain.block, most))

    def _ask(
        self,
        name: str,
        forms: Mapping[str, Any],
        timestep: TimeStep,
        mask: Any,
        stage: Stage,
        counter: int,
    ) -> np.ndarray:
        """(n, columns + 2): actions, log-probabilities and values of the stage's rows."""
        brain, rows = self.brains[name], self._stage[name]
        if not len(stage.picked):
            return np.zeros((0, brain.distribution.columns + 2), np.float32)
        observation = self.world.by_kind(timestep.observation)[name]
        brain.leaves.take(observation, stage.picked, rows.leaves)
        if mask is not None:
            shape = (self.world.num_worlds, len(self._slots[name]))
            flat = brain.distribution.flat_mask(mask, shape)
            rows.mask[: len(stage.picked)] = flat.reshape(-1, flat.shape[-1])[stage.picked]  # type: ignore[union-attr]
        said = brain.act_blocks(
            forms[name], rows.leaves, rows.mask, stage.blocks, self._keys[name], np.uint32(counter % 2**32)
        )
        return np.asarray(said)[: len(stage.picked)]

    def _store_outcome(
        self, forms: Mapping[str, Any], timestep: TimeStep, population: np.ndarray, born: np.ndarray, at: int
    ) -> None:
        line = self.line
        line.reward[at] = timestep.reward
        line.ended[at] = timestep.terminated | timestep.truncated | timestep.over[:, None]
        line.bootstrap[at] = 0.0
        cut = timestep.truncated & self.present & self.learns[population]
        if cut.any():
            line.bootstrap[at] = self._values(forms, timestep, cut, population)
        self.lives.add(timestep, self.present, line.ended[at], born)
        self.episodes.add(timestep)
        self.present &= ~line.ended[at]

    def _values(
        self, forms: Mapping[str, Any], timestep: TimeStep, wanted: np.ndarray, population: np.ndarray
    ) -> np.ndarray:
        """V of the observations of the slots in `wanted`, (W, A); 0 elsewhere."""
        values = np.zeros(self.present.shape, np.float32)
        for name in self.brains:
            stage = self._sort(name, wanted, population)
            said = self._ask(name, forms, timestep, None, stage, 0)
            values.reshape(-1)[self._where(self._slots[name], stage.picked)] = said[:, -1]
        return values

    def _where(self, slots: np.ndarray, index: np.ndarray) -> np.ndarray:
        """Rows among (W, A_kind) as places among (W, A)."""
        return index // len(slots) * self.present.shape[1] + slots[index % len(slots)]


def refuse_bad_numbers(collector: SortedCollector, first: int, last_value: np.ndarray, update: int) -> None:
    """Stops training before NaN or infinite numbers reach the parameters.

    Raises:
        UserError: naming the tensor and the update.
    """
    line = collector.line
    for name, pending in collector.pending.items():
        brain = collector.brains[name]
        new = slice(pending.kept, pending.count)
        bad = brain.leaves.name_bad(pending.leaves, new)
        if bad is None and not np.isfinite(pending.log_prob[new]).all():
            bad = "log_prob of the network"
        if bad is None and not (np.isfinite(line.value[first:]).all() and np.isfinite(last_value).all()):
            bad = "value of the network"
        if bad is not None:
            whose = f" of {name}" if len(collector.brains) > 1 else ""
            raise UserError(
                f"update {update}: {bad}{whose} is not finite; check the world, or lower the learning rate"
            )
    if not np.isfinite(line.reward[first:]).all():
        raise UserError(f"update {update}: reward is not finite; check the world")
