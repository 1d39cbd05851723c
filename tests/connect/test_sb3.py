"""A batch as an SB3 VecEnv: SB3's conventions on paper, and a real PPO that learns."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium import spaces

import interplay
from interplay.core.errors import UserError
from interplay.core.policy import RandomPolicy
from interplay.core.world import ArrayWorld, Kind, TimeStep
from tests.connect.toys import LIMIT, Hunt, Line

pytest.importorskip("stable_baselines3", reason="the extra sb3 is not installed")

from stable_baselines3 import PPO
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize

from interplay.connect.sb3 import SB3VecEnv


def twin(steps=120, **options):
    """Steps a VecEnv and the same worlds by hand: (what the VecEnv gave, what the worlds said) per step."""
    env, world = SB3VecEnv(Line(4, **options)), Line(4, **options)
    env.seed(3)
    first = env.reset()
    timestep = world.reset(seeds=3)
    assert np.array_equal(first["self"], timestep.observation["self"].reshape(12, 2))
    rng = np.random.default_rng(0)
    for _ in range(steps):
        actions = rng.integers(0, [3, 2], (12, 2))
        given = env.step(actions)
        timestep = world.step(actions.reshape(4, 3, 2))
        said = TimeStep(*[_copy(part) for part in timestep])
        if timestep.over.any():
            timestep = world.reset(timestep.over.copy())
        yield given, said, timestep


def _copy(part):
    if isinstance(part, dict):
        return {key: value.copy() for key, value in part.items()}
    return None if part is None else part.copy()


@pytest.mark.parametrize("options", [{}, {"masked": True}, {"leave": True}])
def test_it_is_the_batch_with_sb3s_autoreset(options):
    ends = 0
    for (observation, rewards, dones, infos), said, now in twin(**options):
        assert np.array_equal(rewards, said.reward.reshape(-1))
        assert rewards.dtype == np.float32
        expected = said.terminated | said.truncated | said.over[:, None]
        assert np.array_equal(dones, expected.reshape(-1))
        assert len(infos) == 12
        for key, field in now.observation.items():
            assert np.array_equal(observation[key], field.reshape(12, *field.shape[2:]))
            assert observation[key].dtype == field.dtype
        for i in range(12):
            w, a = divmod(i, 3)
            assert ("terminal_observation" in infos[i]) == bool(dones[i])
            if dones[i]:
                ends += 1
                last = infos[i]["terminal_observation"]
                assert all(np.array_equal(last[key], field[w, a]) for key, field in said.observation.items())
                assert infos[i]["TimeLimit.truncated"] is bool(said.truncated[w, a])
    assert ends > 12


def test_episode_info_adds_up():
    returns, lengths, seen = np.zeros(12), np.zeros(12, int), []
    for (_, rewards, dones, infos), _, _ in twin():
        returns += rewards
        lengths += 1
        for i in np.flatnonzero(dones):
            assert infos[i]["episode"]["r"] == pytest.approx(returns[i])
            assert infos[i]["episode"]["l"] == lengths[i] <= LIMIT
            returns[i] = lengths[i] = 0
            seen.append(i)
    assert set(seen) == set(range(12))


def test_lengths_count_from_the_first_act():
    """Villagers sleep through the first night: it is no part of their episodes."""
    world = interplay.make_world("werewolf/6", num_worlds=4, seed=3)
    env, player = SB3VecEnv(world), RandomPolicy()
    env.reset()
    player.start(world, seed=1)
    steps, lengths, began = np.zeros(24, int), np.zeros(24, int), world.timestep.acting.reshape(-1).copy()
    shorter = 0
    for _ in range(80):
        _, _, dones, infos = env.step(np.asarray(player.act(world.timestep)).reshape(24, -1))
        steps, lengths = steps + 1, lengths + began
        for i in np.flatnonzero(dones):
            assert infos[i]["episode"]["l"] == lengths[i]
            shorter += lengths[i] < steps[i]
        steps[dones], lengths[dones], began[dones] = 0, 0, False
        began |= world.timestep.acting.reshape(-1)
    assert shorter > 10


def test_an_empty_slot_is_no_episode():
    """Where lives end early, the rows after an agent's death are done with its world but count as no episode."""
    lives, dones_seen = 0, 0
    for (_, _, dones, infos), said, _ in twin(leave=True):
        ended = (said.terminated | said.truncated).reshape(-1)
        for i in range(12):
            assert ("episode" in infos[i]) == bool(ended[i])
        lives += ended.sum()
        dones_seen += dones.sum()
    assert dones_seen > lives > 0


def test_masks_for_maskable_algorithms():
    env = SB3VecEnv(Line(2, masked=True))
    env.reset()
    assert env.has_attr("action_masks")
    for _ in range(60):
        env.step(np.tile([2, 1], (6, 1)))
        rows = np.stack(env.env_method("action_masks"))
        timestep = env.world.timestep
        assert rows.shape == (6, 5)
        acting = timestep.acting.reshape(-1)
        assert np.array_equal(rows[acting], timestep.action_mask["action"].reshape(6, 5)[acting])
        assert rows[~acting].all()
    first = np.stack(env.env_method("action_masks", indices=[0]))
    assert np.array_equal(first, rows[:1])


def test_without_masks_everything_is_legal():
    env = SB3VecEnv(Line(2))
    env.reset()
    assert env.action_masks().shape == (6, 5)
    assert env.action_masks().all()


@pytest.mark.filterwarnings("ignore:The environment is already wrapped")
def test_sb3s_own_wrappers_take_it():
    env = VecNormalize(VecMonitor(SB3VecEnv(Line(2))), norm_obs_keys=["self"])
    env.reset()
    for _ in range(50):
        observation, *_ = env.step(np.tile([2, 1], (6, 1)))
    assert np.isfinite(observation["self"]).all()
    assert SB3VecEnv(Line(1)).env_is_wrapped(Monitor) == [True] * 3


def test_what_sb3_cannot_train_is_refused():
    with pytest.raises(UserError, match="kinds hunter, prey"):
        SB3VecEnv(Hunt(1))
    world = Line(1)
    world.kinds = (world.kinds[0]._replace(action_space=spaces.Dict({"a": spaces.Discrete(2)})),)
    with pytest.raises(UserError, match="no Dict action space"):
        SB3VecEnv(world)


def test_attributes_are_the_worlds():
    env = SB3VecEnv(Line(2, masked=True))
    assert env.get_attr("masked") == [True] * 6
    assert env.get_attr("masked", 2) == [True]
    assert not env.has_attr("gravity")
    with pytest.raises(UserError, match="masked cannot be set"):
        env.set_attr("masked", False)


class Echo(ArrayWorld):
    """Two agents see a side each and earn 1 for naming it; 8 steps. Random play earns 4."""

    def __init__(self, num_worlds, seed=0):
        space = spaces.Dict({"side": spaces.Box(0, 1, (2,), np.float32)})
        super().__init__(num_worlds, ["a", "b"], [Kind("agent", (0, 1), space, spaces.Discrete(2))], seed)
        self.rng = np.random.default_rng(seed)
        self.clock = np.zeros(num_worlds, np.int64)
        self.side = np.zeros((num_worlds, 2), np.int64)

    def _reset(self, which, seeds):
        self.clock[which] = 0
        return self._read(np.zeros(self.side.shape, np.float32))

    def _step(self, action):
        self.clock += 1
        return self._read((action == self.side).astype(np.float32))

    def _read(self, reward=None):
        self.side[:] = self.rng.integers(0, 2, self.side.shape)
        over = self.clock >= 8
        ended = np.repeat(over[:, None], 2, axis=1)
        observation = {"side": np.eye(2, dtype=np.float32)[self.side]}
        return TimeStep(observation, reward, ~ended, np.zeros_like(ended), ended, over)


@pytest.fixture
def one_torch_thread():
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.usefixtures("one_torch_thread")
def test_ppo_learns():
    env = SB3VecEnv(Echo(16))
    policy = {"net_arch": [16]}
    model = PPO(
        "MultiInputPolicy",
        env,
        policy_kwargs=policy,
        n_steps=32,
        batch_size=256,
        n_epochs=5,
        learning_rate=2e-2,
        seed=0,
    )
    before, _ = evaluate_policy(model, env, n_eval_episodes=32, deterministic=False)
    model.learn(4 * 1024)
    after, _ = evaluate_policy(model, env, n_eval_episodes=32, deterministic=False)
    assert before < 5.5
    assert after > 7.0
    assert model.ep_info_buffer[-1]["l"] == 8
