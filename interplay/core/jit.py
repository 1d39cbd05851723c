"""Compilation: `kernel` makes a compiled function that is cached on disk, `phase` one that is inlined into kernels.

Numba's own cache looks at the file of the compiled function, not at the helpers and constants that it uses: after
an edit of another file the old code would run. This cache names an entry by everything that was compiled into
it (`kernel_cache`, `docs/decisions/0002-kernel-cache.md`).

``NUMBA_DISABLE_JIT=1`` runs every kernel in plain Python, for the debugger.
"""

from __future__ import annotations

import gc
from collections import namedtuple
from collections.abc import Callable
from typing import Any, Literal, TypeVar, get_args, get_origin

import numba
import numpy as np
from numba.core import event

from interplay.core import shipped
from interplay.core.helping import HELPER
from interplay.core.kernel_cache import KernelCache, made_with
from interplay.core.phases import PhaseDispatcher
from interplay.core.processor import FixedDispatcher
from interplay.core.waiting import WAITING, thing_of


class _PauseCollector(event.Listener):
    """Pauses Python's garbage collector in compilations, which make millions of objects: a tenth of their time."""

    def __init__(self) -> None:
        self._depth = 0
        self._was_on = False

    def on_start(self, event: Any) -> None:
        if self._depth == 0:
            self._was_on = gc.isenabled()
            gc.disable()
        self._depth += 1

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if self._depth == 0 and self._was_on:
            gc.enable()


class _StartHelper(event.Listener):
    """A kernel that is compiled, and not for another one, gets a helper."""

    def __init__(self) -> None:
        self._depth = 0

    def on_start(self, event: Any) -> None:
        compiled = event.data["dispatcher"]
        if self._depth == 0 and isinstance(compiled._cache, KernelCache):
            HELPER.begin((compiled.py_func.__module__, compiled.py_func.__qualname__), compiled._cache.key)
        self._depth += 1

    def on_end(self, event: Any) -> None:
        self._depth -= 1


class _Report(event.Listener):
    """Reports compilations of our kernels that take long."""

    def on_start(self, event: Any) -> None:
        compiled = event.data["dispatcher"]
        if isinstance(compiled, FixedDispatcher):
            thing = WAITING.world or thing_of(compiled.py_func.__module__)
            WAITING.begin(thing, shipped.why_unfit(made_with()) or "")
        else:  # handlers that training passes to XLA, or functions of other packages
            WAITING.begin("")

    def on_end(self, event: Any) -> None:
        WAITING.end()


event.register("numba:compile", _PauseCollector())
event.register("numba:compile", _Report())
event.register("numba:compile", _StartHelper())

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS: dict[str, Any] = {"nopython": True, "boundscheck": None, "error_model": "numpy", "_nrt": False}


def kernel(function: F) -> F:
    """Compiles a function of scalars, records and NamedTuples of arrays; releases the GIL; caches the machine code.

    Kernels allocate nothing, so reference counting is off (``_nrt``): binding a row of an array to a name
    costs nothing. No fastmath: it would break bit-equality.
    """
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return function
    compiled: Any = FixedDispatcher(function, targetoptions={**_OPTIONS, "nogil": True})
    compiled._cache = KernelCache(function, repr(sorted(_OPTIONS.items())))
    kernel_of: F = compiled
    return kernel_of


def phase(function: F) -> F:
    """Compiles a function that only kernels call: inlined into its caller, without a wrapper for Python.

    For functions of a whole state: passing its arrays from function to function costs more than most
    phases do (`docs/decisions/0005-records-and-phases.md`).
    """
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return function
    inlined = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "forceinline": True}
    compiled: Any = PhaseDispatcher(function, targetoptions={**_OPTIONS, **inlined})
    phase_of: F = compiled
    return phase_of


def records(shape: int | tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """An empty table of records for kernels.

    Plain Python reads ``table[i].field`` only of a `numpy.recarray`, which Numba takes in ten times as slowly as an
    array: tables are recarrays under ``NUMBA_DISABLE_JIT`` alone.
    """
    return as_records(np.zeros(shape, dtype))


def as_records(table: np.ndarray) -> np.ndarray:
    """The same table as kernels may read it, compiled or not."""
    return table.view(np.recarray) if numba.config.DISABLE_JIT else table  # type: ignore[attr-defined]


def arrays_of(state: Any) -> dict[str, np.ndarray]:
    """Every field of a NamedTuple of arrays; a table's columns by themselves: ``"room.day"``, ``"role"``, ..."""
    arrays: dict[str, np.ndarray] = {}
    for name, array in state._asdict().items():
        if array.dtype.names:
            arrays |= {f"{name}.{field}": np.asarray(array[field]) for field in array.dtype.names}
        else:
            arrays[name] = array
    return arrays


def numbers_of(kind: Any, settings: Any, **own: Any) -> Any:
    """A NamedTuple `kind` of numbers for kernels: those of `own`, the rest from the settings of the same names."""
    return kind(*[own[name] if name in own else getattr(settings, name) for name in kind._fields])


def table_of(settings: Any, **own: Any) -> np.ndarray:
    """A table of one record (`as_table`): the settings' numbers and flags by their names, and the numbers of `own`.

    A choice (`Literal`) becomes its place among its choices. Settings of other types are left out.
    """
    numbers: dict[str, Any] = {}
    for name, field in type(settings).model_fields.items():
        kind, value = field.annotation, getattr(settings, name)
        if kind in (bool, int, float):
            numbers[name] = kind(value)
        elif get_origin(kind) is Literal:
            numbers[name] = get_args(kind).index(value)
    numbers |= own
    return as_table(namedtuple("Rules", numbers)(**numbers))


def as_table(numbers: Any) -> np.ndarray:
    """A NamedTuple of numbers, nested ones included, as a table of one record with the same names.

    A kernel gets a pointer to it: unpacking a tuple number by number costs more than many a kernel.
    """
    table = records(1, _record_type(numbers))
    for name, value in numbers._asdict().items():
        table[name] = tuple(value) if isinstance(value, tuple) else value
    return table


def _record_type(numbers: Any) -> np.dtype:
    return np.dtype(
        [
            (name, _record_type(value) if isinstance(value, tuple) else np.dtype(type(value)))
            for name, value in numbers._asdict().items()
        ],
        align=True,
    )
