"""Refusals of adapters."""

from __future__ import annotations

from functools import partial

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import interplay
from interplay.connect import make_dense
from interplay.connect.flat import FlatActions
from interplay.connect.gymnasium import GymWrapper, WorldGymEnv, gym_to_simulation, world_to_gym
from interplay.connect.parallel_world import ParallelEnvWorld
from interplay.connect.pettingzoo import WorldEnv
from interplay.connect.smac import EPyMARLEnv, MAPPOEnv, StarCraft2Env
from interplay.core.spaces import check_action
from interplay.registry import make_world
from interplay.sim.managers import AllStepManager
from tests.checker.sound_worlds import Drift
from tests.connect.foreign_envs import Market
from tests.connect.relay import Relay
from tests.connect.test_own_state import PLACE, Counter, Unwritten, stepped
from tests.connect.test_smac_keywords import arguments
from tests.connect.toys import Line
from tests.refusals import case, refuses
from tests.sim.toys import Countdown

LINE, COLONY, CORRIDOR = (
    "tests.connect.toys:Line",
    "tests.checker.sound_worlds:Colony",
    "simulation/multi-corridor",
)
MARKET = "tests.connect.foreign_envs:"
A = partial(case, error=AssertionError)


def unbounded():
    space = spaces.Box(0, 5, (2,), np.int64)
    space.bounded_above = np.zeros(2, bool)
    return space


def made(world=LINE, **options):
    interplay.make(world, **options)


def battle(map_name="3m", **options):
    StarCraft2Env(**{"map_name": map_name, **options})


def parallel(factory, **options):
    ParallelEnvWorld(MARKET + factory, **options)


def state(make):
    stepped(make, 0).global_state()


def numbers(low=-np.inf, high=np.inf, shape=(1,), dtype=np.float32):
    return spaces.Box(low, high, shape, dtype)


REFUSED = [
    case("action pull", WorldEnv, Drift(1), flat=True),
    case("no bounds", FlatActions, "me", unbounded()),
    case("1,048,576 choices", FlatActions, "me", spaces.MultiDiscrete([2] * 20), single=True),
    case("w: actions make no array", check_action, "w", spaces.Discrete(3), [[1], [1, 2]], 2, 2),
    case("agents = 'slot'", made, agents="slot"),
    case("lives = 9", made, lives=9),
    case("lives = 9", made, COLONY, lives=9, agents="slots"),
    case("lives=N", made, COLONY, keep_dead=True),
    case("slots", made, COLONY, agents="slots", remove_dead=True),
    case("remove_dead", made, keep_dead=True, remove_dead=True),
    *(case(f"remove_dead = {v!r}", made, remove_dead=v) for v in ("no", 1, 0.0, None)),
    case("keep_dead = 'no'", made, keep_dead="no"),
    case("mask_in_observation = 1", made, mask_in_observation=1),
    *(case(f"lives = {v}", made, COLONY, lives=v) for v in (0, -1, 2.5, True, 10**9)),
    *(case("seed = ", made, seed=v) for v in ("x", 1.5, None)),
    case("lives = 1", lambda: interplay.make(COLONY, lives=1).reset(seed=1)),
    case("on_death = 'stay'", WorldEnv, Line(1), on_death="stay"),
    case("on_death", WorldEnv, Line(1), on_death="rename"),
    case("lives = 5", WorldEnv, Relay(1, story=("oo*oo", "-oo*o"), kinds=2), lives=5),
    case("num_worlds = 2", WorldEnv, Line(2)),
    case("render_mode = 'ansi'", WorldEnv, Line(1), render_mode="ansi"),
    case("flat = 'discreet'", WorldEnv, Line(1), flat="discreet"),
    case("no render_mode", WorldEnv(Line(1)).render),
    case("possible_agents", make_world, "tests.connect.test_lives:small"),
    case("use make_world", made, "mmo/forage", num_worlds=2),
    case("agent0, agent1", world_to_gym, CORRIDOR, agent="agent9"),
    case("'random'", world_to_gym, CORRIDOR, others="randm"),
    case("others = 3", world_to_gym, CORRIDOR, others=3),
    case("render_mode = 'ansi'", world_to_gym, CORRIDOR, render_mode="ansi"),
    case("no_such_option", world_to_gym, CORRIDOR, no_such_option=1),
    case("flat = 'box'", world_to_gym, CORRIDOR, flat="box"),
    case("num_worlds = 2", WorldGymEnv, Line(2)),
    A(r"2 agents learn \(a, b\)", GymWrapper, AllStepManager(Countdown({"a": 1, "b": 1}))),
    A("0 agents learn", GymWrapper, AllStepManager(Countdown({}, passive=("wall",)))),
    A("no SimulationManager", GymWrapper, Countdown({"a": 1})),
    A("a batch by itself", GymWrapper, Line(2)),
    A("null_action 5", lambda: gym_to_simulation(gymnasium.make("CartPole-v1"), null_action=5)),
    A(r"no gymnasium\.Env", gym_to_simulation, 3),
    case("no single array", make_dense, "tests.connect.toys:Hunt"),
    case("'CartPole-v1'", make_world, "gymnasium:CartPol-v1"),
    case("module:function", ParallelEnvWorld, Market, processes=2),
    *(case("'Market'", parallel, "Markt", processes=n) for n in (0, 1)),
    *(case("possible_agents", parallel, "nothing", processes=n) for n in (0, 1)),
    *(case("Text", parallel, "Graphs", processes=n) for n in (0, 1)),
    *(case("RuntimeError: no licence", parallel, "broken", processes=n) for n in (0, 1)),
    case("'silent'", make_world, MARKET + "Market", slient=True),
    case("state", state, Unwritten),
    case("state", state, lambda: Counter(PLACE, lambda t: np.zeros(4))),
    case("state", state, lambda: Counter(numbers(), lambda t: np.array([np.nan]))),
    case("state", state, lambda: Counter(numbers(dtype=np.float64), lambda t: np.array([1e300]))),
    case("state", state, lambda: Counter(spaces.Sequence(spaces.Discrete(2)), lambda t: (0, 1))),
    case("'2s3z'", battle, "2s3x"),
    case("map_name = 3", battle, 3),
    case("'battle/9m'", battle, "battle/9m"),
    case("pong/2p", battle, "pong/2p"),
    case("seed = 'one'", battle, seed="one"),
    case("obs_last_actions", battle, obs_last_actions=True),
    case("reward_sparse", battle, reward="losses"),
    case("reward_only_pos", battle, negatives=True),
    case("reward_defeat", battle, defeat=3.0),
    case("obs_last_action and see_last_action", battle, obs_last_action=True, see_last_action=True),
    case("obs_last_action = 'no'", battle, obs_last_action="no"),
    case("conic_fov and look_directions", battle, conic_fov=True, look_directions=6),
    case("prob_obs_enemy = 1.5", battle, prob_obs_enemy=1.5),
    case("num_fov_actions = 1", battle, conic_fov=True, num_fov_actions=1),
    case("10m", battle, ""),
    case("reward_defeat = 5", battle, reward_defeat=5),
    case("reward_defeat = -20000", battle, reward_defeat=-20_000),
    case("see_field = True", battle, see_field=True),
    case("reward_scale_rate = 0", battle, reward_scale_rate=0),
    case("continuing_episode", battle, continuing_episode="yes"),
    case("num_worlds = 8", battle, num_worlds=8),
    case("red = '3 mariner'", battle, red="3 mariner"),
    case("'hit_and_run'", battle, enemy="hit_and_ran"),
    case("enemy = 7", battle, enemy=7),
    case("reward_scalarisation = 'max'", EPyMARLEnv, "3m", reward_scalarisation="max"),
    case("common_reward = 'no'", EPyMARLEnv, "3m", common_reward="no"),
    case("add_center_xy = False", lambda: MAPPOEnv(arguments(add_center_xy=False))),
    case("add_local_obs = True", lambda: MAPPOEnv(arguments(add_local_obs=True))),
    case("add_agent_id = True", lambda: MAPPOEnv(arguments(add_agent_id=True))),
    case("use_state_agent = True", lambda: MAPPOEnv(arguments(use_state_agent=True))),
    case("use_stacked_frames = True", lambda: MAPPOEnv(arguments(use_stacked_frames=True))),
]


@pytest.mark.parametrize(("call", "key", "error"), REFUSED)
def test_a_refusal_is_one_line_that_names_its_key(call, key, error):
    refuses(call, key, error)
