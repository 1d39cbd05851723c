"""The networks: sizes of the preset, and attention over visible rows against the obvious computation over all rows."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.train import networks
from interplay.train.networks.attention import AttentionNetwork
from interplay.train.networks.pooling import plans
from interplay.train.settings import NetworkGroup

ACTIONS = spaces.MultiDiscrete([3, 3, 3, 2, 2, 2])


def box(*shape: int) -> spaces.Box:
    return spaces.Box(-np.inf, np.inf, shape, np.float32)


def survival_space(agents: int, heals: int, boxes: int) -> spaces.Dict:
    """The observation of specification survival 6."""
    wide = 8 if agents == 2 else 9
    fields = {"agent": (wide,), "zone": (6,), "others": (agents - 1, wide), "heals": (heals, 2)}
    if boxes:
        fields |= {"boxes": (boxes, 11), "box_items": (boxes, 10)}
    fields["heal_slot"] = (1, 1)
    if boxes:
        fields["box_slot"] = (1, 8)
    leaves: dict[str, spaces.Space] = {}
    for name, shape in fields.items():
        leaves[name] = box(*shape)
        if len(shape) == 2:
            leaves[f"{name}_mask"] = spaces.Box(0, 1, shape[:1], np.float32)
    return spaces.Dict(leaves)


def observations(space: spaces.Dict, batch: int, hidden: float, seed: int = 0) -> dict[str, jax.Array]:
    rng = np.random.default_rng(seed)
    return {
        name: jnp.asarray(
            rng.random((batch, *leaf.shape)) < hidden
            if name.endswith("_mask")
            else rng.normal(size=(batch, *leaf.shape)),
            jnp.float32,
        )
        for name, leaf in space.spaces.items()
    }


def dense_features(
    network: AttentionNetwork, observation: dict[str, jax.Array], heads: int, additive: bool
) -> jax.Array:
    """Section 10 word for word: every row embedded, attended under the mask, hidden outputs zeroed, mean over all."""
    encoder = network.encoder
    own = jnp.concatenate([observation[name] for name in encoder.layout.own], axis=1)
    rows, hidden = [], []
    for entity in encoder.layout.types:
        layer = encoder.types[entity.key]
        rows.append(jnp.tanh(observation[entity.key] @ layer.weight + layer.bias))
        hidden.append(observation[f"{entity.key}_mask"] != 0)
    batch, width = own.shape[0], encoder.out.bias.size
    x = jnp.concatenate([*rows, jnp.zeros((batch, 1, width))], axis=1)
    away = jnp.concatenate([*hidden, jnp.zeros((batch, 1), bool)], axis=1)
    q, k, v = jnp.split(x @ encoder.mix_weight + encoder.mix_bias, 3, axis=-1)
    outputs = []
    for h in range(heads):
        part = slice(h * width // heads, (h + 1) * width // heads)
        logits = q[..., part] @ k[..., part].swapaxes(1, 2) / np.sqrt(width // heads)
        logits = logits + away[:, None] if additive else jnp.where(away[:, None], -jnp.inf, logits)
        outputs.append(jax.nn.softmax(logits, axis=-1) @ v[..., part])
    mixed = jnp.concatenate(outputs, axis=-1) @ encoder.out.weight + encoder.out.bias
    pooled = jnp.where(away[..., None], 0.0, mixed).mean(axis=1)
    return jnp.concatenate([jnp.tanh(own @ encoder.own.weight + encoder.own.bias), pooled], axis=1)


@eqx.filter_jit
def both(network: AttentionNetwork, observation: dict[str, jax.Array]) -> tuple[Any, Any]:
    """Value and gradient of a function of the features, with packed rows and with all rows (2 heads)."""

    def packed(net: AttentionNetwork) -> jax.Array:
        return jnp.sin(net.encoder(net.prepare(observation))).sum()

    def dense(net: AttentionNetwork) -> jax.Array:
        return jnp.sin(dense_features(net, observation, 2, False)).sum()

    return eqx.filter_value_and_grad(packed)(network), eqx.filter_value_and_grad(dense)(network)


@eqx.filter_jit
def forward(network: Any, observation: dict[str, jax.Array]) -> Any:
    return network(networks.prepare(network, observation))


@eqx.filter_jit
def features(network: AttentionNetwork, observation: dict[str, jax.Array]) -> tuple[jax.Array, jax.Array]:
    """The encoder's output, by its own way and word for word (2 heads)."""
    packed = network.prepare(observation)
    return network.encoder(packed), dense_features(network, observation, 2, network.encoder.additive)


def randomised(network: Any) -> Any:
    """The network with no parameter zero, so that no bias hides."""
    leaves, tree = jax.tree.flatten(network)
    rng = np.random.default_rng(5)
    noisy = [
        leaf + jnp.asarray(rng.normal(size=leaf.shape) * 0.3, jnp.float32)
        if eqx.is_inexact_array(leaf)
        else leaf
        for leaf in leaves
    ]
    return jax.tree.unflatten(tree, noisy)


@pytest.mark.parametrize(
    ("space", "parameters"), [(survival_space(2, 15, 0), 22_832), (survival_space(4, 15, 8), 23_920)]
)
def test_preset_has_the_published_number_of_parameters(space: spaces.Dict, parameters: int) -> None:
    network = networks.make_network(NetworkGroup(), space, ACTIONS, key=jax.random.key(0))
    assert sum(leaf.size for leaf in jax.tree.leaves(eqx.filter(network, eqx.is_inexact_array))) == parameters


@pytest.mark.parametrize(("batch", "hidden"), [(48, 0.0), (48, 0.5), (48, 0.95), (48, 1.0), (7, 0.5)])
def test_visible_rows_give_what_all_rows_give(hidden: float, batch: int) -> None:
    space = survival_space(2, 6, 0)
    settings = NetworkGroup(width=8, heads=2, tail=8)
    network = randomised(networks.make_network(settings, space, ACTIONS, key=jax.random.key(1)))
    observation = observations(space, batch, hidden)

    (ours, our_gradient), (theirs, their_gradient) = both(network, observation)
    assert float(ours) == pytest.approx(float(theirs), rel=1e-5)
    for mine, other in zip(jax.tree.leaves(our_gradient), jax.tree.leaves(their_gradient), strict=True):
        np.testing.assert_allclose(mine, other, rtol=2e-4, atol=2e-5 * batch)


def test_additive_mask_attends_to_hidden_rows_as_the_authors_code_does() -> None:
    space = survival_space(2, 6, 0)
    settings = NetworkGroup(width=8, heads=2, tail=8, attention_mask_additive=True)
    network = randomised(networks.make_network(settings, space, ACTIONS, key=jax.random.key(1)))
    observation = observations(space, 9, 0.6)
    np.testing.assert_allclose(
        network.encoder(network.prepare(observation)),
        dense_features(network, observation, 2, True),
        atol=1e-5,
    )


def test_true_mask_does_not_see_what_is_hidden_and_the_additive_one_does() -> None:
    space = survival_space(2, 4, 0)
    observation = observations(space, 5, 0.0) | {"heals_mask": jnp.ones((5, 4))}
    moved = observation | {"heals": observation["heals"] + 3.0}
    for additive in (False, True):
        settings = NetworkGroup(width=8, heads=2, tail=8, attention_mask_additive=additive)
        network = randomised(networks.make_network(settings, space, ACTIONS, key=jax.random.key(1)))
        before, after = (forward(network, o)[0] for o in (observation, moved))
        assert bool((before == after).all()) is not additive


def test_order_of_rows_does_not_matter() -> None:
    space = survival_space(2, 5, 0)
    settings = NetworkGroup(width=8, heads=2, tail=8)
    network = randomised(networks.make_network(settings, space, ACTIONS, key=jax.random.key(2)))
    observation = observations(space, 8, 0.4)
    order = np.array([3, 0, 4, 1, 2])
    shuffled = observation | {name: observation[name][:, order] for name in ("heals", "heals_mask")}
    first, second = (forward(network, o) for o in (observation, shuffled))
    np.testing.assert_allclose(first[0], second[0], atol=1e-6)
    np.testing.assert_allclose(first[1], second[1], atol=1e-5)


@pytest.mark.parametrize("total", range(20))
def test_plans_end_with_all_rows(total: int) -> None:
    assert plans(total)[-1] == (total,) * 3
    assert len(set(plans(total))) == len(plans(total))


@pytest.mark.parametrize("hidden", [0.3, 0.95])
def test_a_plan_for_sorted_samples_gives_what_choosing_on_the_device_gives(hidden: float) -> None:
    space = survival_space(2, 14, 0)
    settings = NetworkGroup(width=8, heads=2, tail=8)
    network = randomised(networks.make_network(settings, space, ACTIONS, key=jax.random.key(1)))
    observation = observations(space, 48, hidden)
    packed = eqx.filter_jit(network.prepare)(observation)
    demand = np.asarray(network.demand(packed))
    order = np.argsort(demand, kind="stable")
    plan = network.plans[network.choose_plan(demand[order])]
    assert plan == ((1, 2, 4) if hidden > 0.9 else (16, 16, 16))
    planned = eqx.filter_jit(network)(jax.tree.map(lambda leaf: leaf[order], packed), plan)
    for mine, other in zip(planned, forward(network, observation), strict=True):
        np.testing.assert_allclose(mine, other[order], atol=1e-5)


def test_any_space_and_two_networks_for_policy_and_value() -> None:
    space = spaces.Dict(picture=box(3, 2), place=spaces.Discrete(4))  # rows without a mask are no entities
    for settings in (
        NetworkGroup(),
        NetworkGroup(separate_value=True, activation="relu"),
        NetworkGroup(kind="mlp"),
    ):
        network = networks.make_network(settings, space, box(2), key=jax.random.key(0))
        observation = {"picture": jnp.ones((3, 3, 2)), "place": jnp.ones(3)}
        parameters, value = forward(network, observation)
        assert parameters.shape == (3, 4)
        assert value.shape == (3,)


class OneLayer(eqx.Module):
    """A user's network in the documented signature, without `prepare`."""

    weight: jax.Array

    def __init__(
        self, observation_space: Any, action_space: Any, settings: NetworkGroup, *, key: jax.Array
    ) -> None:
        self.weight = jnp.ones((observation_space["x"].shape[0], 4))

    def __call__(self, observation: dict[str, jax.Array]) -> tuple[jax.Array, jax.Array]:
        out = observation["x"] @ self.weight
        return out[:, :3], out[:, 3]


def test_users_network_is_found_by_name_and_a_wrong_name_is_one_line() -> None:
    space = spaces.Dict(x=box(2))
    settings = NetworkGroup(kind="tests.train.test_networks:OneLayer")
    network = networks.make_network(settings, space, spaces.Discrete(3), key=jax.random.key(0))
    parameters, _ = network(networks.prepare(network, {"x": jnp.ones((5, 2))}))
    assert parameters.tolist() == [[2.0] * 3] * 5
    with pytest.raises(UserError, match=r"network.kind = nowhere:Net"):
        networks.make_network(
            NetworkGroup(kind="nowhere:Net"), space, spaces.Discrete(3), key=jax.random.key(0)
        )
