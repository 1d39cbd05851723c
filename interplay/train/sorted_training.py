"""One worker's part of a run with populations: as `training.Training`, with rows that are sorted and may wait."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from interplay.train.alternation import Alternation
from interplay.train.checkpoint import Checkpoint
from interplay.train.episodes import read_sums
from interplay.train.exchange import Exchange, tree_sum
from interplay.train.lives import read_lives
from interplay.train.losses import Terms
from interplay.train.settings import TrainSettings
from interplay.train.shard import Moments
from interplay.train.sorted_shard import SortedShard, learning_rule
from interplay.train.stacked_learner import StackedLearner
from interplay.train.training import KL_SLACK, MakeWorld, Training, _explained_variance

_GUESSES = [Terms._fields.index(name) for name in ("guess", "rows")]


class SortedTraining(Training):
    """One worker of a run with populations.

    Args:
        settings: of the run.
        make_world: factory of a part of the worlds.
        learner: networks and optimisers.
        exchange: to the other workers.
    """

    learner: StackedLearner  # type: ignore[assignment]
    shards: list[SortedShard]  # type: ignore[assignment]

    def __init__(
        self, settings: TrainSettings, make_world: MakeWorld, learner: StackedLearner, exchange: Exchange
    ) -> None:
        self._acted = 0
        self._turns = Alternation(settings.alternate, learner.populations.names)
        super().__init__(settings, make_world, learner, exchange)  # type: ignore[arg-type]

    @property
    def agent_steps(self) -> int:
        """Actions taken so far; slots without a life do not count."""
        return self._acted

    @property
    def learns(self) -> np.ndarray:
        """(Q,) bool, the populations that learn in the coming update."""
        mask: np.ndarray = self.learner.learns & self._turns.learns()
        return mask

    @property
    def metric_names(self) -> list[str]:
        """Metrics of `update` that only some updates have: those of lives and episodes that ended."""
        collector, names = self.shards[0].collector, self.learner.populations.names
        lives = [f"{life}[{name}]" for life in collector.lives.names for name in names]
        return [*collector.lives.names, *lives, *collector.episodes.names]

    def update(self) -> dict[str, Any]:
        """One update: play, estimate, learn. Returns the numbers to log, the same for every worker."""
        began = time.perf_counter()
        forms = self.learner.forms()
        for shard in self.shards:
            shard.let_learn(self.learns)
            shard.play(forms, self.updates)
        played = time.perf_counter()
        self._estimate()
        estimated = time.perf_counter()
        numbers = self.learn()
        numbers |= self._summarise()
        numbers |= self._turns.add(numbers)
        if self.learner.pool.places:
            numbers["past_selves"] = int(self.learner.pool.there.sum())
        for shard in self.shards:
            shard.finish()
        self.updates += 1
        self.learner.pool.add(self.updates, self.learner.vectors)
        done = time.perf_counter()
        seconds = {name: sum(s.seconds[name] for s in self.shards) for name in ("act", "step")}
        seconds |= {"advantage": estimated - played, "update": done - estimated}
        total = max(done - began, 1e-9)
        return numbers | {"time_share": {name: value / total for name, value in seconds.items()}}

    def learn(self) -> dict[str, Any]:
        """One step with all ready rows, or epochs of minibatches for PPO."""
        if self.settings.algorithm == "ppo":
            return self._learn_in_epochs()
        total = self._gradient([None] * len(self.shards))
        self.learner.check(total, self.updates)
        self.learner.apply(total)
        return self._loss_numbers(self.learner.terms(total), 1.0, 1)

    def load(self, checkpoint: Checkpoint) -> str | None:
        self._acted = checkpoint.agent_steps
        return super().load(checkpoint)

    def describe(self) -> dict[str, Any]:
        return self._turns.describe()

    def _load_record(self, record: Mapping[str, Any]) -> None:
        self._turns.load(record)

    def _make_shard(self, index: int) -> SortedShard:  # type: ignore[override]
        settings, populations = self.settings, self.learner.populations
        count = settings.num_worlds // settings.train.shards
        world = self._make_world(num_worlds=count, seed=settings.seed, first_world=index * count)
        world.reset()
        return SortedShard(index, world, self.learner.brains, populations, settings, self.learner.pool)

    def _estimate(self) -> None:
        """Every shard finds its ready rows; advantages are normalised over all shards' together."""
        sums = [shard.estimate() for shard in self.shards]
        total = self.exchange.combine(tree_sum([each.ravel() for each in sums])).reshape(sums[0].shape)
        if learning_rule(self.settings).normalised:
            for shard in self.shards:
                shard.normalise(total)

    def _learn_in_epochs(self) -> dict[str, Any]:
        ppo, steps, epoch = self.settings.ppo, 0, 0
        minibatches = self._agree_minibatches()
        sums = np.zeros((len(self.learner.populations.names), len(Terms._fields)))
        for epoch in range(ppo.epochs):
            orders = [
                {name: shard.shuffle(name, self.updates, epoch, minibatches) for name in self.learner.brains}
                for shard in self.shards
            ]
            for minibatch in range(minibatches):
                chosen = [{name: rows[minibatch] for name, rows in order.items()} for order in orders]
                total = self._gradient(chosen)
                terms = self.learner.terms(total)
                sums += terms
                steps += 1
                if ppo.target_kl is not None and _kl(terms.sum(axis=0)) > KL_SLACK * ppo.target_kl:
                    return self._loss_numbers(sums, epoch + minibatch / minibatches, steps)
                self.learner.check(total, self.updates)
                self.learner.apply(total)
        return self._loss_numbers(sums, float(epoch + 1), steps)

    def _gradient(self, chosen: Sequence[dict[str, np.ndarray] | None]) -> np.ndarray:
        """(size,) sums over the chosen ready rows of every shard, or over all of them."""
        parts = []
        for shard, rows in zip(self.shards, chosen, strict=True):
            kinds = []
            for name, brain in self.learner.brains.items():
                total = self.learner.nothing(name)
                for piece, blocks in shard.chunks(name, None if rows is None else rows[name]):
                    total = brain.accumulate(self.learner.vectors[name], total, piece, blocks)
                    total.block_until_ready()  # the next piece is written where this one stands
                kinds.append(np.asarray(total).ravel())
            parts.append(np.concatenate(kinds))
        return self.exchange.combine(tree_sum(parts))

    def _agree_minibatches(self) -> int:
        share = max(self.settings.ppo.minibatch // self.settings.train.shards, 1)
        needs = np.zeros(self.settings.train.shards)
        for shard in self.shards:
            needs[shard.index] = shard.most_minibatches(share)
        return max(int(self.exchange.combine(needs).max()), 1)

    def _loss_numbers(self, terms: np.ndarray, epochs: float, steps: int) -> dict[str, Any]:
        """What the losses were, over all and per population."""
        names, learns = self.learner.populations.names, self.learns
        numbers = _losses("", Terms(*terms.sum(axis=0))) | {"epochs": epochs, "gradient_steps": steps}
        if len(names) > 1:
            for name, row, learnt in zip(names, terms, learns, strict=True):
                if learnt:
                    numbers |= _losses(f"[{name}]", Terms(*row))
        about = self.settings.belief.about
        if about:
            guess, rows = terms[[name != about for name in names]][:, _GUESSES].sum(axis=0)
            numbers["guess_loss"] = guess / max(rows, 1.0)
        return numbers

    def _summarise(self) -> dict[str, Any]:
        """Explained variance, actions, lives and episodes that ended, over all shards."""
        vectors = [
            np.concatenate(
                [
                    shard.moments(),
                    [shard.collector.acted],
                    shard.collector.lives.take(),
                    shard.collector.episodes.take(),
                ]
            )
            for shard in self.shards
        ]
        total = self.exchange.combine(tree_sum(vectors))
        first, names = self.shards[0].collector, self.learner.populations.names
        lives = len(names) * (1 + len(first.lives.names))
        numbers = {"explained_variance": _explained_variance(Moments(*total[:5]))}
        self._acted += int(total[5])
        numbers |= read_lives(first.lives.names, names, total[6 : 6 + lives])
        episodes = read_sums(first.episodes.names, total[6 + lives :])
        self.episodes += int(episodes["episodes"])
        return numbers | episodes


def _kl(terms: np.ndarray) -> float:
    sums = Terms(*terms)
    return float(sums.kl / max(sums.acting, 1.0))


def _losses(suffix: str, sums: Terms) -> dict[str, float]:
    acting, rows = max(sums.acting, 1.0), max(sums.rows, 1.0)
    return {
        f"policy_loss{suffix}": sums.policy / acting,
        f"value_loss{suffix}": sums.value / rows,
        f"entropy{suffix}": sums.entropy / acting,
        f"kl{suffix}": sums.kl / acting,
        f"clip_fraction{suffix}": sums.clipped / acting,
        f"rows{suffix}": sums.rows,
    }
