"""What trained policies say of their choices is what they draw from."""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces

from interplay.core.settings import build
from interplay.evaluate.communication.listening import (
    Views,
    board_influence,
    editable,
    measure_influence,
    speaker_marginal,
)
from interplay.registry import make_world
from interplay.train.distributions import Distribution
from interplay.train.play.policy import load_policy
from interplay.train.settings import TrainSettings
from interplay.train.trainer import train

pytestmark = pytest.mark.slow

WORLD = "werewolf/9-l1s2"
SETTINGS = {
    "world": {"id": WORLD},
    "num_worlds": 4,
    "steps": 512,
    "train": {"shards": 1, "workers": 1},
    "ppo": {"rollout": 16, "minibatch": 64, "epochs": 1},
    "network": {"kind": "mlp", "hidden": [8]},
}


@pytest.fixture(scope="module", params=["world", "kind"])
def played(request, tmp_path_factory):
    """A policy with a network for each role, or with one for all, some steps into play."""
    folder = tmp_path_factory.mktemp("probabilities") / "run"
    train(build(TrainSettings, {**SETTINGS, "population": {"by": request.param}}, "test"), folder)
    policy, world = load_policy(folder), make_world(WORLD, num_worlds=40, seed=5)
    views = Views(most=3000)
    timestep = world.reset(seeds=3)
    policy.start(world, 7)
    for _ in range(5):
        timestep = world.step(policy.act(timestep))
        views.add(world, np.zeros(40))
    return policy, world, views.observations()


def test_probabilities_are_the_exponentials_of_the_log_probabilities():
    distribution = Distribution(spaces.MultiDiscrete([3, 2]))
    parameters = jax.random.normal(jax.random.key(0), (4, distribution.size))
    mask = jnp.array([[1, 1, 0, 1, 1]] * 3 + [[1, 1, 1, 1, 0]], bool)
    said = np.asarray(distribution.probabilities(parameters, mask))
    assert (said[~np.asarray(mask)] == 0).all()
    for first, second in itertools.product(range(3), range(2)):
        action = jnp.tile(jnp.array([first, second], jnp.float32), (4, 1))
        together = np.exp(np.asarray(distribution.log_prob(parameters, action, mask)))
        np.testing.assert_allclose(together, said[:, first] * said[:, 3 + second], atol=1e-6)


def test_actions_are_drawn_from_what_is_said(played):
    policy, world, _ = played
    timestep = world.reset(seeds=3)
    drawn = np.stack([np.array(policy.act(timestep)) for _ in range(400)])
    w, a = np.nonzero(timestep.acting)
    seen = {name: np.asarray(leaf)[w, a] for name, leaf in timestep.observation.items()}
    said = policy.probabilities(seen, timestep.action_mask["action"][w, a], world.population[w, a])
    assert said.shape == (len(w), 12)
    np.testing.assert_allclose(said[:, :10].sum(axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(said[:, 10:].sum(axis=1), 1, atol=1e-5)
    often = (drawn[:, w, a, 0][..., None] == np.arange(10)).mean(axis=(0, 1))
    error = np.sqrt(0.25 / 400 / len(w))
    np.testing.assert_allclose(often, said[:, :10].mean(axis=0), atol=5 * error)


def test_illegal_choices_have_probability_zero_and_the_batch_does_not_matter(played):
    policy, _, seen = played
    mask, population = seen["action_mask"], seen["population"]
    said = policy.probabilities(seen, mask, population)
    assert (said[~mask] == 0).all()
    some = np.array([5, 17, 200])
    few = policy.probabilities(
        {name: leaf[some] for name, leaf in seen.items()}, mask[some], population[some]
    )
    np.testing.assert_allclose(few, said[some], atol=1e-6)


def test_edits_of_rows_that_are_not_shown_give_exactly_zero(played):
    policy, world, seen = played
    marginal = speaker_marginal(seen["public_signals"].reshape(-1, 1))

    def probabilities(other):
        return policy.probabilities(other, other["action_mask"], other["population"])

    found = board_influence(probabilities, seen, marginal, [10, 2])
    assert (found[~editable(seen)] == 0).all()
    assert found[editable(seen)].max() > 0
    for influence in measure_influence(policy, world, seen, marginal, world.phase_names):
        assert influence.invisible == 0
        assert influence.name.mean >= 0


def test_the_pack_board_moves_no_villager(played):
    """The world's own leak test, carried through the network: another night's talk, the same probabilities bit for bit."""
    policy, world, _ = played
    timestep = world.reset(seeds=3)
    for _ in range(2):
        timestep = world.step(policy.act(timestep))
    villager = timestep.acting & (world.population == 0)
    assert villager.any()

    def said(which):
        w, a = np.nonzero(which)
        seen = {name: np.asarray(leaf)[w, a] for name, leaf in world.timestep.observation.items()}
        mask = np.asarray(world.timestep.action_mask["action"])[w, a]
        return policy.probabilities(seen, mask, world.population[w, a])

    wolves = timestep.acting & (world.population == 1)
    before, ours = said(villager), said(wolves)
    spoken = world.state.pack_signals >= 0
    world.state.pack_signals[spoken] = 1 - world.state.pack_signals[spoken]
    world.refresh()
    assert np.array_equal(said(villager), before)
    assert not np.array_equal(said(wolves), ours)
