"""Compiled handlers of XLA's foreign function interface: functions that compiled JAX programs call.

A handler takes one number, the address of XLA's call frame, and reads its words and buffers with the functions here. The
layout of the frame is that of ``xla/ffi/api/c_api.h``, which XLA keeps stable.
"""

from __future__ import annotations

import contextlib
import ctypes
import sys
from collections.abc import Callable, Iterator
from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np
from llvmlite import ir
from numba import carray, types
from numba.core import cgutils
from numba.core.ccallback import CFunc
from numba.extending import intrinsic

from interplay.core.kernel_cache import KernelCache

__all__ = [
    "NAP",
    "argument",
    "capsule",
    "carray",
    "load_acquire",
    "plain",
    "pointer",
    "result",
    "sleep",
    "store_release",
    "tells_version",
    "words",
]

_METADATA = 1  # the extension with which XLA queries a handler's version
_keep: list[Any] = []  # compiled handlers live as long as the process

if sys.platform == "win32":  # with a resolution of milliseconds; 0 yields the processor
    _sleep, NAP = ctypes.windll.kernel32.Sleep, 0
else:
    _sleep, NAP = ctypes.CDLL(None).usleep, 20  # microseconds
# By a name, which cached code finds again in every process.
llvm.add_symbol("interplay_sleep", ctypes.cast(_sleep, ctypes.c_void_p).value)
sleep: Any = types.ExternalFunction("interplay_sleep", types.int32(types.uint32))


def _pointer(_context: Any, _address: Any) -> Any:
    """A number as the pointer that `carray` takes."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(types.intp), generate


def _load_acquire(_context: Any, _address: Any) -> Any:
    """An int64 that another process writes; what it wrote before is seen after it."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.load_atomic(builder.inttoptr(arguments[0], ir.IntType(64).as_pointer()), "acquire", 8)

    return types.int64(types.intp), generate


def _store_release(_context: Any, _address: Any, _value: Any) -> Any:
    """Writes an int64 for another process; a reader that sees it also sees all earlier writes."""

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        target = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
        builder.store_atomic(arguments[1], target, "release", 8)
        return context.get_dummy_value()

    return types.void(types.intp, types.int64), generate


@contextlib.contextmanager
def _compiling() -> Iterator[None]:
    """Compiles also where ``NUMBA_DISABLE_JIT`` keeps kernels in Python, which XLA could not call."""
    earlier = numba.config.DISABLE_JIT  # type: ignore[attr-defined]
    numba.config.DISABLE_JIT = 0  # type: ignore[attr-defined]
    try:
        yield
    finally:
        numba.config.DISABLE_JIT = earlier  # type: ignore[attr-defined]


def plain(function: Any) -> Any:
    """A function that handlers call."""
    with _compiling():
        return numba.njit(function, error_model="numpy")


pointer: Any = intrinsic(_pointer)
load_acquire: Any = intrinsic(_load_acquire)
store_release: Any = intrinsic(_store_release)


@plain
def words(address: int, count: int) -> np.ndarray:
    """(count,) int64, the words at an address."""
    return carray(pointer(address), count, np.int64)


@plain
def tells_version(frame: int) -> bool:
    """Answers XLA's question for a handler's version, if this call is that question."""
    call = words(frame, 3)
    if call[1] == 0 or words(call[1], 2)[1] & 0xFFFFFFFF != _METADATA:
        return False
    ours = carray(pointer(words(call[1], 4)[3] + 24), 2, np.int32)
    theirs = carray(pointer(call[2] + 32), 2, np.int32)
    ours[0], ours[1] = theirs[0], theirs[1]
    return True


@plain
def argument(frame: int, number: int) -> tuple[int, int]:
    """Address and length (of its first axis) of an argument's data."""
    return _buffer(words(frame, 15)[9], number)


@plain
def result(frame: int, number: int) -> tuple[int, int]:
    """Address and length (of its first axis) of a result's data."""
    return _buffer(words(frame, 15)[14], number)


@plain
def _buffer(buffers: int, number: int) -> tuple[int, int]:
    buffer = words(words(buffers, number + 1)[number], 6)
    return buffer[3], words(buffer[5], 1)[0]


def capsule(handler: Callable[[int], int]) -> Any:
    """A handler compiled, or found in the cache of kernels, as `jax.ffi.register_ffi_target` takes it."""
    options = {"error_model": "numpy"}
    with _compiling():
        compiled: Any = CFunc(handler, ((types.intp,), types.intp), {}, options)
        compiled._cache = KernelCache(handler, f"handler {options}")
        compiled.compile()
    _keep.append(compiled)
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return make(compiled.address, None, None)
