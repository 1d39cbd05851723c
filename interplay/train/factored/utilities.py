"""Networks of one kind with a mixer: epsilon-greedy acting, and the gradient of the team's temporal difference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from interplay.core.world import Kind
from interplay.train import networks
from interplay.train.factored.replay import Frames
from interplay.train.policy_network import PolicyNetwork
from interplay.train.populations import Populations
from interplay.train.settings import TrainSettings, VdnGroup


class Differences(NamedTuple):
    """Sums over decisions; divide by `rows`.

    Attributes:
        squared: squared temporal differences.
        absolute: absolute temporal differences.
        value: the team's value by the online network.
        target: lambda returns.
        rows: number of decisions.
    """

    squared: Any
    absolute: Any
    value: Any
    target: Any
    rows: Any


NUM_SUMS = len(Differences._fields)


class UtilityNetwork(PolicyNetwork):
    """The networks and mixers of one kind of agent for Q populations.

    Args:
        key: jax random key of the first population's weights.
        make_mixer: key -> mixer.
        marks: as of `PolicyNetwork`.
    """

    def __init__(
        self,
        kind: Kind,
        settings: TrainSettings,
        key: jax.Array,
        populations: Populations,
        group: VdnGroup,
        make_mixer: Callable[[jax.Array], Any],
        marks: np.ndarray | None = None,
    ) -> None:
        self._make_mixer, self._group = make_mixer, group
        super().__init__(kind, settings, key, populations, view=1, marks=marks)
        self.sums = jax.jit(self._sums)

    def _make(self, key: jax.Array) -> Any:
        mixer = self._make_mixer(jax.random.fold_in(key, _MIXER))
        return networks.MixedNetwork(self._make_policy(key), mixer)

    def _evaluate(self, network: Any, value: jax.Array, view: jax.Array | None) -> jax.Array:
        """Zeros: teams are valued, not observations."""
        return jnp.zeros_like(value)

    def _act_rows(self, arrays: Any, inputs: tuple[Any, ...], key: jax.Array, greedy: bool) -> jax.Array:
        """(B, columns + 2 + size) outputs for the rows of one population; `arrays` holds parameters and epsilon."""
        arrays, epsilon = arrays
        rows, legal, memory, _ = inputs
        network, seen, after = self._fast_network(arrays).network, self._read(rows), []
        if memory is None:
            parameters, _ = network(seen)
        else:
            parameters, _, kept = network.remember(seen, memory)
            after = [kept]
        action = self.distribution.explore(parameters, key, legal, epsilon)
        return jnp.concatenate([action, jnp.zeros((len(action), 2), jnp.float32), *after], axis=1)

    # -- learning -----------------------------------------------------------------------------------

    def _sums(self, vector: jax.Array, target: jax.Array, frames: Frames) -> jax.Array:
        """(P + 5,) float32: the gradient of half the summed squared temporal differences, and `Differences`.

        Args:
            vector: (P,) parameters.
            target: (P,) of the target network.
            frames: (B, ...) stretches.
        """
        with self.placed():
            gradient, sums = jax.grad(self._loss_of, has_aux=True)(vector, target, frames)
        return jnp.concatenate([gradient, jnp.stack(sums)])

    def _loss_of(self, vector: jax.Array, target: jax.Array, frames: Frames) -> tuple[jax.Array, Differences]:
        """Half the squared differences between the team's value and its lambda return by the target network."""
        seen = self._read({d: rows.reshape(-1, rows.shape[-1]) for d, rows in frames.rows.items()})
        legal = None if frames.mask is None else frames.mask.reshape(-1, frames.mask.shape[-1])
        ours, theirs = self._network(vector), self._network(target)
        mine, others = self._parameters(ours, seen, frames), self._parameters(theirs, seen, frames)
        taken = frames.action.reshape(-1, frames.action.shape[-1]).astype(jnp.float32)
        best = self.distribution.greedy(mine if self._group.double_q else others, legal)
        value = self._mixed(ours, self.distribution.utility(mine, taken), frames)
        to_come = self._mixed(theirs, self.distribution.utility(others, best), frames)
        returns = lambda_returns(
            frames.reward, frames.discount, frames.decides, to_come, self._group.td_lambda
        )
        counts = frames.decides.astype(jnp.float32)
        returns = jax.lax.stop_gradient(returns)
        error = (value - returns) * counts
        sums = Differences(
            jnp.square(error).sum(),
            jnp.abs(error).sum(),
            (value * counts).sum(),
            (returns * counts).sum(),
            counts.sum(),
        )
        return 0.5 * sums.squared, sums

    def _parameters(self, network: Any, seen: Any, frames: Frames) -> jax.Array:
        """(B M F, n) utilities of all choices of every member in every frame."""
        if not self.memory:
            return network.network(seen)[0]
        before = frames.memory.reshape(-1, self.memory)
        fresh, acts = (flags.reshape(len(before), -1) for flags in (frames.fresh, frames.acts))
        return networks.unroll(network.network, seen, before, fresh, acts)[0]

    def _mixed(self, network: Any, utilities: jax.Array, frames: Frames) -> jax.Array:
        """(B, F) the team's value, over acting members."""
        own = jnp.where(frames.acts, utilities.reshape(frames.acts.shape), 0.0)
        members = own.swapaxes(1, 2).reshape(-1, own.shape[1])
        state = frames.state.reshape(len(members), -1)
        return network.mixer(members, state).reshape(frames.reward.shape)


_MIXER = 0x317E  # folded into the key of a mixer


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
