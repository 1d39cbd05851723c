"""Memory: what is played is what is learnt from, and lives begin with nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.train import networks
from interplay.train.learner import Learner
from interplay.train.minibatches import join_batches, make_epoch
from interplay.train.networks.memory import Gru, Lstm
from interplay.train.parallel.exchange import SingleProcess
from interplay.train.play.single import SingleActor
from interplay.train.populations import find_populations
from interplay.train.run.checkpoint import latest_checkpoint
from interplay.train.samples import cut_sequences
from interplay.train.settings import TrainSettings
from interplay.train.shard import Shard, make_shard
from interplay.train.trainer import load_policy, train
from interplay.train.update import Worker
from tests.train.runs import short_run
from tests.train.toy_worlds import Corridor, make_corridor

pytestmark = pytest.mark.slow


def settings_of(**own: Any) -> TrainSettings:
    values = {
        "train": {"max_updates": 4},
        "ppo": {"rollout": 32, "minibatch": 128, "epochs": 2, "sequence": 8, "target_kl": "off"},
        "network": {"memory": "gru", "memory_size": 6},
    }
    return short_run("corridor", values, **own)


def learner_of(settings: TrainSettings) -> Learner:
    world = Corridor()
    return Learner(world.kinds, settings, find_populations(settings.population, world))


def played(settings: TrainSettings, learner: Learner, updates: int = 1) -> Shard:
    shard = make_shard(0, make_corridor, learner, settings)
    for update in range(updates):
        shard.play(learner.inference_parameters(), update)
        shard.estimate()
        if update < updates - 1:
            shard.finish()
    return shard


# -- cells ------------------------------------------------------------------------------------------


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def test_a_gru_is_the_textbook_s() -> None:
    cell, rng = Gru(3, 4, key=jax.random.key(1)), np.random.default_rng(0)
    x, h = rng.normal(size=(5, 3)), rng.normal(size=(5, 4))
    wx, wh = np.asarray(cell.given.weight), np.asarray(cell.kept.weight)
    (xr, xz, xn), (hr, hz, hn) = np.split(x @ wx, 3, axis=1), np.split(h @ wh, 3, axis=1)
    z = sigmoid(xz + hz)
    expected = (1 - z) * np.tanh(xn + sigmoid(xr + hr) * hn) + z * h
    given = cell.given(jnp.asarray(x, jnp.float32))
    np.testing.assert_allclose(cell(given, jnp.asarray(h, jnp.float32)), expected, atol=1e-5)


def test_an_lstm_is_the_textbook_s_and_forgets_little_at_first() -> None:
    cell, rng = Lstm(3, 4, key=jax.random.key(1)), np.random.default_rng(0)
    x, memory = rng.normal(size=(5, 3)), rng.normal(size=(5, 8))
    wx, wh, bias = (np.asarray(a) for a in (cell.given.weight, cell.kept.weight, cell.given.bias))
    assert bias.tolist() == [0.0] * 4 + [1.0] * 4 + [0.0] * 8
    i, f, o, n = np.split(x @ wx + bias + memory[:, :4] @ wh, 4, axis=1)
    c = sigmoid(f) * memory[:, 4:] + sigmoid(i) * np.tanh(n)
    expected = np.concatenate([sigmoid(o) * np.tanh(c), c], axis=1)
    given = cell.given(jnp.asarray(x, jnp.float32))
    np.testing.assert_allclose(cell(given, jnp.asarray(memory, jnp.float32)), expected, atol=1e-5)


# -- networks ----------------------------------------------------------------------------------------


class Counter(eqx.Module):
    """A network of somebody's own that remembers by itself: a running sum of what it saw."""

    weight: jax.Array
    memory_size: int = eqx.field(static=True, default=1)

    def __init__(self, observation_space: Any, action_space: Any, settings: Any, *, key: jax.Array) -> None:
        self.weight = 0.1 * jax.random.normal(key, (2, 3))

    def __call__(self, observation: Any) -> tuple[jax.Array, jax.Array]:
        place = observation["place"]
        return self.remember(observation, jnp.zeros((place.shape[0], 1)))[:2]

    def remember(self, observation: Any, memory: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
        memory = memory + observation["place"]
        out = jnp.concatenate([memory, observation["noise"]], axis=1) @ self.weight
        return out[:, :2], out[:, 2], memory


OWN = {"kind": "tests.train.test_memory:Counter", "memory": "own"}
NETWORKS: list[dict[str, Any]] = [
    {},
    {"memory": "lstm"},
    {"kind": "attention", "width": 8, "tail": 8, "heads": 2},
    OWN,
]


@pytest.mark.parametrize("own", NETWORKS, ids=["mlp gru", "mlp lstm", "attention gru", "own"])
def test_a_sequence_at_once_is_the_steps_one_after_another(own: dict[str, Any]) -> None:
    """With lives that begin in the middle, and steps that are only looked at."""
    learner = learner_of(settings_of(network=own))
    network, rng = learner.networks["agent"], np.random.default_rng(3)
    n, length, size = 5, 7, network.memory
    rows = {"float32": rng.normal(size=(n * length, 2)).astype(np.float32)}
    fresh, acts = rng.random((n, length)) < 0.2, rng.random((n, length)) < 0.7
    memory = rng.normal(size=(n, size)).astype(np.float32)
    made = network._network(jnp.asarray(learner.vectors["agent"][0]))
    seen = network.prepare(rows)
    at_once = networks.unroll(made, seen, jnp.asarray(memory), jnp.asarray(fresh), jnp.asarray(acts))
    parameters, value = (np.asarray(x) for x in at_once)
    for step in range(length):
        memory = np.where(fresh[:, step, None], 0.0, memory)
        own_rows = {"float32": rows["float32"].reshape(n, length, 2)[:, step]}
        said = made.remember(network.prepare(own_rows), jnp.asarray(memory))
        np.testing.assert_allclose(parameters.reshape(n, length, -1)[:, step], said[0], atol=1e-5)
        np.testing.assert_allclose(value.reshape(n, length)[:, step], said[1], atol=1e-5)
        memory = np.where(acts[:, step, None], np.asarray(said[2]), memory)


def test_a_gradient_goes_back_through_a_sequence_and_not_beyond_a_birth() -> None:
    """Against finite differences."""
    learner = learner_of(settings_of())
    made = learner.networks["agent"]._network(jnp.asarray(learner.vectors["agent"][0]))
    rng = np.random.default_rng(4)
    seen, memory = rng.normal(size=(6, 2)).astype(np.float32), np.zeros((1, 6), np.float32)
    fresh = jnp.asarray([[False, False, False, True, False, False]])
    acts = jnp.ones((1, 6), bool)

    def last_value(observation: Any) -> jax.Array:
        return networks.unroll(made, observation, jnp.asarray(memory), fresh, acts)[1][-1]

    gradient = np.asarray(jax.grad(last_value)(jnp.asarray(seen)))
    assert not gradient[:3].any()  # of a life before
    assert np.abs(gradient[3]).max() > 1e-5  # through two steps of memory
    with jax.enable_x64(True):
        wide = jax.tree.map(
            lambda leaf: leaf.astype(jnp.float64) if eqx.is_inexact_array(leaf) else leaf, made
        )

        def slow(observation: np.ndarray) -> float:
            return float(
                networks.unroll(
                    wide, jnp.asarray(observation), jnp.asarray(memory, jnp.float64), fresh, acts
                )[1][-1]
            )

        for row in range(6):
            for column in range(2):
                up, down = seen.astype(np.float64), seen.astype(np.float64)
                up[row, column] += 1e-6
                down[row, column] -= 1e-6
                assert gradient[row, column] == pytest.approx((slow(up) - slow(down)) / 2e-6, abs=1e-4)


def test_a_sequence_that_nobody_reads_need_not_divide_the_rollout() -> None:
    settings_of(ppo={"sequence": 12}, network={"memory": "none"})


# -- samples ------------------------------------------------------------------------------------------


def test_every_sample_is_in_one_sequence_in_the_order_of_its_steps() -> None:
    rng = np.random.default_rng(0)
    step, slot = (a.ravel() for a in np.meshgrid(np.arange(24), np.arange(5), indexing="ij"))
    there = rng.random(len(step)) < 0.6
    step, slot = step[there], slot[there]
    population = (slot + (step > 13)).astype(
        np.uint8
    ) % 2  # everybody changes it once, in the middle of a window
    units = cut_sequences(step, slot, population, 8, 0)
    assert sorted(units[units >= 0].tolist()) == list(range(len(step)))
    for unit in units:
        own = unit[unit >= 0]
        assert (unit[len(own) :] == -1).all()
        assert (np.diff(step[own]) > 0).all()
        assert len(set(slot[own])) == len(set(population[own])) == len(set(step[own] // 8)) == 1


@pytest.mark.parametrize("memory", ["gru", "lstm"])
def test_memory_goes_on_within_a_life_and_begins_with_nothing(memory: str) -> None:
    """What a slot's samples remembered before is what its network made of its earlier samples of the same life."""
    settings = settings_of(network={"memory": memory})
    learner = learner_of(settings)
    shard = played(settings, learner, updates=2)
    pending, network = shard.collector.pending["agent"], learner.networks["agent"]
    buffer = shard.collector.buffer
    made = network._network(jnp.asarray(learner.vectors["agent"][0]))
    assert pending.seen.memory is not None
    assert pending.seen.fresh is not None
    begun = carried = 0
    for slot in range(8):
        own = np.flatnonzero(pending.slot[: pending.count] == slot)
        kept, last = pending.seen.memory[own[0]].copy(), pending.step[own[0]]
        for place in own:
            step = pending.step[place]
            if buffer.ended.reshape(32, -1)[last:step, slot].any():
                kept = np.zeros_like(kept)
            np.testing.assert_allclose(pending.seen.memory[place], kept, atol=1e-5)
            if pending.seen.fresh[place]:
                assert not pending.seen.memory[place].any()
                begun += 1
            carried += bool(pending.seen.memory[place].any())
            rows = {"float32": pending.seen.rows["float32"][place][None]}
            if pending.acts[place]:
                kept = np.asarray(made.remember(network.prepare(rows), jnp.asarray(kept[None]))[2])[0]
            last = step
    assert begun > 5
    assert carried > 100


def test_what_is_learnt_from_is_what_was_played() -> None:
    """Before a step of the optimiser the policy that learns is the one that acted: no row's ratio differs from 1."""
    settings = settings_of()
    learner = learner_of(settings)
    worker = Worker(settings, make_corridor, learner, SingleProcess())
    worker.play()
    worker.estimate()
    minibatches, _ = worker._agree_sizes()
    batch = join_batches(worker.shards, "agent")
    epoch = make_epoch(
        worker.shards, "agent", batch, [shard.shuffle("agent", 0, 0) for shard in worker.shards], minibatches
    )
    seen = 0
    for minibatch in range(minibatches):
        terms = learner.terms(learner.gradient({"agent": epoch}, minibatch))[0]
        assert terms[3] / terms[5] == pytest.approx(0.0, abs=1e-6)  # kl
        assert terms[4] == 0  # clipped
        seen += int(terms[7])
    assert seen == sum(len(shard.ready["agent"].picked) for shard in worker.shards)


# -- runs ---------------------------------------------------------------------------------------------


def test_a_policy_in_play_remembers_within_lives_and_its_memory_is_saved(tmp_path: Path) -> None:
    run = train(settings_of(), tmp_path / "run", make_corridor)
    world, twin = Corridor(4, seed=9), Corridor(4, seed=9)
    policy, other = (load_policy(run, greedy=True) for _ in range(2))
    timestep, same = world.reset(), twin.reset()
    policy.start(world, seed=1)
    other.start(twin, seed=1)
    for _ in range(3):  # nobody has arrived yet
        timestep = world.step(policy.act(timestep))
        other.load(policy.save())  # what the other one did is forgotten: it goes on as this one
        twin.load(world.save())
        same = twin.timestep
    kept = policy.save()["memory/agent"]
    assert kept.any()
    other.forget()
    other.load(policy.save())
    assert np.array_equal(other.save()["memory/agent"], kept)
    assert np.array_equal(policy.act(timestep), other.act(same))
    for flag, slot in (("terminated", (1, 0)), ("truncated", (2, 1))):
        flags = {name: np.zeros((4, 2), bool) for name in ("terminated", "truncated")}
        flags[flag][slot] = True
        before = policy.save()["memory/agent"].copy()
        assert before[slot].any()
        before[slot] = 0.0
        policy._forget_the_dead(timestep._replace(**flags))
        assert np.array_equal(policy.save()["memory/agent"], before)
    over = np.array([True, False, False, True])
    policy.forget(over)
    assert not policy.save()["memory/agent"][over].any()
    assert policy.save()["memory/agent"][~over].any()


def test_what_asks_about_an_observation_alone_is_refused(tmp_path: Path) -> None:
    """An answer as at the beginning of a life would pass for the policy's."""
    run = train(settings_of(train={"max_updates": 1}), tmp_path / "run", make_corridor)
    world = Corridor(2, seed=9)
    seen = {key: leaf[0] for key, leaf in world.reset().observation.items()}
    policy = load_policy(run)
    policy.start(world, seed=1)
    for ask in (policy.probabilities, lambda o: policy.values(o, np.zeros(2, int))):
        with pytest.raises(UserError, match=r"network\.memory = gru"):
            ask(seen)
    with pytest.raises(UserError, match=r"network\.memory = gru"):
        SingleActor(latest_checkpoint(run) or tmp_path, world.kinds)


@pytest.mark.parametrize("network", [{"memory": "gru"}, {"critic": "team"}])
@pytest.mark.parametrize("algorithm", ["ppo", "examples.own_algorithm:Hysteretic"])
def test_networks_that_guess_have_neither_memory_nor_another_critic(
    network: dict[str, str], algorithm: str
) -> None:
    plain = {"memory": "none", "critic": "own"}
    with pytest.raises(UserError, match=r'belief.about = "werewolf" with network'):
        settings_of(network=plain | network, belief={"about": "werewolf"}, algorithm=algorithm)


def test_spaces_of_any_dtype_have_widths() -> None:
    space = spaces.Dict(a=spaces.Discrete(3), b=spaces.Box(0, 255, (4,), np.uint8))
    settings = settings_of(network={"memory": "lstm"}).network
    network = networks.make_network(settings, space, spaces.Discrete(2), key=jax.random.key(0))
    assert network.memory_size == 12
    parameters, value = network(network.prepare({"a": jnp.ones(3), "b": jnp.ones((3, 4))}))
    assert (parameters.shape, value.shape) == ((3, 2), (3,))
