"""The worker processes of a run: started together, watched, and ended together.

The first worker is the user's process; it writes the log and checkpoints and handles signals. The others are spawned and do the same
arithmetic on their own shards. None outlives the first. If one is lost all others are ended, and `supervision` decides how to go on.
"""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import os
import signal
import threading
import traceback
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from interplay.core.errors import UserError
from interplay.core.overdue import CURE, OVERDUE
from interplay.core.processes import exit_with_parent
from interplay.core.waiting import WAITING
from interplay.train.parallel.compilation import compilation
from interplay.train.parallel.exchange import Exchange, Heart, SharedMemory, SingleProcess, create_block
from interplay.train.parallel.machines import AcrossMachines, Machines, Network, Relay
from interplay.train.parallel.watch import GUARD, Watch
from interplay.train.run.room import memory_errors_as_user_errors

_TERMINAL = [number for name in ("SIGINT", "SIGHUP") if (number := getattr(signal, name, None))]
_ASKING = {*_TERMINAL, signal.SIGTERM}


class Link(NamedTuple):
    """The data that a spawned worker needs to join the others."""

    block: str
    rank: int
    size: int
    capacity: int
    fences: Any
    pipe: Any
    parent: int
    machines: Machines | None


@contextlib.contextmanager
def worker_pool(
    workers: int,
    length: int,
    job: Callable[..., None],
    arguments: tuple[Any, ...],
    network: Network | None = None,
) -> Iterator[Exchange]:
    """Starts the other workers, yields the first one's exchange, and ends them at the end of the block.

    Args:
        workers: number on this machine, including this process.
        length: float32 numbers in the longest combined vector.
        job: importable function that a spawned worker runs: ``job(exchange, *arguments)``.
        arguments: for `job`, pickled.
        network: to the other machines; None: there are none.

    Raises:
        LostWorker: from `Exchange.all_reduce` in the block, if a worker was lost.
        UserError: from there, sent by a worker.
    """
    if workers == 1 and network is None:
        yield SingleProcess()
        return
    context = multiprocessing.get_context("spawn")
    machines = network.machines if network is not None else None
    capacity = max(-(-length * 4 // 64) * 64, 1 << 17)
    processes: list[Any] = []
    pipes: list[Any] = []
    timeout = 0.0  # after an error in the block the others are not waited for
    with _block_signals_in_children():  # the resource tracker of shared memory starts with the first block
        block = create_block(workers + (machines is not None), capacity)
    try:
        fences: list[Any] = [context.Lock() if workers > 1 else threading.Lock() for _ in range(workers)]
        for rank in range(1, workers):
            mine, theirs = context.Pipe(duplex=False)
            link = Link(block.name, rank, workers, capacity, fences, theirs, os.getpid(), machines)
            # Not a daemon, which may not start child processes for environments; `_end` and `exit_with_parent` end it.
            process = context.Process(
                target=_work, args=(link, job, arguments), daemon=False, name=f"worker-{rank}"
            )
            with _block_signals_in_children():
                process.start()
            theirs.close()  # so that the pipe closes when the worker ends
            processes.append(process)
            pipes.append(mine)
        relayed = network is not None
        local = SharedMemory(block.name, 0, workers, capacity, fences, Watch(processes, pipes), relayed)
        exchange = (
            local if network is None else AcrossMachines(local, network.machines, Relay(local, network))
        )
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
    """Refuses to train in a spawned process that is still importing the user's script."""
    process = multiprocessing.current_process()
    if getattr(process, "_inheriting", False):
        raise UserError(
            f"{process.name} imports the script that trains, and would train anew; put what the script does under {GUARD}"
        )


@contextlib.contextmanager
def _block_signals_in_children() -> Iterator[None]:
    """Blocks stop signals in processes that start in the block, until they set their handlers."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    earlier = signal.pthread_sigmask(signal.SIG_BLOCK, _ASKING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, earlier)


def _end(processes: list[Any], timeout: float) -> None:
    """Ends the other workers, also frozen ones, after `timeout` seconds for their own end."""
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
    _ignore_signals()
    exit_with_parent(link.parent)
    WAITING.quiet = True  # the first worker prints the same line
    OVERDUE.give_up = functools.partial(_give_up, link.pipe)
    relayed = link.machines is not None
    local = SharedMemory(link.block, link.rank, link.size, link.capacity, link.fences, relayed=relayed)
    exchange = local if link.machines is None else AcrossMachines(local, link.machines, None)
    heart = Heart(local.signs[link.rank], compilation())
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
    """Ends a worker with an environment that hangs."""
    try:
        pipe.send(("user", f"{line}; {CURE}"))
    finally:
        os._exit(2)


def _ignore_signals() -> None:
    """Ignores stop signals, because the first worker handles them.

    Programs that a world starts also ignore the terminal's signals, and can be ended by SIGTERM.
    """
    for number in _TERMINAL:
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _nothing)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ASKING)


def _nothing(_number: int, _frame: Any) -> None:
    """Does nothing; unlike SIG_IGN, a handler is not inherited by programs that are started."""
