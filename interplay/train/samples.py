"""The samples of a shard: observations and actions of one kind of agent, and where they stand in the trajectories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.train.observations import ObservationRows, Rows
from interplay.train.restoring import Bounds, restore

_SAID = 2  # columns after the action's: log-probability and value


class ReadySamples(NamedTuple):
    """What is learnt from in one update, samples of one kind; N of them.

    Attributes:
        picked: (N,) places in `PendingSamples`.
        population: (N,) uint8.
        advantage: (N,) float32.
        target: (N,) float32, of the value.
        value: (N,) float32, when the sample was made.
    """

    picked: np.ndarray
    population: np.ndarray
    advantage: np.ndarray
    target: np.ndarray
    value: np.ndarray


class PendingSamples:
    """Samples that are not learnt from yet, in the order of their steps.

    Args:
        layout: of the observations.
        capacity: most samples that are kept; memory is used as far as they come.
        beyond: rows after those, which one step writes before it says how many of them are kept.
        columns: of an action.
        choices: of an action mask; None where the world has none.
        seats: of whom it is guessed who they are; None where nothing is guessed.
        memory: numbers that an agent remembers; 0 for nothing.
        view: numbers that a central critic sees; 0 for none.

    Attributes:
        count: samples that are there; arrays are longer.
        kept: how many of them earlier updates left.
        rows: name of a dtype -> (capacity + beyond, numbers), observations.
        said: (capacity + beyond, columns + 2) float32: action, log-probability, value.
        mask: (capacity + beyond, choices) bool, or None.
        step: (capacity + beyond,) int32, place in the trajectories.
        slot: (capacity + beyond,) int32, w A + a, among all slots of the world.
        population: (capacity + beyond,) uint8.
        acts: (capacity + beyond,) bool, the sample teaches the policy, not the value alone.
        truth: (capacity + beyond, seats) bool, who is of the population that is guessed, or None.
        memory: (capacity + beyond, size) float32 before the sample, or None.
        view: (capacity + beyond, size) float32, what a central critic saw, or None.
        fresh: (capacity + beyond,) bool, nothing was remembered before the sample; None without memory.
    """

    def __init__(
        self,
        layout: ObservationRows,
        capacity: int,
        beyond: int,
        columns: int,
        choices: int | None,
        seats: int | None = None,
        memory: int = 0,
        view: int = 0,
    ) -> None:
        self.count = self.kept = 0
        self.capacity, whole = capacity, capacity + beyond
        self.rows: Rows = layout.allocate(whole)
        self.said = np.zeros((whole, columns + _SAID), np.float32)
        self.mask = None if choices is None else np.ones((whole, choices), bool)
        self.step = np.zeros(whole, np.int32)
        self.slot = np.zeros(whole, np.int32)
        self.population = np.zeros(whole, np.uint8)
        self.acts = np.zeros(whole, bool)
        self.truth = None if seats is None else np.zeros((whole, seats), bool)
        self.memory = np.zeros((whole, memory), np.float32) if memory else None
        self.fresh = np.zeros(whole, bool) if memory else None
        self.view = np.zeros((whole, view), np.float32) if view else None

    @property
    def action(self) -> np.ndarray:
        """(capacity + beyond, columns) float32."""
        return self.said[:, :-_SAID]

    @property
    def log_prob(self) -> np.ndarray:
        """(capacity + beyond,) float32, when the action was drawn."""
        return self.said[:, -_SAID]

    def next_rows(self, number: int) -> Rows:
        """Where the observations of the next `number` samples are written."""
        return {dtype: array[self.count : self.count + number] for dtype, array in self.rows.items()}

    def append(
        self,
        said: np.ndarray,
        step: int,
        slot: np.ndarray,
        population: np.ndarray,
        acts: np.ndarray,
        truth: np.ndarray | None = None,
    ) -> None:
        """Keeps n samples of one step whose observations, masks and memory stand in the next rows already.

        Args:
            said: (n, columns + 2).
            step: place in the trajectories.
            slot: (n,).
            population: (n,).
            acts: (n,).
            truth: (n, seats), or None.
        """
        new = slice(self.count, self.count + len(slot))
        self.said[new] = said
        self.step[new], self.slot[new], self.population[new], self.acts[new] = step, slot, population, acts
        if self.truth is not None and truth is not None:
            self.truth[new] = truth
        self.count = new.stop

    def keep(self, which: np.ndarray, back: int) -> None:
        """Keeps the samples of the (count,) mask `which`; the trajectories have moved `back` steps."""
        index = np.flatnonzero(which)
        if 0 < len(index) < self.count:  # where all stay, nothing has to move
            for array in self._arrays().values():
                array[: len(index)] = array[index]
        self.count = self.kept = len(index)
        self.step[: self.count] -= back

    def save(self) -> dict[str, np.ndarray]:
        """The samples that wait."""
        return {name: array[: self.count].copy() for name, array in self._arrays().items()}

    def load(self, arrays: Mapping[str, np.ndarray], owner: str, bounds: Bounds | None = None) -> None:
        """Restores what `save` gave.

        Args:
            arrays: of the checkpoint.
            owner: named in an error.
            bounds: least and most step, slot and population.

        Raises:
            UserError: if the samples are of other observations or of more slots.
        """
        first = arrays.get("step")
        rows = len(first) if first is not None and first.ndim == 1 else 0
        if rows > self.capacity:
            raise UserError(f"{owner}: {rows} samples do not fit these settings; resume with the run's own")
        restore({name: array[:rows] for name, array in self._arrays().items()}, arrays, owner, bounds)
        self.count = self.kept = rows

    def _arrays(self) -> dict[str, np.ndarray]:
        named = {f"observation/{dtype}": array for dtype, array in self.rows.items()}
        names = ("said", "step", "slot", "population", "acts")
        named |= {name: getattr(self, name) for name in names}
        some = ("mask", "truth", "memory", "fresh", "view")
        return named | {name: getattr(self, name) for name in some if getattr(self, name) is not None}


def cut_sequences(
    step: np.ndarray, slot: np.ndarray, population: np.ndarray, length: int, origin: int
) -> np.ndarray:
    """Cuts samples into sequences of one slot and population, within windows of so many steps.

    Args:
        step: (N,) places in the trajectories.
        slot: (N,).
        population: (N,).
        length: L, steps of a window.
        origin: a step with which a window begins.

    Returns:
        (U, L) places of the samples in the order of their steps, filled up with -1.

    Example:
        >>> cut_sequences(np.array([0, 0, 1, 2, 3]), np.array([0, 1, 0, 0, 1]), np.zeros(5, int), 2, 0).tolist()
        [[0, 2], [3, -1], [1, -1], [4, -1]]
    """
    if not len(step):
        return np.zeros((0, length), np.int64)
    window = (step.astype(np.int64) - origin) // length
    order = np.lexsort((step, population, window, slot))
    keys = np.stack([slot[order], window[order], population[order]])
    begins = np.append(True, (keys[:, 1:] != keys[:, :-1]).any(axis=0))
    first = np.flatnonzero(begins)
    number = np.cumsum(begins) - 1
    out = np.full((len(first), length), -1, np.int64)
    out[number, np.arange(len(order)) - first[number]] = order
    return out
