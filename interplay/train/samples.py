"""The samples of a shard: observations and actions of one kind, and the trajectories that they are steps of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.train.observations import ObservationRows, Rows, zeros
from interplay.train.run.restoring import Bounds, restore
from interplay.train.step_kernels import keep

_EXTRA = 2  # columns after the action's: log-probability and value


class NetworkInput(NamedTuple):
    """Rows of network inputs; every array may have more axes in front.

    Attributes:
        rows: name of a dtype -> (N, numbers), observations.
        mask: (N, choices) bool, or None without action masks.
        memory: (N, size) float32 before the step, or None.
        fresh: (N,) bool, the memory is empty; None without memory.
        view: (N, size) float32, a central critic's input, or None.
    """

    rows: Rows
    mask: np.ndarray | None
    memory: np.ndarray | None
    fresh: np.ndarray | None
    view: np.ndarray | None

    def part(self, index: Any) -> NetworkInput:
        """Some of the rows."""
        rows = {dtype: array[index] for dtype, array in self.rows.items()}
        return NetworkInput(rows, *(None if array is None else array[index] for array in self[1:]))

    @property
    def has_more(self) -> bool:
        """Whether there are arrays beside observations."""
        return any(array is not None for array in self[1:])

    def leaves(self) -> list[np.ndarray]:
        """The arrays, in the order of `arrays`."""
        return [*self.rows.values(), *(array for array in self[1:] if array is not None)]

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays by name."""
        named = {f"observation/{dtype}": array for dtype, array in self.rows.items()}
        some = zip(self._fields[1:], self[1:], strict=True)
        return named | {name: array for name, array in some if array is not None}


class SampleLayout(NamedTuple):
    """The layout of a kind's samples.

    Attributes:
        observation: layout of observations.
        columns: of an action.
        choices: of an action mask; None without masks.
        seats: number of guessed seats; None without guessing.
        memory: size of the memory; 0 for none.
        view: size of a central critic's input; 0 for none.
    """

    observation: ObservationRows
    columns: int
    choices: int | None = None
    seats: int | None = None
    memory: int = 0
    view: int = 0

    def allocate(self, *rows: int) -> NetworkInput:
        """Zeros with the leading shape `rows`."""
        mask = None if self.choices is None else zeros((*rows, self.choices), bool)
        memory, fresh = (zeros((*rows, self.memory)), zeros(rows, bool)) if self.memory else (None, None)
        view = zeros((*rows, self.view)) if self.view else None
        return NetworkInput(self.observation.allocate(*rows), mask, memory, fresh, view)


class ReadySamples(NamedTuple):
    """The N samples of one kind to train on in an update.

    Attributes:
        picked: (N,) places in `PendingSamples`.
        population: (N,) uint8.
        advantage: (N,) float32.
        target: (N,) float32, of the value.
        value: (N,) float32, at the time of the sample.
    """

    picked: np.ndarray
    population: np.ndarray
    advantage: np.ndarray
    target: np.ndarray
    value: np.ndarray


class PendingSamples:
    """Samples that are not trained on yet, in the order of their steps.

    Args:
        layout: of the samples.
        capacity: most samples; untouched memory stays unused.

    Attributes:
        count: number of samples; arrays are longer.
        kept: number of samples from earlier updates.
        seen: the networks' inputs.
        outputs: (capacity, columns + 2) float32: action, log-probability, value.
        step: (capacity,) int32, index in the trajectories.
        slot: (capacity,) int32, w A + a.
        population: (capacity,) uint8.
        acts: (capacity,) bool, the sample trains the policy, not the value alone.
        truth: (capacity, seats) bool, seats of the guessed population, or None.
    """

    def __init__(self, layout: SampleLayout, capacity: int) -> None:
        self.layout, self.capacity = layout, capacity
        self.count = self.kept = 0
        self.seen = layout.allocate(capacity)
        self.outputs = np.zeros((capacity, layout.columns + _EXTRA), np.float32)
        self.step = np.zeros(capacity, np.int32)
        self.slot = np.zeros(capacity, np.int32)
        self.population = np.zeros(capacity, np.uint8)
        self.acts = np.zeros(capacity, bool)
        self.truth = None if layout.seats is None else np.zeros((capacity, layout.seats), bool)

    @property
    def action(self) -> np.ndarray:
        """(capacity, columns) float32."""
        return self.outputs[:, :-_EXTRA]

    @property
    def log_prob(self) -> np.ndarray:
        """(capacity,) float32, by the policy that acted, or as `Shard.decouple` replaced it."""
        return self.outputs[:, -_EXTRA]

    def append(
        self,
        seen: NetworkInput,
        outputs: np.ndarray,
        step: int,
        slot: np.ndarray,
        population: np.ndarray,
        teaches: np.ndarray,
        truth: np.ndarray | None = None,
    ) -> None:
        """Keeps n samples of one step.

        Args:
            seen: n rows, or more, of which the first are kept; so of `outputs` and `population`.
            outputs: (n, columns + 2).
            step: index in the trajectories.
            slot: (n,).
            population: (n,).
            teaches: (W, A) bool, slots with samples that train the policy.
            truth: (n, seats), or None.
        """
        new = slice(self.count, self.count + len(slot))
        for array, given in zip(self.seen.leaves(), seen.leaves(), strict=True):
            array[new] = given[: len(slot)]
        keep(
            outputs,
            slot,
            population,
            teaches,
            step,
            self.count,
            self.outputs,
            self.step,
            self.slot,
            self.population,
            self.acts,
        )
        if self.truth is not None and truth is not None:
            self.truth[new] = truth
        self.count = new.stop

    def keep(self, which: np.ndarray, back: int) -> None:
        """Keeps the samples in the mask `which` (count,); the trajectories moved back by `back` steps."""
        index = np.flatnonzero(which)
        if 0 < len(index) < self.count:  # if all stay, nothing has to move
            for array in self.arrays().values():
                array[: len(index)] = array[index]
        self.count = self.kept = len(index)
        self.step[: self.count] -= back

    def save(self) -> dict[str, np.ndarray]:
        """Copies of the pending samples."""
        return {name: array[: self.count].copy() for name, array in self.arrays().items()}

    def load(self, arrays: Mapping[str, np.ndarray], owner: str, bounds: Bounds | None = None) -> None:
        """Restores `save`; `bounds` are the limits of step, slot and population."""
        first = arrays.get("step")
        rows = len(first) if first is not None and first.ndim == 1 else 0
        if rows > self.capacity:
            raise UserError(f"{owner}: {rows} samples do not fit these settings; resume with the run's own")
        restore({name: array[:rows] for name, array in self.arrays().items()}, arrays, owner, bounds)
        self.count = self.kept = rows

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays by their names in checkpoints."""
        names = ("step", "slot", "population", "acts") + (() if self.truth is None else ("truth",))
        own = {"said": self.outputs} | {name: getattr(self, name) for name in names}  # "said" in checkpoints
        return self.seen.arrays() | own


def cut_sequences(
    step: np.ndarray, slot: np.ndarray, population: np.ndarray, length: int, origin: int
) -> np.ndarray:
    """Cuts samples into sequences of one slot and population, within windows of L steps.

    Args:
        step: (N,) indices in the trajectories.
        slot: (N,).
        population: (N,).
        length: L.
        origin: the first step of some window.

    Returns:
        (U, L) indices of the samples in the order of their steps, padded with -1.

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


class TrajectoryBuffer:
    """The last steps of W worlds of A slots: enough for the returns of lives that begin and end at any step.

    The buffer holds H steps of earlier updates and T of the last rollout. A sample is *ready* when its life has ended, or when it is
    among the T oldest steps, which leave the buffer with this update. Its return is then the discounted sum of its rewards so far plus
    the value of the slot's present observation. So every sample is ready exactly once, and no return is bootstrapped sooner than H
    steps after its sample. With H = 0 every sample is ready at once.

    Args:
        earlier: H.
        steps: T.
        shape: (W, A).

    Attributes:
        reward: (H + T, W, A) float32, earned in the step.
        value: (H + T, W, A) float32, of the observation before the step, by the networks of that time.
        acting: (H + T, W, A) bool, the step trains the policy: the action was read, or `mask_dead` is off and the agent is dead but present.
        ended: (H + T, W, A) bool, the life or the world's episode ended in the step.
        bootstrap: (H + T, W, A) float32, value of the last observation of truncated lives, else 0.
        last_value: (W, A) float32, value of the observation after the last step, 0 for slots without a life.
    """

    def __init__(self, earlier: int, steps: int, shape: tuple[int, int]) -> None:
        self.earlier, self.steps = earlier, steps
        whole = (earlier + steps, *shape)
        self.reward = np.zeros(whole, np.float32)
        self.value = np.zeros(whole, np.float32)
        self.bootstrap = np.zeros(whole, np.float32)
        self.acting = np.zeros(whole, bool)
        self.ended = np.zeros(whole, bool)
        self.last_value = np.zeros(shape, np.float32)

    def advance(self) -> None:
        """Drops the T oldest steps; the next rollout is written from H on."""
        for array in self._arrays().values():
            array[: self.earlier] = array[self.steps :].copy()
            array[self.earlier :] = 0

    def ready(self) -> np.ndarray:
        """(H + T, W, A) mask of ready samples."""
        if not self.earlier:
            return np.ones(self.ended.shape, bool)
        over = np.logical_or.accumulate(self.ended[::-1])[::-1]
        over[: self.steps] = True
        return over

    def save(self) -> dict[str, np.ndarray]:
        """The H steps that the next update needs; call it after `advance`."""
        return {name: array[: self.earlier].copy() for name, array in self._arrays().items()}

    def load(self, arrays: Mapping[str, np.ndarray], owner: str = "trajectory") -> None:
        """Restores `save`."""
        restore({name: array[: self.earlier] for name, array in self._arrays().items()}, arrays, owner)

    def clear(self) -> None:
        """Sets everything to zero."""
        for array in self._arrays().values():
            array[:] = 0

    def _arrays(self) -> dict[str, np.ndarray]:
        names = ("reward", "value", "bootstrap", "acting", "ended")
        return {name: getattr(self, name) for name in names}
