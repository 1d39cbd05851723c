"""The pools that step the environments of a batch: in this process, or in several of their own.

Both pools offer `reset`, `step` and `close`; what they do stands in the shared arrays. Processes are started
anew (spawn), import the factory by its name, and share one block of memory with the batch: no observation or
action is ever pickled.
"""

from __future__ import annotations

import json
import multiprocessing
import signal
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from multiprocessing.connection import Connection
from typing import Any, TypeVar

import numpy as np

from interplay.core.errors import USER_ERRORS, UserError
from interplay.core.loading import load
from interplay.core.user_code import where
from interplay.sim.batch.env_slot import EnvSlot
from interplay.sim.batch.info_numbers import Columns
from interplay.sim.batch.layout import Buffers, place, read_layout, shapes_of, size_of
from interplay.sim.batch.managed import ManagedSimulation, as_environment

T = TypeVar("T")

RESET, STEP, CLOSE = b"reset", b"step", b"close"
NAMES = "\0"  # how a reply begins that names new columns of numbers, as JSON


class SerialPool:
    """Steps every environment in this process, one after another.

    Args:
        make: makes one of them.
        num_worlds: W.
        accept: turns what was made into an environment, or refuses it.
    """

    def __init__(
        self, make: Callable[[], Any], num_worlds: int, accept: Callable[[Any], Any] = as_environment
    ) -> None:
        envs = [_made(make, w, accept) for w in range(num_worlds)]
        self.layout = _named(0, envs[0], read_layout, envs[0])
        shapes = shapes_of(self.layout, num_worlds, 1)
        self.buffers = place(shapes, bytearray(size_of(shapes)))
        self._columns = Columns(self.layout.metrics, self.buffers["numbers"], range(num_worlds))
        self._slots = [
            EnvSlot(env, self.layout, self.buffers, w, self._columns) for w, env in enumerate(envs)
        ]

    def reset(self) -> None:
        """Restarts the worlds of ``buffers["which"]`` with the seeds of ``buffers["seed"]``."""
        for w, slot in enumerate(self._slots):
            if self.buffers["which"][w]:
                _in_slot(w, slot, slot.reset, int(self.buffers["seed"][w]))

    def step(self) -> None:
        """Steps the worlds of ``buffers["which"]`` that are not over; those that are stand still."""
        for w, slot in enumerate(self._slots):
            if self.buffers["which"][w]:
                _in_slot(w, slot, slot.step)

    @property
    def numbers(self) -> dict[str, np.ndarray]:
        """Numbers of infos by name: (W, A), NaN for agents without one."""
        return dict(zip(self._columns.new, self.buffers["numbers"], strict=False))

    def environment(self, w: int) -> Any:
        """World w's environment; None where it is in another process."""
        return self._slots[w].env

    def close(self) -> None:
        for slot in self._slots:
            slot.env.close()
        self._slots = []


class WorkerPool:
    """Spreads the environments over worker processes, each with a run of neighbouring worlds.

    Args:
        factory: ``"module:function"``.
        kwargs: for the function.
        num_worlds: W.
        processes: at least 1; more than W are not started.
        accept: as for `SerialPool`.
    """

    def __init__(
        self,
        factory: str,
        kwargs: Mapping[str, Any],
        num_worlds: int,
        processes: int,
        accept: Callable[[Any], Any] = as_environment,
    ) -> None:
        probe = _made(partial(load(factory, users=True), **kwargs), 0, accept)
        self.layout = _named(0, probe, read_layout, probe)
        probe.close()
        runs = np.array_split(np.arange(num_worlds), min(processes, num_worlds))
        self._runs, self._names = (
            runs,
            [list[str]() for _ in runs],
        )  # of each process its worlds, and the names of its columns
        context = multiprocessing.get_context("spawn")
        shapes = shapes_of(self.layout, num_worlds, len(runs))
        memory = context.RawArray("b", size_of(shapes))
        self.buffers = place(shapes, memory)
        self._pipes: list[Connection] = []
        self._processes: list[Any] = []
        for index, run in enumerate(runs):
            ours, theirs = context.Pipe()
            process = context.Process(
                target=_work,
                args=(theirs, memory, factory, dict(kwargs), num_worlds, len(runs), index, run.tolist()),
                daemon=True,
            )
            process.start()
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)
        self._stop = weakref.finalize(self, _stop, self._pipes, self._processes)
        self._gather()

    def reset(self) -> None:
        """As `SerialPool.reset`."""
        self._send(RESET)

    @property
    def numbers(self) -> dict[str, np.ndarray]:
        """As `SerialPool.numbers`."""
        block = self.buffers["numbers"]
        found = {name: np.full(block.shape[1:], np.nan) for names in self._names for name in names}
        for run, names in zip(self._runs, self._names, strict=True):
            for column, name in enumerate(names):
                found[name][run] = block[column, run]
        return found

    def environment(self, w: int) -> Any:
        """As `SerialPool.environment`."""
        return None

    def step(self) -> None:
        """As `SerialPool.step`."""
        self._send(STEP)

    def close(self) -> None:
        self._stop()

    def _send(self, command: bytes) -> None:
        if not self._stop.alive:
            raise RuntimeError("this world's processes have ended; make a new one")
        for pipe in self._pipes:
            try:
                pipe.send_bytes(command)
            except OSError:
                continue  # a dead worker is named by `_gather`
        self._gather()

    def _gather(self) -> None:
        """Waits for everybody.

        Raises:
            UserError: naming the world, if its environment failed or its process died; all are stopped then.
        """
        problem = ""
        for index, (pipe, process) in enumerate(zip(self._pipes, self._processes, strict=True)):
            try:
                reply = pipe.recv_bytes().decode()
                if reply[:1] == NAMES:
                    self._names[index] += json.loads(reply[1:])
                else:
                    problem = problem or reply
            except (EOFError, OSError):
                process.join(5)
                world = self.buffers["at"][index]
                problem = problem or (
                    f"world {world}: its process died (exit code {process.exitcode}); run with processes=0 to see why"
                )
        if problem:
            self._stop()
            raise UserError(problem)


def _work(
    pipe: Connection,
    memory: Any,
    factory: str,
    kwargs: Mapping[str, Any],
    num_worlds: int,
    num_workers: int,
    index: int,
    worlds: Sequence[int],
) -> None:
    """A worker's life: obeys commands until the pipe closes."""
    # Signals that ask to stop are for the parent, which closes the pipe; programs that are started here can be ended by SIGTERM.
    for name in ("SIGINT", "SIGHUP"):
        if number := getattr(signal, name, None):
            signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: None)
    slots: dict[int, EnvSlot] = {}
    try:
        make = partial(load(factory, users=True), **kwargs)
        envs = [_made(make, w, as_environment) for w in worlds]
        layout = _named(worlds[0], envs[0], read_layout, envs[0])
        buffers = place(shapes_of(layout, num_worlds, num_workers), memory)
        columns = Columns(layout.metrics, buffers["numbers"], worlds)
        slots = {w: EnvSlot(env, layout, buffers, w, columns) for w, env in zip(worlds, envs, strict=True)}
        buffers["at"][index] = worlds[0]
    except Exception as error:
        pipe.send_bytes(str(error).encode())
        return
    pipe.send_bytes(_names_since(columns).encode())
    while True:
        try:
            command = pipe.recv_bytes()
        except (EOFError, OSError):
            command = CLOSE
        if command == CLOSE:
            break
        problem = _run(command, slots, buffers, index)
        pipe.send_bytes((problem or _names_since(columns)).encode())
    for slot in slots.values():
        slot.env.close()


def _names_since(columns: Columns) -> str:
    """A process's reply: the names that are new, or nothing."""
    new, columns.new = columns.new, []
    return NAMES + json.dumps(new) if new else ""


def _run(command: bytes, slots: Mapping[int, EnvSlot], buffers: Buffers, index: int) -> str:
    """Runs one command over a worker's worlds; the problem in one line, or nothing."""
    try:
        for w, slot in slots.items():
            if not buffers["which"][w]:
                continue
            buffers["at"][index] = w
            if command == STEP:
                _in_slot(w, slot, slot.step)
            else:
                _in_slot(w, slot, slot.reset, int(buffers["seed"][w]))
    except UserError as error:
        return str(error)
    return ""


def _in_slot(w: int, slot: EnvSlot, function: Callable[..., T], *args: Any) -> T:
    """Does it; what goes wrong is one line that names the world, the step, and file, line and agent in somebody else's code."""
    try:
        return function(*args)
    except Exception as error:
        at = f"world {w}, {f'step {slot.steps}' if slot.steps else 'reset'}"
        raise UserError(_one_line(at, error, _mend(slot.env), slot.env.possible_agents)) from error


def _named(w: int, env: Any, function: Callable[..., T], *args: Any) -> T:
    """As `_in_slot`, before there is an episode."""
    try:
        return function(*args)
    except Exception as error:
        raise UserError(_one_line(f"world {w}", error, _mend(env))) from error


def _mend(env: Any) -> str:
    return f"mend the {'simulation' if isinstance(env, ManagedSimulation) else 'environment'}"


def _made(make: Callable[[], Any], w: int, accept: Callable[[Any], Any]) -> Any:
    try:
        made = make()
    except Exception as error:
        raise UserError(_one_line(f"world {w}", error, "mend the function that makes it")) from error
    return accept(made)


def _one_line(at: str, error: Exception, cure: str, agents: Sequence[Any] = ()) -> str:
    what = " ".join(str(error).split())
    if isinstance(error, USER_ERRORS):
        return f"{at}: {what}"  # which says itself what to do
    place = where(error, agents)
    return f"{at}: {type(error).__name__}: {what}{f' ({place})' if place else ''}; {cure}"


def _stop(pipes: Sequence[Connection], processes: Sequence[Any]) -> None:
    for pipe in pipes:
        pipe.close()  # a worker ends when its pipe does
    for process in processes:
        process.join(2)
        if process.is_alive():
            process.kill()
            process.join(2)
