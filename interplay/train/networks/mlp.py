"""Multilayer perceptrons on the flattened observation: of policy and value, or of utilities alone."""

from __future__ import annotations

from collections.abc import Mapping

import equinox as eqx
import jax
import jax.numpy as jnp
from gymnasium import spaces

from interplay.train.distributions import Distribution
from interplay.train.networks.flat import Embeddings, Normaliser, flatten
from interplay.train.networks.layers import ACTIVATIONS, VALUE_GAIN, Dense, Head, Stack
from interplay.train.settings import NetworkGroup


class MlpNetwork(eqx.Module):
    """Two separate stacks on the flattened observation, as Stable-Baselines3's ``MlpPolicy``.

    Args:
        observation_space: of one agent; every key is flattened, in the order of the space.
        settings: hidden and activation are read.
        valued: false: one stack gives the utilities of choices, for value factorisation, and the value is 0.
    """

    normaliser: Normaliser | None
    embeddings: Embeddings
    policy: Stack
    policy_head: Head
    value: Stack | None
    value_head: Dense | None

    def __init__(
        self,
        observation_space: spaces.Dict,
        action_space: spaces.Space,
        settings: NetworkGroup,
        *,
        key: jax.Array,
        valued: bool = True,
    ) -> None:
        self.normaliser = Normaliser(observation_space.items()) if settings.normalise else None
        self.embeddings = Embeddings(observation_space.values(), key=key)
        inputs = self.embeddings.size
        activation = ACTIVATIONS[settings.activation]
        distribution = Distribution(action_space)
        keys = jax.random.split(key, 4)
        last = (inputs, *settings.hidden)[-1]
        self.policy = Stack(inputs, settings.hidden, activation, key=keys[0])
        self.policy_head = Head(last, distribution.size, distribution.deviations, key=keys[1])
        self.value = Stack(inputs, settings.hidden, activation, key=keys[2]) if valued else None
        self.value_head = Dense(last, 1, VALUE_GAIN, key=keys[3]) if valued else None

    def prepare(self, observation: Mapping[str, jax.Array]) -> jax.Array:
        """Flattens the observation: (B, inputs) float32."""
        return flatten(observation)

    def __call__(self, observation: jax.Array) -> tuple[jax.Array, jax.Array]:
        return self.decide(*self.features(observation))

    def features(self, observation: jax.Array) -> tuple[tuple[jax.Array, ...], None]:
        """Inputs of the heads, (B, hidden[-1]) each."""
        row = observation if self.normaliser is None else self.normaliser(observation)
        row = self.embeddings(row)
        if self.value is None:
            return (self.policy(row),), None
        return (self.policy(row), self.value(row)), None

    def decide(self, features: tuple[jax.Array, ...], rest: None) -> tuple[jax.Array, jax.Array]:
        """Parameters of the distribution and value."""
        if self.value_head is None:
            return self.policy_head(features[0]), jnp.zeros_like(features[0][:, 0])
        return self.policy_head(features[0]), self.value_head(features[1])[:, 0]
