"""One worker's part of a run, and the steps of an update: play, estimate, learn.

- rollout: `rollout.collect`; values where lives were truncated and at its end: `rollout.Group.end_step` and `end`
- reward scale: `Shard.settle`; division by the deviation of returns: `Worker._divide_rewards`
- advantages and returns: `Shard.estimate`, by `Algorithm.estimate` (unless overridden `advantage.generalised_advantage`)
- normalised advantages, over a population's acting samples of one kind in all shards, not a minibatch: `Shard.normalise`
- order: `Shard.shuffle`; minibatches: `minibatches.make_epoch`
- log-probabilities and gradients: `learning_network.LearningNetwork.gradient`; the loss, a sum over rows: `algorithms.ppo`
- KL check before each step: `Learner._verdict`
- division by the number of rows, clipped gradient, optimiser and learning rate: `learner._move`
- order, gradients, KL check and steps on a device: `DeviceLearner._run_epochs`
- moments of observations: `Shard.sums`, added after the last step by `Learner.take_moments`

All workers call the same methods in the same order. Each has its own shards and a learner with the same bits as all others: sums of
the shards are added up over all workers (`exchange.all_reduce`, gradients in the compiled epoch) before they are used.
"""

from __future__ import annotations

import json
import socket
import time
import zlib
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import jax
import numpy as np

from interplay.core.errors import UserError
from interplay.core.helping import processor_model
from interplay.core.reading import parse_json
from interplay.train.curriculum import Curriculum, check_same_form
from interplay.train.device_learner import DeviceLearner, Samples, find_loops, join_units
from interplay.train.diagnosis.measures import measure
from interplay.train.factored.sampler import Sampler
from interplay.train.learner import Epoch, Learner
from interplay.train.losses import Terms
from interplay.train.minibatches import Joined, join_batches, make_epoch, with_log_probs, with_targets
from interplay.train.parallel.exchange import Exchange, reduce_in_pieces, tree_sum
from interplay.train.reward_scale import ReturnDeviation
from interplay.train.rollout import collect
from interplay.train.run.checkpoint import Checkpoint, write_arrays
from interplay.train.run.episodes import MOST, Windows, read_lives
from interplay.train.run.records import check_record
from interplay.train.run.side_sums import Balance
from interplay.train.selfplay.alternation import Alternation
from interplay.train.settings import TrainSettings
from interplay.train.settings.short_runs import slot_steps
from interplay.train.shard import MakeWorld, Moments, Shard, make_shard

Part = TypeVar("Part", Epoch, Samples)
PATIENCE = 5.0  # seconds for a step under way when a run ends by an error
_ROWS = Terms._fields.index("rows")
_GUESSES = [Terms._fields.index("guess"), _ROWS]


class Worker:
    """One worker of a run.

    Attributes:
        updates: done so far.
        agent_steps: actions of this run's networks so far; slots without a life do not count.
        episodes: ended so far, over all shards.
        shards: this worker's.
        sampler: trains from replay; None: train on the rollouts.
        stale: rollouts were played with parameters of earlier updates.
    """

    stale = False

    def __init__(
        self, settings: TrainSettings, make_world: MakeWorld, learner: Learner, exchange: Exchange
    ) -> None:
        self.settings, self.learner, self.exchange = settings, learner, exchange
        self._make, self.curriculum = make_world, Curriculum(settings.curriculum)
        self.updates = self.agent_steps = self.episodes = 0
        self._played: dict[str, float] = {}
        self._balance = Balance()
        self._turns = Alternation(settings.alternate, learner.populations.names)
        each = settings.train.shards // exchange.size
        mine = range(exchange.rank * each, (exchange.rank + 1) * each)
        self.shards = [self._make_shard(index) for index in mine]
        self._returns = self._make_returns()
        self.sampler = Sampler(self) if settings.factored is not None else None

    def _make_returns(self) -> ReturnDeviation | None:
        by, world = self.learner.algorithm.normalise_reward, self.shards[0].world
        return ReturnDeviation(by, world.kinds, world.agents) if by is not None else None

    def _make_shard(self, index: int) -> Shard:
        make = partial(self._make, **self.curriculum.played[1])
        return make_shard(index, make, self.learner, self.settings)

    def make_worlds_anew(self) -> None:
        """Makes the worlds with the options of `Curriculum.played`; drops running episodes and pending samples."""
        for place, old in enumerate(self.shards):
            new = self.shards[place] = self._make_shard(old.index)
            check_same_form(old.world, new.world, "options")
            old.world.close()
            new.follow(old, self.updates)

    def begin_stage(self, state: Mapping[str, Any] | None) -> None:
        """Begins a stage; every worker calls it at the same time.

        Args:
            state: the first worker's `Curriculum.describe`; None from others.
        """
        self.curriculum.load(parse_json(self.gather(json.dumps(state))[0]))
        self.curriculum.begin()
        self.make_worlds_anew()

    # -- an update ------------------------------------------------------------------------------------

    def update(self) -> dict[str, Any]:
        """Makes one update; returns the numbers to log, the same for every worker but `time_share`."""
        watch = Stopwatch()
        rates = self.learner.set_rates(self.share)  # of scheduled settings, e.g. the learning rate
        self.play()
        watch.lap("play")
        if self.sampler is not None:
            numbers = self.sampler.learn()
        else:
            self.estimate()
            moments = self.seen_moments()  # of observations
            watch.lap("advantage")
            numbers = self.learn() | self._return_deviations()
            self.learner.take_moments(moments)
        numbers |= ({"rates": rates} if rates else {}) | self.summarise() | measure(self)
        numbers |= self._turns.add(numbers)
        for shard in self.shards:
            shard.finish()
        self.updates += 1
        numbers |= self.learner.keep_selves(self.updates, self.agent_steps)
        watch.lap("update")
        return numbers | {"time_share": watch.shares(self._played)}

    def play(self) -> None:
        """Every shard plays one rollout."""
        if self.sampler is not None:
            self.sampler.learner.set_epsilon(self.agent_steps)
        parameters = self.learner.inference_parameters()
        for shard in self.shards:
            self.begin_rollout(shard)
        self._played = collect([shard.collector for shard in self.shards], parameters, self.updates)
        for shard in self.shards:
            shard.settle(parameters, self.updates)
        if self._returns is not None:
            self._divide_rewards(self._returns)

    def begin_rollout(self, shard: Shard) -> None:
        """Sets which populations learn; opens a shard's windows of episodes and of recordings."""
        own = shard.collector
        own.set_learning(self.learns)
        own.episodes.windows.open(self.agent_steps)
        if own.tap is not None:
            own.tap.open(self.updates, self.agent_steps)

    def halt(self, seconds: float | None = None) -> None:
        """Ends rollouts that go on between updates, of which there are none here; waits for their steps so many seconds."""

    def _divide_rewards(self, returns: ReturnDeviation) -> None:
        """Divides the rollout's rewards by the deviation of all returns so far, including this rollout's."""
        own = tree_sum([shard.return_sums() for shard in self.shards])
        returns.add(reduce_in_pieces(own.ravel(), self.exchange).reshape(own.shape))
        for shard in self.shards:
            shard.divide_rewards(returns.of_agents())

    def estimate(self) -> None:
        """Finds every shard's ready samples, their targets and advantages."""
        self._normalise_advantages([shard.estimate() for shard in self.shards])

    def _normalise_advantages(self, sums: list[np.ndarray]) -> None:
        """Normalises advantages over all shards if the algorithm does; `sums` of each shard from `Shard.set_targets`."""
        total = self.exchange.all_reduce(tree_sum([each.ravel() for each in sums])).reshape(sums[0].shape)
        if self.learner.normalises:
            for shard in self.shards:
                shard.normalise(total)

    def seen_moments(self) -> dict[str, tuple[Any, np.ndarray]]:
        """Kind -> parameters before the update, and the rollout's sums for the running moments (`network.normalise`)."""
        found = {}
        for name, network in self.learner.networks.items():
            if network.normaliser is not None:
                own = tree_sum([shard.sums(name) for shard in self.shards])
                total = reduce_in_pieces(own.ravel(), self.exchange).reshape(own.shape)
                found[name] = (np.array(jax.device_get(self.learner.vectors[name])), total)
        return found

    def learn(self) -> dict[str, Any]:
        """Trains on epochs of minibatches; an early stop skips its minibatch's step and ends the update in all workers."""
        learner = self.learner
        minibatches, most = self._agree_sizes()
        batches = {
            name: join_batches(self.shards, name, most[name], learner.device) for name in learner.networks
        }
        run = self._run_on_device if isinstance(learner, DeviceLearner) else self._run_epochs
        every, norms, enough = zip(*run(batches, minibatches), strict=True)
        losses = np.concatenate(every)
        steps = len(losses) - bool(enough[-1])  # the step of a stopping minibatch was not taken
        numbers = self._loss_numbers(losses.sum(axis=0), steps / (minibatches or np.nan), steps)
        return numbers | self._gradient_norms(np.concatenate(norms)[:steps], losses[:steps, :, _ROWS])

    def _run_epochs(
        self, batches: Mapping[str, Joined], minibatches: int
    ) -> Iterator[tuple[np.ndarray, np.ndarray, bool]]:
        """Yields each epoch's terms, norms and whether the algorithm stopped early."""
        learner, enough = self.learner, False
        for epoch in range(learner.epochs):
            if enough:
                return
            epochs = {}
            for name, batch in batches.items():
                orders = [shard.shuffle(name, self.updates, epoch) for shard in self.shards]
                epochs[name] = make_epoch(self.shards, name, batch, orders, minibatches)
            if self._changes_samples(epoch):
                epochs = self._renew(epochs, learner.predict(epochs, minibatches))
                batches = {
                    name: (epochs[name].batch, cost, rows) for name, (_, cost, rows) in batches.items()
                }
            terms, enough = learner.run_epoch(epochs, minibatches, self.exchange, self.updates)
            yield terms, learner.norms, enough

    def _run_on_device(
        self, batches: Mapping[str, Joined], minibatches: int
    ) -> Iterator[tuple[np.ndarray, np.ndarray, bool]]:
        """`_run_epochs` on a device: one program for all epochs, or one per epoch for corrected targets (V-trace)."""
        learner, enough = self.learner, False
        assert isinstance(learner, DeviceLearner)
        samples = {
            name: join_units(self.shards, name, batch, learner.device) for name, batch in batches.items()
        }
        loops, each = find_loops(self.shards, samples, minibatches), 1 if learner.corrects else learner.epochs
        for epoch in range(0, learner.epochs, each):
            if enough:
                return
            if self._changes_samples(epoch):
                samples = self._renew(samples, learner.predict_units(samples, loops))
            epochs = range(epoch, epoch + each)
            terms, enough = learner.run_epochs(samples, loops, minibatches, self.updates, epochs)
            yield terms, learner.norms, enough

    def _changes_samples(self, epoch: int) -> bool:
        """Whether the current networks change log-probs or targets before this epoch."""
        return self.learner.corrects if epoch else self.stale

    def _renew(self, parts: Mapping[str, Part], current: Mapping[str, np.ndarray]) -> dict[str, Part]:
        """The same samples with numbers by the current networks; `current` is from `Learner.predict`.

        V-trace computes targets anew, PPO log-probs (`Shard.decouple`).
        """
        device, sums = self.learner.device, []
        for at, shard in enumerate(self.shards):
            rows = {name: shard.rows_in(name, at, len(current[name][0])) for name in current}
            own = {name: current[name][:, rows[name]] for name in current}
            if self.learner.corrects:
                sums.append(shard.set_targets(own))
            else:
                shard.decouple(own)
        if sums:
            self._normalise_advantages(sums)
        renewed = {}
        for name, part in parts.items():
            batch = with_targets(self.shards, name, part.batch, device)
            if not sums:
                batch = with_log_probs(self.shards, name, batch, device)
            renewed[name] = part._replace(batch=batch)
        return renewed

    def summarise(self) -> dict[str, Any]:
        """Explained variance, and finished lives and episodes, over all shards; counts actions and episodes."""
        self._share_names()
        total = self.add_up([self._sum_shard(shard) for shard in self.shards])
        players = self.learner.pool.players
        total, matches = np.split(total, [len(total) - 2 * players * players])
        outcomes = self.learner.pool.add(matches.reshape(2, players, players))
        first, names = self.shards[0].collector, self.learner.populations.names
        acted, ended, waiting, lives = int(total[5]), int(total[6]), total[7 : 7 + MOST], total[7 + MOST :]
        numbers: dict[str, Any] = {}
        if self.sampler is None:
            numbers["explained_variance"] = _explained_variance(Moments(*total[:5]))
        numbers |= outcomes | {"slot_steps": (self.updates + 1) * self.slot_steps}
        self.agent_steps, self.episodes = self.agent_steps + acted, self.episodes + ended
        episodes = self._take_windows(waiting)
        if first.lives.with_episodes:
            lives = episodes[first.episodes.size + 1 :]
        numbers |= read_lives(first.lives.names, names, lives)
        if self.learner.pool.places:
            numbers["past_selves"] = int(self.learner.pool.there.sum())
        means = first.episodes.read(episodes[1 : 1 + first.episodes.size], self._balance)
        if self._balance.sums_to_zero("episode_return", first.episodes.by_side.contest):
            numbers.pop("life_return", None)  # over all sides of an episode it sums to zero, too
        if count := episodes[1]:
            of_lives = self._of_lives if first.lives.with_episodes else []
            known = [name for name in (*first.episodes.logged, *of_lives) if name in means or name in numbers]
            numbers |= {"episodes_began": float(episodes[0] / count), "of_episodes": known}
        learner = first.membership.logged.learner
        return numbers | means | ({} if learner is None else {"learner": list(learner)})

    def _return_deviations(self) -> dict[str, Any]:
        """The divisors of rewards, for the log."""
        if self._returns is None:
            return {}
        named = dict(zip(self._returns.names, map(float, self._returns.divisors), strict=True))
        return {"return_deviation": named}

    def _share_names(self) -> None:
        """Shares metric names that appeared during play, so that all shards have the same columns."""
        if not self.shards[0].world.later_metrics:
            return
        own = {name for shard in self.shards for name in shard.collector.episodes.later}
        every = {name for texts in self.gather(json.dumps(sorted(own))) for name in parse_json(texts)}
        for shard in self.shards:
            shard.collector.episodes.grow(every)

    def _sum_shard(self, shard: Shard) -> np.ndarray:
        """A shard's counts and sums of an update, flat float64."""
        own = shard.collector
        counts = [own.acted, own.episodes.ended]
        own.episodes.ended = 0
        lives = np.zeros(0) if own.lives.with_episodes else own.lives.take()
        return np.concatenate(
            [shard.moments, counts, own.episodes.windows.waiting(), lives, own.casting.take()]
        )

    def _take_windows(self, waiting: np.ndarray) -> np.ndarray:
        """Adds up the complete windows: sum of the episodes' first agent-steps, then the counts of `EpisodeStatistics`."""
        vectors = [
            np.append((own.began * own.sums[:, 0])[complete].sum(), own.take(complete))
            for own, complete in self._complete_windows(waiting)
        ]
        return self.add_up(vectors)

    def _complete_windows(self, waiting: np.ndarray) -> list[tuple[Windows, np.ndarray]]:
        """The windows of each shard, and which of them are complete in all shards."""
        windows = [shard.collector.episodes.windows for shard in self.shards]
        return [(own, own.complete(waiting)) for own in windows]

    def add_up(self, vectors: list[np.ndarray]) -> np.ndarray:
        """The tree sum of vectors over all shards of all workers."""
        return reduce_in_pieces(tree_sum(vectors), self.exchange)

    # -- parts ----------------------------------------------------------------------------------------

    @property
    def share(self) -> float:
        """See `share_of`."""
        return share_of(self.settings, self.agent_steps, self.updates, self.episodes)

    @property
    def learns(self) -> np.ndarray:
        """(Q,) bool, the populations that learn in this update."""
        return self.learner.learns & self._turns.learns()

    @property
    def of_lives(self) -> list[str]:
        """Metrics of `update` that are means over lives."""
        return list(self.shards[0].collector.lives.names)

    @property
    def metric_names(self) -> list[str]:
        """Metrics of `update` that only some updates have: those of lives, episodes and matches that ended."""
        return [
            *self._of_lives,
            *self.shards[0].collector.episodes.logged,
            *self.learner.pool.logged,
        ]

    def later_in_words(self) -> str:
        """A line about the infos that appeared during play, or ""."""
        later = self.shards[0].collector.episodes.later
        how = "is its last value in an episode" if len(later) == 1 else "are the last values in an episode"
        return f'infos: {", ".join(later)} {how}; other rules: metadata["metrics"]' if later else ""

    def only_by_side(self, metric: str | None) -> list[str]:
        """The names of a metric that is logged by side only; empty if it has a mean."""
        own = self.shards[0].collector.episodes.by_side
        if own.sides.learner is not None or not self._balance.hides(metric, own.contest):
            return []
        return [f"{metric}[{side}]" for side in own.sides.names]

    @property
    def _of_lives(self) -> list[str]:
        """Means over lives; with several populations also of each."""
        own, names = self.of_lives, self.learner.populations.names
        return [*own, *(f"{life}[{name}]" for life in own for name in names if len(names) > 1)]

    @property
    def slot_steps(self) -> int:
        """Steps of all slots of all worlds in an update, alive or not, as the survival paper counts."""
        return slot_steps(self.settings, self.learner.algorithm.rollout, len(self.shards[0].world.agents))

    def _agree_sizes(self) -> tuple[int, dict[str, int]]:
        """The most minibatches of any shard, and each kind's most rows."""
        names = list(self.learner.networks)
        needs = np.zeros((self.exchange.size, 1 + len(names)))
        for shard in self.shards:
            own = [shard.minibatches(), *(len(shard.ready[name].picked) for name in names)]
            np.maximum(needs[self.exchange.rank], own, out=needs[self.exchange.rank])
        agreed = self.exchange.all_reduce(needs.ravel()).reshape(needs.shape).max(axis=0).astype(int).tolist()
        return agreed[0], dict(zip(names, agreed[1:], strict=True))

    def _loss_numbers(self, terms: np.ndarray, epochs: float, steps: int) -> dict[str, Any]:
        """The mean losses, over all and per population."""
        names, learns = self.learner.populations.names, self.learns
        numbers = _losses("", Terms(*terms.sum(axis=0))) | {"epochs": epochs, "gradient_steps": steps}
        if len(names) > 1:
            for name, row, learnt in zip(names, terms, learns, strict=True):
                if learnt:
                    numbers |= _losses(f"[{name}]", Terms(*row))
        about = self.settings.belief.about
        if about:
            guess, rows = terms[[name != about for name in names]][:, _GUESSES].sum(axis=0)
            numbers["guess_loss"] = guess / (rows or np.nan)
        return numbers

    def _gradient_norms(self, norms: np.ndarray, rows: np.ndarray) -> dict[str, float]:
        """Mean gradient norms before clipping, over all and per population, by (steps, Q) norms and rows."""
        names, learns = self.learner.populations.names, self.learns
        taken = np.count_nonzero(rows, axis=0)
        means = norms.sum(axis=0, dtype=np.float64) / np.where(taken, taken, np.nan)
        known = means[learns & (taken > 0)]
        numbers = {"gradient_norm": float(known.mean()) if len(known) else float("nan")}
        if len(names) > 1:
            each = zip(names, means, learns, strict=True)
            numbers |= {f"gradient_norm[{name}]": float(norm) for name, norm, learnt in each if learnt}
        return numbers

    # -- in step with the others ----------------------------------------------------------------------

    def agree(self, value: int, wish: int = 0) -> int:
        """Returns the first worker's value to all, plus the wishes of the others."""
        mine = value if self.exchange.rank == 0 else wish
        return int(self.exchange.all_reduce(np.array([mine], np.float64))[0])

    def gather(self, text: str) -> list[str]:
        """The texts of all workers, in their order."""
        own, rank, size = np.frombuffer(text.encode(), np.uint8), self.exchange.rank, self.exchange.size
        lengths = np.zeros(size)
        lengths[rank] = len(own)
        counts = self.exchange.all_reduce(lengths).astype(int)
        letters = np.zeros((size, max(counts)), np.uint8)
        letters[rank, : len(own)] = own
        all_letters = self.exchange.all_reduce(letters.ravel()).reshape(letters.shape)
        return [row[:count].tobytes().decode() for row, count in zip(all_letters, counts, strict=True)]

    def compare_digests(self) -> None:
        """Raises `UserError` if the workers' parameters differ in any bit."""
        digests = np.zeros(self.exchange.size)
        arrays = [np.asarray(vector) for vector in self.learner.vectors.values()]
        digests[self.exchange.rank] = zlib.crc32(b"".join(array.tobytes() for array in arrays))
        digests = self.exchange.all_reduce(digests)
        odd = np.flatnonzero(digests != digests[0])
        if odd.size:
            places = self.gather(f"{socket.gethostname()}, {processor_model()}")
            raise UserError(
                f"update {self.updates}: worker {odd[0]} ({places[odd[0]]}) has other parameters than worker 0 ({places[0]}); "
                "run all workers on processors of one model and resume from the last checkpoint"
            )

    # -- checkpoints ------------------------------------------------------------------------------------

    def write_shards(self, staging: Path) -> str | None:
        """Writes this worker's shards into a staged checkpoint; returns the reason if worlds cannot be saved."""
        reason = None
        for shard in self.shards:
            arrays: dict[str, np.ndarray] = {}
            try:
                arrays = shard.save()
            except UserError as error:
                reason = str(error)
            write_arrays(staging, f"shard-{shard.index:04d}", arrays)
        return reason

    def load(self, checkpoint: Checkpoint) -> str | None:
        """Restores a checkpoint; returns the reason if saved episodes cannot continue."""
        check_record(checkpoint)
        self.updates = int(checkpoint.record["updates"])
        self.agent_steps, most = checkpoint.agent_steps, self.updates * self.slot_steps
        if self.agent_steps > most:
            raise UserError(
                f"{checkpoint.path}: {self.updates:,} updates are {most:,} agent-steps at most with these settings, the "
                f"checkpoint says {self.agent_steps:,}; resume with the run's own rollout and num_worlds"
            )
        self.episodes = int(checkpoint.record["episodes"])
        self._turns.load(checkpoint.record)
        self._balance.load(checkpoint.record)
        if self._returns is not None and "return_deviation" in checkpoint.record:
            self._returns.load(checkpoint.record["return_deviation"])
        before = self.curriculum.played
        self.curriculum.load(checkpoint.record)
        if self.curriculum.played != before:
            self.make_worlds_anew()
        for shard in self.shards:
            shard.collector.episodes.grow(checkpoint.record.get("later_metrics", ()))
        self.learner.load(checkpoint.arrays)
        self.learner.pool.go_on(self.agent_steps)
        reason = None
        for shard in self.shards:
            arrays = checkpoint.arrays.get(f"shard-{shard.index:04d}")
            if arrays is None:
                raise UserError(
                    f"{checkpoint.path}: shard {shard.index} is missing; resume with the run's own train.shards"
                )
            reason = shard.load(arrays, self.updates) or reason
        if self.curriculum.is_due:
            self.curriculum.begin()
            self.make_worlds_anew()
        return reason

    def describe(self) -> dict[str, Any]:
        """The state for a checkpoint's record, without its counters."""
        later = self.shards[0].collector.episodes.later
        names = {"later_metrics": later} if later else {}
        returns = {} if self._returns is None else {"return_deviation": self._returns.save()}
        return (
            self._turns.describe() | self._balance.describe() | self.curriculum.describe() | names | returns
        )

    def close(self) -> None:
        """Closes the worlds."""
        for shard in self.shards:
            shard.world.close()


class Stopwatch:
    """Measures the parts of an update's time."""

    def __init__(self) -> None:
        self._began = self._last = time.perf_counter()
        self._seconds: dict[str, float] = {}

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self._seconds[name], self._last = now - self._last, now

    def shares(self, played: dict[str, float]) -> dict[str, float]:
        """Shares of the update's time; `played` are the seconds of the rollout's parts."""
        seconds = played | {name: own for name, own in self._seconds.items() if name != "play"}
        total = max(self._last - self._began, 1e-9)
        return {name: value / total for name, value in seconds.items()}


def share_of(settings: TrainSettings, agent_steps: int, updates: int, episodes: int) -> float:
    """The share of a run that is done, 0 to 1; `train.max_seconds` does not count, as it does not repeat."""
    counts = ((updates, settings.train.max_updates), (episodes, settings.train.max_episodes))
    ends = [done / most for done, most in counts if most is not None]
    return min(max([agent_steps / settings.steps, *ends]), 1.0)


def _losses(suffix: str, sums: Terms) -> dict[str, float]:
    acting, rows = sums.acting or np.nan, sums.rows or np.nan
    return {
        f"policy_loss{suffix}": sums.policy / acting,
        f"value_loss{suffix}": sums.value / rows,
        f"entropy{suffix}": sums.entropy / acting,
        f"kl{suffix}": sums.kl / acting,
        f"clip_fraction{suffix}": sums.clipped / acting,
        f"rows{suffix}": sums.rows,
    }


def _explained_variance(m: Moments) -> float:
    """1 - Var(target - value) / Var(target); NaN for targets that are equal but for rounding."""
    rows = max(m.rows, 1.0)
    variance = m.target_squared / rows - (m.target / rows) ** 2
    unexplained = m.error_squared / rows - (m.error / rows) ** 2
    return 1.0 - unexplained / variance if variance * rows > 1e-12 * m.target_squared else float("nan")
