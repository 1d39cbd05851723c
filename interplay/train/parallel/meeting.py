"""Adds up the workers' vectors over shared memory inside a compiled program, without Python.

Seats, counters and the order of the sum are those of `exchange.SharedMemory`, so one worker may meet in the program and another in
Python. If a worker waits too long, the program returns, and Python checks the others (`watch`) and finishes the meeting.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from interplay.core.foreign import (
    NAP,
    argument,
    capsule,
    carray,
    load_acquire,
    plain,
    pointer,
    result,
    sleep,
    store_release,
    tells_version,
    words,
)

MOST = 64  # workers that add up in the program; more meet in Python
LINE = 8  # words of a worker's line in the block, its counter first
_FORM, _DTYPES = 4, 3  # as of `exchange`
_SPINS = 20_000  # polls before sleeping: about 200 microseconds
_NAPS = 5_000  # sleeps before returning to Python: about 0.3 seconds on Linux

# Words of a place: address of the block, and its layout as in `exchange.SharedMemory`.
BLOCK, RANK, SIZE, CAPACITY, HEADER, TOTAL = range(6)


def meet(vector: jax.Array, place: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The tree sum of all workers' vectors.

    Args:
        vector: (n,) float32, of this worker.
        place: (6, 2) int32, the words of this worker's place, each in two halves.

    Returns:
        (n,) float32 and True; or anything and False if others are late, and `exchange.Exchange.finish` has to wait for them.
    """
    _register()
    call = jax.ffi.ffi_call(
        "interplay_meet",
        (jax.ShapeDtypeStruct(vector.shape, jnp.float32), jax.ShapeDtypeStruct((1,), jnp.int32)),
        has_side_effect=True,
    )
    total, came = call(vector, place)
    return total, came[0] > 0


def place_of(words: list[int]) -> np.ndarray:
    """Converts the words of a place for `meet`."""
    return np.array(words, np.int64).view(np.int32).reshape(-1, 2)


@plain
def _copy(given: Any, out: Any) -> None:
    """Copies in a loop, because Numba compiles an assignment to a slice for two seconds."""
    for i in range(len(given)):
        out[i] = given[i]


@plain
def _seat(place: Any, rank: int, turn: int, count: int) -> Any:
    """The (count,) numbers of a worker's seat; each worker has two, used in turn."""
    start = place[HEADER] + (2 * rank + turn % 2) * place[CAPACITY]
    return carray(pointer(place[BLOCK] + start), count, np.float32)


@plain
def _arrive(place: Any, turn: int, vector: Any) -> None:
    """Writes this worker's vector into its seat, and its form (`exchange.FORM`), then its counter."""
    _copy(vector, _seat(place, place[RANK], turn, len(vector)))
    words(place[BLOCK] + place[RANK] * LINE * 8, LINE)[_FORM] = len(vector) * 4 * _DTYPES
    store_release(place[BLOCK] + place[RANK] * LINE * 8, turn)


@plain
def _wait(place: Any, turn: int) -> bool:
    """Waits for all counters; False if one is late for too long."""
    looks = _SPINS if place[TOTAL] >= 0 else 0  # a relay needs this processor
    for rank in range(place[SIZE]):
        while load_acquire(place[BLOCK] + rank * LINE * 8) < turn:
            looks += 1
            if looks > _SPINS:
                if looks > _SPINS + _NAPS:
                    return False
                sleep(NAP)
    return True


@plain
def _add_few(place: Any, turn: int, out: Any) -> None:
    """The tree sum over two, four or eight seats."""
    n, size = len(out), place[SIZE]
    a, b = _seat(place, 0, turn, n), _seat(place, 1, turn, n)
    if size == 2:
        for i in range(n):
            out[i] = a[i] + b[i]
        return
    c, d = _seat(place, 2, turn, n), _seat(place, 3, turn, n)
    if size == 4:
        for i in range(n):
            out[i] = (a[i] + b[i]) + (c[i] + d[i])
        return
    e, f = _seat(place, 4, turn, n), _seat(place, 5, turn, n)
    g, h = _seat(place, 6, turn, n), _seat(place, 7, turn, n)
    for i in range(n):
        out[i] = ((a[i] + b[i]) + (c[i] + d[i])) + ((e[i] + f[i]) + (g[i] + h[i]))


@plain
def _add_sixteen(place: Any, rank: int, turn: int, out: Any, adds: bool) -> None:
    """Writes the tree sum of sixteen neighbours into `out`, or adds it."""
    n = len(out)
    a, b = _seat(place, rank, turn, n), _seat(place, rank + 1, turn, n)
    c, d = _seat(place, rank + 2, turn, n), _seat(place, rank + 3, turn, n)
    e, f = _seat(place, rank + 4, turn, n), _seat(place, rank + 5, turn, n)
    g, h = _seat(place, rank + 6, turn, n), _seat(place, rank + 7, turn, n)
    p, q = _seat(place, rank + 8, turn, n), _seat(place, rank + 9, turn, n)
    r, s = _seat(place, rank + 10, turn, n), _seat(place, rank + 11, turn, n)
    t, u = _seat(place, rank + 12, turn, n), _seat(place, rank + 13, turn, n)
    v, w = _seat(place, rank + 14, turn, n), _seat(place, rank + 15, turn, n)
    for i in range(n):
        first = ((a[i] + b[i]) + (c[i] + d[i])) + ((e[i] + f[i]) + (g[i] + h[i]))
        second = ((p[i] + q[i]) + (r[i] + s[i])) + ((t[i] + u[i]) + (v[i] + w[i]))
        out[i] = out[i] + (first + second) if adds else first + second


@plain
def _add(place: Any, turn: int, out: Any) -> None:
    """The tree sum over all seats: neighbours, then neighbouring pairs, as `exchange.tree_sum`."""
    size = place[SIZE]
    if size <= 8:
        _add_few(place, turn, out)
        return
    _add_sixteen(place, 0, turn, out, False)
    if size > 16:
        _add_sixteen(place, 16, turn, out, True)
    if size > 32:
        # Scratch: this seat's last vector was read by all, and its next one is not written yet.
        half = _seat(place, place[RANK], turn + 1, len(out))
        _add_sixteen(place, 32, turn, half, False)
        _add_sixteen(place, 48, turn, half, True)
        for i in range(len(out)):
            out[i] = out[i] + half[i]


def _meet(frame: int) -> int:
    """The handler: inputs are vector and place, results total and whether all workers came."""
    if tells_version(frame):
        return 0
    given, count = argument(frame, 0)
    vector = carray(pointer(given), count, np.float32)
    place = words(argument(frame, 1)[0], 6)
    out = carray(pointer(result(frame, 0)[0]), count, np.float32)
    came = carray(pointer(result(frame, 1)[0]), 1, np.int32)
    came[0] = 1
    if place[SIZE] == 1:
        _copy(vector, out)
        return 0
    turn = load_acquire(place[BLOCK] + place[RANK] * LINE * 8) + 1
    _arrive(place, turn, vector)
    relayed = place[TOTAL] >= 0
    if (place[SIZE] > MOST and not relayed) or not _wait(place, turn):
        came[0] = 0
        _copy(vector, out)
    elif relayed:
        _copy(_seat(place, place[TOTAL], turn, count), out)
    else:
        _add(place, turn, out)
    return 0


def _register() -> None:
    """Registers the handler with XLA, once for each process."""
    global _known
    if not _known:
        jax.ffi.register_ffi_target("interplay_meet", capsule(_meet), platform="cpu", api_version=1)
        _known = True


_known = False
