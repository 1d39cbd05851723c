"""Differences between populations: tables of counts against permuted labels (specification 12).

n[k, x] counts steps of population k at x: a cell, a block of cells, a kind of tile, a style of attack. The measures are I(k;x) / H(k),
the share of information about the population that x has, and the mean pairwise Jensen-Shannon distance of the rows.

Both are above 0 for finitely many lives even if populations do not differ, and steps of one life are dependent. The null therefore
permutes the populations' labels among lives, never among steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.core.seeding import generator
from interplay.evaluate.information import entropy, mean_distance, mutual_information
from interplay.evaluate.lifetimes.tick import Array

PERMUTATIONS = 1_000


class Measured(NamedTuple):
    """A measure against its null.

    Attributes:
        value: with the true labels.
        null: (P,) values with permuted labels.
        z: (value - mean of the null) / its standard deviation; NaN if the null is constant.
        p: (1 + number of null values >= value) / (1 + P).
    """

    value: float
    null: Array
    z: float
    p: float


class Niche(NamedTuple):
    """Information of x about the population.

    Attributes:
        information: I(k;x) in nats.
        share: I(k;x) / H(k).
        distance: mean pairwise Jensen-Shannon distance, base 2.
        counts: (K, X) n[k, x].
    """

    information: Measured
    share: Measured
    distance: Measured
    counts: Array


def niche(
    population: Array,
    life: Array,
    x: Array,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Niche:
    """Measures I(k;x), I(k;x) / H(k) and the mean Jensen-Shannon distance, each against the permutation null.

    Args:
        population: (L,) label of each life, 0..K-1.
        life: (N,) life of each step.
        x: (N,) integers from 0, e.g. cells.
    """
    population = np.asarray(population)
    if len(np.unique(population)) < 2:
        raise UserError(
            "niches need two populations or more among the lives; give npop=2 or more, or deal labels out with random_labels"
        )
    if len(life) == 0 or permutations < 1:
        raise UserError(
            f"niches of {len(life)} steps with {permutations} permutations; give one of each at least"
        )
    pairs = _Pairs(population, np.asarray(life), np.asarray(x))
    observed = pairs.measure(population)
    rng = generator(seed, 0x41C4)
    null = np.empty((permutations, 3))
    for i in range(permutations):
        null[i] = pairs.measure(rng.permutation(population))
        if progress is not None:
            progress(i + 1)
    information, share, distance = (against(observed[i], null[:, i]) for i in range(3))
    return Niche(information, share, distance, pairs.full_table(population))


def against(value: float, null: Array) -> Measured:
    """z and one-sided p of a value against its null."""
    spread = float(null.std())
    # A null that is constant up to rounding has no scale.
    z = (value - float(null.mean())) / spread if spread > 1e-12 else float("nan")
    p = (1 + int((null >= value - 1e-12).sum())) / (1 + len(null))
    return Measured(float(value), null, z, p)


def random_labels(lives: int, groups: int, seed: int = 0) -> Array:
    """The third control: random labels of `groups` with equal sizes (up to one) for lives, (L,) int64."""
    return generator(seed, 0x5911).permutation(np.arange(lives) % groups)


class _Pairs:
    """Steps as distinct (life, x) pairs with weights, so that a table of new labels is one bincount."""

    def __init__(self, population: Array, life: Array, x: Array) -> None:
        self._groups = int(population.max()) + 1
        self._width = int(x.max()) + 1
        self._places, place = np.unique(x, return_inverse=True)
        keys, self._weight = np.unique(life * len(self._places) + place, return_counts=True)
        self._life, self._place = np.divmod(keys, len(self._places))

    def table(self, labels: Array) -> Array:
        """(K, X') counts over visited places."""
        index = labels[self._life] * len(self._places) + self._place
        size = self._groups * len(self._places)
        return np.bincount(index, self._weight, size).reshape(self._groups, -1)

    def full_table(self, labels: Array) -> Array:
        """(K, X) int64."""
        counts = np.zeros((self._groups, self._width), np.int64)
        counts[:, self._places] = self.table(labels)
        return counts

    def measure(self, labels: Array) -> tuple[float, float, float]:
        counts = self.table(labels)
        information, most = mutual_information(counts), float(entropy(counts.sum(axis=1)))
        return information, information / most if most > 0 else 0.0, mean_distance(counts)
