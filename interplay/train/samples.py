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
    """

    def __init__(
        self,
        layout: ObservationRows,
        capacity: int,
        beyond: int,
        columns: int,
        choices: int | None,
        seats: int | None = None,
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
        """Keeps n samples of one step whose observations and masks stand in the next rows already.

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
        if len(index):
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
        return named | {n: a for n, a in (("mask", self.mask), ("truth", self.truth)) if a is not None}
