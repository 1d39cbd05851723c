"""Proximal policy optimisation (Schulman et al. 2017)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import optax

from interplay.train.algorithms.base import ADAM_EPSILON, Algorithm
from interplay.train.losses import Prediction, Rates, Terms, total

if TYPE_CHECKING:
    from interplay.train.batches import Batch
    from interplay.train.settings import PpoGroup

KL_SLACK = 1.5  # epochs end when the estimate exceeds this times target_kl (Stable-Baselines3's rule)


class Ppo(Algorithm):
    """Epochs of minibatches over a rollout, with the clipped surrogate and generalised advantages."""

    decouples = True

    def __init__(self, settings: PpoGroup) -> None:
        super().__init__(settings)
        self._settings = settings

    def loss(
        self, predicted: Prediction, samples: Batch, counts: jax.Array, rates: Rates
    ) -> tuple[jax.Array, Terms]:
        """The clipped surrogate, the squared error of the value (not halved, not clipped), and the entropy bonus."""
        terms = ppo_terms(predicted, samples, counts, rates["clip"])
        return total(terms, self._settings.value_coefficient, self.entropy_coefficient(rates)), terms

    def optimiser(self) -> optax.GradientTransformation:
        """Adam, with the gradient of each kind and population clipped to a norm; `learner._move` applies the learning rate."""
        return optax.chain(
            optax.clip_by_global_norm(self._settings.max_grad_norm),
            optax.scale_by_adam(eps=ADAM_EPSILON),
        )

    def enough(self, terms: Terms) -> Any:
        """Whether the KL estimate exceeds `KL_SLACK` times ``ppo.target_kl``; then the step is not taken and the update ends."""
        most = self._settings.target_kl
        return most is not None and terms.kl / jnp.maximum(terms.acting, 1.0) > KL_SLACK * most


def ppo_terms(predicted: Prediction, samples: Batch, counts: jax.Array, clip: Any) -> Terms:
    """The terms of PPO's loss, scalars.

    With the ratio r = exp(log pi - log pi_old) the surrogate is ``-min(r A, clip(r, 1 - c, 1 + c) A)`` and the KL
    estimate is Schulman's ``(r - 1) - log r``, which is never negative.

    Args:
        predicted, samples, counts: as of `Algorithm.loss`.
        clip: c.
    """
    advantage, acts = samples.advantage, samples.acts
    log_ratio = (predicted.log_prob - samples.log_prob) * acts
    ratio = jnp.exp(log_ratio)
    surrogate = -jnp.minimum(ratio * advantage, jnp.clip(ratio, 1.0 - clip, 1.0 + clip) * advantage)
    error = predicted.value - samples.target
    return Terms(
        policy=(surrogate * acts).sum(),
        value=(error * error * counts).sum(),
        entropy=(predicted.entropy * acts).sum(),
        kl=(((ratio - 1.0) - log_ratio) * acts).sum(),
        clipped=((jnp.abs(ratio - 1.0) > clip) * acts).sum(),
        acting=acts.sum(),
        guess=jnp.zeros((), jnp.float32),
        rows=counts.sum(),
    )
