"""The gradient of a team's temporal difference: against a slow twin, and what it may not read."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.core.settings import changed
from interplay.train.factored.learner import TeamLearner
from interplay.train.factored.replay import Frames
from interplay.train.factored.teams import TeamGroup
from interplay.train.factored.utilities import NUM_SUMS, Differences
from interplay.train.selfplay.matchups import with_opponents
from tests.train.factored.games import TwoStep
from tests.train.factored.test_factored_runs import settings_of

STRETCHES, MEMBERS, FRAMES = 3, 2, 6


def learner_of(algorithm: str = "qmix", **group: Any) -> TeamLearner:
    settings = settings_of(algorithm, **{algorithm: group})
    world = TwoStep()
    world.reset()
    return TeamLearner(world, settings, with_opponents(settings, world))


def frames_of(seed: int, masked: bool = True) -> Frames:
    rng = np.random.default_rng(seed)
    each, team = (STRETCHES, MEMBERS, FRAMES), (STRETCHES, FRAMES)
    mask = rng.random((*each, 2)) < 0.6
    mask[..., 0] |= ~mask.any(axis=-1)
    decides = rng.random(team) < 0.8
    decides[:, -1] = False
    return Frames(
        {"float32": rng.normal(size=(*each, 5)).astype(np.float32)},
        mask if masked else None,
        rng.random(each) < 0.7,
        np.zeros(each, bool),
        rng.integers(0, 2, (*each, 1)).astype(np.int32),
        np.zeros((STRETCHES, MEMBERS, 0), np.float32),
        rng.normal(size=(*team, 5)).astype(np.float32),
        rng.normal(size=team).astype(np.float32),
        np.where(rng.random(team) < 0.2, 0, 0.9).astype(np.float32),
        decides,
    )


def slow_loss(learner: TeamLearner, vector: Any, target: Any, frames: Frames, double: bool) -> float:
    """Frame by frame, member by member."""
    own, group = learner.networks["agent"], learner.algorithm.settings
    networks = own._network(jnp.asarray(vector)), own._network(jnp.asarray(target))

    def utilities(which: int, b: int, m: int, f: int) -> np.ndarray:
        seen = {"place": jnp.asarray(frames.rows["float32"][b, m, f])[None]}
        return np.asarray(networks[which].network(networks[which].network.prepare(seen))[0])[0]

    def mixed(which: int, b: int, f: int, chosen: list[float]) -> float:
        return float(networks[which].mixer(jnp.asarray([chosen]), jnp.asarray(frames.state[b, f])[None])[0])

    loss = 0.0
    for b in range(STRETCHES):
        value, to_come = np.zeros(FRAMES), np.zeros(FRAMES)
        for f in range(FRAMES):
            taken, best = [], []
            for m in range(MEMBERS):
                mine, others = utilities(0, b, m, f), utilities(1, b, m, f)
                chooses = mine if double else others
                legal = np.where(frames.mask[b, m, f], chooses, -np.inf)
                acts = frames.acts[b, m, f]
                taken.append(mine[frames.action[b, m, f, 0]] if acts else 0.0)
                best.append(others[legal.argmax()] if acts else 0.0)
            value[f], to_come[f] = mixed(0, b, f, taken), mixed(1, b, f, best)
        found = 0.0
        for f in reversed(range(FRAMES)):
            if frames.decides[b, f]:
                following = (1 - group.td_lambda) * to_come[f + 1] + group.td_lambda * found
                found = frames.reward[b, f] + frames.discount[b, f] * following
                loss += 0.5 * (value[f] - found) ** 2
            else:
                found = to_come[f]
    return loss


@pytest.mark.parametrize("double", [True, False])
@pytest.mark.parametrize("algorithm", ["qmix", "vdn"])
def test_the_loss_is_that_of_a_slow_twin(algorithm: str, double: bool):
    learner, frames = learner_of(algorithm, double_q=double), frames_of(1)
    rng = np.random.default_rng(2)
    vector, target = rng.normal(0, 0.5, (2, learner.networks["agent"].size)).astype(np.float32)
    if algorithm == "vdn":
        frames = frames._replace(state=np.zeros((STRETCHES, FRAMES, 0), np.float32))
    mixer, states = learner.networks["agent"]._network(jnp.asarray(vector)).mixer, frames.state[0, :2]
    one, other = mixer(jnp.ones((2, MEMBERS)), jnp.asarray(states))
    assert (one != other) == (algorithm == "qmix"), "a sum reads no state"
    loss, sums = learner.networks["agent"]._loss_of(vector, target, jax.tree.map(jnp.asarray, frames))
    assert float(loss) == pytest.approx(slow_loss(learner, vector, target, frames, double), rel=1e-4)
    assert sums.rows == frames.decides.sum()
    assert float(sums.squared) == pytest.approx(2 * float(loss))


def test_no_gradient_flows_into_what_is_to_come():
    """Only the value of what was chosen is moved: a central difference with the returns held."""
    learner, frames = learner_of(double_q=False), frames_of(3)
    rng, own = np.random.default_rng(4), learner.networks["agent"]
    vector = rng.normal(0, 0.5, own.size).astype(np.float32)
    way = rng.normal(size=own.size).astype(np.float32) * 1e-4
    slope = float(own.sums(vector, vector, frames)[:-NUM_SUMS] @ way)
    ahead, behind = (slow_loss(learner, vector + s * way, vector, frames, False) for s in (1, -1))
    assert slope == pytest.approx((ahead - behind) / 2, rel=2e-2)


def test_stretches_that_decide_nothing_teach_nothing():
    learner, frames = learner_of(), frames_of(5)
    nothing = frames._replace(decides=np.zeros_like(frames.decides))
    assert not learner.sums(0, nothing).any()


def test_a_step_goes_along_the_mean_and_the_target_follows_later():
    learner, frames = learner_of(target_every=3), frames_of(6)
    learner.set_rates(0.0)
    first = np.asarray(learner.vectors["agent"])
    total = learner.sums(0, frames)
    rows = Differences(*total[-NUM_SUMS:]).rows
    norm = learner.step(0, total, 0)
    assert norm == pytest.approx(np.linalg.norm(total[:-NUM_SUMS] / rows), rel=1e-5)
    moved = np.asarray(learner.vectors["agent"]) - first
    some = np.abs(total[:-NUM_SUMS] / rows) > 1e-5
    np.testing.assert_allclose(moved[0, some], -1e-3 * np.sign(total[:-NUM_SUMS][some]), rtol=2e-2)
    for steps in range(1, 5):
        assert learner.steps[0] == steps
        assert np.array_equal(learner.targets["agent"], first) == (steps < 3)
        assert np.array_equal(learner.targets["agent"], np.asarray(learner.vectors["agent"])) == (steps == 3)
        learner.step(0, learner.sums(0, frames), 0)


def test_the_target_of_one_population_follows_alone():
    learner: Any = TeamLearner.__new__(TeamLearner)
    before = learner.targets = {"agent": np.zeros((3, 2), np.float32)}
    learner.vectors = {"agent": np.array([[1, 2], [3, 4], [5, 6]], np.float32)}
    kept = before["agent"]
    learner._copy(TeamGroup("agent", 1, np.zeros((1, 2), int)))
    assert learner.targets["agent"].tolist() == [[0, 0], [3, 4], [0, 0]]
    assert not kept.any()


def test_a_sum_that_is_not_finite_is_told_by_its_tensor():
    learner, frames = learner_of(), frames_of(7)
    wild = frames._replace(reward=frames.reward * np.float32(np.inf))
    with pytest.raises(UserError, match=r"update 9: gradient of .* is not finite"):
        learner.step(0, learner.sums(0, wild), 9)


def test_settings_keep_their_form():
    settings = changed(settings_of(), {"qmix": {"td_lambda": 0.0}}, "test")
    assert settings.factored is settings.qmix
