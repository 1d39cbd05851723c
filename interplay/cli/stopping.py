"""The end of a verb that a signal stopped: what can be saved is saved, and the exit code is 128 + the signal's number."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator

import typer

EXIT_CODES = tuple(
    128 + number for name in ("SIGHUP", "SIGINT", "SIGTERM") if (number := getattr(signal, name, None))
)


@contextlib.contextmanager
def signals_as_exit_codes() -> Iterator[None]:
    """SIGTERM and SIGHUP end the block as Ctrl-C does; work in `core.stopping.finishing` is finished and saved before.

    Raises:
        typer.Exit: with 128 + the number of the signal, also if the block came to a good end after it.
    """
    from interplay.core.stopping import Stopped, listening

    with listening() as stop:
        try:
            yield
        except Stopped as stopped:
            raise typer.Exit(128 + stopped.number) from None
        except OSError:
            if not stop:
                raise
            let_go()
        if stop.number is not None:
            raise typer.Exit(128 + stop.number)


def let_go() -> None:
    """Discards further output: a terminal that is gone must not change the exit code."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            os.dup2(nowhere, stream.fileno())


def leave(workers: tuple[str, ...], patience: float = 2.0, status: int = 0) -> None:
    """Ends the process at once, with a status, where threads still compute after a moment; else it does nothing.

    Python takes its daemon threads away when it ends. One that is inside compiled code then brings the process down with
    "terminate called" and a core, and a compilation, which takes up to a minute, cannot be interrupted.

    Args:
        workers: what the names of these threads begin with.
        patience: seconds that they have.
    """
    threads = [thread for thread in threading.enumerate() if thread.name.startswith(workers)]
    until = time.monotonic() + patience
    for thread in threads:
        thread.join(max(until - time.monotonic(), 0))
    if any(thread.is_alive() for thread in threads):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            sys.stdout.flush()
        os._exit(status)
