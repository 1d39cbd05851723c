"""Rollouts: plays the worlds of a worker's shards for a fixed number of steps.

All shards step together with one network call (`collect`); the instructions for a shard's rows do not depend on the number of shards.
Rows are sorted by network and cut into blocks. Slots that do not act are not computed, except in the first step and every
`IDLE_EVERY`-th after it, in which idle slots give a sample of their value.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from interplay.core.errors import UserError
from interplay.train.collector import Collector, StepOutputs, StepRows
from interplay.train.devices import put_rows
from interplay.train.policy_network import PolicyNetwork, step_keys
from interplay.train.populations import Blocks
from interplay.train.samples import NetworkInput

InferenceParameters = Mapping[str, Any]  # kind name -> as `PolicyNetwork.precompute` gave them


class StepInputs(NamedTuple):
    """Input arrays of a kind's networks in one step, for S shards of the run.

    Attributes:
        seen: (S, N) rows.
        parts: views (N,) of it for each of this worker's shards.
        keys: (T, S, M, 2) uint32, keys of the draws in each step, see `step_keys`.
        shards: () int32 on the device, number of the worker's shards.
    """

    seen: NetworkInput
    parts: list[NetworkInput]
    keys: np.ndarray
    shards: jax.Array


Calls = dict[str, tuple[list[StepRows], jax.Array | None]]  # kind name -> rows of each shard, outputs of all


def collect(
    shards: Sequence[Collector],
    parameters: InferenceParameters,
    update: int,
    halted: Callable[[], bool] = lambda: False,
) -> dict[str, float]:
    """Plays T steps of all worlds of a worker's shards; returns seconds in networks (``act``) and worlds (``step``).

    With a device the shards form two halves: the device computes one while the worlds of the other step. If `halted` is true
    before a step, the rollout stays unfinished.
    """
    steps = shards[0].buffer.steps
    groups = [Group(part, parameters, update) for part in cut_groups(shards)]
    for shard in shards:
        shard.acted = 0
    waiting: deque[tuple[Group, int]] = deque()
    for t in range(steps):
        if halted():
            break
        for group in groups:
            group.begin_step(t)
            waiting.append((group, t))
            if len(waiting) == len(groups):
                first, own = waiting.popleft()
                first.end_step(own)
    for group, t in waiting:
        group.end_step(t)
    for group in groups:
        group.end()
    return {"act": sum(group.acting for group in groups), "step": sum(group.stepping for group in groups)}


def cut_groups(shards: Sequence[Collector]) -> list[Sequence[Collector]]:
    """The shards that share a network call: all, or with a device two halves."""
    network, half = next(iter(shards[0].networks.values())), len(shards) // 2
    return [shards] if network.device is None or not half else [shards[:half], shards[half:]]


class Group:
    """Shards that share a network call; arguments as of `collect`.

    Attributes:
        acting, stepping: seconds in networks and in worlds.
    """

    def __init__(self, shards: Sequence[Collector], parameters: InferenceParameters, update: int) -> None:
        self._shards, self._parameters, self._update = shards, parameters, update
        self._inputs = allocate_inputs(shards, update * shards[0].buffer.steps)
        self.acting = self.stepping = 0.0

    def begin_step(self, t: int) -> None:
        """Calls the networks for a step; the inputs stay unchanged until `end_step` has read the outputs."""
        began = time.perf_counter()
        wanted = [shard.begin_step(t) for shard in self._shards]
        self._calls = call_networks(self._shards, self._parameters, wanted, t, self._inputs)
        self.acting += time.perf_counter() - began

    def end_step(self, t: int) -> None:
        """Reads the outputs and steps the worlds."""
        began = time.perf_counter()
        results = read_outputs(self._shards, self._calls)
        acted = time.perf_counter()
        for shard, own in zip(self._shards, results, strict=True):
            try:
                shard.step(t, own)
            except UserError:  # an action may come from NaN observations, which are the better message
                shard.refuse_bad_observations(self._update)
                raise
        cuts = [shard.truncated_mask() for shard in self._shards]
        if any(cut is not None for cut in cuts):
            self._evaluate(cuts, [shard.buffer.bootstrap[shard.buffer.earlier + t] for shard in self._shards])
        for shard in self._shards:
            shard.end_step(t)
        self.acting, self.stepping = self.acting + acted - began, self.stepping + time.perf_counter() - acted

    def end(self) -> None:
        """Computes the values of the observations after the last step."""
        began = time.perf_counter()
        wanted = [shard.last_mask() for shard in self._shards]
        for shard in self._shards:
            shard.buffer.last_value[...] = 0.0
        self._evaluate(wanted, [shard.buffer.last_value for shard in self._shards])
        self.acting += time.perf_counter() - began

    def _evaluate(self, wanted: Sequence[np.ndarray | None], out: Sequence[np.ndarray]) -> None:
        """Writes the values of slots in `wanted`, (W, A) per shard or None, into `out`, (W, A) each.

        The acting program computes values as well; a program for values alone would have to be compiled.
        """
        masks = [
            np.zeros(values.shape, bool) if want is None else want
            for want, values in zip(wanted, out, strict=True)
        ]
        calls = call_networks(self._shards, self._parameters, masks, 0, self._inputs)
        for results, values in zip(read_outputs(self._shards, calls), out, strict=True):
            for result in results.values():
                values.reshape(-1)[result.step_rows.where] = result.outputs[:, -1]


def allocate_inputs(shards: Sequence[Collector], played: int = 0) -> dict[str, StepInputs]:
    """Allocates the network inputs of one step by kind, for all shards of the run; `played` steps came before.

    The compiled program is then the same for any number of workers. On a device these shards are all.
    """
    counters = (np.arange(shards[0].buffer.steps) + played).astype(np.uint32)
    first, inputs = shards[0], {}
    room = max(first.room, len(shards)) if next(iter(first.networks.values())).device is None else len(shards)
    for name, pending in first.pending.items():
        seen = pending.layout.allocate(room, first.input_rows(name))
        keys = np.stack([shard.keys[name] for shard in _filled(shards, room)])
        parts = [seen.part(at) for at in range(len(shards))]
        drawn = jax.device_get(step_keys(*jax.device_put((keys, counters)), first.most_blocks[name]))
        count = jax.device_put(np.int32(len(shards)), first.networks[name].device)
        inputs[name] = StepInputs(seen, parts, drawn, count)
    return inputs


def _filled(parts: Sequence[Any], room: int) -> list[Any]:
    """Pads the parts to `room`; padding is not read."""
    return [*parts, *[parts[0]] * (room - len(parts))]


def call_networks(
    shards: Sequence[Collector],
    parameters: InferenceParameters,
    wanted: Sequence[np.ndarray],
    t: int,
    inputs: Mapping[str, StepInputs],
) -> Calls:
    """Calls each kind's networks for the slots in `wanted`, (W, A) per shard; a device does not wait for outputs.

    The inputs stay in `inputs` until the next call.
    """
    calls: Calls = {}
    for name, network in shards[0].networks.items():
        own = inputs[name]
        all_rows = [
            shard.write_inputs(name, want, part)
            for shard, want, part in zip(shards, wanted, own.parts, strict=True)
        ]
        some = any(len(step_rows.picked) for step_rows in all_rows)
        calls[name] = (
            all_rows,
            _call(network, parameters[name], all_rows, t, own, shards[0].block[name]) if some else None,
        )
    return calls


def read_outputs(shards: Sequence[Collector], calls: Calls) -> list[dict[str, StepOutputs]]:
    """Waits for the outputs and returns them for each shard."""
    results: list[dict[str, StepOutputs]] = [{} for _ in shards]
    for name, network in shards[0].networks.items():
        all_rows, found = calls[name]
        outputs = None if found is None else _fetch(found, network.device)
        columns = network.distribution.columns + 2
        for at, step_rows in enumerate(all_rows):
            rows = (
                np.zeros((0, columns), np.float32)
                if outputs is None
                else outputs[at, : len(step_rows.picked)]
            )
            memory = rows[:, columns:] if network.memory and outputs is not None else None
            results[at][name] = StepOutputs(step_rows, rows[:, :columns], memory)
    return results


def _fetch(outputs: jax.Array, device: Any) -> np.ndarray:
    return np.asarray(outputs) if device is None else jax.device_get(outputs)


def _call(
    network: PolicyNetwork,
    parameters: Any,
    all_rows: Sequence[StepRows],
    t: int,
    inputs: StepInputs,
    block: int,
) -> jax.Array:
    """(S, N, columns + 2 + size) outputs of one compiled call for S shards of the run; zeros for other workers' shards."""
    seen, blocks = inputs.seen, None
    if all_rows[0].blocks is not None:
        cuts = _filled([step_rows.blocks for step_rows in all_rows], inputs.keys.shape[1])
        blocks = Blocks(*(np.stack(parts) for parts in zip(*cuts, strict=True)))
    given, beside = (seen.rows, seen.mask, seen.memory, seen.view), (blocks, inputs.keys[t])
    (rows, mask, memory, view), (blocks, keys) = put_rows(given, beside, network.device, blocks is None)
    outputs: jax.Array = network.act(
        parameters, rows, mask, blocks, keys, memory, view, inputs.shards, block=block
    )
    if network.device is not None:
        outputs.copy_to_host_async()
    return outputs
