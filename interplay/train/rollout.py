"""Playing the worlds of a worker's shards for a fixed number of steps and keeping what learning needs.

The shards go in step: the networks are asked once for all of them (`collect`), and every shard's rows are computed by the same
instructions however many there are. Every step's rows are sorted by the network that computes them and cut into blocks. Slots that do not act are not computed, but for every
`IDLE_EVERY`-th step, in which those who wait or are dead but present give a sample of their value.

Reset is explicit here as everywhere: a world that is over is restarted after its last step was stored, so the last
observation of an episode that was cut is there when its value is asked for.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from interplay.core.errors import UserError
from interplay.core.world import TimeStep, World
from interplay.train.bad_numbers import refuse_bad_observations
from interplay.train.policy_network import PolicyNetwork
from interplay.train.populations import Blocks, Populations, cut_alone, cut_blocks, sort_rows
from interplay.train.run.episodes import EpisodeStatistics
from interplay.train.run.lifetimes import LifeStatistics
from interplay.train.run.recording import Tap
from interplay.train.samples import PendingSamples, SampleLayout, Seen
from interplay.train.selfplay.casting import Casting
from interplay.train.selfplay.membership import Membership
from interplay.train.selfplay.opponents import Opponents
from interplay.train.trajectory import TrajectoryBuffer
from interplay.train.views import View

# Of the steps in which an agent waits or is dead but present, every eighth teaches its value, which is needed only
# where a rollout ends. They never teach the policy.
IDLE_EVERY = 8

InferenceParameters = Mapping[str, Any]  # kind name -> as `PolicyNetwork.precompute` gave them
Staged = Mapping[
    str, tuple[Seen, list[Seen]]
]  # kind name -> (S, N) rows of one step, and of each shard the (N,) among them


class Stage(NamedTuple):
    """One step's rows of one kind on their way to the network and into `PendingSamples`.

    Attributes:
        picked: (n,) rows among (W, A_kind), in order of their networks, those who learn first.
        network: (n,) number of the network that plays the row.
        kept: how many of the first rows are of those who learn.
        blocks: how they are cut; None: they are one network's, and one block.
        seen: the rows, and further ones that are nobody's.
    """

    picked: np.ndarray
    network: np.ndarray
    kept: int
    blocks: Blocks | None
    seen: Seen


class Answer(NamedTuple):
    """The outputs of a kind's networks in one step.

    Attributes:
        stage: which rows were asked.
        outputs: (n, columns + 2), actions, log-probabilities and values.
        memory: (n, size), what is remembered after it; None where nothing is.
    """

    stage: Stage
    outputs: np.ndarray
    memory: np.ndarray | None


class Collector:
    """One shard's worlds under way, and what is kept of them.

    Args:
        world: a batch, reset.
        networks: of each kind.
        populations: of the run.
        opponents: who play what the networks do not.
        casting: who plays which side.
        membership: which slots are the learner's, and of each side.
        buffer: where rewards and ends are written.
        key: jax random key of the shard; actions of step t of update u are drawn with ``fold_in(key, u T + t)``.
        mask_dead: only steps whose action was read teach the policy, not those of the dead who are present.
        view: what central critics see; None: values are the networks' own.
        score: what decides a match of a league: ``"return"``, or a metric with one value per agent.

    Attributes:
        present: (W, A) bool, the slot's life goes on: acting, waiting, or dead but earning.
        pending: kind name -> samples that are not learnt from yet.
        lives: statistics of lives.
        episodes: statistics of episodes, by when they began.
        learns: (Q + R + G,) bool, the populations whose samples are kept; the others, past selves and guests only act.
        truth: (W, A) bool, who is of the population that is guessed, in the step that is played; nobody without one.
        acted: actions that the networks took in the last rollout, those of past selves not counted.
        memory: kind name -> (W A_kind, size) float32, what agents remember; of kinds that do.
        fresh: (W, A) bool, a life remembers nothing yet.
        keys: kind name -> data of its random key, uint32.
        tap: records the first world; None where nobody does.
        room: shards of the run, for which the arrays that networks are asked with have room.
    """

    tap: Tap | None = None
    room = 1

    def __init__(
        self,
        world: World,
        networks: Mapping[str, PolicyNetwork],
        populations: Populations,
        opponents: Opponents,
        casting: Casting,
        membership: Membership,
        buffer: TrajectoryBuffer,
        key: jax.Array,
        mask_dead: bool = True,
        view: View | None = None,
        score: str = "return",
    ) -> None:
        self.world, self.networks, self.buffer = world, networks, buffer
        self.present = np.zeros((world.num_worlds, len(world.agents)), bool)
        self.membership = membership
        self.lives = LifeStatistics(world, populations, membership.others)
        self.episodes = EpisodeStatistics(world, self.lives.in_episode.shape[1], membership.logged)
        self.acted = 0
        self.opponents, self.casting = opponents, casting
        self.truth = np.zeros(self.present.shape, bool)
        self._populations, self._mask_dead, self._view = populations, mask_dead, view
        self._score = score
        self._guessed = next(iter(networks.values())).guessed
        others = (np.ones(casting.pool.places, bool), np.zeros(casting.guests, bool))
        self._played = np.concatenate([populations.played, *others])
        self._own = self._played & (np.arange(len(self._played)) < len(populations.names))
        self._alone = len(self._played) == 1  # one network plays everybody: nothing to sort
        self.pending: dict[str, PendingSamples] = {}
        self.set_learning(populations.played)
        drawn = {name: jax.random.fold_in(key, i) for i, name in enumerate(networks)}
        self.keys = {name: np.asarray(jax.random.key_data(own)) for name, own in drawn.items()}
        self._slots = {name: np.array(network.kind.slots) for name, network in networks.items()}
        everyone = np.arange(len(world.agents))
        self._whole = {name: np.array_equal(slots, everyone) for name, slots in self._slots.items()}
        self.block = {name: min(own.block, self.rows(name)) for name, own in networks.items()}
        masks = world.by_kind(world.timestep.action_mask)
        self.pending = {name: self._allocate(name, masks[name] is not None) for name in networks}
        sizes = {name: own.memory for name, own in networks.items() if own.memory}
        self.memory = {name: np.zeros((self.rows(name), size), np.float32) for name, size in sizes.items()}
        self.fresh = np.ones(self.present.shape, bool)
        self._network = self._born = np.zeros(self.present.shape, np.uint8)
        self._teaches = self.present

    def set_learning(self, learns: np.ndarray) -> None:
        """Says which populations learn from here on, (Q,) bool; samples of others that wait are forgotten."""
        self.learns = np.append(learns, np.zeros(len(self._played) - len(learns), bool))
        # Networks in the order in which their rows stand: those who learn come first, so that the others' rows can be dropped.
        self._order = np.argsort(~self.learns, kind="stable")
        self._rank = np.argsort(self._order).astype(np.uint16)
        for pending in self.pending.values():
            pending.keep(self.learns[pending.population[: pending.count]], 0)

    # -- a step -----------------------------------------------------------------------------------------

    def begin_step(self, t: int) -> np.ndarray:
        """Looks who is there; gives who is asked, (W, A) bool: those who act, and in some steps those who only wait."""
        timestep, at = self.world.timestep, self.buffer.earlier + t
        self._look(timestep)
        self.lives.look(timestep.acting)
        teaches = timestep.acting if self._mask_dead else timestep.acting | self._learning()
        self._teaches = self.buffer.acting[at] = teaches
        played = timestep.acting if self._alone else timestep.acting & self._own[self._network]
        self.acted += int(np.count_nonzero(played))
        return teaches | self._learning() if t % IDLE_EVERY == IDLE_EVERY - 1 else teaches

    def step(self, t: int, answers: Mapping[str, Answer]) -> None:
        """Keeps the outputs of networks, lets opponents act, and takes the step."""
        timestep, at = self.world.timestep, self.buffer.earlier + t
        actions = {}
        for name, (stage, outputs, memory) in answers.items():
            where = self._where(name, stage.picked)
            self.buffer.value[at].reshape(-1)[where] = outputs[:, -1]
            self._keep(name, stage, outputs, at, where)
            if memory is not None:
                self._remember(name, stage, memory, where)
            columns = self.networks[name].distribution.columns
            flat = np.zeros((self.rows(name), columns), np.float32)
            flat[stage.picked] = outputs[:, :-2]
            shaped = flat.reshape(self.world.num_worlds, -1, columns)
            actions[name] = self.networks[name].distribution.to_world(shaped)
        ours = actions if len(actions) > 1 else next(iter(actions.values()))
        action = self.opponents.act(ours, timestep, self._network)
        timestep = self.world.step(action)
        if self.tap is not None:
            self.tap.step(action)
        self.buffer.reward[at] = timestep.reward
        np.logical_or(timestep.terminated, timestep.truncated, out=self.buffer.ended[at])
        self.buffer.ended[at] |= timestep.over[:, None]
        self.buffer.bootstrap[at] = 0.0

    def cut(self) -> np.ndarray:
        """(W, A) bool, learners whose life was cut in this step: the value of their last observation is wanted."""
        return self.world.timestep.truncated & self._learning()

    def end_step(self, t: int) -> None:
        """Counts lives and episodes, and restarts worlds that are over."""
        timestep, ended = self.world.timestep, self.buffer.ended[self.buffer.earlier + t]
        lived = self.casting.lived(self._born, self._network)
        learner = self.membership.learner(self._network) if self.membership.others and ended.any() else None
        self.lives.add(timestep, self.present, ended, lived, learner)
        members = None
        if timestep.over.any():
            self.casting.record(timestep.over, self._scores(timestep))
            members = self.membership.of(self.world, self._network)
        self.episodes.add(timestep, self.lives.in_episode, members)
        self.present &= ~ended
        if self.memory:
            self._forget(ended)
        if timestep.over.any():
            over = timestep.over.copy()  # the world's own buffer, which the reset clears
            self.world.reset(over)
            if self.tap is not None and over[0]:
                self.tap.begin()
            self.lives.begin(over)
            self.opponents.forget(over)
            self.casting.draw(over)

    def after(self) -> np.ndarray:
        """(W, A) bool, learners who are there after the last step: the value of what they see is wanted."""
        self._look(self.world.timestep)
        return self._learning()

    def _remember(self, name: str, stage: Stage, memory: np.ndarray, where: np.ndarray) -> None:
        """Keeps what those who act remember now; who is only looked at goes on as it was."""
        acts = self._teaches.reshape(-1)[where]
        self.memory[name][stage.picked[acts]] = memory[acts]
        self.fresh.reshape(-1)[where[acts]] = False

    def _forget(self, ended: np.ndarray) -> None:
        """Lives that ended are forgotten: who comes next in their slots begins with zeros."""
        self.fresh |= ended
        for name, memory in self.memory.items():
            memory[ended[:, self._slots[name]].reshape(-1)] = 0.0

    def begin_anew(self) -> None:
        """New episodes began in all worlds: nothing is under way, nothing is remembered."""
        self.present[:] = False
        if self.memory:
            self._forget(np.ones(self.present.shape, bool))

    def _scores(self, timestep: TimeStep) -> np.ndarray:
        """(W, A) float64, how well everybody did in an episode that is over with this step."""
        if self._score == "return":
            return self.episodes.returns + timestep.reward
        return np.asarray(self.world.metrics[self._score], np.float64)

    def _look(self, timestep: TimeStep) -> None:
        """Who is there, of which population, and which network plays it."""
        self.present |= timestep.acting
        if self._alone:
            return
        self._born = self.casting.born(self._populations.of(self.world))
        np.equal(self._born, self._guessed, out=self.truth)
        self._network = self.casting.seat(self._born, self.world)

    def _learning(self) -> np.ndarray:
        """(W, A) bool, slots with a life of those who learn."""
        return self.present if self._alone else self.present & self.learns[self._network]

    # -- rows for the networks ----------------------------------------------------------------------------

    def stage(self, name: str, wanted: np.ndarray, out: Seen) -> Stage:
        """Writes what a kind's networks are asked with, the rows in `wanted` that are no opponent's, into the first rows of `out`."""
        stage = self._sort(name, wanted, out)
        own, picked = self.networks[name], stage.picked
        seen = out.part(slice(len(picked)))
        observation = own.told(
            self.world.by_kind(self.world.timestep.observation)[name], self.world.num_worlds
        )
        everyone = len(picked) == self.rows(name) and self._alone
        own.layout.write(observation, None if everyone else picked, seen.rows)
        if seen.view is not None and self._view is not None:
            view = self._view.of(self.world).reshape(-1, self._view.size)
            seen.view[...] = view[self._where(name, picked)]
        if seen.memory is not None and seen.fresh is not None:
            seen.memory[...] = self.memory[name][picked]
            seen.fresh[...] = self.fresh.reshape(-1)[self._where(name, picked)]
        if seen.mask is not None:
            mask = self.world.by_kind(self.world.timestep.action_mask)[name]
            flat = own.distribution.flat_mask(mask, (self.world.num_worlds, len(self._slots[name])))
            seen.mask[...] = True if flat is None else flat.reshape(-1, flat.shape[-1])[picked]
        return stage

    def rows(self, name: str) -> int:
        """Slots of a kind in all worlds."""
        return self.world.num_worlds * len(self._slots[name])

    def reach(self, name: str) -> int:
        """Rows that a call of a kind's networks reads: those of all slots, and as far as the last block may reach."""
        return self.rows(name) + (0 if self._most_blocks(name) == 1 else self.block[name])

    def put(self, name: str, stage: Stage, values: np.ndarray, out: np.ndarray) -> None:
        """Puts values of a stage's rows where they belong in `out`, (W, A)."""
        out.reshape(-1)[self._where(name, stage.picked)] = values

    def _sort(self, name: str, wanted: np.ndarray, out: Seen) -> Stage:
        slots, most = self._slots[name], self._most_blocks(name)
        queried = wanted if self._alone else wanted & self._played[self._network]
        picked = np.flatnonzero(queried if self._whole[name] else queried[:, slots])
        if self._alone:
            blocks = None if most == 1 else cut_alone(len(picked), self.block[name], most)
            return Stage(picked, np.zeros(len(picked), np.uint8), len(picked), blocks, out)
        own = self._network[:, slots].reshape(-1)[picked]
        order, counts = sort_rows(self._rank[own], len(self._played))
        blocks = cut_blocks(counts, self.block[name], most)
        blocks = blocks._replace(population=self._order[blocks.population].astype(np.int32))
        kept = int(counts[: np.count_nonzero(self.learns)].sum())
        return Stage(picked[order], own[order], kept, blocks, out)

    def _keep(self, name: str, stage: Stage, outputs: np.ndarray, at: int, where: np.ndarray) -> None:
        """Keeps the stage's rows of those who learn."""
        pending, kept = self.pending[name], slice(0, stage.kept)
        truth = None
        if pending.truth is not None:
            truth = self.truth[where[kept] // self.truth.shape[1]][:, self._slots[name]]
        acts = self._teaches.reshape(-1)[where[kept]]
        pending.append(stage.seen, outputs[kept], at, where[kept], stage.network[kept], acts, truth)

    def _where(self, name: str, index: np.ndarray) -> np.ndarray:
        """Rows among (W, A_kind) as places among (W, A)."""
        if self._whole[name]:
            return index
        slots = self._slots[name]
        return index // len(slots) * self.present.shape[1] + slots[index % len(slots)]

    def _most_blocks(self, name: str) -> int:
        return self.networks[name].most_blocks(self.rows(name), self.block[name], self.casting.pool.places)

    def _allocate(self, name: str, masked: bool) -> PendingSamples:
        own, steps = self.networks[name], self.buffer.earlier + self.buffer.steps
        layout = SampleLayout(
            own.layout,
            own.distribution.columns,
            own.distribution.choices if masked else None,
            len(self._slots[name]) if own.guesses else None,
            own.memory,
            own.view,
        )
        return PendingSamples(layout, steps * self.rows(name))


def collect(shards: Sequence[Collector], parameters: InferenceParameters, update: int) -> dict[str, float]:
    """Plays T steps of all worlds of some shards.

    Args:
        shards: of this worker.
        parameters: kind name -> as `PolicyNetwork.precompute` gave them.
        update: number of the update.

    Returns:
        Seconds spent in networks (``act``) and in worlds (``step``).
    """
    steps, acting, stepping = shards[0].buffer.steps, 0.0, 0.0
    staged = allocate_staged(shards)
    for shard in shards:
        shard.acted = 0
    for t in range(steps):
        began = time.perf_counter()
        answers = ask(
            shards, parameters, [shard.begin_step(t) for shard in shards], update * steps + t, staged
        )
        acted = time.perf_counter()
        for shard, own in zip(shards, answers, strict=True):
            try:
                shard.step(t, own)
            except UserError:  # of an action that came from what is no number
                refuse_bad_observations(shard, update)
                raise
        cuts = [shard.cut() for shard in shards]
        if any(cut.any() for cut in cuts):
            for shard, values in zip(shards, ask_values(shards, parameters, cuts, staged), strict=True):
                shard.buffer.bootstrap[shard.buffer.earlier + t] = values
        for shard in shards:
            shard.end_step(t)
        acting, stepping = acting + acted - began, stepping + time.perf_counter() - acted
    began = time.perf_counter()
    afterwards = [shard.after() for shard in shards]
    for shard, values in zip(shards, ask_values(shards, parameters, afterwards, staged), strict=True):
        shard.buffer.last_value[...] = values
    return {"act": acting + time.perf_counter() - began, "step": stepping}


def allocate_staged(shards: Sequence[Collector]) -> Staged:
    """Room for the rows of one step of all shards of the run, of which these are the first.

    All workers run the same compiled program then, however many there are.
    """
    first, staged = shards[0], {}
    room = max(first.room, len(shards))
    for name, pending in first.pending.items():
        seen = pending.layout.allocate(room, first.reach(name))
        staged[name] = (seen, [seen.part(at) for at in range(len(shards))])
    return staged


def ask(
    shards: Sequence[Collector],
    parameters: InferenceParameters,
    wanted: Sequence[np.ndarray],
    counter: int,
    staged: Staged,
) -> list[dict[str, Answer]]:
    """Asks the networks for the agents in `wanted`, (W, A) for each shard: one compiled call for each kind.

    What the rows hold stays in `staged` until the next call.
    """
    answers: list[dict[str, Answer]] = [{} for _ in shards]
    for name, network in shards[0].networks.items():
        (seen, parts), outputs = staged[name], None
        stages = [
            shard.stage(name, want, part) for shard, want, part in zip(shards, wanted, parts, strict=True)
        ]
        if any(len(stage.picked) for stage in stages):
            outputs = _call(shards, name, parameters[name], stages, counter, seen)
        columns = network.distribution.columns + 2
        for at, stage in enumerate(stages):
            rows = np.zeros((0, columns), np.float32) if outputs is None else outputs[at, : len(stage.picked)]
            memory = rows[:, columns:] if network.memory and outputs is not None else None
            answers[at][name] = Answer(stage, rows[:, :columns], memory)
    return answers


def ask_values(
    shards: Sequence[Collector], parameters: InferenceParameters, wanted: Sequence[np.ndarray], staged: Staged
) -> list[np.ndarray]:
    """V of what the agents in `wanted` see, (W, A) for each shard; 0 elsewhere.

    The program that acts also tells values; one for values alone would have to be compiled as well.
    """
    values = [np.zeros(shard.present.shape, np.float32) for shard in shards]
    for shard, answers, out in zip(shards, ask(shards, parameters, wanted, 0, staged), values, strict=True):
        for name, answer in answers.items():
            shard.put(name, answer.stage, answer.outputs[:, -1], out)
    return values


def _call(
    shards: Sequence[Collector], name: str, parameters: Any, stages: Sequence[Stage], counter: int, seen: Seen
) -> np.ndarray:
    """(S, N, columns + 2 + size) of one compiled call; S shards of the run, of which those that are not given have zeros."""
    first, blocks = shards[0], None
    room = max(first.room, len(shards))
    fill = [0] * (room - len(shards))  # others' places, which are not read
    if stages[0].blocks is not None:
        cuts = [stage.blocks or () for stage in [*stages, *(stages[at] for at in fill)]]
        blocks = Blocks(*(np.stack(parts) for parts in zip(*cuts, strict=True)))
    outputs = first.networks[name].act(
        parameters,
        seen.rows,
        seen.mask,
        blocks,
        np.stack([shard.keys[name] for shard in [*shards, *(shards[at] for at in fill)]]),
        np.uint32(counter % 2**32),
        seen.memory,
        seen.view,
        np.int32(len(shards)),
        block=first.block[name],
    )
    return np.asarray(outputs)
