"""Copies a world's observations into rows, with one compiled call per underlying array."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from interplay.train.observations import ObservationRows, Rows
from interplay.train.step_kernels import copy_runs

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
