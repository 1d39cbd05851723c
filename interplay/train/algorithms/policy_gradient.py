"""The policy gradient with a value baseline (Williams 1992), as in Suarez et al. (2019) and their code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import optax

from interplay.train.algorithms.base import Algorithm
from interplay.train.losses import Prediction, Rates, Terms, total

if TYPE_CHECKING:
    from interplay.train.batches import Batch
    from interplay.train.settings import PolicyGradientGroup

TORCH_EPSILON = 1e-8  # torch's default for Adam, used by the paper's code


class PolicyGradient(Algorithm):
    """One gradient step on all ready samples, with discounted returns of lives."""

    gae_lambda = 1.0  # discounted returns

    def __init__(self, settings: PolicyGradientGroup) -> None:
        super().__init__(settings)
        self._settings = settings
        self.horizon = settings.horizon if settings.returns == "lives" else 0

    def loss(
        self, predicted: Prediction, samples: Batch, counts: jax.Array, rates: Rates
    ) -> tuple[jax.Array, Terms]:
        """The log-probability times the advantage, half the squared error of the value, and the entropy bonus."""
        terms = policy_gradient_terms(predicted, samples, counts)
        return total(terms, 0.5 * self._settings.value_coefficient, self.entropy_coefficient(rates)), terms

    def optimiser(self) -> optax.GradientTransformation:
        """Adam on the gradient, with clipped elements, plus weight decay."""
        return optax.chain(
            optax.clip(self._settings.clip_element),
            optax.add_decayed_weights(self._settings.weight_decay),
            optax.scale_by_adam(eps=TORCH_EPSILON),
        )


def policy_gradient_terms(predicted: Prediction, samples: Batch, counts: jax.Array) -> Terms:
    """The terms of the loss ``-log pi A``, scalars; arguments as of `Algorithm.loss`.

    The KL estimate compares with the policy that acted: 0 unless samples were carried over, or there are several epochs.
    """
    acts = samples.acts
    log_ratio = (predicted.log_prob - samples.log_prob) * acts
    error = predicted.value - samples.target
    return Terms(
        policy=-(predicted.log_prob * samples.advantage * acts).sum(),
        value=(error * error * counts).sum(),
        entropy=(predicted.entropy * acts).sum(),
        kl=((jnp.exp(log_ratio) - 1.0 - log_ratio) * acts).sum(),
        clipped=jnp.zeros((), jnp.float32),
        acting=acts.sum(),
        guess=jnp.zeros((), jnp.float32),
        rows=counts.sum(),
    )
