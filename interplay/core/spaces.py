"""Questions about gymnasium spaces: do these actions fit, how are leaves laid out."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core.errors import UserError


def check_action(owner: str, space: spaces.Space, action: Any, num_worlds: int, num_agents: int) -> Any:
    """Checks a batch of actions against the action space of one agent.

    Args:
        space: of ONE agent.
        action: (W, A, ...) or, for Dict spaces, a mapping of such arrays.

    Returns:
        The same actions as contiguous arrays of the space's dtype, in native byte order.

    Raises:
        ValueError: for a wrong shape, dtype, range or NaN, naming the thing, the value and the cure.
    """
    if isinstance(space, spaces.Dict):
        if not isinstance(action, Mapping) or set(action) != set(space.spaces):
            raise UserError(f"{owner}: actions must be a mapping with the keys {', '.join(space.spaces)}")
        return {
            key: check_action(f"{owner}, action {key}", part, action[key], num_worlds, num_agents)
            for key, part in space.spaces.items()
        }
    array = _native(owner, action)
    shape = (num_worlds, num_agents, *(space.shape or ()))
    if array.shape != shape:
        raise UserError(f"{owner}: actions have shape {array.shape}, expected {shape} (worlds, agents, ...)")
    if isinstance(space, spaces.Box):
        real = np.dtype(space.dtype).kind == "f"
        if array.dtype.kind not in ("fiu" if real else "iu"):
            raise UserError(
                f"{owner}: actions have dtype {array.dtype}, expected {space.dtype}; pass numbers of that type"
            )
        if real:  # before the range is checked, so that float64 1 + 1e-12 is 1 in a float32 space
            array = np.ascontiguousarray(array, space.dtype)
        bad = ~(np.isfinite(array) & (array >= space.low) & (array <= space.high))
        if bad.any():
            at = tuple(int(i) for i in np.argwhere(bad)[0])
            raise UserError(
                f"{owner}: action {array[at]} at index {at} is no number in [{space.low[at[2:]]}, {space.high[at[2:]]}]; clip it or fix the policy"
            )
        return np.ascontiguousarray(array, space.dtype)
    if array.dtype.kind not in "iub":
        raise UserError(
            f"{owner}: actions have dtype {array.dtype}, expected integers ({space.dtype}); cast them with .astype(int)"
        )
    low, count = _choices(space)
    if array.dtype.kind == "b":
        array = array.astype(np.int8)
    bad = _outside(array, low, count)
    if bad is not None and bad.any():
        at = tuple(int(i) for i in np.argwhere(bad)[0])
        start, top = (
            np.broadcast_to(low, space.shape or ())[at[2:]],
            np.broadcast_to(low + count - 1, space.shape or ())[at[2:]],
        )
        raise UserError(
            f"{owner}: action {array[at]} at index {at} is outside {start}..{top}; fix the policy"
        )
    return np.ascontiguousarray(array, space.dtype)


def _native(owner: str, action: Any) -> np.ndarray:
    """Actions as an array in this machine's byte order: what follows reads their bytes."""
    try:
        array = np.asarray(action)
    except ValueError:  # rows of unequal length
        raise UserError(
            f"{owner}: actions make no array, as their rows differ in length; pass as many of each"
        ) from None
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _outside(array: np.ndarray, low: np.ndarray, count: np.ndarray) -> np.ndarray | None:
    """Which elements (W, A, ...) are outside low .. low + count - 1; None if a single pass finds none."""
    if array.dtype.kind == "i" and array.flags.c_contiguous and array.size and not np.any(low):
        # Seen without a sign a negative number is a huge one: one comparison for both sides, over whole rows.
        rows = array.reshape(len(array), -1).view(f"u{array.dtype.itemsize}")
        bad = rows >= _ends(count.tobytes(), array.dtype.itemsize, rows.shape[1])
        return bad.reshape(array.shape) if bad.any() else None
    # No difference, which could wrap around.
    outside: np.ndarray = (array < low) | (array > low + (count - 1))
    return outside


@lru_cache(256)
def _ends(count: bytes, itemsize: int, columns: int) -> np.ndarray:
    """The number after the last choice of each element of a row, as unsigned integers of that many bytes; at most half their range."""
    most = np.minimum(np.frombuffer(count, np.int64).astype(np.uint64), np.uint64(1 << (8 * itemsize - 1)))
    return np.tile(most.astype(f"u{itemsize}"), columns // most.size)


def _choices(space: spaces.Space) -> tuple[np.ndarray, np.ndarray]:
    """First choice and number of choices of each element of an integer space."""
    if isinstance(space, spaces.Discrete):
        return np.int64(space.start), np.int64(space.n)  # type: ignore[return-value]
    if isinstance(space, spaces.MultiDiscrete):
        return np.asarray(space.start, np.int64), np.asarray(space.nvec, np.int64)
    if isinstance(space, spaces.MultiBinary):
        return np.int64(0), np.int64(2)  # type: ignore[return-value]
    raise UserError(
        f"{space}: this action space is not supported; use Discrete, MultiDiscrete, MultiBinary, Box or a Dict of those"
    )


def action_choices(space: spaces.Space) -> tuple[int, ...]:
    """Number of choices of each head of an integer action space: Discrete(5) -> (5,), MultiBinary(2) -> (2, 2)."""
    _, count = _choices(space)
    shape = space.shape or ()
    return tuple(int(n) for n in np.broadcast_to(count, shape).reshape(-1)) if shape else (int(count),)


def sample_actions(space: spaces.Space, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Uniform actions for a batch: arrays of shape (*shape, *space.shape).

    Unbounded sides of a Box are sampled within [-1, 1], or within 1 of the other bound where that lies beyond.
    """
    if isinstance(space, spaces.Dict):
        return {key: sample_actions(part, rng, shape) for key, part in space.spaces.items()}
    full = (*shape, *(space.shape or ()))
    if isinstance(space, spaces.Box):
        below, above = np.isfinite(space.low), np.isfinite(space.high)
        low = np.where(below, space.low, np.where(above, np.minimum(space.high - 1.0, -1.0), -1.0))
        high = np.where(above, space.high, np.where(below, np.maximum(space.low + 1.0, 1.0), 1.0))
        if np.dtype(space.dtype).kind in "iu":
            return rng.integers(low, high, full, endpoint=True).astype(space.dtype)
        return rng.uniform(low, high, full).astype(space.dtype)
    low, count = _choices(space)
    return (low + rng.integers(0, count, full)).astype(space.dtype)
