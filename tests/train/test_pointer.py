"""Heads that point: logits follow the rows, whatever their order, and nobody else's place can be meant."""

from __future__ import annotations

import copy
import pickle
import warnings
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces

from interplay.core.pointing import Pointing, tables_of
from interplay.core.world import Kind
from interplay.registry import make_world
from interplay.train.distributions import ILLEGAL, Distribution
from interplay.train.networks import make_network, precompute, prepare
from interplay.train.networks.memory import RecurrentNetwork
from interplay.train.networks.pointer import Pointer, warn_of_dense_heads
from interplay.train.run.warm_start import describe_spaces
from interplay.train.settings import NetworkGroup, PolicyGradientGroup, TrainGroup, TrainSettings, WorldChoice
from interplay.train.trainer import load_policy, train

V, R, COLUMNS = 5, 8, 11
HEADS = [5, 3, R, R]
SPACE = spaces.Dict(
    tiles=spaces.Box(0, 5, (V, V), np.uint8),
    entities=spaces.Box(-np.inf, np.inf, (R, COLUMNS), np.float32),
    count=spaces.Box(0, R, (), np.int16),
)
KINDS = [
    ("tiles", {}),
    ("tiles", {"separate_heads": True}),
    ("tiles_attention", {}),
    ("tiles", {"memory": "gru"}),
]


def network_of(kind: str, nobody: int | None = 0, **group: Any) -> Any:
    """With weights large enough that logits differ."""
    action = Pointing(HEADS, {2: "entities", 3: "entities"}, nobody)
    settings = NetworkGroup(**{"kind": kind, "width": 16, "tail": 16, "activation": "tanh"} | group)
    network = make_network(settings, SPACE, action, key=jax.random.key(3))
    keys = iter(jax.random.split(jax.random.key(4), 200))
    return jax.tree.map(
        lambda leaf: 0.3 * jax.random.normal(next(keys), leaf.shape) if isinstance(leaf, jax.Array) else leaf,
        network,
    )


def observation_of(batch: int, count: np.ndarray | None = None) -> dict[str, jax.Array]:
    rng = np.random.default_rng(5)
    number = rng.integers(1, R + 1, batch) if count is None else count
    seen = {
        "tiles": rng.integers(0, 6, (batch, V, V)).astype(np.uint8),
        "entities": rng.normal(size=(batch, R, COLUMNS)).astype(np.float32),
        "count": number.astype(np.int16),
    }
    return {key: jnp.asarray(leaf) for key, leaf in seen.items()}


def aims_of(network: Any, seen: dict[str, jax.Array]) -> np.ndarray:
    """Logits (B, 2, R) of the heads that point."""
    parameters, _ = precompute(network)(prepare(network, seen))
    return np.asarray(parameters)[:, 8:].reshape(-1, 2, R)


@pytest.mark.parametrize(("kind", "group"), KINDS)
@pytest.mark.parametrize("nobody", [0, None])
def test_rows_in_another_order_are_the_same_logits_in_that_order(
    kind: str, group: dict[str, Any], nobody: int | None
) -> None:
    network, seen = network_of(kind, nobody, **group), observation_of(6, np.full(6, R))
    first = aims_of(network, seen)
    assert first.std(axis=2).min() > 1e-3
    order = np.array([0, 5, 3, 1, 7, 2, 6, 4])  # row 0 is the observer, whom both networks read apart
    turned = aims_of(network, dict(seen, entities=seen["entities"][:, order]))
    np.testing.assert_allclose(turned, first[:, :, order], atol=1e-5)


@pytest.mark.parametrize(("kind", "group"), KINDS)
def test_no_row_is_meant_where_none_stands_and_nobody_always_may_be(kind: str, group: dict[str, Any]) -> None:
    seen = observation_of(4, np.array([0, 1, 3, R]))
    for nobody in (0, None):
        there = np.arange(R) < np.asarray(seen["count"])[:, None]
        if nobody is not None:
            there[:, nobody] = True
        aims = aims_of(network_of(kind, nobody, **group), seen)
        for head in (0, 1):
            np.testing.assert_array_equal(aims[:, head] == ILLEGAL, ~there)


@pytest.mark.parametrize("kind", ["tiles", "tiles_attention"])
def test_a_row_s_logit_hears_its_own_numbers_and_those_of_no_other_place(kind: str) -> None:
    """With nothing else changed: what the policy knows is held by giving it to `decide` twice."""
    network, seen = precompute(network_of(kind)), observation_of(3, np.full(3, R))
    features, (rows, filled) = network.features(prepare(network, seen))
    first, _ = network.decide(features, (rows, filled))
    other, _ = network.decide(features, (rows.at[:, 4].add(1.0), filled))
    changed = np.asarray(first != other)[:, 8:].reshape(3, 2, R)
    assert changed[:, :, 4].all()
    assert not np.delete(changed, 4, axis=2).any()
    np.testing.assert_array_equal(first[:, :8], other[:, :8])


def test_the_formula_by_hand() -> None:
    pointer = Pointer(2, 3, 4, 0, key=jax.random.key(0))
    x, rows = np.array([[0.5, -2.0]], np.float32), np.arange(12, dtype=np.float32).reshape(1, 4, 3) / 7
    query = x @ np.asarray(pointer.query.weight) + np.asarray(pointer.query.bias)
    keys = rows[0] @ np.asarray(pointer.key)
    keys[0] = np.asarray(pointer.none)
    expected = (query @ keys.T)[0] / 2.0
    expected[3] = ILLEGAL
    found = pointer(jnp.asarray(x), jnp.asarray(rows), jnp.array([3]))
    np.testing.assert_allclose(found[0], expected, rtol=1e-5)


@pytest.mark.parametrize(("kind", "group"), KINDS)
def test_heads_that_do_not_point_keep_their_weights(kind: str, group: dict[str, Any]) -> None:
    """Tensors of a network without such heads: the same draws as ever, to the bit."""
    settings = NetworkGroup(**{"kind": kind, "width": 16, "tail": 16} | group)
    plain, pointing = spaces.MultiDiscrete(HEADS), Pointing(HEADS, {2: "entities", 3: "entities"})
    names = [
        {jax.tree_util.keystr(path): leaf for path, leaf in jax.tree_util.tree_flatten_with_path(network)[0]}
        for network in (
            make_network(settings, SPACE, space, key=jax.random.key(7)) for space in (plain, pointing)
        )
    ]
    same = [name for name in names[0] if name in names[1] and names[0][name].shape == names[1][name].shape]
    assert any("tiles" in name for name in same)
    assert any("value" in name for name in same)
    for name in same:
        np.testing.assert_array_equal(names[0][name], names[1][name])


def test_a_recurrent_cell_stands_between_as_everywhere() -> None:
    network = network_of("tiles", memory="gru")
    assert isinstance(network, RecurrentNetwork)
    seen = prepare(network, observation_of(3, np.full(3, R)))
    first, _, memory = network.remember(seen, jnp.zeros((3, network.memory_size)))
    second, _, _ = network.remember(seen, memory)
    assert not np.allclose(first[:, 8:], second[:, 8:])


def test_the_world_says_which_heads_point() -> None:
    world = make_world("mmo/combat", targeting="learned", rows=6)
    space: Any = world.action_space
    assert space.tables == {2: "entities", 3: "entities", 4: "entities"}
    assert space.nobody == 0
    assert tables_of(world.kinds[0].observation_space, space) == space.tables
    assert tables_of(world.kinds[0].observation_space, make_world("mmo/combat").action_space) == {}
    world.close()


def test_a_pointing_space_is_a_multidiscrete_that_keeps_what_it_says() -> None:
    space = Pointing(HEADS, {2: "entities"}, 0)
    assert space == spaces.MultiDiscrete(HEADS)
    assert space.contains(space.sample())
    for copied in (copy.deepcopy(space), pickle.loads(pickle.dumps(space))):
        assert (copied.tables, copied.nobody) == ({2: "entities"}, 0)
        assert copied == space
    assert Distribution(space).size == sum(HEADS)
    texts = [
        describe_spaces([Kind("a", (0,), SPACE, s)])["a"]["action"]
        for s in (space, spaces.MultiDiscrete(HEADS))
    ]
    assert texts[0] == texts[1] + ", 2 points at entities"


def test_a_dense_layer_over_rows_is_said() -> None:
    space = Pointing(HEADS, {2: "entities", 3: "entities"})
    with pytest.warns(
        UserWarning, match="network.kind = mlp: heads 2, 3 of the action point at rows of entities"
    ):
        warn_of_dense_heads("mlp", SPACE, space)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_dense_heads("tiles", SPACE, space)
        warn_of_dense_heads("mlp", SPACE, spaces.MultiDiscrete(HEADS))
        warn_of_dense_heads("my.networks:Mine", SPACE, space)


OPTIONS = {
    "interior": 16,
    "slots": 12,
    "npop": 2,
    "cap_draw": "fixed",
    "spawn_per_tick": 3,
    "targeting": "learned",
    "rows": 6,
}


def settings_of() -> TrainSettings:
    return TrainSettings(
        world=WorldChoice(id="mmo/combat", options=OPTIONS),
        num_worlds=4,
        steps=300,
        algorithm="policy_gradient",
        train=TrainGroup(shards=2, checkpoint_seconds=1e6, quiet=True),
        policy_gradient=PolicyGradientGroup(rollout=8, horizon=8),
        network=NetworkGroup(kind="tiles_attention", width=8, tail=8, probability_floor=0.001),
    )


def test_a_trained_policy_points_at_rows_that_stand(tmp_path: Path) -> None:
    run = train(settings_of(), tmp_path / "run")
    world = make_world("mmo/combat", num_worlds=2, seed=9, **OPTIONS)
    policy = load_policy(run)
    policy.start(world, seed=1)
    timestep, aimed = world.reset(), 0
    for _ in range(40):
        action = policy.act(timestep)
        rows, count = action[:, :, 2:][timestep.acting], timestep.observation["count"][timestep.acting]
        assert (rows < np.maximum(count, 1)[:, None]).all()
        aimed += int((rows > 0).sum())
        timestep = world.step(action)
    assert aimed > 20
    world.close()
