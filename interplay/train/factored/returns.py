"""Lambda returns along a stretch of a team's decisions."""

from __future__ import annotations

import jax
import jax.numpy as jnp


def lambda_returns(
    reward_tp1: jax.Array,
    discount_tp1: jax.Array,
    decides_t: jax.Array,
    value_t: jax.Array,
    td_lambda: float,
) -> jax.Array:
    """Lambda returns (Peng and Williams 1996, Q(lambda)), without cuts at non-greedy choices.

        G_t = r_{t+1} + d_{t+1} ((1 - lambda) V_{t+1} + lambda G_{t+1})

    and G_t = V_t at frames without a decision: the last observation of a truncated episode, and the stretch's end.

    Args:
        reward_tp1: (B, F) float32, reward from frame t to the next, discounted to t.
        discount_tp1: (B, F) float32, of the next frame; 0 where the episode terminated.
        decides_t: (B, F) bool, the team decided at frame t and its outcome is known.
        value_t: (B, F) float32, V of frame t.

    Returns:
        (B, F) float32.

    Example:
        >>> one = jnp.ones((1, 3))
        >>> decides = jnp.array([[True, True, False]])
        >>> lambda_returns(one, 0.5 * one, decides, 4 * one, 1.0).tolist(), lambda_returns(one, 0.5 * one, decides, 8 * one, 0.0).tolist()
        ([[2.5, 3.0, 4.0]], [[5.0, 5.0, 8.0]])
    """

    def back(following: jax.Array, frame: tuple[jax.Array, ...]) -> tuple[jax.Array, jax.Array]:
        reward, discount, decides, value = frame
        found = jnp.where(decides, reward + discount * following, value)
        return (1.0 - td_lambda) * value + td_lambda * found, found

    frames = (reward_tp1.T, discount_tp1.T, decides_t.T, value_t.T)
    nothing = jnp.zeros(reward_tp1.shape[0], jnp.float32)  # the last frame decides nothing
    returns: jax.Array = jax.lax.scan(back, nothing, frames, reverse=True)[1]
    return returns.T
