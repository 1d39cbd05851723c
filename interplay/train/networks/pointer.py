"""A pointing head: one logit for each row of a table, in any order of rows (`interplay.core.pointing`).

With the policy's features x and the numbers row_r of a row,

    q = x W_q + b        k_r = row_r W_k        logit_r = q . k_r / sqrt(d)

for filled rows, and `ILLEGAL` for others. The row that stands for "no target" has a learned key, because its numbers are of another
object, such as the observer. A bias of the keys would add the same to all rows, so there is none.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.core.pointing import tables_of
from interplay.train.distributions import ILLEGAL
from interplay.train.networks.layers import POLICY_GAIN, Dense, orthogonal

_DENSE = ("attention", "mlp", "pictures", "seats")  # built-in networks without pointing heads


class Heads(NamedTuple):
    """The pointing heads of an action.

    Attributes:
        numbers: of the heads.
        nobody: the row that stands for "no target", or None.
    """

    numbers: tuple[int, ...]
    nobody: int | None


class Pointer(eqx.Module):
    """Attention between one query and the rows of a table: (B, inputs), (B, R, columns) -> (B, R).

    Attributes:
        query: inputs -> d; small at first, so that all rows are about equally likely.
        key: (columns, d).
        none: (d,), the key of "no target".
        nobody: number of that row, or None.
    """

    query: Dense
    key: jax.Array
    none: jax.Array
    nobody: int | None = eqx.field(static=True)

    def __init__(self, inputs: int, columns: int, width: int, nobody: int | None, *, key: jax.Array) -> None:
        keys = jax.random.split(key, 3)
        self.query = Dense(inputs, width, POLICY_GAIN, key=keys[0])
        self.key = orthogonal(columns, width, 1.0, keys[1])
        self.none = orthogonal(1, width, 1.0, keys[2])[0]
        self.nobody = nobody

    def __call__(self, x: jax.Array, rows: jax.Array, filled: jax.Array) -> jax.Array:
        """Logits.

        Args:
            x: (B, inputs).
            rows: (B, R, columns).
            filled: (B,), number of leading rows that are filled; row `nobody` always is.
        """
        query = self.query(x) * self.key.shape[1] ** -0.5
        # q . (row W_k) = row . (W_k q): one product with the key matrix instead of R.
        logits = jnp.einsum("brc,bc->br", rows, query @ self.key.T)
        there = jnp.arange(rows.shape[1]) < filled[:, None]
        if self.nobody is not None:
            own = jnp.arange(rows.shape[1]) == self.nobody
            logits = jnp.where(own, (query @ self.none)[:, None], logits)
            there |= own
        return jnp.where(there, logits, ILLEGAL)


def pointing_heads(
    kind: str, observation_space: spaces.Dict, action_space: spaces.Space, table: str
) -> Heads:
    """The pointing heads of an action, all at rows of the one table that a network reads."""
    found = tables_of(observation_space, action_space)
    other = next((head for head, key in found.items() if key != table), None)
    if other is not None:
        raise UserError(
            f"network.kind = {kind}: head {other} of the action points at rows of {found[other]}, it can point at rows of "
            f"{table}; use a network of your own"
        )
    return Heads(tuple(found), getattr(action_space, "nobody", None))


def warn_of_dense_heads(kind: str, observation_space: spaces.Dict, action_space: spaces.Space) -> None:
    """Warns if a built-in network has a dense layer for a pointing head, which it hardly learns."""
    found = tables_of(observation_space, action_space)
    if found and kind in _DENSE:
        heads, tables = ", ".join(map(str, found)), ", ".join(dict.fromkeys(found.values()))
        warnings.warn(
            f"network.kind = {kind}: heads {heads} of the action point at rows of {tables}, which its dense layer has to learn "
            "row by row; use network.kind=tiles or tiles_attention, which point",
            stacklevel=2,
        )
