"""The processes of a run on one machine: started together, watched, and ended together.

The first worker is the process that the user started; it keeps the log and commits checkpoints. The others are
spawned and do the same arithmetic on their own shards. Nobody outlives the first, and when one is lost the run stops
with a line that says which and how to go on.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
import traceback
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from interplay.core.errors import UserError
from interplay.train.exchange import Alone, Exchange, LostWorker, SharedMemory, create_block

FIRST_PATIENCE = 600.0  # seconds of silence allowed while programs compile
LEAST_PATIENCE = 30.0  # later: ten updates, and at least this


class Link(NamedTuple):
    """What a spawned worker needs to find the others."""

    block: str
    rank: int
    size: int
    capacity: int
    fences: Any
    pipe: Any


class Patience:
    """How long silence is taken for work: ten of the last updates, and long while things are compiled."""

    def __init__(self) -> None:
        self.update_seconds: float | None = None

    def __call__(self) -> float:
        if self.update_seconds is None:
            return FIRST_PATIENCE
        return max(LEAST_PATIENCE, 10 * self.update_seconds)


@contextlib.contextmanager
def crew(
    workers: int, length: int, job: Callable[..., None], arguments: tuple[Any, ...], patience: Patience
) -> Iterator[Exchange]:
    """Starts the other workers and gives the first one's exchange; ends them when the block is left.

    Args:
        workers: in all, this process included.
        length: float32 numbers in the longest vector that is combined.
        job: importable function that a spawned worker runs: ``job(exchange, patience, *arguments)``.
        arguments: for `job`; they travel to the new processes.
        patience: of the first worker.

    Raises:
        UserError: from `Exchange.combine` in the block, if a worker was lost.
    """
    if workers == 1:
        yield Alone()
        return
    context = multiprocessing.get_context("spawn")
    capacity = max(-(-length * 4 // 64) * 64, 1 << 17)
    block = create_block(workers, capacity)
    fences = [context.Lock() for _ in range(workers)]
    processes, pipes = [], []
    try:
        for rank in range(1, workers):
            mine, theirs = context.Pipe(duplex=False)
            link = Link(block.name, rank, workers, capacity, fences, theirs)
            process = context.Process(
                target=_work, args=(link, job, arguments), daemon=True, name=f"worker-{rank}"
            )
            process.start()
            theirs.close()  # so that the pipe ends when the worker does
            processes.append(process)
            pipes.append(mine)
        exchange = SharedMemory(
            block.name, 0, workers, capacity, fences, lambda: _refuse_lost(processes, pipes), patience
        )
        try:
            yield exchange
        except LostWorker as error:
            raise UserError(f"{error}; the run has stopped") from None
        finally:
            exchange.close()
    finally:
        _end(processes)
        block.close()
        block.unlink()


def _refuse_lost(processes: list[Any], pipes: list[Any]) -> None:
    """Raises if a worker has ended; called while the first one waits."""
    for rank, (process, pipe) in enumerate(zip(processes, pipes, strict=True), start=1):
        if process.is_alive():
            continue
        with contextlib.suppress(EOFError, OSError):
            if pipe.poll():
                kind, text = pipe.recv()
                raise (
                    UserError(text)
                    if kind == "user"
                    else LostWorker(f"worker {rank} failed:\n{text.rstrip()}\n")
                )
        code = process.exitcode or 0
        how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        raise LostWorker(f"worker {rank} (process {process.pid}) {how}")


def _end(processes: list[Any]) -> None:
    for process in processes:
        process.join(timeout=2.0)
        if process.is_alive():
            process.kill()
            process.join()


def _work(link: Link, job: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    """Body of a spawned worker."""
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # the first worker hears Ctrl-C and tells the others when to stop
    threading.Thread(target=_die_with_parent, daemon=True).start()
    patience = Patience()
    exchange = SharedMemory(
        link.block, link.rank, link.size, link.capacity, link.fences, lambda: None, lambda: float("inf")
    )
    try:
        job(exchange, patience, *arguments)
    except UserError as error:
        link.pipe.send(("user", str(error)))
        raise SystemExit(2) from None
    except Exception:
        link.pipe.send(("fault", traceback.format_exc(limit=-4)))
        raise SystemExit(1) from None
    finally:
        exchange.close()


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
