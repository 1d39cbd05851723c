"""A third head that guesses which seats are of a hidden population (Sarkar et al. 2025).

The head reads the same rows, one per seat, as the logits of names, so features that help to guess also serve the choice of names.
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
    """A network with a guessing head.

    Args:
        network: with `attend` and `answer`, as `SeatsNetwork`.
        width: of its rows.
        key: jax random key of the head's weights.
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
        """Logits, value, and log odds (B, n) that each seat is of the guessed population."""
        rows, seen = self.network.attend(observation)
        logits, value = self.network.answer(rows, seen)
        return logits, value, across(self.head, rows)[0].T
