"""The policy gradient with a value baseline (Williams 1992), as Suarez et al. (2019) and their code have it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import optax

from interplay.train.losses import Prediction, Rates, Terms, total
from interplay.train.reward_scale import Groups, Scale
from interplay.train.schedules import Schedules
from interplay.train.settings import PolicyGradientGroup

if TYPE_CHECKING:
    from interplay.train.policy_network import Batch

TORCH_EPSILON = 1e-8  # torch's Adam as it is, and with it the paper's code


class PolicyGradient:
    """One step along all samples that are ready, with discounted returns of lives.

    Args:
        settings: the run's group ``policy_gradient``.
    """

    minibatch: int | None = None  # all samples together
    epochs = 1
    gae_lambda = 1.0  # discounted returns
    mask_dead = True

    def __init__(self, settings: PolicyGradientGroup) -> None:
        self._settings = settings
        self._schedules = Schedules(settings)
        self.rollout, self.gamma = settings.rollout, settings.gamma
        self.horizon = settings.horizon if settings.returns == "lives" else 0
        self.by_decision = settings.discount == "decision"
        self.reward_scale: Scale = settings.reward_scale
        self.normalise_reward: Groups | None = settings.normalise_reward
        self.normalise = settings.normalise_advantage
        self.sequence = settings.sequence

    def rates(self, share: float, population: str) -> dict[str, float]:
        """The rates of a population after a share of the run."""
        return self._schedules.at(share, population)

    def loss(
        self, predicted: Prediction, samples: Batch, counts: jax.Array, rates: Rates
    ) -> tuple[jax.Array, Terms]:
        """The log-probability times the advantage, half the squared error of the value, and the entropy bonus."""
        terms = policy_gradient_terms(
            predicted.log_prob,
            predicted.entropy,
            predicted.value,
            samples.log_prob,
            samples.advantage,
            samples.target,
            samples.acts,
            counts,
        )
        return total(
            terms,
            0.5 * self._settings.value_coefficient,
            rates["entropy_coefficient"] if self._schedules.ever("entropy_coefficient") else None,
        ), terms

    def optimiser(self) -> optax.GradientTransformation:
        """Adam on the gradient, whose elements are cut, and on a share of the weights."""
        return optax.chain(
            optax.clip(self._settings.clip_element),
            optax.add_decayed_weights(self._settings.weight_decay),
            optax.scale_by_adam(eps=TORCH_EPSILON),
        )

    def enough(self, terms: Terms) -> bool:
        """There is one step, and it is taken."""
        return False


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
    """The terms of the loss ``-log pi A``, with arguments as in `interplay.train.algorithms.ppo.ppo_terms`.

    The KL estimate says how far the policy has moved since it acted: 0 unless samples were carried over from earlier updates.

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
