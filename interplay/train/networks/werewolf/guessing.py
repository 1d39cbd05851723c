"""A network that also says which seats it takes to be of a hidden population (Sarkar et al. 2025): one more head, beside policy and value.

The head reads the same rows, one for each seat, as the logits of names do, so what helps to guess is at hand where names are chosen.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax

from interplay.core.errors import UserError
from interplay.train.networks.layers import POLICY_GAIN, Dense
from interplay.train.networks.werewolf.innermost import across


class GuessingNetwork(eqx.Module):
    """Another network and a guess.

    Args:
        network: with `attend` and `answer`, as `SeatsNetwork` has them.
        width: of its rows.
        key: jax random key of the head's weights; those of the other network stay as they are.

    Raises:
        UserError: if the network has no rows of seats.
    """

    network: Any
    head: Dense

    def __init__(self, network: Any, width: int, *, key: jax.Array) -> None:
        if not hasattr(network, "attend"):
            raise UserError("belief.about: this network has no row for each seat; set network.kind=seats")
        self.network = network
        self.head = Dense(width, 1, POLICY_GAIN, key=key)

    @property
    def raw(self) -> bool:
        """Whether it takes observations in their own dtypes."""
        return bool(getattr(self.network, "raw", False))

    def __call__(self, observation: Mapping[str, jax.Array]) -> tuple[jax.Array, jax.Array]:
        logits, value = self.network(observation)
        return logits, value

    def guess(self, observation: Mapping[str, jax.Array]) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Logits, value, and log odds (B, n) that each seat is of the population that is guessed."""
        rows, seen = self.network.attend(observation)
        logits, value = self.network.answer(rows, seen)
        return logits, value, across(self.head, rows)[0].T
