"""The network of tiles: its size is the paper's, and the look-up is the plain network."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.train.networks import make_network, precompute, prepare
from interplay.train.networks.tiles.network import Trunk, dequantise, largest
from interplay.train.settings import NetworkGroup

V, R = 15, 32


def space_of(occupancy: bool = True, compact: bool = False, highest: int = 6) -> spaces.Dict:
    leaves = {"tiles": spaces.Box(0, highest, (V, V), np.uint8)}
    if occupancy:
        leaves["occupancy"] = spaces.Box(0, 255, (V, V), np.uint8)
    if compact:
        leaves["entities"] = spaces.Box(-128, 127, (R, 11), np.int8)
    else:
        leaves["entities"] = spaces.Box(-np.inf, np.inf, (R, 11), np.float32)
    leaves["count"] = spaces.Box(0, R, (), np.int16)
    return spaces.Dict(leaves)


def network_of(space: spaces.Dict, attacks: int = 3, **group: Any) -> Any:
    settings = NetworkGroup(**{"kind": "tiles", "activation": "none"} | group)
    return make_network(settings, space, spaces.MultiDiscrete([5, attacks]), key=jax.random.key(3))


def observation_of(rows: int, occupancy: bool = True, most: int = R) -> dict[str, jax.Array]:
    rng = np.random.default_rng(5)
    seen = {"tiles": rng.integers(0, 7, (rows, V, V)).astype(np.uint8)}
    if occupancy:
        seen["occupancy"] = rng.integers(0, 4, (rows, V, V)).astype(np.uint8)
    seen["entities"] = rng.normal(size=(rows, R, 11)).astype(np.float32)
    seen["count"] = rng.integers(0, most + 1, rows).astype(np.int16)
    return {key: jnp.asarray(leaf) for key, leaf in seen.items()}


def size_of(network: Any) -> int:
    return sum(leaf.size for leaf in jax.tree.leaves(eqx.filter(network, eqx.is_inexact_array)))


@pytest.mark.parametrize(
    ("attacks", "separate", "parameters"),
    [(3, False, 61_850), (4, False, 61_883), (3, True, 184_956), (4, True, 184_989)],
)
def test_the_paper_s_number_of_parameters(attacks: int, separate: bool, parameters: int) -> None:
    for highest in (6, 255):  # the paper's seven materials, also where the space names no bound
        network = network_of(space_of(highest=highest), attacks, separate_heads=separate)
        assert size_of(network) == parameters


def plain(network: Any, trunk: Trunk, seen: dict[str, jax.Array], activation: Any) -> np.ndarray:
    """The trunk as the paper says it, row by row: embed, put beside, one layer."""
    layer, out = trunk.tiles, []
    for b in range(len(seen["tiles"])):
        embedded = np.asarray(layer.embedding)[np.asarray(seen["tiles"][b]).ravel()]
        if "occupancy" in seen:
            embedded = np.concatenate([embedded, np.asarray(seen["occupancy"][b]).reshape(-1, 1)], axis=1)
        tiles = embedded.ravel() @ np.asarray(layer.linear.weight) + np.asarray(layer.linear.bias)
        rows = np.asarray(seen["entities"][b])
        others = rows[: int(seen["count"][b])] @ np.asarray(trunk.others.weight) + np.asarray(
            trunk.others.bias
        )
        largest = others.max(axis=0) if len(others) else np.zeros(len(tiles))
        own = rows[0] @ np.asarray(trunk.own.weight) + np.asarray(trunk.own.bias)
        side = activation(np.concatenate([tiles, largest, own]))
        out.append(activation(side @ np.asarray(trunk.mix.weight) + np.asarray(trunk.mix.bias)))
    return np.array(out)


@pytest.mark.parametrize("most", [4, R])
@pytest.mark.parametrize("occupancy", [True, False])
@pytest.mark.parametrize(("separate", "activation"), [(False, "none"), (True, "relu")])
def test_the_look_up_is_the_plain_network(
    most: int, occupancy: bool, separate: bool, activation: str
) -> None:
    network = network_of(space_of(occupancy), separate_heads=separate, activation=activation)
    seen = observation_of(9, occupancy, most)
    parameters, value = precompute(network)(prepare(network, seen))
    bend = (lambda x: np.maximum(x, 0)) if activation == "relu" else (lambda x: x)
    features = [plain(network, trunk, seen, bend) for trunk in network.trunks]
    features = features if separate else features * 3
    heads = [
        x @ np.asarray(head.weight) + np.asarray(head.bias)
        for head, x in zip((*network.heads, network.value), features, strict=True)
    ]
    np.testing.assert_allclose(parameters, np.concatenate(heads[:2], axis=1), atol=1e-5, rtol=1e-5)
    np.testing.assert_allclose(value, heads[2][:, 0], atol=1e-5, rtol=1e-5)


def test_the_gradient_of_the_largest_row_is_that_of_the_maximum() -> None:
    network, seen = network_of(space_of()), observation_of(6)

    def by_jax(weight: jax.Array, bias: jax.Array) -> jax.Array:
        embedded = seen["entities"] @ weight + bias
        there = jnp.arange(R) < seen["count"][:, None]
        best = jnp.where(there[:, :, None], embedded, -jnp.inf).max(axis=1)
        return (jnp.where(seen["count"][:, None] > 0, best, 0.0) ** 2).sum()

    def ours(weight: jax.Array, bias: jax.Array) -> jax.Array:
        return (largest(weight, bias, seen["entities"], seen["count"]) ** 2).sum()

    layer = network.trunks[0].others
    for mine, theirs in zip(
        jax.grad(ours, (0, 1))(layer.weight, layer.bias),
        jax.grad(by_jax, (0, 1))(layer.weight, layer.bias),
        strict=True,
    ):
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-4)


def test_equal_largest_rows_share_the_gradient() -> None:
    """Two rows that are the same, and three that a unit cannot tell apart: what jax makes of the maximum."""
    rows = jnp.array([[[1.0, 5.0], [1.0, 5.0], [0.0, 9.0]], [[2.0, 1.0], [2.0, 3.0], [2.0, 4.0]]])
    count = jnp.array([3, 3])
    weight, bias = jnp.array([[1.0, 2.0], [0.0, 0.0]]), jnp.array([0.5, -1.0])

    def by_jax(weight: jax.Array) -> jax.Array:
        return ((rows @ weight).max(axis=1) + bias).sum()

    def ours(weight: jax.Array) -> jax.Array:
        return largest(weight, bias, rows, count).sum()

    assert float(ours(weight)) == float(by_jax(weight))
    mine = jax.grad(ours)(weight)
    np.testing.assert_allclose(mine, jax.grad(by_jax)(weight), rtol=1e-6)
    # (1, 5) once, however many rows say so, and the mean of (2, 1), (2, 3) and (2, 4).
    np.testing.assert_allclose(mine[:, 0], [1.0 + 2.0, 5.0 + 8.0 / 3.0], rtol=1e-6)


@pytest.mark.parametrize("kind", ["tiles", "tiles_attention"])
def test_rows_behind_the_count_and_the_order_of_others_do_not_matter(kind: str) -> None:
    network, seen = network_of(space_of(), kind=kind, activation="tanh"), observation_of(7)
    seen["count"] = jnp.maximum(seen["count"], 4)
    first = network(prepare(network, seen))
    turned = dict(seen, entities=seen["entities"].at[:, 1:4].set(seen["entities"][:, 3:0:-1]))
    behind = jnp.arange(R)[None, :, None] >= seen["count"][:, None, None]
    turned["entities"] = jnp.where(behind, 9.0, turned["entities"])
    for mine, other in zip(first, network(prepare(network, turned)), strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-6)


def test_attention_looks_at_the_others_and_at_tiles() -> None:
    network, seen = network_of(space_of(), kind="tiles_attention", activation="relu"), observation_of(5)
    seen["count"] = jnp.full(5, 3, jnp.int16)
    first = network(prepare(network, seen))[1]
    other = dict(seen, entities=seen["entities"].at[:, 2].add(1.0))
    assert not np.allclose(first, network(prepare(network, other))[1], atol=1e-4)
    other = dict(seen, tiles=(seen["tiles"] + 1) % 7)
    assert not np.allclose(first, network(prepare(network, other))[1], atol=1e-4)
    seen["count"] = jnp.zeros(5, jnp.int16)
    assert np.isfinite(network(prepare(network, seen))[1]).all()


def test_compact_rows_are_scaled_as_the_float_rows_are() -> None:
    # life 80, health 7, food 20, water 3, at the far edge and in the middle, 2 up, 7 right, damage 5, a stranger, frozen
    compact = np.array([[10, 7, 20, 3, 127, 0, -2, 7, 5, 0, 2]], np.int8)
    expected = [0.3, 0.2, 0.125, -0.40625, 0.5, 0.0, -2.0, 7.0, 0.5, -0.5, 0.5]
    np.testing.assert_allclose(dequantise(jnp.asarray(compact))[0], expected, atol=1e-6)


def test_a_world_without_tiles_is_one_line() -> None:
    with pytest.raises(UserError, match=r"network.kind = tiles: the observation needs tiles"):
        network_of(spaces.Dict(x=spaces.Box(0, 1, (2,), np.float32)))
