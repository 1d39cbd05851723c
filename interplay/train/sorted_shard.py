"""A shard of a run with populations: its worlds, its time line, the rows that wait and those that are ready."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import jax
import numpy as np

from interplay.core import seeding
from interplay.core.errors import CannotRestore
from interplay.core.world import World
from interplay.train.guessing import pay_speakers
from interplay.train.line_up import make_opponents
from interplay.train.opponents import Opponents
from interplay.train.pool import PastSelves, Pool
from interplay.train.populations import Blocks, Populations, cut_blocks, sort_rows
from interplay.train.restoring import restore
from interplay.train.settings import TrainSettings
from interplay.train.shard import _ORDER, _moments, load_world
from interplay.train.sorted_rollout import SortedCollector, refuse_bad_numbers
from interplay.train.stacked import Rows, StackedBrain
from interplay.train.time_line import TimeLine

CHUNK = 4096  # rows that are handed to the compiled gradient at once


class Ready(NamedTuple):
    """What is learnt from in this update, rows of one kind; N of them, sorted by population.

    Attributes:
        picked: (N,) places in `Pending`.
        population: (N,) uint8.
        advantage: (N,) float32, not normalised.
        target: (N,) float32.
        value: (N,) float32, when the row was made.
    """

    picked: np.ndarray
    population: np.ndarray
    advantage: np.ndarray
    target: np.ndarray
    value: np.ndarray


class SortedShard:
    """One shard of a run with populations.

    Args:
        index: number of the shard.
        world: its worlds, reset.
        brains: networks of each kind.
        populations: of the run.
        settings: of the run.
        pool: past selves; None: an empty one.

    Attributes:
        collector: plays the worlds.
        ready: kind name -> what `estimate` found.
    """

    def __init__(
        self,
        index: int,
        world: World,
        brains: Mapping[str, StackedBrain],
        populations: Populations,
        settings: TrainSettings,
        pool: Pool | None = None,
    ) -> None:
        self.index, self.world, self.brains = index, world, brains
        self._settings, self._count = settings, len(populations.names)
        self._rule = learning_rule(settings)
        line = TimeLine(self._rule.earlier, self._rule.rollout, (world.num_worlds, len(world.agents)))
        key = jax.random.fold_in(jax.random.key(settings.seed), 1_000_000 + index)
        opponents = Opponents(
            world, populations, make_opponents(settings, populations), (settings.seed, index, 0)
        )
        pool = pool or Pool(settings.pool, populations, {name: brain.size for name, brain in brains.items()})
        past = PastSelves(pool, world, settings.seed)
        self.collector = SortedCollector(world, brains, populations, opponents, past, line, key)
        self.ready: dict[str, Ready] = {}
        self._last_value = np.zeros(line.value.shape[1:], np.float32)
        self._chunks: dict[str, Rows] = {}

    @property
    def seconds(self) -> dict[str, float]:
        """Spent in networks and in worlds in the last rollout."""
        return self.collector.seconds

    def let_learn(self, learns: np.ndarray) -> None:
        """Says which populations learn from here on, (Q,) bool; rows of others that wait are forgotten."""
        self.collector.let_learn(learns)

    def play(self, forms: Mapping[str, Any], update: int) -> None:
        """Plays one rollout.

        Raises:
            UserError: if an observation, a reward or a network's output is not finite.
        """
        line = self.collector.line
        self._last_value = self.collector.collect(forms, update)
        if self._settings.belief.speaking:
            pay_speakers(self.collector, forms, self._settings.belief.speaking)
        line.reward[line.earlier :] *= np.float32(self._rule.reward_scale)
        refuse_bad_numbers(self.collector, line.earlier, self._last_value, update)

    def estimate(self) -> np.ndarray:
        """Finds the rows that are ready, with advantages and targets.

        Returns:
            (kinds, Q, 3) float64: number, sum and sum of squares of the advantages of acting rows.
        """
        line = self.collector.line
        rule = self._rule
        advantage, target = line.returns(self._last_value, rule.gamma, rule.lam, rule.by_decision)
        ready, sums = line.ready(), np.zeros((len(self.brains), self._count, 3))
        for kind, (name, pending) in enumerate(self.collector.pending.items()):
            step, slot = pending.step[: pending.count], pending.slot[: pending.count]
            shape = (len(ready), -1)
            chosen = np.flatnonzero(ready.reshape(shape)[step, slot])
            order, _ = sort_rows(pending.population[chosen], self._count)
            index = chosen[order]
            at = (step[index], slot[index])
            found = Ready(
                index,
                pending.population[index],
                np.asarray(advantage).reshape(shape)[at],
                np.asarray(target).reshape(shape)[at],
                line.value.reshape(shape)[at],
            )
            self.ready[name] = found
            acts = pending.acts[index].astype(np.float64)
            wide = found.advantage.astype(np.float64)
            for column, weight in enumerate((acts, acts * wide, acts * wide * wide)):
                sums[kind, :, column] = np.bincount(found.population, weight, self._count)
        return sums

    def normalise(self, sums: np.ndarray) -> None:
        """Brings the advantages of every population to mean 0 and deviation 1.

        Args:
            sums: (kinds, Q, 3), what `estimate` gave, of all shards together.
        """
        for kind, name in enumerate(self.brains):
            rows, total, squares = sums[kind].T
            mean = total / np.maximum(rows, 1.0)
            deviation = np.sqrt(np.maximum(squares / np.maximum(rows, 1.0) - mean * mean, 0.0)) + 1e-8
            found = self.ready[name]
            scaled = (found.advantage - mean[found.population]) / deviation[found.population]
            self.ready[name] = found._replace(advantage=scaled.astype(np.float32))

    def most_minibatches(self, minibatch: int) -> int:
        """How many gradient steps of so many rows (of the most populous kind) an epoch over this shard's rows needs."""
        return max(-(-len(found.picked) // minibatch) for found in self.ready.values())

    def shuffle(self, name: str, update: int, epoch: int, minibatches: int) -> list[np.ndarray]:
        """Draws an epoch's minibatches: places in `ready`, ascending, so sorted by population."""
        kind = list(self.brains).index(name)
        rng = seeding.generator(self._settings.seed, _ORDER, self.index, update, epoch, kind)
        order = rng.permutation(len(self.ready[name].picked))
        return [np.sort(order[start::minibatches]) for start in range(minibatches)]

    def chunks(self, name: str, rows: np.ndarray | None = None) -> Iterator[tuple[Rows, Blocks]]:
        """The ready rows, or those at sorted places `rows`, in pieces for `StackedBrain.accumulate`.

        The arrays are overwritten by the next piece.
        """
        brain, found = self.brains[name], self.ready[name]
        pending, count = self.collector.pending[name], len(found.picked) if rows is None else len(rows)
        if name not in self._chunks:
            self._chunks[name] = brain.allocate(CHUNK, pending.mask is not None)
        out = self._chunks[name]
        for start in range(0, count, CHUNK):
            part = (
                np.arange(start, min(start + CHUNK, count)) if rows is None else rows[start : start + CHUNK]
            )
            index, size = found.picked[part], len(part)
            for key, leaf in out.leaves.items():
                np.take(pending.leaves[key], index, axis=0, out=leaf[:size], mode="clip")
            out.action[:size], out.log_prob[:size] = pending.action[index], pending.log_prob[index]
            out.advantage[:size], out.target[:size] = found.advantage[part], found.target[part]
            out.acts[:size] = pending.acts[index]
            if pending.mask is not None:
                out.mask[:size] = pending.mask[index]
            if pending.truth is not None:
                out.truth[:size] = pending.truth[index]
            counts = np.bincount(found.population[part], minlength=self._count)
            yield out, cut_blocks(counts, brain.block, brain.most_blocks(CHUNK))

    def moments(self) -> np.ndarray:
        """`Moments` of the ready rows, of all kinds together."""
        return np.sum(
            [_moments(f.target, f.value, np.arange(len(f.picked))) for f in self.ready.values()], axis=0
        )

    def finish(self) -> None:
        """Forgets the rows that were learnt from and the oldest steps."""
        line = self.collector.line
        for name, pending in self.collector.pending.items():
            waits = np.ones(pending.count, bool)
            waits[self.ready.pop(name).picked] = False
            pending.keep(waits, line.steps)
        line.advance()

    def save(self) -> dict[str, np.ndarray]:
        """Everything that this shard's next update depends on; call it after `finish`.

        Raises:
            UserError: by worlds that cannot be saved.
        """
        collector = self.collector
        arrays = {f"world/{name}": array for name, array in self.world.save().items()}
        arrays |= {f"line/{name}": array for name, array in collector.line.save().items()}
        for kind, pending in collector.pending.items():
            arrays |= {f"pending/{kind}/{name}": array for name, array in pending.save().items()}
        arrays |= {f"opponent/{name}": array for name, array in collector.opponents.save().items()}
        return arrays | self._counters()

    def load(self, arrays: Mapping[str, np.ndarray], update: int) -> str | None:
        """Restores what `save` gave.

        Args:
            arrays: of the checkpoint; without a saved world new episodes begin and rows that waited are lost.
            update: updates done so far.

        Returns:
            Why new episodes begin though worlds were saved; None if they go on.

        Raises:
            UserError: if the arrays belong to other settings.
        """
        world = _below(arrays, "world/")
        owner = f"checkpoint: shard {self.index}"
        try:
            if world:
                load_world(self.world, world, owner)
        except CannotRestore as error:
            self._begin_anew(update)
            return str(error)
        if not world:
            self._begin_anew(update)
            return None
        pool, most = self.collector.past.pool, 2**62
        bounds = {"lengths": (0, most), "life_steps": (0, most), "past_episode": (0, most)}
        bounds |= {
            "past_population": (-1, self._count - 1),
            "past_member": (-1, pool.first + pool.places - 1),
        }
        restore(self._counters(), arrays, owner, bounds)
        self.collector.line.load(_below(arrays, "line/"), owner)
        slots = self.world.num_worlds * len(self.world.agents)
        bounds = {
            "step": (0, self._rule.earlier - 1),
            "slot": (0, slots - 1),
            "population": (0, self._count - 1),
        }
        for kind, pending in self.collector.pending.items():
            pending.load(_below(arrays, f"pending/{kind}/"), f"{owner}, kind {kind}", bounds)
        self.collector.opponents.load(_below(arrays, "opponent/"))
        return None

    def _counters(self) -> dict[str, np.ndarray]:
        collector = self.collector
        return {
            "present": collector.present,
            "returns": collector.episodes.returns,
            "lengths": collector.episodes.lengths,
            "life_steps": collector.lives.steps,
            "life_earned": collector.lives.earned,
        } | self._past()

    def _past(self) -> dict[str, np.ndarray]:
        """Where past selves play; nothing in runs without."""
        past = self.collector.past
        return {f"past_{name}": array for name, array in past.save().items()} if past.pool.places else {}

    def _begin_anew(self, update: int) -> None:
        """Starts episodes that the run has not seen."""
        count = self.world.num_worlds
        seed = int(seeding.world_seeds(self._settings.seed, 1, first=update)[0])
        self.world.reset(seeds=seeding.world_seeds(seed, count, first=self.index * count))
        self.collector.line.clear()
        self.collector.opponents.begin((self._settings.seed, self.index, update))
        self.collector.past.draw(np.ones(count, bool))


class Rule(NamedTuple):
    """What an algorithm's settings say about returns.

    Attributes:
        rollout: T.
        earlier: H of the time line.
        gamma: discount per step or decision.
        lam: lambda; 1 gives discounted returns.
        by_decision: gamma counts a slot's own decisions, not steps.
        reward_scale: rewards are multiplied by it.
        normalised: whether advantages are normalised.
    """

    rollout: int
    earlier: int
    gamma: float
    lam: float
    by_decision: bool
    reward_scale: float
    normalised: bool


def learning_rule(settings: TrainSettings) -> Rule:
    """The rule of the run's algorithm."""
    if settings.algorithm == "ppo":
        ppo = settings.ppo
        decisions = ppo.discount == "decision"
        return Rule(ppo.rollout, 0, ppo.gamma, ppo.lam, decisions, ppo.reward_scale, ppo.normalise_advantage)
    own = settings.policy_gradient
    earlier = own.horizon if own.returns == "lives" else 0
    decisions = own.discount == "decision"
    return Rule(own.rollout, earlier, own.gamma, 1.0, decisions, own.reward_scale, own.normalise_advantage)


def _below(arrays: Mapping[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    return {key.removeprefix(prefix): array for key, array in arrays.items() if key.startswith(prefix)}
