"""Values of a checkpoint against those that training itself writes down."""

from __future__ import annotations

import copy

import jax.numpy as jnp
import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.core.policy import RandomPolicy
from interplay.core.settings import build
from interplay.train.play import trained_policy
from interplay.train.play.policy import load_policy
from interplay.train.play.values import ValuesBeside, values_of
from interplay.train.run.warm_start import read_stacks
from interplay.train.settings import TrainSettings
from interplay.train.trainer import train
from interplay.view.server.play import Cast, Play
from interplay.worlds.mmo.config import MmoSettings
from interplay.worlds.mmo.world import MmoWorld

OPTIONS = {"interior": 24, "slots": 8, "npop": 2, "maps": 1, "rows": 4}
SETTINGS = {
    "world": {"id": "mmo/forage", "options": OPTIONS},
    "num_worlds": 2,
    "steps": 256,
    "train": {"shards": 1, "workers": 1},
    "ppo": {"rollout": 16, "minibatch": 32, "epochs": 1},
    "network": {"kind": "mlp", "hidden": [8]},
    "population": {"by": "kind"},  # one network
}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("values") / "run"
    train(build(TrainSettings, SETTINGS, "test"), folder)
    return folder


def everywhere(world: MmoWorld) -> dict[str, np.ndarray]:
    """What ghosts see, 60 on each place of the diagonal."""
    seen = world.observe_ghosts(0, np.repeat(np.arange(9, 33), 60), np.tile(np.arange(9, 33), 60), 0)
    return {name: array[0] for name, array in seen.items() if name != "action_mask"}


def test_every_population_has_values_of_its_own(tmp_path):
    train(build(TrainSettings, {**SETTINGS, "population": {"by": "world"}}, "test"), tmp_path / "run")
    world = MmoWorld(MmoSettings(**OPTIONS))
    world.reset(seeds=1)
    policy = load_policy(tmp_path / "run")
    value, seen = values_of(policy, world), everywhere(world)
    both = np.tile([0, 1], 720)
    mixed = policy.values(seen, both)
    for population in (0, 1):
        alone = value(seen, population)
        np.testing.assert_allclose(alone[both == population], mixed[both == population], atol=1e-5)
    assert np.abs(value(seen, 0) - value(seen, 1)).max() > 1e-3

    played = copy.deepcopy(world)
    guest = trained_policy.TrainedPolicy(
        policy.settings, ["pop0"], policy.weights[:1], False, "half", {"pop1": RandomPolicy()}
    )
    guest.start(played)
    beside = ValuesBeside(guest)(world)
    np.testing.assert_allclose(beside(seen, 0), value(seen, 0), atol=1e-6)
    with pytest.raises(UserError, match="population 1 has no values"):
        beside(seen, 1)

    one = {name: array[700] for name, array in seen.items()}
    policy.start(world)
    for population in (0, 1):
        look = policy.look(one, agent="slot_0", population=population)
        assert look.value == pytest.approx(value(seen, population)[700], abs=1e-5)
    with pytest.raises(UserError, match="slot_0 changes between episodes"):
        policy.look(one, agent="slot_0")
    with pytest.raises(UserError, match="population 2; MmoWorld has 2"):
        policy.look(one, agent="slot_0", population=2)


@pytest.mark.parametrize("alone", [False, True])
def test_the_page_asks_the_network_of_the_population_that_lives_in_a_slot(tmp_path, alone):
    """Of a population that others play there is nothing to ask."""
    train(build(TrainSettings, {**SETTINGS, "population": {"by": "world"}}, "test"), tmp_path / "run")
    policy = load_policy(tmp_path / "run")
    if alone:
        policy = trained_policy.TrainedPolicy(
            policy.settings, ["pop0"], policy.weights[:1], False, "half", {"pop1": RandomPolicy()}
        )
    play = Play(Cast(MmoWorld(MmoSettings(**OPTIONS)), policy, "mmo"), seed=3)
    seen = set()
    for _ in range(40):
        play.step()
        for slot in np.flatnonzero(play.world.timestep.acting[0]).tolist():
            population, told = int(play.world.population[0, slot]), play.agent(slot, person=False)
            seen.add(population)
            if alone and population == 1:
                assert told["value"] is None
                assert {head["probabilities"] for head in told["heads"]} == {None}
                continue
            observation = {name: array[0, slot] for name, array in play.world.timestep.observation.items()}
            own = {name: array[None] for name, array in observation.items() if name != "action_mask"}
            assert told["value"] == pytest.approx(policy.values(own, np.array([population]))[0], abs=1e-5)
            assert sum(told["heads"][0]["probabilities"]) == pytest.approx(1)
    assert seen == {0, 1}


def test_values_beside_are_those_of_the_newest_weights_and_leave_the_play_alone(run):
    world = MmoWorld(MmoSettings(**OPTIONS))
    world.reset(seeds=1)
    played, policy, seen = copy.deepcopy(world), load_policy(run), everywhere(world)
    policy.start(played, 3)
    kept, beside = policy.save(), ValuesBeside(policy)
    first = beside(world)(seen, 0)
    np.testing.assert_allclose(first, policy.values(seen, np.zeros(1440, int)), atol=1e-6)
    assert all(np.array_equal(array, kept[name]) for name, array in policy.save().items())
    policy.load_weights([{name: 2 * array for name, array in tensors.items()} for tensors in policy.weights])
    second = beside(world)(seen, 0)
    assert np.abs(second - first).max() > 1e-3
    policy.start(played, 3)
    np.testing.assert_allclose(second, policy.values(seen, np.zeros(1440, int)), atol=1e-6)


@pytest.mark.parametrize("at_once", [8_192, 500])
def test_values_are_those_of_the_network_whatever_the_batch(run, monkeypatch, at_once):
    """Also where more rows are asked for than are computed in one call: the last call is filled up."""
    monkeypatch.setattr(trained_policy, "AT_ONCE", at_once)
    world = MmoWorld(MmoSettings(**OPTIONS))
    world.reset(seeds=1)
    policy = load_policy(run)
    value = values_of(policy, world)
    seen = everywhere(world)
    together = value(seen, 0)
    assert together.shape == (1440,)
    assert together.std() > 0
    assert np.array_equal(value(seen, 1), together)  # one network plays every population
    network = policy.networks["agent"]
    assert 2 * network.block < 1440  # several blocks
    vector = read_stacks(policy.networks, policy._tensors)["agent"][0]
    rows = network.layout.allocate(1440)
    network.layout.write(seen, None, rows)
    _, direct = network._network(jnp.asarray(vector))(network._read(rows))
    np.testing.assert_allclose(together, direct, atol=1e-5)
    one = value({name: array[1100:1101] for name, array in seen.items()}, 0)
    assert one == pytest.approx(together[1100], abs=1e-6)
