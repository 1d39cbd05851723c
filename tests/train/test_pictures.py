"""The network of pictures: its convolutions against sums written out and against XLA's, what it reads, what it refuses."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st

from interplay.core.settings import build
from interplay.core.world import Kind
from interplay.train import networks
from interplay.train.networks.pictures import Convolution, Eye, PicturesNetwork, find_pictures, size_of
from interplay.train.policy_network import PolicyNetwork
from interplay.train.populations import Populations
from interplay.train.settings import NetworkGroup, TrainSettings
from tests.train.convolving import convolved, kernel_of

PICTURE = spaces.Box(0, 255, (44, 37, 2), np.uint8)
SPACE = spaces.Dict(
    seen=PICTURE, speed=spaces.Box(-1, 1, (3,), np.float32), place=spaces.Discrete(5), map=PICTURE
)
SETTINGS = NetworkGroup(kind="pictures", channels=(2, 3, 4), hidden=(6,), activation="relu")


def network_of(**changes: Any) -> PicturesNetwork:
    settings = SETTINGS.model_copy(update=changes)
    made: PicturesNetwork = networks.make_network(settings, SPACE, spaces.Discrete(3), key=jax.random.key(1))
    return made


def observation_of(batch: int, seed: int = 0) -> dict[str, jax.Array]:
    rng = np.random.default_rng(seed)
    return {
        "seen": jnp.asarray(rng.integers(0, 256, (batch, 44, 37, 2)), jnp.uint8),
        "speed": jnp.asarray(rng.normal(size=(batch, 3)), jnp.float32),
        "place": jnp.asarray(rng.integers(0, 5, batch), jnp.int32),
        "map": jnp.asarray(rng.integers(0, 256, (batch, 44, 37, 2)), jnp.uint8),
    }


def ask(network: Any, observation: dict[str, jax.Array]) -> list[np.ndarray]:
    return [np.asarray(part) for part in network(networks.prepare(network, observation))]


@settings(max_examples=20)  # each is compiled for its own shape
@given(taps=st.integers(1, 3), stride=st.integers(1, 3), more=st.tuples(st.integers(0, 7), st.integers(0, 7)))
def test_a_convolution_is_its_sum_written_out(taps: int, stride: int, more: tuple[int, int]) -> None:
    """Also of pictures whose last rows and columns no kernel covers."""
    side = taps * stride
    high, wide = side + more[0], side + more[1]
    layer = Convolution(2, 3, side, stride, key=jax.random.key(taps))
    layer = eqx.tree_at(lambda own: own.bias, layer, jnp.asarray([0.5, -1.0, 2.0]))
    x = np.random.default_rng(side).normal(size=(2, high, wide, 2)).astype(np.float32)
    kernel = np.asarray(kernel_of(layer))
    rows, columns = (high - side) // stride + 1, (wide - side) // stride + 1
    expected = np.zeros((2, rows, columns, 3))
    for i in range(rows):
        for j in range(columns):
            window = x[:, i * stride : i * stride + side, j * stride : j * stride + side]
            expected[:, i, j] = np.einsum("bhwc,hwco->bo", window, kernel)
    found = eqx.filter_jit(layer)(jnp.asarray(x))
    np.testing.assert_allclose(found, expected + np.asarray(layer.bias), atol=1e-4)


def test_convolutions_and_their_gradients_are_those_of_xla() -> None:
    eye = Eye(4, (4, 5, 6), jnp.tanh, key=jax.random.key(0))
    picture = observation_of(3)["seen"].repeat(2, axis=3)

    def both(look: Any) -> tuple[jax.Array, Any]:
        return eqx.filter_value_and_grad(lambda own: jnp.sin(look(own, picture)).sum())(eye)

    assert Eye.__call__(eye, picture).shape == (3, size_of((44, 37, 4), 6))
    np.testing.assert_allclose(Eye.__call__(eye, picture), convolved(eye, picture), atol=1e-5)
    for ours, theirs in zip(
        jax.tree.leaves(both(Eye.__call__)), jax.tree.leaves(both(convolved)), strict=True
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-4)


def test_every_leaf_is_read_and_pictures_in_their_own_bytes() -> None:
    network, observation = network_of(), observation_of(4)
    assert find_pictures(SPACE) == ("seen", "map")
    assert network.prepare(observation).numbers.shape == (4, 4)
    before = ask(network, observation)
    assert [part.shape for part in before] == [(4, 3), (4,)]
    for key in SPACE.spaces:
        other = {**observation, key: observation_of(4, seed=1)[key]}
        assert (ask(network, other)[1] != before[1]).any(), key


def test_rows_keep_pictures_as_bytes() -> None:
    """A quarter of the memory of a rollout; what the network then reads are the same numbers."""
    values = {"world": {"id": "x"}, "network": SETTINGS.model_dump()}
    settings = build(TrainSettings, values, "test")
    kind = Kind("agent", (0,), SPACE, spaces.Discrete(3))
    policy = PolicyNetwork(kind, settings, jax.random.key(1), Populations(("pop0",), None))
    assert policy.layout.widths == {"uint8": 2 * 44 * 37 * 2, "float32": 3, "int32": 1}
    observation, rows = observation_of(4), policy.layout.allocate(4)
    policy.layout.write({key: np.asarray(leaf) for key, leaf in observation.items()}, None, rows)
    parameters, value = policy._call(jnp.asarray(policy.first[0]), policy._read(rows))
    network = networks.make_network(SETTINGS, SPACE, spaces.Discrete(3), key=jax.random.key(1))
    for ours, alone in zip((parameters, value), ask(network, observation), strict=True):
        np.testing.assert_allclose(ours, alone, atol=1e-6)


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_it_remembers_what_it_saw(cell: str) -> None:
    network, observation = network_of(memory=cell, memory_size=5), observation_of(6)
    seen = network.prepare(observation)
    memory = jnp.zeros((6, network.memory_size))
    _, first, after = network.remember(seen, memory)
    _, second, _ = network.remember(seen, after)
    assert (np.asarray(first) != np.asarray(second)).all()
    fresh, acts = jnp.zeros((2, 3), bool), jnp.ones((2, 3), bool)
    _, value = networks.unroll(network, seen, memory[:2], fresh, acts)
    np.testing.assert_allclose(value[jnp.asarray([0, 3])], first[jnp.asarray([0, 3])], atol=1e-5)


def test_the_least_picture_has_one_place() -> None:
    assert size_of((36, 36, 1), 7) == 7
    assert size_of((35, 36, 1), 7) == 0
