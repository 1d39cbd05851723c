"""The pools that step the environments of a batch, in this process or in several.

Both pools offer `reset`, `step` and `close`; results are in the shared arrays. Processes are started
anew (spawn), import the factory by its name, and share one block of memory with the batch: no observation or
action is ever pickled. All run a command together, unlike a `interplay.core.processes.TaskProcess`,
which takes tasks one by one.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import signal
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from interplay.core.errors import UserError
from interplay.core.loading import load
from interplay.core.overdue import CURE, OVERDUE, print_line, refuse_overdue
from interplay.core.processes import ignore_terminal_signals, watch_parent
from interplay.core.reading import parse_json
from interplay.sim.batch.info_numbers import Columns
from interplay.sim.batch.layout import place, read_layout, shapes_of, size_of
from interplay.sim.batch.managed import as_environment
from interplay.sim.batch.slot_group import SlotGroup, made, named

RESET, STEP, CLOSE = b"reset", b"step", b"close"
NAMES = "\0"  # how a reply begins that names new columns of numbers, as JSON
LATE = "\1"  # how the last reply of a process begins that gives up a call
ANEW = 3  # processes in a row that may be late with one command


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
        envs = made(make, range(num_worlds), accept)
        self.layout = named(0, envs[0], read_layout, envs[0])
        shapes = shapes_of(self.layout, num_worlds, 1)
        self.buffers = place(shapes, bytearray(size_of(shapes)))
        self._group = SlotGroup(envs, self.layout, self.buffers)

    def reset(self) -> None:
        """Restarts the worlds of ``buffers["which"]`` with the seeds of ``buffers["seed"]``."""
        self._group.reset()

    def step(self) -> None:
        """Steps the worlds of ``buffers["which"]``; those that are over stand still."""
        self._group.step()

    @property
    def numbers(self) -> dict[str, np.ndarray]:
        """Numbers of infos by name: (W, A), NaN for agents without one."""
        return dict(zip(self._group.numbers.new, self.buffers["numbers"], strict=False))

    def environment(self, w: int) -> Any:
        """World w's environment; None where it is in another process."""
        return self._group.slots[w].env

    def close(self) -> None:
        self._group.close()


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
        (probe,) = made(partial(load(factory, users=True), **kwargs), [0], accept)
        self.layout = named(0, probe, read_layout, probe)
        probe.close()
        runs = np.array_split(np.arange(num_worlds), min(processes, num_worlds))
        self._runs = runs  # worlds of each process
        self._names = [list[str]() for _ in runs]  # and of its columns
        self._lost = np.zeros(num_worlds, bool)  # worlds that lost their episode with their process
        self._context = multiprocessing.get_context("spawn")
        shapes = shapes_of(self.layout, num_worlds, len(runs))
        self._memory = self._context.RawArray("b", size_of(shapes))
        self._given = (self._memory, factory, dict(kwargs), num_worlds, len(runs))
        self._accept = accept
        self.buffers = place(shapes, self._memory)
        begun = [self._begin(index) for index in range(len(runs))]
        self._pipes, self._processes = [list(part) for part in zip(*begun, strict=True)]
        self._stop = weakref.finalize(self, _stop, self._pipes, self._processes)
        self.calls, self.thread, self._waits_for = 0, 0, -1
        self.silent = True  # a worker that is overdue gives the line
        OVERDUE.watch(self)
        self._gather()

    def reset(self) -> None:
        """As `SerialPool.reset`."""
        self._lost &= ~self.buffers["which"]
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
        """As `SerialPool.step`; episodes that were lost with a process are cut."""
        self.buffers["which"][self._lost] = False
        self._send(STEP)
        if self._lost.any():
            self._cut(self._lost)
            self._lost[:] = False

    def _cut(self, lost: np.ndarray) -> None:
        """Truncates the episodes of worlds, (W,) bool; only acting agents are known here."""
        self.buffers["truncated"][lost] = self.buffers["acting"][lost]
        for name in ("reward", "acting", "terminated"):
            self.buffers[name][lost] = 0
        self.buffers["over"][lost] = True

    def busy(self) -> str:
        """See `interplay.core.overdue.Stepping`."""
        if self._waits_for < 0:
            return ""
        return f"world {self.buffers['at'][self._waits_for]} has not come back from its process"

    def close(self) -> None:
        self._stop()

    def _begin(self, index: int) -> tuple[Connection, Any]:
        """Starts a process, which replies when its environments are made."""
        ours, theirs = self._context.Pipe()
        process = self._context.Process(
            target=_work,
            args=(theirs, *self._given, index, self._runs[index].tolist(), self._accept, OVERDUE.limit),
            daemon=True,
        )
        process.start()
        theirs.close()
        return ours, process

    def _send(self, command: bytes) -> None:
        if not self._stop.alive:
            raise RuntimeError("this world's processes have ended; make a new one")
        for pipe in self._pipes:
            _try_to_send(pipe, command)
        self._gather(command)

    def _gather(self, command: bytes = b"") -> None:
        """Waits for every process; one that gives up a call is replaced.

        Raises:
            UserError: naming the world, if its environment failed or its process died; all are stopped then.
        """
        problem = ""
        self.calls, self.thread = self.calls + 1, threading.get_ident()
        try:
            for index in range(len(self._pipes)):
                self._waits_for = index
                found = self._reply(index, command)
                problem = problem or found
        except KeyboardInterrupt:
            refuse_overdue()
            raise
        finally:
            self._waits_for = -1
        if problem:
            self._stop()
            raise UserError(problem)

    def _reply(self, index: int, command: bytes) -> str:
        """A process's reply to a command: the problem in one line, or empty."""
        for _ in range(ANEW):
            reply = self._answer(index)
            if reply[:1] != LATE or not command:
                break
            if problem := self._replace(index, command, reply[1:]):
                return problem
            if command == STEP:
                return ""
        if reply[:1] == NAMES:
            self._names[index] += parse_json(reply[1:])
            return ""
        return f"{reply[1:]}; {CURE}" if reply[:1] == LATE else reply

    def _replace(self, index: int, command: bytes, line: str) -> str:
        """Replaces a process that gave up; returns the new one's problem, or empty.

        Its worlds lose their episodes, but for those that the command resets, which the new process does.
        """
        run = self._runs[index]
        going = ~self.buffers["over"][run] & ~self._lost[run]
        if command == RESET:
            going &= ~self.buffers["which"][run]
        self._lost[run] |= going
        if command == STEP:  # worlds that are over stand still
            for name in ("reward", "terminated", "truncated"):
                self.buffers[name][run] = 0
        worlds = ", ".join(map(str, run[going]))
        cut = f", and the episodes of worlds {worlds} are cut" if worlds else ""
        print_line(f"{line}; a new process takes its place{cut}")
        self._processes[index].join(2)
        self._processes[index].kill()
        self._pipes[index].close()
        self._names[index] = []
        self._pipes[index], self._processes[index] = self._begin(index)
        self._waits_for = -1  # making environments may take longer than a step
        problem = self._reply(index, b"")
        self._waits_for, self.calls = index, self.calls + 1
        if not problem and command == RESET:
            _try_to_send(self._pipes[index], RESET)
        return problem

    def _answer(self, index: int) -> str:
        try:
            return self._pipes[index].recv_bytes().decode()
        except (EOFError, OSError):
            process, world = self._processes[index], self.buffers["at"][index]
            process.join(5)
            return f"world {world}: its process died (exit code {process.exitcode}); run with processes=0 to see why"


def _try_to_send(pipe: Connection, command: bytes) -> None:
    """Sends a command; a dead process is noticed by its missing answer."""
    with contextlib.suppress(OSError):
        pipe.send_bytes(command)


def _work(
    pipe: Connection,
    memory: Any,
    factory: str,
    kwargs: Mapping[str, Any],
    num_worlds: int,
    num_workers: int,
    index: int,
    worlds: Sequence[int],
    accept: Callable[[Any], Any],
    limit: float,
) -> None:
    """A worker process: runs commands until the pipe closes."""
    # Signals that ask to stop are for the parent, which closes the pipe; programs that are started here can be ended by SIGTERM.
    ignore_terminal_signals()
    signal.signal(signal.SIGTERM, lambda *_: None)
    OVERDUE.limit, OVERDUE.give_up = limit, partial(_give_up, pipe)
    watch_parent()
    try:
        make = partial(load(factory, users=True), **kwargs)
        envs = made(make, worlds, accept)
        layout = named(worlds[0], envs[0], read_layout, envs[0])
        buffers = place(shapes_of(layout, num_worlds, num_workers), memory)
        buffers["at"][index] = worlds[0]
        group = SlotGroup(envs, layout, buffers, worlds[0], index)
    except Exception as error:
        pipe.send_bytes(str(error).encode())
        return
    pipe.send_bytes(_names_since(group.numbers).encode())
    while True:
        try:
            command = pipe.recv_bytes()
        except (EOFError, OSError):
            command = CLOSE
        if command == CLOSE:
            break
        pipe.send_bytes((_run(command, group) or _names_since(group.numbers)).encode())
    group.close()


def _names_since(columns: Columns) -> str:
    """A process's reply: the new names, or empty."""
    new, columns.new = columns.new, []
    return NAMES + json.dumps(new) if new else ""


def _run(command: bytes, group: SlotGroup) -> str:
    """Runs one command over a worker's worlds; the problem in one line, or empty."""
    try:
        group.step() if command == STEP else group.reset()
    except UserError as error:
        return str(error)
    return ""


def _give_up(pipe: Connection, line: str) -> None:
    """Ends a worker with an overdue environment."""
    try:
        pipe.send_bytes(f"{LATE}{line}".encode())
    finally:
        os._exit(1)


def _stop(pipes: Sequence[Connection], processes: Sequence[Any]) -> None:
    for pipe in pipes:
        pipe.close()  # a worker ends when its pipe does
    for process in processes:
        process.join(2)
        if process.is_alive():
            process.kill()
            process.join(2)
