"""Observations as flat rows, one array per dtype: few arrays to store, transfer and cut.

Rows hold a leaf of Discrete or MultiDiscrete as its numbers. Flat networks read one-hots of them, or embeddings if there are many
values (`find_names`). Leaves of MultiBinary are 0 and 1 already.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.train.networks.entities import find_layout
from interplay.train.networks.flat import Embedded, OneHot, is_picture
from interplay.train.settings import NetworkGroup
from interplay.train.step_kernels import copy_runs

Rows = dict[str, np.ndarray]  # name of a dtype -> (N, numbers)


OFFSET_LEAST = 10.0  # means nearer to 0 are not reported
LINE = 64  # bytes; XLA reads arrays aligned to it in place, and copies others


def zeros(shape: tuple[int, ...], dtype: Any = np.float32) -> np.ndarray:
    """Zeros that compiled programs read in place."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    data = np.zeros(size + LINE, np.uint8)
    start = -data.ctypes.data % LINE
    return data[start : start + size].view(dtype).reshape(shape)


class _Place(NamedTuple):
    """A leaf's dtype, its columns in that array, and its shape for one agent."""

    dtype: str
    columns: slice
    shape: tuple[int, ...]


class ObservationRows:
    """Lays the leaves of an observation space side by side, those of one dtype in one array.

    Leaves keep their dtypes, so bytes take a quarter of float32. 64-bit leaves become 32-bit as in JAX; integers with bounds
    beyond 32 bits become float32.

    Args:
        space: of one agent; a Dict of array leaves.
        scale: map bounded numbers from [low, high] to [-1, 1].
        raw: give leaves to the network in their own dtypes; else as float32.
        names: leaves to encode (`discrete_leaves`).
        pictures: scale pictures even without `scale`; raw ones stay bytes.

    Attributes:
        widths: name of a dtype -> numbers per row.

    Example:
        >>> ObservationRows(spaces.Dict(zone=spaces.Box(-1, 1, (6,)), others=spaces.Box(-1, 1, (3, 8)))).widths
        {'float32': 30}
    """

    def __init__(
        self,
        space: spaces.Dict,
        scale: bool = False,
        raw: bool = False,
        names: Mapping[str, Names] | None = None,
        pictures: bool = False,
    ) -> None:
        self._names = names or {}
        self.space, self._raw = space, raw and not scale
        self._places: dict[str, _Place] = {}
        self.widths: dict[str, int] = {}
        for key, part in space.spaces.items():
            if part.shape is None or isinstance(part, spaces.Dict | spaces.Tuple):
                raise UserError(
                    f"observation {key} is a {type(part).__name__}; the trainer reads array leaves, flatten it into Box leaves"
                )
            dtype, size = _narrow(part), math.prod(part.shape)
            at = self.widths.get(dtype, 0)
            self._places[key] = _Place(dtype, slice(at, at + size), part.shape)
            self.widths[dtype] = at + size
        scaled = scale or (pictures and not raw)
        self._bounds = {
            key: _bounds(part) for key, part in space.spaces.items() if scaled and (scale or is_picture(part))
        }

    def allocate(self, *rows: int) -> Rows:
        """Zeros of shape (*rows, width)."""
        return {dtype: zeros((*rows, width), dtype) for dtype, width in self.widths.items()}

    def write(self, observation: Mapping[str, np.ndarray], index: np.ndarray | None, out: Rows) -> None:
        """Copies agents' observations into rows.

        Args:
            observation: key -> (W, A, ...) or (N, ...) with as many leading axes for every key.
            index: (n,) places among the flattened agents; None: all of them, in order.
            out: arrays of n rows.
        """
        for key, (dtype, columns, _) in self._places.items():
            if columns.stop > columns.start:
                leaf = np.asarray(observation[key]).reshape(-1, columns.stop - columns.start)
                out[dtype][:, columns] = leaf if index is None else leaf[index]

    @property
    def places(self) -> dict[str, tuple[str, slice]]:
        """Dtype and columns of each leaf that is not empty."""
        places = self._places.items()
        return {key: (dtype, columns) for key, (dtype, columns, _) in places if columns.stop > columns.start}

    def read(self, rows: Mapping[str, jax.Array]) -> dict[str, jax.Array]:
        """Converts rows of B agents to a network's input: key -> (B, ...)."""
        return self.shown(
            {
                key: rows[dtype][:, columns].reshape(-1, *shape)
                for key, (dtype, columns, shape) in self._places.items()
            }
        )

    def shown(self, observation: Mapping[str, jax.Array]) -> dict[str, jax.Array]:
        """Converts leaves (B, ...) in their stored dtypes to a network's input."""
        leaves = {}
        for key, leaf in observation.items():
            if key in self._names:
                leaves[key] = encode(leaf, self._names[key])
                continue
            if not self._raw:
                leaf = leaf.astype(jnp.float32)
            if key in self._bounds:
                middle, half = self._bounds[key]
                leaf = (leaf - middle) / half
            leaves[key] = leaf
        return leaves

    def dtype_of(self, key: str) -> str:
        """The stored dtype of a leaf."""
        return self._places[key].dtype

    def extremes(self, rows: Rows) -> dict[str, tuple[np.ndarray, ...]]:
        """Minimum and maximum of each column of a network's input, and the mean in deviations (`_offset`).

        Empty and encoded leaves, and integers that a network reads raw, are left out.
        """
        found: dict[str, tuple[np.ndarray, ...]] = {}
        for key, (dtype, columns, _) in self._places.items():
            if columns.stop == columns.start or key in self._names or (self._raw and dtype[0] != "f"):
                continue
            part = rows[dtype][:, columns]
            low, high = part.min(axis=0).astype(np.float64), part.max(axis=0).astype(np.float64)
            if key in self._bounds:
                middle, half = (np.ravel(bound) for bound in self._bounds[key])
                low, high = (low - middle) / half, (high - middle) / half
                part = (part - middle) / half
            found[key] = (low, high, _offset(part, high > low))
        return found

    def widest(self, rows: Rows) -> dict[str, float]:
        """The widest range of a column of each leaf that has columns, as the world writes it."""
        places = {key: rows[dtype][:, columns] for key, (dtype, columns, _) in self._places.items()}
        return {
            key: float((part.max(axis=0).astype(np.float64) - part.min(axis=0)).max())
            for key, part in places.items()
            if part.shape[1]
        }

    def sums(self, rows: Rows, keys: Sequence[str], boxed: np.ndarray) -> np.ndarray:
        """Number of rows, sums and sums of squares of a network's input.

        Args:
            rows: n of one population.
            keys: of the leaves, in the order of the result.
            boxed: (numbers,) bool, the numbers to sum; the others, and encoded leaves, are 0.

        Returns:
            (1 + 2 numbers,) float64.
        """
        found, at = np.zeros((2, len(boxed))), 0
        for key in keys:
            dtype, columns, shape = self._places[key]
            if key in self._names:
                at += self._names[key].width
                continue
            own = slice(at, at + math.prod(shape))
            at = own.stop
            if boxed[own].any():
                part = rows[dtype][:, columns].astype(np.float64)
                if key in self._bounds:
                    middle, half = (np.ravel(bound) for bound in self._bounds[key])
                    part = (part - middle) / half
                found[:, own] = part.sum(axis=0), np.einsum("ij,ij->j", part, part)
        count = len(next(iter(rows.values()), ()))
        return np.concatenate([[count], *found])

    def name_bad(self, rows: Rows, which: slice) -> str | None:
        """The first leaf of some rows with NaN or infinity, e.g. ``observation["zone"]``, or None."""
        if all(dtype[0] != "f" or np.isfinite(array[which]).all() for dtype, array in rows.items()):
            return None
        for key, (dtype, columns, _) in self._places.items():
            if dtype[0] == "f" and not np.isfinite(rows[dtype][which, columns]).all():
                return f'observation["{key}"]'
        return None


def _offset(part: np.ndarray, varies: np.ndarray) -> np.ndarray:
    """|mean| / deviation of each column; 0 for constant columns and means within `OFFSET_LEAST`."""
    mean, deviation = part.mean(axis=0, dtype=np.float64), part.std(axis=0, dtype=np.float64)
    return np.where(varies & (np.abs(mean) > OFFSET_LEAST), np.abs(mean) / np.maximum(deviation, 1e-30), 0.0)


def _narrow(part: spaces.Space[Any]) -> str:
    """The stored dtype of a leaf: JAX's 32-bit one, and float32 for integers beyond 32 bits."""
    name = np.dtype(part.dtype or np.float32).name
    narrow = {"float64": "float32", "int64": "int32", "uint64": "uint32"}.get(name, name)
    if narrow != name and narrow != "float32":
        low, high = _sides(part)
        held = np.iinfo(narrow)
        if low.min(initial=0) < held.min or high.max(initial=0) > held.max:
            return "float32"
    return narrow


def _bounds(part: Any) -> tuple[np.ndarray, np.ndarray]:
    """Middle and half width of every number of a leaf, float32; 0 and 1 if not bounded on both sides."""
    low, high = _sides(part)
    bounded = np.isfinite(low) & np.isfinite(high) & (high > low)
    with np.errstate(invalid="ignore", over="ignore"):
        middle, half = np.where(bounded, (low + high) / 2, 0.0), np.where(bounded, (high - low) / 2, 1.0)
    return middle.astype(np.float32), half.astype(np.float32)


def _sides(part: Any) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper bound of each number of a leaf, float64."""
    if isinstance(part, spaces.Box):
        return part.low.astype(np.float64), part.high.astype(np.float64)
    start = np.asarray(getattr(part, "start", 0), np.float64)
    count = getattr(part, "nvec", getattr(part, "n", 2) if isinstance(part, spaces.Discrete) else 2)
    low, count = (
        np.broadcast_to(start, part.shape),
        np.broadcast_to(np.asarray(count, np.float64), part.shape),
    )
    return low, low + count - 1


WIDE = 64  # numbers of a leaf above which NumPy copies faster, row by row


class Run(NamedTuple):
    """Leaves that are views of one array.

    Attributes:
        dtype: of the rows.
        table: (N, k), a view of the array: a row for each agent.
        runs: (R, 3) int64, first column in the table, first column in the rows, number of columns.
    """

    dtype: str
    table: np.ndarray
    runs: np.ndarray


class RowCopier:
    """`ObservationRows.write` for a world that mostly returns the same arrays in every step."""

    def __init__(self, layout: ObservationRows) -> None:
        self._places = layout.places
        self._leaves: list[np.ndarray] = []
        self._ids: list[int] = []  # of `_leaves`, which stay alive
        self._runs: list[Run] = []
        self._wide: list[tuple[str, slice, np.ndarray]] = []

    def write(self, observation: Mapping[str, np.ndarray], index: np.ndarray, out: Rows) -> None:
        """Copies the agents `index` among the flattened (W, A, ...) into the first rows of `out`."""
        leaves = [observation[key] for key in self._places]
        if list(map(id, leaves)) != self._ids:
            self._find_runs(leaves)
        for dtype, table, runs in self._runs:
            copy_runs(table, runs, index, out[dtype])
        for dtype, columns, leaf in self._wide:
            out[dtype][: len(index), columns] = leaf[index]

    def _find_runs(self, leaves: list[np.ndarray]) -> None:
        """Groups the leaves that are views of one array."""
        self._runs, self._wide = [], []
        together: dict[tuple[str, np.dtype, int], list[tuple[int, slice, np.ndarray]]] = {}
        views = True
        for (dtype, columns), leaf in zip(self._places.values(), leaves, strict=True):
            width = columns.stop - columns.start
            flat = np.asarray(leaf).reshape(-1, width)
            views &= flat.base is not None and np.shares_memory(flat, leaf)
            if width > WIDE or (width > 1 and flat.strides[1] != flat.itemsize):
                self._wide.append((dtype, columns, flat))
                continue
            row = flat.strides[0] if len(flat) > 1 else 0
            together.setdefault((dtype, flat.dtype, row), []).append((flat.ctypes.data, columns, flat))
        for (dtype, own, row), parts in together.items():
            self._runs += _joined(dtype, own, row, sorted(parts, key=lambda part: part[0]))
        # A leaf that had to be copied to be flattened is a new array in every step.
        self._leaves = leaves if views else []
        self._ids = list(map(id, self._leaves))


def _joined(dtype: str, own: np.dtype, row: int, parts: list[tuple[int, slice, np.ndarray]]) -> list[Run]:
    """Runs over leaves of one dtype and one stride between agents, in the order of their addresses."""
    found: list[Run] = []
    while parts:
        first, _, flat = parts[0]
        ends = [at + (columns.stop - columns.start) * own.itemsize for at, columns, _ in parts]
        near = sum(end <= first + row and (end - first) % own.itemsize == 0 for end in ends)
        here, parts = parts[: max(near, 1)], parts[max(near, 1) :]
        width = (max(ends[: len(here)]) - first) // own.itemsize
        table = np.lib.stride_tricks.as_strided(flat, (len(flat), width), (flat.strides[0], own.itemsize))
        runs = [((at - first) // own.itemsize, c.start, c.stop - c.start) for at, c, _ in here]
        found.append(Run(dtype, table, np.array(runs, np.int64)))
    return found


ONE_HOT = 256  # most one-hot numbers of an observation; larger leaves are embedded
FLAT = ("attention", "mlp", "pictures")  # networks that flatten leaves


class Names(NamedTuple):
    """The encoding of a leaf.

    Attributes:
        start: least value of each number, (columns,) int64.
        sizes: choices of each number.
        one_hot: if false the numbers, counted from 0, are embedded.
    """

    start: np.ndarray
    sizes: tuple[int, ...]
    one_hot: bool

    @property
    def width(self) -> int:
        """Numbers of the encoded leaf."""
        return sum(self.sizes) if self.one_hot else len(self.sizes)


def find_names(space: spaces.Dict, settings: NetworkGroup) -> dict[str, Names]:
    """The leaves that `network.discrete` encodes; tables of entities stay numbers.

    Example:
        >>> space = spaces.Dict(room=spaces.Discrete(16), word=spaces.Discrete(5000))
        >>> {key: names.one_hot for key, names in find_names(space, NetworkGroup(kind="mlp")).items()}
        {'room': True, 'word': False}
    """
    if settings.kind not in FLAT or settings.discrete == "number":
        return {}
    own = find_layout(space).own if settings.kind == "attention" else tuple(space.spaces)
    sizes = {key: _sizes(space[key]) for key in own}
    sizes = {key: each for key, each in sizes.items() if each}
    small, used = set(), 0
    for key in sorted(sizes, key=lambda key: sum(sizes[key])):
        used += sum(sizes[key])
        if settings.discrete == "one_hot" or (settings.discrete == "auto" and used <= ONE_HOT):
            small.add(key)
    return {
        key: Names(np.resize(space[key].start, len(each)), each, key in small)  # type: ignore[attr-defined]
        for key, each in sizes.items()
    }


def input_space(space: spaces.Dict, settings: NetworkGroup) -> spaces.Dict:
    """The space of a network's input."""
    names = find_names(space, settings)
    return spaces.Dict([(key, _seen(names[key]) if key in names else part) for key, part in space.items()])


def encode(leaf: jax.Array, names: Names) -> jax.Array:
    """(B, ...) whole numbers -> (B, sum of sizes) of one-hots, or (B, columns) counted from 0; float32."""
    flat = leaf.reshape(leaf.shape[0], -1).astype(jnp.int32) - jnp.asarray(names.start, jnp.int32)
    if not names.one_hot:
        return flat.astype(jnp.float32)
    if len(set(names.sizes)) == 1:
        hot = flat[:, :, None] == jnp.arange(names.sizes[0])
        return hot.astype(jnp.float32).reshape(leaf.shape[0], -1)
    each = [flat[:, i : i + 1] == jnp.arange(size) for i, size in enumerate(names.sizes)]
    return jnp.concatenate(each, axis=1).astype(jnp.float32)


def encode_all(leaves: Mapping[str, jax.Array], names: Mapping[str, Names]) -> dict[str, jax.Array]:
    """Encodes the leaves that are in `names`."""
    return {key: encode(leaf, names[key]) if key in names else leaf for key, leaf in leaves.items()}


def _sizes(part: spaces.Space) -> tuple[int, ...]:
    """Choices of each number of a leaf; empty if it is not discrete."""
    if isinstance(part, spaces.Discrete):
        return (int(part.n),)
    return tuple(int(size) for size in part.nvec.ravel()) if isinstance(part, spaces.MultiDiscrete) else ()


def _seen(names: Names) -> spaces.Space:
    if names.one_hot:
        return OneHot(0.0, 1.0, (sum(names.sizes),), np.float32)
    return Embedded(np.array(names.sizes))
