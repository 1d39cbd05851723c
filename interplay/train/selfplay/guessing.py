"""Guesses of a hidden population, and the reward for changing the guesses of others (Sarkar et al. 2025).

A guess is a probability for every seat. A *belief* is its mean over the seats that are really of the hidden population. A speaker is
rewarded for the rise of all other guessers' beliefs from this step to the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from interplay.core.errors import UserError
from interplay.core.loading import did_you_mean
from interplay.core.world import World
from interplay.train.populations import Populations

if TYPE_CHECKING:
    from interplay.train.collector import Collector
    from interplay.train.policy_network import PolicyNetwork
    from interplay.train.samples import PendingSamples

CHUNK = 4096  # rows per call of the network


def check_guesses(about: str, world: World, populations: Populations) -> None:
    """Checks that the guessed population exists and is not the only one that learns."""
    if not about:
        return
    if about not in populations.names or len(populations.names) == 1:
        near = did_you_mean(about, populations.names, f"there are {', '.join(populations.names)}")
        raise UserError(f"belief.about: {world.id} has no population {about!r} to guess; {near}")
    if populations.own == (about,):
        raise UserError(
            f"belief.about: {about} alone learns and would guess itself; leave belief.about empty"
        )


def pay_speakers(collector: Collector, parameters: Mapping[str, Any], speaking: float) -> None:
    """Adds the reward of speaking to the trajectories, after a rollout and before rewards are scaled.

    Seats are paid for steps in which they act, by guessers of this step and the next in the same life. The effect of a rollout's last
    step is not known and not paid.

    Args:
        collector: after `collect`.
        parameters: of the rollout.
        speaking: reward for raising a belief from 0 to 1.
    """
    buffer = collector.buffer
    believed = np.full((buffer.steps, collector.present.size), np.nan, np.float32)
    hidden = np.zeros(believed.shape, bool)
    for name, network in collector.networks.items():
        pending = collector.pending[name]
        new = slice(pending.kept, pending.count)
        at = (pending.step[new] - buffer.earlier, pending.slot[new])
        own = pending.population[new] == network.guessed
        hidden[at] = own
        belief = read_beliefs(network, parameters[name], pending)
        believed[at] = np.where(own, np.nan, belief)
    shape = (buffer.steps, *collector.present.shape)
    last = slice(buffer.earlier, buffer.earlier + buffer.steps)
    paid = share_changes(believed.reshape(shape), buffer.ended[last])
    paid[hidden.reshape(shape)] *= -1
    buffer.reward[last] += np.float32(speaking) * paid * buffer.acting[last]


def share_changes(believed: np.ndarray, ended: np.ndarray) -> np.ndarray:
    """The mean change of the other agents' beliefs in each step, (T, W, A) float32.

    The mean is over others that guess before and after the step in one life; 0 without any.

    Args:
        believed: (T, W, A), NaN without a guess.
        ended: (T, W, A) bool, the life ended in the step.

    Example:
        >>> believed = np.array([[[0.25, 0.5, np.nan]], [[0.75, 0.75, np.nan]]])
        >>> share_changes(believed, np.zeros((2, 1, 3), bool))[0].tolist()
        [[0.25, 0.5, 0.375]]
    """
    change = np.zeros(believed.shape)
    change[:-1] = believed[1:] - believed[:-1]
    there = np.isfinite(change) & ~ended
    there[-1] = False
    change = np.where(there, change, 0.0)
    others = there.sum(axis=-1, keepdims=True) - there
    summed = change.sum(axis=-1, keepdims=True) - change
    return (np.where(others > 0, summed, 0.0) / np.maximum(others, 1)).astype(np.float32)


def read_beliefs(network: PolicyNetwork, parameters: Any, pending: PendingSamples) -> np.ndarray:
    """The belief of each row of the last rollout, (N,) float32; NaN without seats of the hidden population."""
    assert pending.truth is not None
    out = np.full(pending.count - pending.kept, np.nan, np.float32)
    population = pending.population[pending.kept : pending.count]
    rows = network.layout.allocate(CHUNK)
    for number in np.unique(population[population != network.guessed]):
        index = np.flatnonzero(population == number)
        for start in range(0, len(index), CHUNK):
            part = index[start : start + CHUNK]
            picked = part + pending.kept
            for dtype, array in rows.items():
                array[: len(part)] = pending.seen.rows[dtype][picked]
            given = jax.device_put((np.int32(number), rows), network.device)
            belief = jax.device_get(network.beliefs(parameters, *given))[: len(part)]
            truth = pending.truth[picked]
            count = truth.sum(axis=1)
            out[part] = np.where(count, (belief * truth).sum(axis=1) / np.maximum(count, 1), np.nan)
    return out
