"""The processes of a run on one machine: started together, watched, and ended together.

The first worker is the process that the user started; it keeps the log, commits checkpoints and hears the signals that ask to stop.
The others are spawned and do the same arithmetic on their own shards. Nobody outlives the first. When one is lost all others are
ended; what becomes of the run then is for `recovery` to say.
"""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from interplay.core.errors import UserError
from interplay.core.overdue import CURE, OVERDUE
from interplay.core.waiting import WAITING
from interplay.train.parallel.compilation import compilation
from interplay.train.parallel.exchange import Exchange, SharedMemory, SingleProcess, create_block
from interplay.train.parallel.heartbeat import Heart
from interplay.train.parallel.watch import GUARD, Watch
from interplay.train.run.room import memory_errors_as_user_errors

_TERMINAL = [number for name in ("SIGINT", "SIGHUP") if (number := getattr(signal, name, None))]
_ASKING = {*_TERMINAL, signal.SIGTERM}
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG


class Link(NamedTuple):
    """What a spawned worker needs to find the others."""

    block: str
    rank: int
    size: int
    capacity: int
    fences: Any
    pipe: Any
    parent: int


@contextlib.contextmanager
def worker_pool(
    workers: int, length: int, job: Callable[..., None], arguments: tuple[Any, ...]
) -> Iterator[Exchange]:
    """Starts the other workers and gives the first one's exchange; ends them when the block is left.

    Args:
        workers: in all, this process included.
        length: float32 numbers in the longest vector that is combined.
        job: importable function that a spawned worker runs: ``job(exchange, *arguments)``.
        arguments: for `job`; they travel to the new processes.

    Raises:
        LostWorker: from `Exchange.all_reduce` in the block, if a worker was lost.
        UserError: from there, as a worker told it.
    """
    if workers == 1:
        yield SingleProcess()
        return
    context = multiprocessing.get_context("spawn")
    capacity = max(-(-length * 4 // 64) * 64, 1 << 17)
    processes: list[Any] = []
    pipes: list[Any] = []
    timeout = 0.0  # whoever is left when the block failed is in the middle of something
    with _deaf_children():  # the tracker of shared memory begins with the first block
        block = create_block(workers, capacity)
    try:
        fences = [context.Lock() for _ in range(workers)]
        for rank in range(1, workers):
            mine, theirs = context.Pipe(duplex=False)
            link = Link(block.name, rank, workers, capacity, fences, theirs, os.getpid())
            # No daemon, which could not step environments in processes of its own; `_end` and `die_with_parent` end it.
            process = context.Process(
                target=_work, args=(link, job, arguments), daemon=False, name=f"worker-{rank}"
            )
            with _deaf_children():
                process.start()
            theirs.close()  # so that the pipe ends when the worker does
            processes.append(process)
            pipes.append(mine)
        exchange = SharedMemory(block.name, 0, workers, capacity, fences, Watch(processes, pipes))
        try:
            yield exchange
            timeout = 2.0
        finally:
            exchange.close()
    finally:
        _end(processes, timeout)
        block.close()
        block.unlink()


def check_main() -> None:
    """Refuses to train in a process that was started for somebody else and still imports the user's script.

    Raises:
        UserError: naming what the script lacks.
    """
    process = multiprocessing.current_process()
    if getattr(process, "_inheriting", False):
        raise UserError(
            f"{process.name} imports the script that trains, and would train anew; put what the script does under {GUARD}"
        )


@contextlib.contextmanager
def _deaf_children() -> Iterator[None]:
    """Processes that begin in the block hear no signal that asks to stop, until they say what they do with it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    earlier = signal.pthread_sigmask(signal.SIG_BLOCK, _ASKING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, earlier)


def _end(processes: list[Any], timeout: float) -> None:
    """Ends the others, also those that are frozen; within so many seconds they may end by themselves."""
    try:
        for process in processes:
            process.join(timeout=timeout)
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.join()


def _work(link: Link, job: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    """Body of a spawned worker."""
    _leave_signals_to_the_first()
    die_with_parent(link.parent)
    WAITING.quiet = True  # the first worker waits for the same, and tells
    OVERDUE.give_up = functools.partial(_give_up, link.pipe)
    exchange = SharedMemory(link.block, link.rank, link.size, link.capacity, link.fences)
    heart = Heart(exchange.signs[link.rank], compilation())
    try:
        with memory_errors_as_user_errors():
            job(exchange, *arguments)
    except UserError as error:
        link.pipe.send(("user", str(error)))
        raise SystemExit(2) from None
    except Exception:
        link.pipe.send(("fault", traceback.format_exc(limit=-4)))
        raise SystemExit(1) from None
    finally:
        heart.stop()
        exchange.close()


def _give_up(pipe: Any, line: str) -> None:
    """Ends a worker of which an environment does not come back."""
    try:
        pipe.send(("user", f"{line}; {CURE}"))
    finally:
        os._exit(2)


def _leave_signals_to_the_first() -> None:
    """The first worker hears the signals and tells the others when to stop.

    Programs that a world starts are as deaf to the terminal, and can be ended by SIGTERM.
    """
    for number in _TERMINAL:
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _nothing)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ASKING)


def _nothing(_number: int, _frame: Any) -> None:
    """A handler, because what is ignored stays ignored in programs that are started."""


def die_with_parent(parent: int) -> None:
    """Lets this process end when the first worker does, on Linux even while it is frozen."""
    threading.Thread(target=_wait_for_parent, daemon=True).start()
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


def _wait_for_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
