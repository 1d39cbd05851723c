"""Loss terms as pure functions of one batch, in sums so that shards can be added up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp


class Prediction(NamedTuple):
    """The outputs of a learning network for B samples.

    Attributes:
        parameters: (B, n), of the distribution of actions.
        log_prob: (B,) of the actions that were taken.
        entropy: (B,) nats.
        value: (B,).
    """

    parameters: jax.Array
    log_prob: jax.Array
    entropy: jax.Array
    value: jax.Array


Rates = Mapping[str, Any]  # name of a number that changes over the run -> () float32


class Terms(NamedTuple):
    """Sums over the rows of a batch, jax scalars or numbers.

    The minimised loss is divided by `rows` of its kind and population in all shards (`learner._move`). Logged means divide `policy`,
    `entropy`, `kl` and `clipped` by `acting`.

    Attributes:
        policy: loss of the policy, sum over acting rows.
        value: squared error of the value, sum over all rows.
        entropy: nats, sum over acting rows.
        kl: estimate of KL(old, new), sum over acting rows.
        clipped: acting rows with a ratio outside the clip range.
        acting: number of acting rows.
        guess: cross-entropy of guesses, nats, mean over seats, sum over guessing rows.
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


def guess_terms(guess: jax.Array, truth: jax.Array, counts: jax.Array) -> jax.Array:
    """Cross-entropy of guesses, mean over seats, summed over rows.

    Args:
        guess: (B, n) log odds.
        truth: (B, n) bool.
        counts: (B,) float32, 1 where the row guesses.

    Example:
        >>> round(float(guess_terms(jnp.zeros((1, 3)), jnp.zeros((1, 3), bool), jnp.ones(1))), 4)
        0.6931
    """
    missed = jax.nn.softplus(jnp.where(truth, -guess, guess))
    return (missed.mean(axis=1) * counts).sum()


NUM_TERMS = len(Terms._fields)


def total(terms: Terms, value_coefficient: float, entropy_coefficient: Any) -> jax.Array:
    """The minimised sum: policy + value_coefficient value - entropy_coefficient entropy.

    With None the entropy's gradient is not computed; with zero it is.
    """
    loss: jax.Array = terms.policy + value_coefficient * terms.value
    return loss if entropy_coefficient is None else loss - entropy_coefficient * terms.entropy
