"""Reads stacked parameters and optimiser states from a checkpoint's named arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from interplay.train.policy_network import PolicyNetwork, check_shapes
from interplay.train.run.restoring import check_array, check_weights


def policy_stem(population: str) -> str:
    """The file name, without ending, of a population's weights in a checkpoint."""
    return f"policy-{population}"


def read_stacks(
    networks: Mapping[str, PolicyNetwork], tensors: Sequence[Mapping[str, np.ndarray]]
) -> dict[str, Any]:
    """Stacked parameters, kind name -> (Q, P), from the named tensors of Q populations."""
    each = [read_vectors(networks, one) for one in tensors]
    return {name: np.stack([vectors[name] for vectors in each]) for name in networks}


def read_vectors(
    networks: Mapping[str, PolicyNetwork], tensors: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """One population's parameters, kind name -> (P,) float32, from a checkpoint's named tensors."""
    vectors = {}
    for name, network in networks.items():
        expected = {
            f"{name}/{tensor}": array.shape for tensor, array in network.split(network.first[0]).items()
        }
        check_shapes(expected, tensors)
        own = {tensor: tensors[f"{name}/{tensor}"] for tensor in network.names}
        vectors[name] = network.join(check_weights(f"checkpoint: kind {name}", own))
    return vectors


def read_moments(name: str, moments: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    """A kind's optimiser state in the form of `moments`, from arrays by ``kind/number``.

    Raises:
        UserError: if one is missing, of another shape or dtype, or not finite.
    """
    leaves, tree = jax.tree.flatten(moments)
    for i, leaf in enumerate(leaves):
        key = f"{name}/{i}"
        check_array(key, arrays.get(key), leaf.shape, leaf.dtype, "checkpoint: optimiser")
    return jax.tree.unflatten(tree, [jnp.array(arrays[f"{name}/{i}"]) for i in range(len(leaves))])
