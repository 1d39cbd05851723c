"""Synchronous advantage actor-critic (Mnih et al. 2016): one gradient step per short rollout."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax
import optax

from interplay.train.algorithms.base import Algorithm
from interplay.train.algorithms.policy_gradient import policy_gradient_terms
from interplay.train.losses import Prediction, Rates, Terms, total

if TYPE_CHECKING:
    from interplay.train.batches import Batch
    from interplay.train.settings.algorithms import ActorCriticGroup

RMS_DECAY, RMS_EPSILON = 0.99, 1e-5  # of Stable-Baselines3's A2C


class A2c(Algorithm):
    """One gradient step on all samples of a rollout, with generalised advantages.

    Args:
        settings: the run's group ``a2c``, or one with the same coefficients.
    """

    def __init__(self, settings: ActorCriticGroup) -> None:
        super().__init__(settings)
        self._settings = settings

    def loss(
        self, predicted: Prediction, samples: Batch, counts: jax.Array, rates: Rates
    ) -> tuple[jax.Array, Terms]:
        """``-log pi A``, the squared error of the value, and the entropy bonus."""
        terms = policy_gradient_terms(predicted, samples, counts)
        return total(terms, self._settings.value_coefficient, self.entropy_coefficient(rates)), terms

    def optimiser(self) -> optax.GradientTransformation:
        """torch's RMSProp, with epsilon outside the root, and the gradient of each kind and population clipped to a norm."""
        return optax.chain(
            optax.clip_by_global_norm(self._settings.max_grad_norm),
            optax.scale_by_rms(decay=RMS_DECAY, eps=RMS_EPSILON, eps_in_sqrt=False),
        )
