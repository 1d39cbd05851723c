"""Actor-critic with V-trace targets (IMPALA; Espeholt et al. 2018): later epochs are off-policy and corrected."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp

from interplay.train.advantage import Returns
from interplay.train.algorithms.a2c import A2c
from interplay.train.algorithms.base import Segments

if TYPE_CHECKING:
    from interplay.train.settings.algorithms import VtraceGroup


class Vtrace(A2c):
    """Several epochs per rollout; each computes its targets anew."""

    corrects = True

    def __init__(self, settings: VtraceGroup) -> None:
        super().__init__(settings)
        self._rho, self._c = settings.rho, settings.c

    def estimate(self, segments: Segments) -> Returns:
        """V-trace targets, and advantages times the truncated importance weight.

        Idle steps (`interplay.train.advantage`) add their rewards to the preceding acting step.
        """
        ratio = jnp.exp(segments.log_ratio)
        weights = jnp.minimum(ratio, self._rho), self.gae_lambda * jnp.minimum(ratio, self._c)

        def back(
            following: tuple[jax.Array, jax.Array], step: tuple[jax.Array, ...]
        ) -> tuple[tuple[jax.Array, jax.Array], Returns]:
            reward, value, acting, ended, bootstrap, rho, c = step
            discount = jnp.where(acting, self.gamma, 1.0) if self.by_decision else self.gamma
            # r + gamma v and r + gamma V: bootstrapped from the next target and from the next value.
            target, plain = (reward + discount * jnp.where(ended, bootstrap, each) for each in following)
            advantage = jnp.where(acting, rho * (target - value), 0.0)
            corrected = value + rho * (plain - value) + c * (target - plain)
            waited = plain + self.gae_lambda * (target - plain)
            passed = jnp.where(acting, corrected, target), jnp.where(acting, value, plain)
            return passed, Returns(advantage, jnp.where(acting, corrected, waited))

        steps = (*segments[:5], *weights)
        return jax.lax.scan(back, (segments.last_value, segments.last_value), steps, reverse=True)[1]
