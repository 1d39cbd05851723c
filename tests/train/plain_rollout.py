"""Reference for the kernels of `interplay.train.collector`: the same step in NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from interplay.core.world import TimeStep
from interplay.train.collector import IDLE_EVERY, Collector, StepOutputs, StepRows
from interplay.train.populations import Blocks, cut_alone, cut_blocks, sort_rows
from interplay.train.run.episodes import BEGINS, EpisodeStatistics, LifeStatistics
from interplay.train.samples import NetworkInput


def count_lives(
    lives: LifeStatistics,
    timestep: TimeStep,
    present: np.ndarray,
    ended: np.ndarray,
    population: np.ndarray,
    learner: np.ndarray | None = None,
) -> None:
    """Counts one step of the lives in the (W, A) slots `present`."""
    lives.steps += present & lives.living
    lives.earned += present * timestep.reward
    lives.end(ended & present, population, learner)


def count_episodes(
    episodes: EpisodeStatistics,
    timestep: TimeStep,
    further: np.ndarray | None = None,
    members: np.ndarray | None = None,
) -> None:
    """Counts one step of every world; call it before worlds that are over are restarted."""
    episodes.windows.of[episodes.windows.of == BEGINS] = episodes.windows.current
    episodes.returns += timestep.reward
    episodes.lengths += 1
    if timestep.over.any():
        episodes.end(timestep, further, members)


class PlainCollector(Collector):
    """A `Collector` without kernels."""

    def begin_step(self, t: int) -> np.ndarray:
        timestep, at = self.world.timestep, self.buffer.earlier + t
        self._seat()
        self._acting = timestep.acting.copy()
        self.present |= timestep.acting
        if self.world.dead_stay:
            self.lives.living = timestep.acting.copy()
        the_dead = self.world.dead_stay and not self._mask_dead
        teaches = timestep.acting | self._learning() if the_dead else timestep.acting
        self._teaches = self.buffer.acting[at] = teaches.copy()
        self.acted += int(np.count_nonzero(timestep.acting & self._own[self._network]))
        return teaches | self._learning() if t % IDLE_EVERY == 0 else teaches.copy()

    def step(self, t: int, results: Mapping[str, StepOutputs]) -> None:
        timestep, at = self.world.timestep, self.buffer.earlier + t
        actions: dict[str, Any] = {}
        for name, (step_rows, outputs, memory) in results.items():
            own, where = self.networks[name].distribution, self._places(name, step_rows.picked)
            self.buffer.value[at].reshape(-1)[where] = outputs[:, -1]
            if name in self._kinds_that_learn:
                self._keep_plainly(name, step_rows, outputs[: step_rows.kept], at, where[: step_rows.kept])
            if memory is not None:
                acts = self._teaches.reshape(-1)[where]
                self.memory[name][step_rows.picked[acts]] = memory[acts]
                self.fresh.reshape(-1)[where[acts]] = False
            flat = np.zeros((self.rows(name), own.columns), np.float32)
            flat[step_rows.picked] = outputs[:, :-2]
            actions[name] = own.to_world(flat.reshape(self.world.num_worlds, -1, own.columns))
        ours = actions if len(actions) > 1 else next(iter(actions.values()))
        timestep = self.world.step(self.opponents.act(ours, timestep, self._network))
        self._acting = np.where(timestep.truncated, self._acting, timestep.acting)
        self.buffer.reward[at] = timestep.reward
        self.buffer.ended[at] = timestep.terminated | timestep.truncated | timestep.over[:, None]
        self.buffer.bootstrap[at] = 0.0

    def truncated_mask(self) -> np.ndarray | None:
        return self.world.timestep.truncated & self._learning()

    def end_step(self, t: int) -> None:
        timestep, ended = self.world.timestep, self.buffer.ended[self.buffer.earlier + t]
        lived = self.casting.lived(self._born, self._network)
        learner = self.membership.learner(self._network) if self.membership.others else None
        count_lives(self.lives, timestep, self.present, ended, lived, learner)
        over, members = timestep.over.copy(), None
        if over.any():
            gained = self.episodes.returns + timestep.reward
            score = self._score or ("outcome" if "outcome" in self.world.metrics else "return")
            scores = gained if score == "return" else np.asarray(self.world.metrics[score])
            self.casting.record(over, np.asarray(scores, np.float64))
            members = self.membership.of(self.world, self._network)
        count_episodes(self.episodes, timestep, self.lives.in_episode, members)
        self.present &= ~ended
        if self.memory:
            self._forget(ended)
        if over.any():
            self.world.reset(over)
            self.lives.begin(over)
            self.opponents.forget(over)
            self.casting.draw(over)

    def write_inputs(self, name: str, wanted: np.ndarray, out: NetworkInput) -> StepRows:
        own, slots = self.networks[name], self._slots[name]
        most = own.most_blocks(self.rows(name), self.block[name], self.casting.places)
        picked = np.flatnonzero((wanted & self._played[self._network])[:, slots])
        network = self._network[:, slots].reshape(-1)[picked]
        order, counts = sort_rows(self._rank[network], len(self._played))
        picked, network = picked[order], network[order]
        blocks: Blocks | None
        if self._alone:
            blocks = None if most == 1 else cut_alone(len(picked), self.block[name], most)
        else:
            blocks = cut_blocks(counts, self.block[name], most)
            blocks = blocks._replace(population=self._order[blocks.population].astype(np.int32))
        where, seen = self._places(name, picked), out.part(slice(len(picked)))
        told = own.with_marks(
            self.world.by_kind(self.world.timestep.observation)[name], self.world.num_worlds
        )
        own.layout.write(told, picked, seen.rows)
        if seen.view is not None and self._view is not None:
            seen.view[...] = self._view.of(self.world, self._acting).reshape(-1, self._view.size)[where]
        if seen.memory is not None and seen.fresh is not None:
            seen.memory[...] = self.memory[name][picked]
            seen.fresh[...] = self.fresh.reshape(-1)[where]
        if seen.mask is not None:
            mask = self.world.by_kind(self.world.timestep.action_mask)[name]
            flat = own.distribution.flat_mask(mask, (self.world.num_worlds, len(slots)))
            seen.mask[...] = True if flat is None else flat.reshape(-1, flat.shape[-1])[picked]
        kept = int(counts[: np.count_nonzero(self.learns)].sum())
        return StepRows(picked, where, network, kept, blocks, out)

    def _places(self, name: str, picked: np.ndarray) -> np.ndarray:
        slots = self._slots[name]
        return picked // len(slots) * self.present.shape[1] + slots[picked % len(slots)]

    def _keep_plainly(
        self, name: str, step_rows: StepRows, outputs: np.ndarray, at: int, where: np.ndarray
    ) -> None:
        pending = self.pending[name]
        new = slice(pending.count, pending.count + len(where))
        for key, array in pending.seen.arrays().items():
            array[new] = step_rows.seen.arrays()[key][: len(where)]
        pending.outputs[new], pending.step[new], pending.slot[new] = outputs, at, where
        pending.population[new] = step_rows.network[: len(where)]
        pending.acts[new] = self._teaches.reshape(-1)[where]
        if pending.truth is not None:
            pending.truth[new] = self.truth[where // self.truth.shape[1]][:, self._slots[name]]
        pending.count = new.stop


def state_of(collector: Collector) -> dict[str, np.ndarray]:
    """Everything that a rollout leaves behind, by name."""
    buffer, lives, episodes = collector.buffer, collector.lives, collector.episodes
    found = {name: getattr(buffer, name) for name in ("reward", "value", "acting", "ended", "bootstrap")}
    found |= {"last_value": buffer.last_value, "present": collector.present, "fresh": collector.fresh}
    found |= {"acted": np.array(collector.acted), "living": lives.living, "ended lives": lives._sums}
    found |= {"life steps": lives.steps, "life earned": lives.earned, "in episode": lives.in_episode}
    found |= {
        "returns": episodes.returns,
        "lengths": episodes.lengths,
        "ended episodes": episodes.windows.sums,
    }
    found |= {"windows": episodes.windows.of, "casts": collector.casting.take()}
    found |= {f"memory {name}": array for name, array in collector.memory.items()}
    found |= {f"cast {name}": array for name, array in collector.casting.save().items()}
    found |= {f"world {name}": array for name, array in collector.world.save().items()}
    for kind, pending in collector.pending.items():
        found |= {f"{kind} {name}": array[: pending.count] for name, array in pending.arrays().items()}
    return found
