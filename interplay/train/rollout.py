"""Playing a shard's worlds for a fixed number of steps and keeping what learning needs.

Every step's rows are sorted by the network that computes them and cut into blocks. Slots that do not act are not computed, but for every
`IDLE_EVERY`-th step, in which those who wait or are dead but present give a sample of their value.

Reset is explicit here as everywhere: a world that is over is restarted after its last step was stored, so the last
observation of an episode that was cut is there when its value is asked for.
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
from interplay.train.policy_network import PolicyNetwork
from interplay.train.pool import PastSelves
from interplay.train.populations import Blocks, Populations, cut_alone, cut_blocks, sort_rows
from interplay.train.samples import PendingSamples
from interplay.train.trajectory import TrajectoryBuffer

# Of the steps in which an agent waits or is dead but present, every eighth teaches its value, which is needed only
# where a rollout ends. They never teach the policy.
IDLE_EVERY = 8

Forms = Mapping[str, Any]  # kind name -> what `PolicyNetwork.unfold` gave


class Stage(NamedTuple):
    """One step's rows of one kind on their way to the network and into `PendingSamples`.

    Attributes:
        picked: (n,) rows among (W, A_kind), in order of their networks, those who learn first.
        network: (n,) number of the network that plays the row.
        kept: how many of the first rows are of those who learn.
        blocks: how they are cut; None: they are one network's, and one block.
    """

    picked: np.ndarray
    network: np.ndarray
    kept: int
    blocks: Blocks | None


class Collector:
    """Plays one shard's worlds.

    Args:
        world: a batch, reset.
        networks: of each kind.
        populations: of the run.
        opponents: who play what the networks do not.
        past: who plays with weights of before.
        buffer: where rewards and ends are written.
        key: jax random key of the shard; actions of step t of update u are drawn with ``fold_in(key, u T + t)``.
        mask_dead: only steps whose action was read teach the policy, not those of the dead who are present.

    Attributes:
        present: (W, A) bool, the slot's life goes on: acting, waiting, or dead but earning.
        pending: kind name -> samples that are not learnt from yet.
        lives: statistics of the lives that ended.
        episodes: statistics of the episodes that ended.
        learns: (Q + R,) bool, the populations whose samples are kept; the others, and past selves, only act.
        truth: (W, A) bool, who is of the population that is guessed, in the step that is played; nobody without one.
        acted: actions that the networks took in the last rollout.
        seconds: spent in networks and in worlds in the last rollout.
    """

    def __init__(
        self,
        world: World,
        networks: Mapping[str, PolicyNetwork],
        populations: Populations,
        opponents: Opponents,
        past: PastSelves,
        buffer: TrajectoryBuffer,
        key: jax.Array,
        mask_dead: bool = True,
    ) -> None:
        self.world, self.networks, self.buffer = world, networks, buffer
        self.present = np.zeros((world.num_worlds, len(world.agents)), bool)
        self.episodes = EpisodeStatistics(world)
        self.lives = LifeStatistics(world, populations)
        self.acted = 0
        self.seconds: dict[str, float] = {}
        self.opponents, self.past = opponents, past
        self.truth = np.zeros(self.present.shape, bool)
        self._populations, self._mask_dead = populations, mask_dead
        self._guessed = next(iter(networks.values())).guessed
        self._played = np.append(populations.played, np.ones(past.pool.places, bool))
        self._alone = len(self._played) == 1  # one network plays everybody: nothing to sort
        self.let_learn(populations.played)
        self._keys = {name: jax.random.fold_in(key, i) for i, name in enumerate(networks)}
        self._slots = {name: np.array(network.kind.slots) for name, network in networks.items()}
        self._block = {name: min(n.block, self._rows(name)) for name, n in networks.items()}
        masks = world.by_kind(world.timestep.action_mask)
        self.pending = {name: self._allocate(name, masks[name] is not None) for name in networks}

    def let_learn(self, learns: np.ndarray) -> None:
        """Says which populations learn from here on, (Q,) bool; samples of others that wait are forgotten."""
        self.learns = np.append(learns, np.zeros(self.past.pool.places, bool))
        # Networks in the order in which their rows stand: those who learn come first, so that the others' rows can be dropped.
        self._order = np.argsort(~self.learns, kind="stable")
        self._rank = np.argsort(self._order).astype(np.uint16)
        for pending in getattr(self, "pending", {}).values():
            pending.keep(self.learns[pending.population[: pending.count]], 0)

    def collect(self, forms: Forms, update: int) -> None:
        """Plays T steps.

        Args:
            forms: kind name -> what `PolicyNetwork.unfold` gave.
            update: number of the update.
        """
        buffer, acting, stepping = self.buffer, 0.0, 0.0
        self.acted = 0
        for t in range(buffer.steps):
            began = time.perf_counter()
            timestep, at = self.world.timestep, buffer.earlier + t
            self.present |= timestep.acting
            born = self._populations.of(self.world)
            if not self._alone:
                born = born.copy()
                np.equal(born, self._guessed, out=self.truth)
            network = self.past.seat(born)
            actions = self._act(forms, timestep, network, at, update * buffer.steps + t)
            acted = time.perf_counter()
            timestep = self.world.step(actions)
            self._store_outcome(forms, timestep, network, born, at)
            over = timestep.over
            if over.any():
                over = over.copy()  # the world's own buffer, which the reset clears
                self.world.reset(over)
                self.opponents.forget(over)
                self.past.draw(over)
            acting, stepping = acting + acted - began, stepping + time.perf_counter() - acted
        began = time.perf_counter()
        self.present |= self.world.timestep.acting
        network = self.past.seat(self._populations.of(self.world))
        buffer.last_value[...] = self._values(forms, self.world.timestep, self._learning(network), network)
        self.seconds = {"act": acting + time.perf_counter() - began, "step": stepping}

    def _learning(self, network: np.ndarray) -> np.ndarray:
        """(W, A) bool, slots with a life of those who learn."""
        return self.present if self._alone else self.present & self.learns[network]

    def _act(self, forms: Forms, timestep: TimeStep, network: np.ndarray, at: int, counter: int) -> Any:
        """Asks networks and opponents for the agents that act, keeps what networks said, gives actions as the world takes them."""
        masks = self.world.by_kind(timestep.action_mask)
        teaches = timestep.acting
        if not self._mask_dead:
            teaches = teaches | self._learning(network)
        self.buffer.acting[at] = teaches
        wanted = teaches
        if (at - self.buffer.earlier) % IDLE_EVERY == IDLE_EVERY - 1:
            wanted = teaches | self._learning(network)
        played = timestep.acting if self._alone else timestep.acting & self._played[network]
        self.acted += int(np.count_nonzero(played))
        actions = {}
        for name, own in self.networks.items():
            stage = self._sort(name, wanted, network)
            said = self._ask(name, forms, timestep, masks[name], stage, counter)
            where = self._where(name, stage.picked)
            self.buffer.value[at].reshape(-1)[where] = said[:, -1]
            self._keep(name, said, stage, at, where, teaches)
            flat = np.zeros((self._rows(name), own.distribution.columns), np.float32)
            flat[stage.picked] = said[:, :-2]
            actions[name] = own.distribution.to_world(flat.reshape(self.world.num_worlds, -1, flat.shape[1]))
        ours = actions if len(actions) > 1 else next(iter(actions.values()))
        return self.opponents.act(ours, timestep, network)

    def _sort(self, name: str, wanted: np.ndarray, network: np.ndarray) -> Stage:
        """The rows of a kind that the networks are asked for: those in `wanted` that are no opponent's."""
        slots, most = self._slots[name], self._most_blocks(name)
        if self._alone:
            picked = np.flatnonzero(wanted[:, slots])
            blocks = None if most == 1 else cut_alone(len(picked), self._block[name], most)
            return Stage(picked, np.zeros(len(picked), np.uint8), len(picked), blocks)
        index = np.flatnonzero((wanted & self._played[network])[:, slots])
        own = network[:, slots].reshape(-1)[index]
        order, counts = sort_rows(self._rank[own], len(self._played))
        blocks = cut_blocks(counts, self._block[name], most)
        blocks = blocks._replace(population=self._order[blocks.population].astype(np.int32))
        kept = int(counts[: np.count_nonzero(self.learns)].sum())
        return Stage(index[order], own[order], kept, blocks)

    def _ask(
        self, name: str, forms: Forms, timestep: TimeStep, mask: Any, stage: Stage, counter: int
    ) -> np.ndarray:
        """(n, columns + 2): actions, log-probabilities and values of the stage's rows, which are written behind the pending ones."""
        own, pending, number = self.networks[name], self.pending[name], len(stage.picked)
        if not number:
            return np.zeros((0, own.distribution.columns + 2), np.float32)
        everyone = number == self._rows(name) and self._alone
        observation = self.world.by_kind(timestep.observation)[name]
        own.layout.write(observation, None if everyone else stage.picked, pending.next_rows(number))
        ahead = slice(pending.count, pending.count + self._rows(name) + self._slack(name))
        if mask is not None:
            flat = own.distribution.flat_mask(mask, (self.world.num_worlds, len(self._slots[name])))
            assert flat is not None and pending.mask is not None
            pending.mask[ahead][:number] = flat.reshape(-1, flat.shape[-1])[stage.picked]
        said = own.act(
            forms[name],
            pending.next_rows(ahead.stop - ahead.start),
            None if pending.mask is None else pending.mask[ahead],
            stage.blocks,
            self._keys[name],
            np.uint32(counter % 2**32),
            block=self._block[name],
        )
        return np.asarray(said)[:number]

    def _keep(
        self, name: str, said: np.ndarray, stage: Stage, at: int, where: np.ndarray, teaches: np.ndarray
    ) -> None:
        """Keeps the stage's rows of those who learn; they stand in their places already."""
        pending, kept = self.pending[name], slice(0, stage.kept)
        truth = None
        if pending.truth is not None:
            truth = self.truth[where[kept] // self.truth.shape[1]][:, self._slots[name]]
        acts = teaches.reshape(-1)[where[kept]]
        pending.append(said[kept], at, where[kept], stage.network[kept], acts, truth)

    def _store_outcome(
        self, forms: Forms, timestep: TimeStep, network: np.ndarray, born: np.ndarray, at: int
    ) -> None:
        buffer = self.buffer
        buffer.reward[at] = timestep.reward
        np.logical_or(timestep.terminated, timestep.truncated, out=buffer.ended[at])
        buffer.ended[at] |= timestep.over[:, None]
        buffer.bootstrap[at] = 0.0
        cut = timestep.truncated & self._learning(network)
        if cut.any():
            buffer.bootstrap[at] = self._values(forms, timestep, cut, network)
        self.lives.add(timestep, self.present, buffer.ended[at], born)
        self.episodes.add(timestep)
        self.present &= ~buffer.ended[at]

    def _values(
        self, forms: Forms, timestep: TimeStep, wanted: np.ndarray, network: np.ndarray
    ) -> np.ndarray:
        """V of the observations of the slots in `wanted`, (W, A); 0 elsewhere."""
        values = np.zeros(self.present.shape, np.float32)
        for name in self.networks:
            stage = self._sort(name, wanted, network)
            # The program that acts also tells values; one for values alone would have to be compiled as well.
            said = self._ask(name, forms, timestep, None, stage, 0)
            values.reshape(-1)[self._where(name, stage.picked)] = said[:, -1]
        return values

    def _where(self, name: str, index: np.ndarray) -> np.ndarray:
        """Rows among (W, A_kind) as places among (W, A)."""
        slots = self._slots[name]
        if np.array_equal(slots, np.arange(self.present.shape[1])):
            return index  # all slots are of this kind
        return index // len(slots) * self.present.shape[1] + slots[index % len(slots)]

    def _rows(self, name: str) -> int:
        """Slots of a kind in all worlds."""
        return self.world.num_worlds * len(self._slots[name])

    def _most_blocks(self, name: str) -> int:
        return self.networks[name].most_blocks(self._rows(name), self._block[name], self.past.pool.places)

    def _slack(self, name: str) -> int:
        """Rows after a kind's own that the last block may reach."""
        return 0 if self._most_blocks(name) == 1 else self._block[name]

    def _allocate(self, name: str, masked: bool) -> PendingSamples:
        own, rows = self.networks[name], self._rows(name)
        steps = self.buffer.earlier + self.buffer.steps
        return PendingSamples(
            own.layout,
            steps * rows,
            rows + self._slack(name),
            own.distribution.columns,
            own.distribution.choices if masked else None,
            len(self._slots[name]) if own.guesses else None,
        )


def refuse_bad_numbers(collector: Collector, update: int) -> None:
    """Stops training before NaN or infinite numbers reach the parameters.

    Raises:
        UserError: naming the tensor and the update.
    """
    buffer = collector.buffer
    values = (buffer.value[buffer.earlier :], buffer.last_value)
    for name, pending in collector.pending.items():
        new = slice(pending.kept, pending.count)
        bad = collector.networks[name].layout.name_bad(pending.rows, new)
        if bad is None and not np.isfinite(pending.log_prob[new]).all():
            bad = "log_prob of the network"
        if bad is None and not all(np.isfinite(value).all() for value in values):
            bad = "value of the network"
        if bad is not None:
            whose = f" of {name}" if len(collector.networks) > 1 else ""
            raise UserError(
                f"update {update}: {bad}{whose} is not finite; check the world, or lower the learning rate"
            )
    if not np.isfinite(buffer.reward[buffer.earlier :]).all():
        raise UserError(f"update {update}: reward is not finite; check the world")
