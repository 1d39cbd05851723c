"""Generalised advantages along a slot's trajectory, with idle steps, deaths and births.

A slot's step t is *acting* (its action was read) or *idle* (not its turn, or dead but still present and earning).
Rewards of idle steps belong to the acting step before them. With the continuation

    n_t = b_{t+1}                             if the life ended in step t (0 if terminated, V of its last observation if cut)
    n_t = x_{t+1}                             otherwise
    A_t = r_{t+1} + gamma n_t - V_t           acting steps: the generalised advantage (Schulman et al. 2016)
    x_t = V_t + lambda A_t                    acting: mixture of value and return
    x_t = r_{t+1} + gamma n_t                 idle: the return to come

and x_T = V_T at the rollout's end. If every step is acting this is the usual estimator. With idle steps between two
actions, gamma counts time and lambda counts decisions. The target of the value is R_t = V_t + A_t, and x_t in idle steps.

With discounting by decision, gamma applies in acting steps and 1 in idle steps. The immediate reward of an action then
counts in full, and all that follows up to the value of the next decision is discounted once.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp


class Returns(NamedTuple):
    """Advantage (0 in idle steps) and target of the value, both (T, ...) float32."""

    advantage: jax.Array
    target: jax.Array


def generalised_advantage(
    reward_tp1: jax.Array,
    value_t: jax.Array,
    acting_t: jax.Array,
    ended_tp1: jax.Array,
    bootstrap_tp1: jax.Array,
    last_value: jax.Array,
    gamma: float,
    gae_lambda: float,
    by_decision: bool = False,
) -> Returns:
    """Estimates advantages and value targets of a rollout.

    Args:
        reward_tp1: (T, ...) float32, earned in step t.
        value_t: (T, ...) float32, V of the observation that step t began with.
        acting_t: (T, ...) bool, step t trains the policy: the slot acted, or `mask_dead` is off and its agent is dead but present.
        ended_tp1: (T, ...) bool, the slot's life or its world's episode ended in step t.
        bootstrap_tp1: (T, ...) float32, read where `ended_tp1`: 0 if terminated, V of the last observation if truncated.
        last_value: (...) float32, V of the observation after the last step.
        gamma: discount per time step, or per decision.
        gae_lambda: lambda, per decision.
        by_decision: gamma counts the slot's own decisions, not time.

    Example:
        >>> one = jnp.ones((2, 1))
        >>> out = generalised_advantage(one, 0 * one, one > 0, 0 * one > 0, 0 * one, jnp.zeros(1), 0.5, 1.0)
        >>> out.advantage[:, 0].tolist()
        [1.5, 1.0]
    """

    def back(following: jax.Array, step: tuple[jax.Array, ...]) -> tuple[jax.Array, Returns]:
        reward, value, acting, ended, bootstrap = step
        discount = jnp.where(acting, gamma, 1.0) if by_decision else gamma
        to_come = reward + discount * jnp.where(ended, bootstrap, following)
        advantage = jnp.where(acting, to_come - value, 0.0)
        mixed = jnp.where(acting, value + gae_lambda * advantage, to_come)
        return mixed, Returns(advantage, to_come)

    steps = (reward_tp1, value_t, acting_t, ended_tp1, bootstrap_tp1)
    return jax.lax.scan(back, last_value, steps, reverse=True)[1]
