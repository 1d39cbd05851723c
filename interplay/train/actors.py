"""Actors: shards that play ahead, each in a thread, while the learner learns (`train.actors`).

An update learns from the `train.shards` rollouts that are finished first and hands their shards the new parameters; the other shards
go on playing. So a rollout may be several updates old, and a run does not repeat bit for bit. Worlds that wait for engines or other
processes release Python's lock meanwhile.

Source: specification scale 4.
"""

from __future__ import annotations

import queue
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from interplay.core.errors import UserError
from interplay.core.overdue import OVERDUE
from interplay.train.learner import Learner
from interplay.train.parallel.exchange import Exchange
from interplay.train.rollout import InferenceParameters, collect
from interplay.train.run.checkpoint import Checkpoint, write_arrays
from interplay.train.settings import TrainSettings
from interplay.train.shard import MakeWorld, Shard
from interplay.train.update import PATIENCE, Worker

_LOOK = 1.0  # seconds between two looks at calls that do not return


class Task(NamedTuple):
    """A rollout to play.

    Attributes:
        parameters: to play with.
        update: number of updates in them.
        number: of the rollout, unlike all others of its shard; the key of its draws.
    """

    parameters: InferenceParameters
    update: int
    number: int


class Actor:
    """Plays the rollouts of one shard in a thread.

    Attributes:
        shard: of this actor; the learner's between a rollout's end and the next `play`.
        update: of the last rollout's parameters.
    """

    def __init__(self, shard: Shard, finished: queue.SimpleQueue[Any], halted: threading.Event) -> None:
        self.shard, self.update = shard, 0
        self._rollouts = -1
        self._tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._finished, self._halted = finished, halted
        # A daemon: a world that hangs does not keep the process alive.
        self._thread = threading.Thread(target=self._work, daemon=True, name=f"actor-{shard.index}")
        self._thread.start()

    def play(self, parameters: InferenceParameters, update: int) -> None:
        """Begins a rollout."""
        self._rollouts, self.update = max(self._rollouts + 1, update), update
        self._tasks.put(Task(parameters, update, self._rollouts))

    def join(self, seconds: float | None) -> None:
        """Ends the thread after the step under way, for which it waits so many seconds; None: until it ends."""
        self._tasks.put(None)
        self._thread.join(_LOOK if seconds is None else seconds)
        while seconds is None and self._thread.is_alive():
            OVERDUE.refuse_late()
            self._thread.join(_LOOK)

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            try:
                collect([self.shard.collector], task.parameters, task.number, self._halted.is_set)
                if self._halted.is_set():
                    return
                self.shard.settle(task.parameters, task.update)
            except BaseException as error:  # the learner raises it
                self._finished.put(error)
                return
            self._finished.put(self)


class ActorWorker(Worker):
    """The learner of a run with actors.

    Attributes:
        shards: with the rollouts of the present update; all of them after `halt`.
    """

    stale = True

    def __init__(
        self, settings: TrainSettings, make_world: MakeWorld, learner: Learner, exchange: Exchange
    ) -> None:
        _refuse(settings, learner, exchange)
        super().__init__(settings, make_world, learner, exchange)
        more = range(len(self.shards), settings.train.actors)
        self._all = [*self.shards, *map(self._make_shard, more)]
        self._finished: queue.SimpleQueue[Actor | BaseException] = queue.SimpleQueue()
        self._halted = threading.Event()
        self._actors = [Actor(shard, self._finished, self._halted) for shard in self._all]
        self._idle = list(self._actors)
        self._names: set[str] = set()
        self._ages: list[int] = []
        self._dropped = 0

    def play(self) -> None:
        """Hands idle shards the present parameters, and waits for the rollouts of an update."""
        train, taken = self.settings.train, list[Actor]()
        self._ages, self._dropped = [], 0
        # Copies, since an update reuses the memory of the parameters that it replaces.
        parameters = jax.tree.map(jnp.array, self.learner.inference_parameters())
        self._start(self._idle, parameters)
        began = time.perf_counter()
        while len(taken) < train.shards:
            actor = self._take()
            if (age := self.updates - actor.update) > train.most_age:
                self._dropped += actor.shard.collector.acted
                actor.shard.drop()
                self._start([actor], parameters)
                continue
            taken.append(actor)
            self._ages.append(age)
        self._idle, self.shards = taken, [actor.shard for actor in taken]
        self._played = {"wait": time.perf_counter() - began}
        if self._returns is not None:
            self._divide_rewards(self._returns)

    def _start(self, actors: list[Actor], parameters: InferenceParameters) -> None:
        for actor in actors:
            self.begin_rollout(actor.shard)
            actor.play(parameters, self.updates)

    def _take(self) -> Actor:
        """The actor that finished a rollout first; raises the error of one that failed."""
        while True:
            try:
                found = self._finished.get(timeout=_LOOK)
            except queue.Empty:
                OVERDUE.refuse_late()
                continue
            if isinstance(found, BaseException):
                raise found
            return found

    def update(self) -> dict[str, Any]:
        """`Worker.update`, with the age of its rollouts in updates."""
        numbers = super().update()
        ages = {"age": sum(self._ages) / len(self._ages), "oldest": max(self._ages)}
        return numbers | ages | ({"dropped_steps": self._dropped} if self._dropped else {})

    def halt(self, seconds: float | None = None) -> None:
        """Ends rollouts under way, for which it waits so many seconds in all; `shards` are all of them from here on."""
        self._halted.set()
        until = time.monotonic() + (seconds or 0.0)
        for actor in self._actors:
            actor.join(None if seconds is None else max(until - time.monotonic(), 0.0))
        self.shards = self._all

    def make_worlds_anew(self) -> None:
        raise UserError("train.actors: worlds of actors keep their options; leave out train.actors")

    def load(self, checkpoint: Checkpoint) -> str | None:
        """Restores the learner; new episodes begin."""
        self.shards = self._all
        reason = super().load(checkpoint)
        self.shards = self._all[: self.settings.train.shards]
        return reason

    def write_shards(self, staging: Path) -> str | None:
        """Writes no worlds, which are in the middle of rollouts."""
        for shard in self._all:
            write_arrays(staging, f"shard-{shard.index:04d}", {})
        return "train.actors: worlds are not saved"

    def close(self) -> None:
        self.halt(0.0 if self._halted.is_set() else PATIENCE)  # a first halt has waited
        super().close()

    # -- statistics: only the shards of the present update are at rest -------------------------------

    def add_up(self, vectors: list[np.ndarray]) -> np.ndarray:
        """The sum over any number of shards."""
        return np.sum(vectors, axis=0)

    def _share_names(self) -> None:
        for shard in self.shards:
            self._names.update(shard.collector.episodes.later)
        for shard in self.shards:
            shard.collector.episodes.grow(self._names)

    def _complete_windows(self, waiting: Any) -> list[tuple[Any, Any]]:
        """Each shard's own: its windows were opened at the beginnings of its rollouts."""
        own = [shard.collector.episodes.windows for shard in self.shards]
        return [(windows, windows.complete(windows.waiting())) for windows in own]


def _refuse(settings: TrainSettings, learner: Learner, exchange: Exchange) -> None:
    """Refuses what would learn from, or report, something else than the settings say."""
    alone = {
        "several workers or machines": exchange.size > 1,
        "past selves and leagues": learner.pool.places > 0,
        "alternate.metric": settings.alternate.metric is not None,
        "curriculum.stages": bool(settings.curriculum.stages),
        f"algorithm = {settings.algorithm}, which learns from the present policy's rollouts alone (ppo and vtrace correct others)": not (
            learner.corrects or getattr(learner.algorithm, "decouples", False)
        ),
    }
    for what, there in alone.items():
        if there:
            raise UserError(f"train.actors = {settings.train.actors} does not go with {what}; leave one out")


def make_worker(settings: TrainSettings, make: MakeWorld, learner: Learner, exchange: Exchange) -> Worker:
    """The first worker of a run."""
    return (ActorWorker if settings.train.actors else Worker)(settings, make, learner, exchange)
