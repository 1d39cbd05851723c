"""Measures when this process compiles, so that a long compilation is not taken for a lost worker."""

from __future__ import annotations

import threading
import time
from functools import cache
from typing import Any

from interplay.core import jit
from interplay.core.waiting import TRAINING, WAITING

_STEPS = "/jax/core/compile/"  # prefix of jax's events of tracing, lowering and compiling
_XLA = f"{_STEPS}backend_compile_duration"  # short if the program is in the cache


class Compilation:
    """The compilations of this process, of jax's programs and worlds' kernels.

    Attributes:
        depth: running compilations, one inside another.
        ended: `time.monotonic` of the end of the last one.
        seconds: in all.
    """

    def __init__(self) -> None:
        self.depth = 0
        self.ended = self.seconds = 0.0
        self._began = 0.0
        self._lock = threading.Lock()

    @property
    def busy(self) -> bool:
        """Whether a compilation is running."""
        return self.depth > 0

    def begin(self) -> None:
        """A compilation begins."""
        with self._lock:
            if self.depth == 0:
                self._began = time.monotonic()
            self.depth += 1

    def end(self) -> None:
        """The last one that began ends."""
        with self._lock:
            if self.depth == 0:
                return
            self.depth -= 1
            if self.depth == 0:
                self.ended = time.monotonic()
                self.seconds += self.ended - self._began


class _Kernels(jit.event.Listener):
    """Numba's compilations."""

    def __init__(self, compilation: Compilation) -> None:
        self._compilation = compilation

    def on_start(self, event: Any) -> None:
        self._compilation.begin()

    def on_end(self, event: Any) -> None:
        self._compilation.end()


@cache
def compilation() -> Compilation:
    """The compilations of this process, measured from the first call on."""
    from jax import monitoring

    found = Compilation()

    def begin(event: str, value: float, **_: Any) -> None:
        if event.startswith(_STEPS):
            found.begin()
        if event == _XLA:
            WAITING.begin(TRAINING)

    def end(event: str, duration_secs: float, **_: Any) -> None:
        if event.startswith(_STEPS):
            found.end()
        if event == _XLA:
            WAITING.end()

    monitoring.register_scalar_listener(begin)
    monitoring.register_event_duration_secs_listener(end)
    jit.event.register("numba:compile", _Kernels(found))
    return found
