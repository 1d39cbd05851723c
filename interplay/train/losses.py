"""The losses of PPO (Schulman et al. 2017) and of the policy gradient as pure functions of one batch, in sums so that shards can
be added up.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp


class Terms(NamedTuple):
    """Sums over the rows of a batch, jax scalars or plain numbers; divide by `rows` of all shards together.

    Attributes:
        policy: clipped surrogate, sum over acting rows.
        value: squared error of the value, sum over all rows.
        entropy: nats, sum over acting rows.
        kl: estimate of KL(old, new), sum over acting rows.
        clipped: acting rows whose ratio left the clip range.
        acting: number of acting rows.
        guess: cross-entropy of guesses, nats, a mean over seats, sum over the rows that guess.
        rows: number of rows.
    """

    policy: Any
    value: Any
    entropy: Any
    kl: Any
    clipped: Any
    acting: Any
    guess: Any
    rows: Any


def ppo_terms(
    log_prob: jax.Array,
    entropy: jax.Array,
    value: jax.Array,
    old_log_prob: jax.Array,
    advantage: jax.Array,
    target: jax.Array,
    acts: jax.Array,
    counts: jax.Array,
    clip: float,
) -> Terms:
    """The terms of PPO's loss.

    With the ratio r = exp(log pi - log pi_old) the surrogate is ``-min(r A, clip(r, 1 - c, 1 + c) A)`` and the KL
    estimate is Schulman's ``(r - 1) - log r``, which is never negative.

    Args:
        log_prob: (B,) of the actions taken, under the policy that learns.
        entropy: (B,) nats.
        value: (B,) predicted.
        old_log_prob: (B,) under the policy that acted.
        advantage: (B,).
        target: (B,) of the value.
        acts: (B,) float32, 1 where the row teaches the policy.
        counts: (B,) float32, 1 where the row teaches the value, 0 for padding.
        clip: c.

    Returns:
        `Terms`, scalars.

    Example:
        >>> one = jnp.ones(1)
        >>> terms = ppo_terms(jnp.log(1.5) * one, 0 * one, 0 * one, 0 * one, one, 2 * one, one, one, 0.2)
        >>> round(float(terms.policy), 4), float(terms.value)
        (-1.2, 4.0)
    """
    log_ratio = (log_prob - old_log_prob) * acts
    ratio = jnp.exp(log_ratio)
    surrogate = -jnp.minimum(ratio * advantage, jnp.clip(ratio, 1.0 - clip, 1.0 + clip) * advantage)
    error = value - target
    return Terms(
        policy=(surrogate * acts).sum(),
        value=(error * error * counts).sum(),
        entropy=(entropy * acts).sum(),
        kl=(((ratio - 1.0) - log_ratio) * acts).sum(),
        clipped=((jnp.abs(ratio - 1.0) > clip) * acts).sum(),
        acting=acts.sum(),
        guess=jnp.zeros((), jnp.float32),
        rows=counts.sum(),
    )


def policy_gradient_terms(
    log_prob: jax.Array,
    entropy: jax.Array,
    value: jax.Array,
    old_log_prob: jax.Array,
    advantage: jax.Array,
    target: jax.Array,
    acts: jax.Array,
    counts: jax.Array,
) -> Terms:
    """The terms of the policy gradient's loss, ``-log pi A`` (Williams 1992), with arguments as in `ppo_terms`.

    The KL estimate says how far the policy has moved since it acted: 0 unless rows were carried over from earlier updates.

    Example:
        >>> one = jnp.ones(1)
        >>> terms = policy_gradient_terms(-one, 0 * one, 0 * one, -one, 3 * one, 2 * one, one, one)
        >>> float(terms.policy), float(terms.value), float(terms.kl)
        (3.0, 4.0, 0.0)
    """
    log_ratio = (log_prob - old_log_prob) * acts
    error = value - target
    return Terms(
        policy=-(log_prob * advantage * acts).sum(),
        value=(error * error * counts).sum(),
        entropy=(entropy * acts).sum(),
        kl=((jnp.exp(log_ratio) - 1.0 - log_ratio) * acts).sum(),
        clipped=jnp.zeros((), jnp.float32),
        acting=acts.sum(),
        guess=jnp.zeros((), jnp.float32),
        rows=counts.sum(),
    )


def guess_terms(guess: jax.Array, truth: jax.Array, counts: jax.Array) -> jax.Array:
    """The cross-entropy of guesses, a mean over seats, summed over rows.

    Args:
        guess: (B, n) log odds.
        truth: (B, n) bool.
        counts: (B,) float32, 1 where the row guesses.

    Example:
        >>> round(float(guess_terms(jnp.zeros((1, 3)), jnp.zeros((1, 3), bool), jnp.ones(1))), 4)
        0.6931
    """
    missed = jax.nn.softplus(jnp.where(truth, -guess, guess))
    summed: jax.Array = (missed.mean(axis=1) * counts).sum()
    return summed


def total(terms: Terms, value_coefficient: float, entropy_coefficient: float) -> jax.Array:
    """The sum that is minimised: policy + value_coefficient value - entropy_coefficient entropy."""
    loss: jax.Array = terms.policy + value_coefficient * terms.value
    # Zero times the entropy would still have its gradient computed.
    return loss - entropy_coefficient * terms.entropy if entropy_coefficient else loss
