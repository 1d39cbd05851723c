"""Copies through every adapter: deep copies and pickles of environments go on as the original does, and leave it alone."""

import copy
import pickle
import threading

import cloudpickle
import numpy as np
import pytest

import interplay
from interplay.connect import GymWrapper, make_dense, to_aec, to_parallel, world_to_simulation
from interplay.connect.pettingzoo import WorldEnv
from interplay.connect.smac import EPyMARLEnv, StarCraft2Env
from interplay.connect.werewolf import EvaluatedEnv, MaskedEnv, make_role_named, make_written
from interplay.sim.managers import AllStepManager, DynamicOrderManager, TurnBasedManager
from interplay.sim.wrappers import FlattenWrapper, RavelDiscreteWrapper
from interplay.worlds.corridor.simulation import MultiCorridor
from tests.checker.sound_worlds import Colony
from tests.connect.grids import battle, traffic
from tests.connect.toys import Hunt, Line

STEPS = 120
COPIERS = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),
    "cloudpickle": lambda env: pickle.loads(cloudpickle.dumps(env)),
}


def corridor(agents=3, manager=AllStepManager):
    return manager(MultiCorridor(end=8, num_agents=agents), time_limit=20)


def drawn(space, mask, rng):
    space.seed(int(rng.integers(2**31)))
    return space.sample(mask)


def play_parallel(env, seed, steps=STEPS):
    """What a parallel environment says, over as many episodes as fit."""
    rng, told, infos = np.random.default_rng(seed), [], None
    for _ in range(steps):
        if infos is None or not (env.agents or getattr(env, "over", True) is False):
            told.append(env.reset())
            infos = told[-1][1]
            continue
        asked = getattr(env, "queried", env.agents)
        actions = {}
        for name in asked:
            info = infos.get(name, {})
            if info.get("acting", True):
                mask = info.get("action_mask")
                mask = mask if not isinstance(mask, np.ndarray) or mask.ndim == 1 else None
                actions[name] = legal(env.action_space(name), mask, rng)
        told.append(env.step(actions))
        infos = told[-1][4]
    return told


def legal(space, mask, rng):
    if mask is None:
        return drawn(space, None, rng)
    try:
        return drawn(space, mask, rng)
    except AssertionError:  # one vector for several heads
        heads = np.split(mask, np.cumsum(space.nvec)[:-1])
        return np.array([rng.choice(np.flatnonzero(head)) for head in heads], space.dtype)


def play_aec(env, seed, steps=STEPS):
    rng, told = np.random.default_rng(seed), []
    env.reset()
    for _ in range(steps):
        if not env.agents:
            env.reset()
        seen, reward, terminated, truncated, info = env.last()
        told.append((env.agent_selection, seen, reward, terminated, truncated, info))
        over = terminated or truncated
        env.step(None if over else drawn(env.action_space(env.agent_selection), None, rng))
    return told


def play_gym(env, seed, steps=STEPS):
    rng, told = np.random.default_rng(seed), [env.reset()]
    for _ in range(steps):
        told.append(env.step(drawn(env.action_space, told[-1][-1].get("action_mask"), rng)))
        if told[-1][2] or told[-1][3]:
            told.append(env.reset())
    return told


def play_manager(manager, seed, steps=STEPS):
    rng, told, dones = np.random.default_rng(seed), [manager.reset()], {}
    seen = told[0]
    for _ in range(steps):
        sim = manager.sim
        actions = {
            name: drawn(manager.agents[name].action_space, sim.get_action_mask(name), rng)
            for name in seen
            if not dones.get(name)
        }
        told.append(manager.step(actions))
        seen, _, dones, _ = told[-1]
        if dones["__all__"]:
            told.append(manager.reset())
            seen, dones = told[-1], {}
    return told


def play_vec(env, seed, steps=STEPS):
    rng, told = np.random.default_rng(seed), [env.reset()]
    for _ in range(steps):
        legal = env.action_masks()
        actions = np.stack(
            [
                [
                    rng.choice(np.flatnonzero(part))
                    for part in np.split(row, np.cumsum(env.action_space.nvec)[:-1])
                ]
                for row in legal
            ]
        )
        seen, reward, done, infos = env.step(actions)
        for info in infos:
            info.get("episode", {}).pop("t", None)  # a clock's
        told.append((seen, reward, done, infos))
    return told


def sb3():
    pytest.importorskip("stable_baselines3", reason="the extra sb3 is not installed")
    from interplay.connect.sb3 import SB3VecEnv

    return SB3VecEnv(Line(2, masked=True))


def play_rllib(env, seed, steps=STEPS):
    rng, told, asked = np.random.default_rng(seed), [], {}
    over = True
    for _ in range(steps):
        if over:
            told.append(env.reset())
            asked, over = dict(told[-1][0]), False
            continue
        told.append(env.step({name: drawn(env.action_spaces[name], None, rng) for name in asked}))
        seen, _, terminated, truncated, _ = told[-1]
        over = terminated["__all__"] or truncated["__all__"]
        asked = {n: seen[n] for n in seen if not terminated.get(n) and not truncated.get(n)}
    return told


def rllib_manager():
    pytest.importorskip("ray.rllib", reason="the extra rllib is not installed")
    from interplay.connect import MultiAgentWrapper

    return MultiAgentWrapper(corridor())


def rllib_world():
    pytest.importorskip("ray.rllib", reason="the extra rllib is not installed")
    from interplay.connect import world_to_rllib

    return world_to_rllib("simulation/multi-corridor")


def openspiel():
    pytest.importorskip("open_spiel", reason="the extra openspiel is not installed")
    from interplay.connect import OpenSpielListWrapper

    return OpenSpielListWrapper(corridor())


def play_openspiel(env, seed, steps=STEPS):
    rng, told, step = np.random.default_rng(seed), [], None
    for _ in range(steps):
        if step is None or step.last():
            step = env.reset()
        else:
            legal = step.observations["legal_actions"]
            step = env.step([int(rng.choice(own)) for own in legal])
        told.append((step.observations, step.rewards, step.discounts, step.step_type))
    return told


def play_smac(env, seed, steps=STEPS):
    rng, told, over = np.random.default_rng(seed), [env.reset()], False
    for _ in range(steps):
        if over:
            told.append(env.reset())
        legal = np.array(env.get_avail_actions())
        told.append(env.step((rng.random(legal.shape) * legal).argmax(axis=1)))
        over = told[-1][1] if len(told[-1]) == 3 else told[-1][2] or told[-1][3]
    return told


ADAPTERS = {
    "world": (lambda: interplay.make("simulation/multi-corridor", seed=3), play_parallel),
    "deaths": (lambda: WorldEnv(Line(1, seed=3, masked=True), mask_in_observation=True), play_parallel),
    "kinds": (lambda: WorldEnv(Hunt(1, seed=3)), play_parallel),
    "lives": (lambda: WorldEnv(Colony(1, seed=3)), play_parallel),
    "dense": (lambda: make_dense("simulation/multi-corridor", seed=3), play_gym),
    "sb3": (sb3, play_vec),
    "manager": (corridor, play_manager),
    "manager of a grid": (lambda: AllStepManager(traffic(), time_limit=30), play_manager),
    "manager of a battle": (lambda: TurnBasedManager(battle(), time_limit=30), play_manager),
    "manager of wrappers": (
        lambda: AllStepManager(
            FlattenWrapper(RavelDiscreteWrapper(MultiCorridor(num_agents=2))), time_limit=9
        ),
        play_manager,
    ),
    "aec": (lambda: to_aec(corridor(manager=TurnBasedManager)), play_aec),
    "parallel": (lambda: to_parallel(corridor()), play_parallel),
    "parallel of a grid": (lambda: to_parallel(AllStepManager(battle(), time_limit=30)), play_parallel),
    "gymnasium": (lambda: GymWrapper(corridor(agents=1)), play_gym),
    "simulation of a world": (
        lambda: DynamicOrderManager(world_to_simulation("simulation/multi-corridor")),
        play_manager,
    ),
    "rllib": (rllib_manager, play_rllib),
    "rllib, a world": (rllib_world, play_rllib),
    "openspiel": (openspiel, play_openspiel),
    "SMAC": (lambda: StarCraft2Env("3i2z", seed=3, enemy="random"), play_smac),
    "SMAC, EPyMARL": (lambda: EPyMARLEnv("mab", seed=3, common_reward=False), play_smac),
    "werewolf, written": (lambda: EvaluatedEnv(MaskedEnv(make_written("werewolf/6"))), play_parallel),
    "werewolf, named": (lambda: make_role_named("werewolf/6"), play_parallel),
}


def same(a, b):
    if isinstance(a, dict):
        return isinstance(b, dict) and list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
    return type(a) is type(b) and (a == b or (a != a and b != b))


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_copies_go_on_as_the_original_does(adapter):
    make, play = ADAPTERS[adapter]
    env = make()
    play(env, seed=0, steps=37)
    copies = [copier(env) for copier in COPIERS.values()]
    seen = [play(twin, seed=1) for twin in copies]
    expected = play(env, seed=1)  # after the copies, which must have left it alone
    assert len(expected) >= STEPS // 2
    for name, told in zip(COPIERS, seen, strict=True):
        at = next((t for t, pair in enumerate(zip(told, expected, strict=True)) if not same(*pair)), None)
        assert at is None, (name, at, told[at], expected[at])


def test_a_copy_of_an_environment_with_a_window_has_none():
    env = WorldEnv(Line(1), render_mode="rgb_array")
    env._window = threading.Lock()  # what cannot be copied
    assert copy.deepcopy(env)._window is None
    assert env._window is not None


def test_a_shallow_copy_of_an_environment_is_a_whole_one():
    env = WorldEnv(Line(1))
    env.reset(seed=1)
    assert copy.copy(env).world is not env.world


def test_rewards_of_a_copy_are_no_zeros():
    """SuperSuit's way: deep copies and cloudpickles of environments; their rewards stood still at 0."""
    env = WorldEnv(Line(1, seed=5))
    twin = COPIERS["cloudpickle"](copy.deepcopy(env))
    told = [[step[1] for step in play_parallel(one, seed=2) if len(step) == 5] for one in (env, twin)]
    assert told[0] == told[1]
    assert any(any(rewards.values()) for rewards in told[1])
