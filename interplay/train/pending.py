"""Rows that wait until they are ready to be learnt from: observations, actions and where they stand on the time line."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from interplay.core.errors import UserError
from interplay.train.leaves import Leaves, ObservationLeaves
from interplay.train.restoring import Bounds, restore


class Pending:
    """Rows of one kind of agent in the order of their steps.

    Args:
        leaves: layout of the observations.
        capacity: most rows; memory is used as far as rows come.
        columns: of an action.
        choices: of an action mask; None where the world has none.
        seats: of whom it is guessed who they are; None where nothing is guessed.

    Attributes:
        count: rows that are there; arrays are longer.
        kept: how many of them earlier updates left.
        leaves: key -> (capacity, ...).
        action: (capacity, columns) float32.
        log_prob: (capacity,) float32.
        mask: (capacity, choices) bool, or None.
        step: (capacity,) int32, place on the time line.
        slot: (capacity,) int32, w A + a, among all slots of the world.
        population: (capacity,) uint8.
        acts: (capacity,) bool, the row teaches the policy, not the value alone.
        truth: (capacity, seats) bool, who is of the population that is guessed, or None.
    """

    def __init__(
        self,
        leaves: ObservationLeaves,
        capacity: int,
        columns: int,
        choices: int | None,
        seats: int | None = None,
    ) -> None:
        self.count = self.kept = 0
        self.leaves: Leaves = leaves.allocate(capacity)
        self.action = np.zeros((capacity, columns), np.float32)
        self.log_prob = np.zeros(capacity, np.float32)
        self.mask = None if choices is None else np.zeros((capacity, choices), bool)
        self.step = np.zeros(capacity, np.int32)
        self.slot = np.zeros(capacity, np.int32)
        self.population = np.zeros(capacity, np.uint8)
        self.acts = np.zeros(capacity, bool)
        self.truth = None if seats is None else np.zeros((capacity, seats), bool)

    def append(
        self,
        leaves: Mapping[str, np.ndarray],
        said: np.ndarray,
        mask: np.ndarray | None,
        step: int,
        slot: np.ndarray,
        population: np.ndarray,
        acts: np.ndarray,
        truth: np.ndarray | None = None,
    ) -> None:
        """Adds one step's rows.

        Args:
            leaves: key -> (n or more, ...).
            said: (n, columns + 2), action, log-probability and value.
            mask: (n or more, choices), or None.
            step: place on the time line.
            slot: (n,).
            population: (n,).
            acts: (n,).
            truth: (n, seats), or None.
        """
        rows = len(slot)
        new = slice(self.count, self.count + rows)
        for key, leaf in self.leaves.items():
            leaf[new] = leaves[key][:rows]
        self.action[new], self.log_prob[new] = said[:, :-2], said[:, -2]
        if self.mask is not None and mask is not None:
            self.mask[new] = mask[:rows]
        if self.truth is not None and truth is not None:
            self.truth[new] = truth
        self.step[new], self.slot[new], self.population[new], self.acts[new] = step, slot, population, acts
        self.count += rows

    def keep(self, which: np.ndarray, back: int) -> None:
        """Keeps the rows of the (count,) mask `which`; the line has moved `back` steps."""
        index = np.flatnonzero(which)
        for array in self._arrays().values():
            array[: len(index)] = array[index]
        self.count = self.kept = len(index)
        self.step[: self.count] -= back

    def save(self) -> dict[str, np.ndarray]:
        """The rows that wait."""
        return {name: array[: self.count].copy() for name, array in self._arrays().items()}

    def load(self, arrays: Mapping[str, np.ndarray], owner: str, bounds: Bounds | None = None) -> None:
        """Restores what `save` gave.

        Args:
            arrays: of the checkpoint.
            owner: named in an error.
            bounds: least and most step, slot and population.

        Raises:
            UserError: if the rows are of other observations or of more slots.
        """
        first = arrays.get("step")
        rows = len(first) if first is not None and first.ndim == 1 else 0
        if rows > len(self.step):
            raise UserError(f"{owner}: {rows} rows do not fit these settings; resume with the run's own")
        restore({name: array[:rows] for name, array in self._arrays().items()}, arrays, owner, bounds)
        self.count = self.kept = rows

    def _arrays(self) -> dict[str, np.ndarray]:
        named = {f"leaf/{key}": leaf for key, leaf in self.leaves.items()}
        names = ("action", "log_prob", "step", "slot", "population", "acts")
        named |= {name: getattr(self, name) for name in names}
        return named | {n: a for n, a in (("mask", self.mask), ("truth", self.truth)) if a is not None}
