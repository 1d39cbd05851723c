"""Training loops written for SMAC run on our battles as they are, and each face lives through a thousand episodes (specification 5.5)."""

from __future__ import annotations

import copy
from functools import partial
from numbers import Number

import numpy as np
import pytest

import interplay
from interplay.connect.smac import EPyMARLEnv, MAPPOEnv, StarCraft2Env
from interplay.core.errors import UserError
from tests.connect.smac_loops import (
    PYMARL,
    Agents,
    EpisodeRunner,
    ParallelRunner,
    SharedVecEnv,
    learn_qmix,
    run_mappo,
)

pytestmark = pytest.mark.slow

SCENARIOS = ("3m", "2s3z", "3i2z", "mab", "bane_vs_bane")
EPISODES = 200  # of each scenario: a thousand for a face


def qmix(episodes):
    runner = EpisodeRunner(StarCraft2Env, **PYMARL)
    info = runner.get_env_info()
    agents = Agents(info, seed=0)
    mixer = np.random.default_rng(1).normal(0, 0.1, (info["state_shape"], info["n_agents"]))
    errors = [learn_qmix(agents, mixer, runner.run(agents)) for _ in range(episodes)]
    return runner, errors


def test_a_qmix_loop_of_pymarl_runs():
    runner, errors = qmix(30)
    assert np.isfinite(errors).all()
    assert runner.stats["n_episodes"] == 30
    assert runner.env.get_stats()["battles_game"] == 30
    assert runner.env.get_stats()["battles_won"] == runner.stats["battle_won"]
    assert 0 < runner.stats["dead_allies"] <= 150
    assert min(runner.returns) >= 0
    assert max(runner.returns) <= 20.5
    again, same_errors = qmix(30)
    assert (again.returns, same_errors) == (runner.returns, errors)


@pytest.mark.parametrize("face", [StarCraft2Env, EPyMARLEnv])
@pytest.mark.parametrize("continuing", [False, True])
def test_a_parallel_runner_gathers_episodes_of_several_lengths(face, continuing):
    """What is stored as the end of an episode: also a time-out, unless episodes go on."""
    given = {**PYMARL, "continuing_episode": continuing, "limit": 29}
    runner = ParallelRunner([partial(face, **{**given, "seed": number}) for number in range(4)])
    agents, seen = Agents(runner.env_info, seed=5), set()
    for _ in range(3):
        batch = runner.run(agents)
        lengths = batch.data["filled"].sum(axis=(1, 2)) - 1
        ends = batch.data["terminated"].sum(axis=(1, 2))
        told = runner.final_infos[-4:]
        seen |= set(lengths.tolist())
        cut = sum(info.get("episode_limit", False) for info in told)
        assert ends.sum() == 4 - cut
        assert (lengths[ends == 0] == 29).all()
    assert len(seen) > 3
    stats = runner.stats()
    assert [one["battles_game"] for one in stats] == [3] * 4
    timeouts = sum(one["timeouts"] for one in stats)
    assert timeouts > 0
    assert sum(info.get("episode_limit", 0) for info in runner.final_infos) == timeouts * continuing
    runner.close()


def test_a_mappo_loop_runs():
    def logged():
        makers = [partial(MAPPOEnv, "3i2z", seed=number, limit=30) for number in range(4)]
        return run_mappo(SharedVecEnv(makers), updates=6, length=60, seed=0)

    told = logged()
    assert all(np.isfinite(list(update.values())).all() for update in told)
    assert sum(update["battles_game"] for update in told) >= 48
    assert all(0 < update["dead"] < 1 for update in told)
    assert told == logged()


def legal_actions(legal, rng):
    legal = np.array(legal)
    assert legal.any(axis=1).all()
    return (rng.random(legal.shape) * legal).argmax(axis=1)


def pymarl_episode(env, rng):
    info = env.get_env_info()
    obs, state = env.reset()
    over, told, steps = False, {}, 0
    while True:
        assert len(obs) == info["n_agents"]
        assert {row.shape for row in obs} == {(info["obs_shape"],)}
        assert state.shape == (info["state_shape"],)
        legal = env.get_avail_actions()
        assert np.shape(legal) == (info["n_agents"], info["n_actions"])
        actions = legal_actions(legal, rng)
        if over:
            return steps, told
        reward, over, told = env.step(actions)
        assert type(reward) is float
        assert type(over) is bool
        assert all(isinstance(value, Number) for value in told.values())
        obs, state = env.get_obs(), env.get_state()
        steps += 1


def epymarl_episode(env, rng):
    info, (obs, told) = env.get_env_info(), env.reset()
    ended = cut = False
    steps = 0
    while True:
        assert np.shape(obs) == (info["n_agents"], info["obs_shape"])
        assert env.get_state().shape == (info["state_shape"],)
        actions = legal_actions(env.get_avail_actions(), rng)
        if ended or cut:
            assert not (ended and cut)
            return steps, told
        obs, reward, ended, cut, told = env.step(actions)
        assert type(reward) is float
        assert all(isinstance(value, Number) for value in told.values())
        steps += 1


def mappo_episode(env, rng):
    obs, states, legal = env.reset()
    dones, steps, infos = np.zeros(env.n_agents, bool), 0, None
    while True:
        assert obs.shape == (env.n_agents, env.observation_space[0][0])
        assert states.shape == (env.n_agents, env.share_observation_space[0][0])
        assert legal.shape == (env.n_agents, env.action_space[0].n)
        actions = legal_actions(legal, rng)
        if dones.all():
            return steps, infos[0]
        obs, states, rewards, dones, infos, legal = env.step(actions[:, None])
        assert np.shape(rewards) == (env.n_agents, 1)
        steps += 1


FACES = {
    "pymarl": (StarCraft2Env, pymarl_episode),
    "epymarl": (EPyMARLEnv, epymarl_episode),
    "mappo": (MAPPOEnv, mappo_episode),
}


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("name", FACES)
def test_a_thousand_episodes_of_random_play(name, scenario):
    """Sizes are the declared ones in every step, and counts add up."""
    face, play = FACES[name]
    env, rng = face(scenario, seed=7), np.random.default_rng(3)
    played = [play(env, rng) for _ in range(EPISODES)]
    stats = env.get_stats()
    assert stats["battles_game"] == EPISODES
    assert max(steps for steps, _ in played) <= env.episode_limit
    won = "won" if name == "mappo" else "battle_won"
    assert stats["battles_won"] == sum(told[won] for _, told in played)


def test_the_enemy_may_be_a_run(tmp_path):
    """What a run has learned plays the other side, in every copy too, and the same each time."""
    pytest.importorskip("jax", reason="the extra train is not installed")
    run = interplay.train(
        "battle/3m",
        tmp_path / "run",
        steps=200,
        workers=1,
        num_worlds=4,
        network={"kind": "mlp", "hidden": (8,)},
        train={"quiet": True},
        ppo={"rollout": 16, "minibatch": 32, "epochs": 1},
    )

    def battle(env):
        env.reset()
        rng, rewards, over = np.random.default_rng(0), [], False
        while not over:
            reward, over, _ = env.step(legal_actions(env.get_avail_actions(), rng))
            rewards.append((reward, env.world.hash().item()))
        return rewards

    env, again = (StarCraft2Env("3m", seed=2, enemy=str(run.folder)) for _ in range(2))
    first = battle(env)
    assert first == battle(again)
    assert first != battle(StarCraft2Env("3m", seed=2))
    twin = copy.deepcopy(env)
    assert battle(twin) == battle(env)
    with pytest.raises(UserError) as caught:
        StarCraft2Env("2s3z", seed=2, enemy=str(run.folder)).reset()
    assert "\n" not in str(caught.value)
