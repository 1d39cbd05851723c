"""Action distributions: from a network's output to actions, log-probabilities and entropy.

The trainer stores actions of any space as flat float32 rows, (B, columns). A Discrete, MultiDiscrete or MultiBinary space has one
column per choice, counted from 0 (exact below 2**24). A Box has one column per number, in [-1, 1] if bounded (`BoxUnits`).
Sampling and log-probabilities use these numbers. `to_world` converts them for `World.step`, `in_units` to rows in the Box's units.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium import spaces

from interplay.core.spaces import action_choices

ILLEGAL = -1e9  # logit of an illegal choice: probability 0 in float32, without NaN


class Part(NamedTuple):
    """One array of an action space: a leaf of a Dict, or the whole space.

    Attributes:
        key: the leaf's key, ``"action"`` for the whole space.
        space: the leaf's space.
        choices: choices of each head; empty for a Box.
        columns: action columns.
        parameters: first column in the distribution's parameters.
        units: of a Box; None for choices.
    """

    key: str
    space: spaces.Space
    choices: tuple[int, ...]
    columns: int
    parameters: int
    units: BoxUnits | None = None


class Distribution:
    """Independent heads: a categorical per choice, a Gaussian per number of a Box.

    Args:
        space: Discrete, MultiDiscrete, MultiBinary, Box or a Dict of those, of one agent.
        floor: added to the probability of every legal choice before normalisation.
        masked: apply action masks; otherwise all choices count as legal.

    Attributes:
        size: parameters per row: logits and means of Boxes in the order of the space, then one log deviation per Box number.
        deviations: number of log deviations.
        columns: action columns per row.
        choices: logits of all heads, the columns of an action mask.

    Example:
        >>> Distribution(spaces.MultiDiscrete([3, 3, 3, 2, 2, 2])).size
        15
        >>> Distribution(spaces.Box(-1, 1, (2,))).size
        4
    """

    def __init__(self, space: spaces.Space, floor: float = 0.0, masked: bool = True) -> None:
        self.space = space
        self._floor, self.masked = floor, masked
        leaves = space.spaces if isinstance(space, spaces.Dict) else {"action": space}
        self.parts: list[Part] = []
        at = 0
        for key, leaf in leaves.items():
            if isinstance(leaf, spaces.Box):
                choices: tuple[int, ...] = ()
                columns = width = math.prod(leaf.shape)
                units: BoxUnits | None = units_of(leaf)
            else:
                choices, units = action_choices(leaf), None
                columns, width = len(choices), sum(choices)
            self.parts.append(Part(key, leaf, choices, columns, at, units))
            at += width
        self.columns = sum(part.columns for part in self.parts)
        self.choices = sum(sum(part.choices) for part in self.parts)
        self.deviations = sum(part.columns for part in self.parts if not part.choices)
        self.size = at + self.deviations

    def log_prob(self, parameters: jax.Array, action: jax.Array, mask: jax.Array | None) -> jax.Array:
        """log pi(a | s): (B, size), (B, columns), (B, choices) bool or None -> (B,)."""
        total = jnp.zeros(parameters.shape[0], jnp.float32)
        for head, column in self._heads(parameters, action, mask):
            if isinstance(head, Gaussian):
                z = (column - head.mean) * jnp.exp(-head.log_std)
                total += -0.5 * z * z - head.log_std - 0.5 * math.log(2 * math.pi)
            else:
                picked = jnp.arange(head.shape[1])[:, None] == column[:, None]
                total += jnp.where(picked, head, 0.0).sum(axis=(0, 1))
                total -= jax.nn.logsumexp(head, axis=1).sum(axis=0)
        return total

    def entropy(self, parameters: jax.Array, mask: jax.Array | None) -> jax.Array:
        """Entropy in nats: (B, size) -> (B,)."""
        total = jnp.zeros(parameters.shape[0], jnp.float32)
        for head, _ in self._heads(parameters, None, mask):
            if isinstance(head, Gaussian):
                total += head.log_std + 0.5 * math.log(2 * math.pi * math.e)
            else:
                log_p = jax.nn.log_softmax(head, axis=1)
                total -= (jnp.exp(log_p) * log_p).sum(axis=(0, 1))
        return total

    def logits(self, parameters: jax.Array, mask: jax.Array | None) -> jax.Array:
        """Logits of all heads, `ILLEGAL` for illegal choices: (B, size) -> (B, choices)."""
        return self._of_choices(lambda head: head, parameters, mask)

    def gaussians(self, parameters: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Means and deviations of Box numbers in the Boxes' units: (B, size) -> (B, n) each."""
        heads = [head for head, _ in self._heads(parameters, None, None) if isinstance(head, Gaussian)]
        if not heads:
            nothing = jnp.zeros((parameters.shape[0], 0), jnp.float32)
            return nothing, nothing
        mean = jnp.stack([head.mean for head in heads], 1)
        deviation = jnp.exp(jnp.stack([head.log_std for head in heads], 1))
        units = [part.units for part in self.parts if part.units is not None]
        if not any(one.maps for one in units):
            return mean, deviation
        middle = np.concatenate([one.middle for one in units]).astype(np.float32)
        half = np.concatenate([one.half for one in units]).astype(np.float32)
        return jnp.asarray(middle) + half * mean, jnp.asarray(half) * deviation

    def probabilities(self, parameters: jax.Array, mask: jax.Array | None) -> jax.Array:
        """Probabilities of all choices, head after head: (B, size) -> (B, choices); Boxes have none."""
        return self._of_choices(partial(jax.nn.softmax, axis=1), parameters, mask)

    def sample(self, parameters: jax.Array, key: jax.Array, mask: jax.Array | None) -> jax.Array:
        """Draws actions: (B, size) -> (B, columns) float32."""
        batch = parameters.shape[0]
        gumbel = jax.random.gumbel(key, (self.choices, batch), jnp.float32)
        normal = jax.random.normal(jax.random.fold_in(key, 1), (self.deviations, batch), jnp.float32)
        columns, g, n = [], 0, 0
        for head, _ in self._heads(parameters, None, mask):
            if isinstance(head, Gaussian):
                columns.append(head.mean + jnp.exp(head.log_std) * normal[n])
                n += 1
            else:
                drawn = head + gumbel[g : g + head.shape[0] * head.shape[1]].reshape(head.shape)
                columns += list(jnp.argmax(drawn, axis=1).astype(jnp.float32))
                g += head.shape[0] * head.shape[1]
        return jnp.stack(columns, axis=1)

    def greedy(self, parameters: jax.Array, mask: jax.Array | None) -> jax.Array:
        """The most probable action: (B, size) -> (B, columns) float32."""
        columns: list[jax.Array] = []
        for head, _ in self._heads(parameters, None, mask):
            likeliest = (
                [head.mean] if isinstance(head, Gaussian) else jnp.argmax(head, axis=1).astype(jnp.float32)
            )
            columns += list(likeliest)
        return jnp.stack(columns, axis=1)

    def utility(self, parameters: jax.Array, action: jax.Array) -> jax.Array:
        """The parameters of the choices taken, summed over heads: (B, size), (B, columns) -> (B,)."""
        total = jnp.zeros(parameters.shape[0], jnp.float32)
        for head, column in self._heads(parameters, action, None):
            picked = jnp.arange(head.shape[1])[:, None] == column[:, None]
            total += jnp.where(picked, head, 0.0).sum(axis=(0, 1))
        return total

    def explore(
        self, parameters: jax.Array, key: jax.Array, mask: jax.Array | None, epsilon: jax.Array
    ) -> jax.Array:
        """Epsilon-greedy actions, by row: (B, size) -> (B, columns) float32."""
        anyhow = jax.random.uniform(jax.random.fold_in(key, 2), (parameters.shape[0],)) < epsilon
        drawn = self.sample(jnp.zeros_like(parameters), key, mask)
        return jnp.where(anyhow[:, None], drawn, self.greedy(parameters, mask))

    def one_hot(self, parameters: jax.Array, mask: jax.Array | None) -> jax.Array:
        """One-hot of each head's most probable choice: (B, size) -> (B, choices)."""
        return self._of_choices(
            lambda head: jax.nn.one_hot(jnp.argmax(head, axis=1), head.shape[1], axis=1), parameters, mask
        )

    def _of_choices(
        self, function: Callable[[jax.Array], jax.Array], parameters: jax.Array, mask: jax.Array | None
    ) -> jax.Array:
        """A function of the logits (heads, choices, B) of every group of heads: (B, choices)."""
        heads = [head for head, _ in self._heads(parameters, None, mask) if not isinstance(head, Gaussian)]
        flat = [function(head).reshape(-1, head.shape[2]) for head in heads]
        return jnp.concatenate(flat).T if flat else jnp.zeros((parameters.shape[0], 0), jnp.float32)

    def in_units(self, rows: Any, xp: ModuleType = np) -> Any:
        """Converts Box columns of flat rows (..., columns) to the Box's units; `xp` is numpy or jax.numpy."""
        columns, at = [], 0
        for part in self.parts:
            own = rows[..., at : at + part.columns]
            columns.append(own if part.units is None else part.units.to_box(own, xp))
            at += part.columns
        return xp.concatenate(columns, axis=-1)

    def to_world(self, flat: np.ndarray) -> Any:
        """Converts flat rows (..., columns) to the space: (..., *shape) of its dtype, within a Box."""
        leaves, at = {}, 0
        for part in self.parts:
            leaf = flat[..., at : at + part.columns]
            at += part.columns
            shape = (*flat.shape[:-1], *(part.space.shape or ()))
            if part.units is not None:
                leaves[part.key] = part.units.to_box(leaf).astype(part.space.dtype).reshape(shape)
            else:
                start = np.asarray(getattr(part.space, "start", 0))
                leaves[part.key] = leaf.reshape(shape).astype(part.space.dtype or np.int64) + start
        return leaves if isinstance(self.space, spaces.Dict) else leaves["action"]

    def flat_mask(self, mask: Any, shape: tuple[int, ...]) -> np.ndarray | None:
        """Flattens a world's action mask to (*shape, choices) bool; heads without a mask are legal."""
        if mask is None:
            return None
        leaves = [
            np.asarray(mask[part.key], bool)
            if part.key in mask
            else np.ones((*shape, sum(part.choices)), bool)
            for part in self.parts
            if part.choices
        ]
        return np.concatenate(leaves, axis=-1)

    def _heads(self, parameters: jax.Array, action: jax.Array | None, mask: jax.Array | None) -> Any:
        """Yields the heads in order: a `Gaussian` with its action column (B,), or logits with theirs.

        Neighbouring heads with equally many choices are grouped, as logits (heads, choices, B) and columns (heads, B).
        The sample axis is innermost, so that picking and summing are few vector operations.
        """
        rows, legal = parameters.T, mask.T if mask is not None and self.masked else None
        taken = None if action is None else action.T
        column, masked, deviation = 0, 0, self.size - self.deviations
        for part in self.parts:
            at = part.parameters
            for _ in range(part.columns if not part.choices else 0):
                yield Gaussian(rows[at], rows[deviation]), None if taken is None else taken[column]
                at, deviation, column = at + 1, deviation + 1, column + 1
            for count, group in itertools.groupby(part.choices):
                heads = len(list(group))
                logits = rows[at : at + heads * count].reshape(heads, count, -1)
                if legal is not None:
                    allowed = legal[masked : masked + heads * count].reshape(heads, count, -1)
                    logits = jnp.where(allowed, logits, ILLEGAL)
                if self._floor:
                    logits = _raise_floor(logits, self._floor, None if legal is None else allowed)
                yield logits, None if taken is None else taken[column : column + heads]
                at, masked, column = at + heads * count, masked + heads * count, column + heads


def _raise_floor(logits: jax.Array, floor: float, legal: jax.Array | None) -> jax.Array:
    """log((p + floor) / (1 + floor n)) over the n legal choices: (heads, choices, B)."""
    raised = jnp.log(jax.nn.softmax(logits, axis=1) + floor)
    # Every reader normalises heads again, so the divisor can be left out.
    return raised if legal is None else jnp.where(legal, raised, ILLEGAL)


class Gaussian(NamedTuple):
    """A normal distribution per sample: mean (B,), logarithm of the deviation (B,)."""

    mean: jax.Array
    log_std: jax.Array


ENDLESS = 1e30  # larger bounds, and the limits of float, 32-bit and 64-bit dtypes, count as unbounded


class BoxUnits(NamedTuple):
    """Maps a policy's numbers to the units of a Box: bounds and scale of its flat elements, (columns,) float64 each.

    A policy's numbers lie in [-1, 1]: an element with two bounds is ``middle + half * number``. An element with one bound or none is
    the policy's number itself. Integer Boxes are rounded to the nearest; then all are clipped to the bounds.

    Attributes:
        middle: of the bounds; 0 for elements that are not scaled.
        half: half the range between them; 1 for elements that are not scaled.
        low, high: the bounds.
        whole: whether the Box holds integers.
    """

    middle: np.ndarray
    half: np.ndarray
    low: np.ndarray
    high: np.ndarray
    whole: bool

    @property
    def maps(self) -> bool:
        """Whether any element is scaled; for Box(-1, 1) none is."""
        return bool((self.middle != 0).any() or (self.half != 1).any())

    def to_box(self, numbers: Any, xp: ModuleType = np) -> Any:
        """Scales the policy's numbers (..., columns) to the Box and clips them; float64 in NumPy, float32 in jax."""
        if self.maps:
            numbers = self._as(xp, self.middle) + self._as(xp, self.half) * numbers
        if self.whole:
            numbers = xp.rint(numbers)
        if (self.low > -np.inf).any():
            numbers = xp.maximum(numbers, self._as(xp, self.low))
        return xp.minimum(numbers, self._as(xp, self.high)) if (self.high < np.inf).any() else numbers

    def beyond(self, numbers: np.ndarray) -> np.ndarray:
        """The mask, of the shape of `numbers`, of the policy's numbers beyond the bounds."""
        two = bounded(self.low, self.high)
        least, most = np.where(two, -1.0, self.low), np.where(two, 1.0, self.high)
        return (numbers < least) | (numbers > most)

    @staticmethod
    def _as(xp: ModuleType, numbers: np.ndarray) -> Any:
        return numbers if xp is np else xp.asarray(numbers, np.float32)


def bounded(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The mask of elements with two finite bounds."""
    return np.isfinite(low) & np.isfinite(high)


def units_of(box: spaces.Box) -> BoxUnits:
    """The units of a Box.

    Example:
        >>> units_of(spaces.Box(100, 200, (1,))).to_box(np.array([[-1.0], [0.5], [3.0]])).ravel().tolist()
        [100.0, 175.0, 200.0]
    """
    low, high = _bound(box.low, -np.inf), _bound(box.high, np.inf)
    two = bounded(low, high)
    middle, half = np.zeros(low.shape), np.ones(low.shape)
    middle[two] = low[two] / 2 + high[two] / 2
    half[two] = high[two] / 2 - low[two] / 2
    return BoxUnits(middle, half, low, high, np.dtype(box.dtype).kind in "iu")


def _bound(ends: np.ndarray, none: float) -> np.ndarray:
    """Flat float64 bounds, `none` where there is no bound."""
    flat, dtype = ends.ravel(), ends.dtype
    wide = flat.astype(np.float64)
    endless = np.abs(wide) >= ENDLESS
    if dtype.kind == "f":
        endless |= np.abs(flat) == np.finfo(dtype).max
    elif dtype.itemsize >= 4:
        endless |= (flat != 0) & (flat == (np.iinfo(dtype).max if none > 0 else np.iinfo(dtype).min))
    return np.where(endless, none, wide)
