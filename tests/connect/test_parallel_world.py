"""Other people's PettingZoo environments as worlds, in this process and in several."""

from __future__ import annotations

import functools
import multiprocessing
import os
import random
import signal
import warnings
from collections import Counter
from itertools import product

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import interplay
from interplay.connect import gym_to_simulation
from interplay.connect.parallel_world import ParallelEnvWorld
from interplay.connect.resolved import resolve_world
from interplay.core import seeding
from interplay.core.errors import UserError
from interplay.core.policy import RandomPolicy
from interplay.evaluate import play
from interplay.sim.adapt import SimulationWorld
from interplay.sim.batch.world import environment_seeds
from interplay.sim.managers import AllStepManager
from interplay.worlds.corridor.simulation import MultiCorridor
from tests.connect.foreign_envs import Leaving, Market, Touring, one_market
from tests.connect.toys import Hunt, Line

HERE = "tests.connect.foreign_envs:"


def stepped(world, steps, seed=0, policy=None):
    """What random play gave: a list of copied time steps; worlds that are over restart."""
    policy = policy or RandomPolicy()
    policy.start(world, seed)
    timestep = world.reset(seeds=seed)
    story = [_copy(timestep)]
    for _ in range(steps):
        timestep = world.step(policy.act(timestep))
        story.append(_copy(timestep))
        if timestep.over.any():
            timestep = world.reset(timestep.over.copy())
            story.append(_copy(timestep))
    return story


def _copy(part):
    if isinstance(part, dict):
        return {key: _copy(value) for key, value in part.items()}
    if isinstance(part, tuple):
        return type(part)(*[_copy(value) for value in part])
    return None if part is None else part.copy()


def equal(a, b):
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(map(equal, a, b))
    return a is b or (a.dtype == b.dtype and np.array_equal(a, b))


def test_agents_with_the_same_spaces_are_a_kind_and_nested_spaces_are_flat():
    world = ParallelEnvWorld(Market, 2)
    assert [(kind.name, kind.slots) for kind in world.kinds] == [("seller", (0, 2, 3)), ("buyer", (1,))]
    buyer = world.kinds[1].observation_space
    assert {name: space.shape for name, space in buyer.items()} == {
        "mood": (2,),
        "offers.0": (3,),
        "offers.1": (),
    }
    timestep = world.reset()
    assert timestep.observation["buyer"]["offers.1"].dtype == np.int64
    assert timestep.observation["seller"]["price"].shape == (2, 3)
    assert timestep.observation["seller"]["price"].dtype == np.float64


def test_what_is_no_dict_is_called_observation():
    world = interplay.make_world("pettingzoo.classic.rps_v2:parallel_env", num_worlds=3)
    assert world.observation_space == spaces.Dict({"observation": spaces.Discrete(4)})
    assert world.agents == ("player_0", "player_1")


def test_observations_stay_in_their_spaces():
    for timestep in stepped(ParallelEnvWorld(Market, 3), 60):
        world = ParallelEnvWorld(Market, 1)
        for kind in world.kinds:
            fields = timestep.observation[kind.name]
            for name, space in kind.observation_space.items():
                for row in fields[name].reshape(-1, *space.shape):
                    assert space.contains(np.asarray(row) if isinstance(space, spaces.Box) else row)


@pytest.mark.parametrize("silent", [False, True])
def test_who_leaves_early_is_terminated_and_who_joins_acts(silent):
    lives = Counter()
    for timestep in stepped(ParallelEnvWorld(Market, 4, kwargs={"silent": silent}), 50):
        both = timestep.terminated & timestep.truncated
        assert not both.any()
        ended = timestep.terminated | timestep.truncated
        assert not (ended & timestep.acting).any()
        for slot in range(4):
            lives[slot, "terminated"] += int(timestep.terminated[:, slot].sum())
            lives[slot, "truncated"] += int(timestep.truncated[:, slot].sum())
    episodes = lives[0, "truncated"]
    assert episodes == 16
    assert lives[2, "terminated"] >= episodes, "seller_1 leaves in each episode, by the rules"
    assert lives[2, "truncated"] == 0
    assert lives[3, "truncated"] == episodes, "the latecomer stays to the end"


@pytest.mark.parametrize(("terminated", "truncated", "listed"), product([False, True], repeat=3))
def test_an_end_is_of_one_sort_however_it_is_said(terminated, truncated, listed):
    """Said as one, as the other, as both, or by leaving the list without a word: a slot ends once, and acts no more."""
    said = {"terminated": terminated, "truncated": truncated, "listed": listed}
    world = ParallelEnvWorld(Leaving, 2, kwargs=said)
    world.reset()
    step = world.step(np.zeros((2, 2), int))
    by_rules = terminated or not (listed or truncated)
    assert step.terminated.tolist() == [[by_rules, False]] * 2
    assert step.truncated.tolist() == [[truncated and not by_rules, False]] * 2
    assert step.acting.tolist() == [[listed and not terminated and not truncated, True]] * 2
    assert not step.over.any()
    assert step.reward.tolist() == [[1.0, 1.0]] * 2


@pytest.mark.parametrize("processes", [0, 2])
def test_everybody_is_closed(processes, tmp_path):
    """Windows, connections, programs: whatever was made is let go of, the one that was made to look at its spaces too."""
    log = tmp_path / "closed"
    world = ParallelEnvWorld(HERE + "Leaving", 3, processes=processes, kwargs={"log": str(log)})
    world.reset()
    world.close()
    assert log.read_text().splitlines() == ["closed"] * (3 + (processes > 0))


def test_the_latecomer_acts_from_its_first_day():
    world = ParallelEnvWorld(Market, 1)
    acting = [timestep.acting[0, 3] for timestep in stepped(world, 11)]
    assert acting == [False] * 3 + [True] * 9


def test_agents_changed_at_a_reset_are_looked_at():
    """Each episode has its own cast, and some environments show absent agents, too."""
    for show_all in (False, True):
        world = ParallelEnvWorld(Touring, 2, kwargs={"show_all": show_all})
        casts = set()
        for episode in range(7):
            timestep = world.reset() if episode else world.reset(seeds=1)
            envs = [world._pool.environment(w) for w in range(2)]
            present = [[name in env.agents for name in world.agents] for env in envs]
            casts |= {tuple(env.agents) for env in envs}
            assert timestep.acting.tolist() == present
            assert not timestep.over.any()
            for step in (1, 2):
                assert not timestep.terminated.any()
                timestep = world.step(np.zeros((2, 3), int))
                assert timestep.reward.tolist() == [[float(here) for here in row] for row in present]
                assert timestep.truncated.tolist() == [
                    [here and step == 2 for here in row] for row in present
                ]
            assert timestep.over.all()
        assert casts == {("ann", "bob"), ("cat",), ("bob", "cat")}
        # A cast of nobody: the episode is over before it begins.
        empty = ParallelEnvWorld(Touring, 1, kwargs={"casts": [[]], "show_all": show_all})
        assert empty.reset(seeds=1).over.all()


def test_a_world_that_is_over_stands_still_until_its_reset():
    world = ParallelEnvWorld(Market, 2)
    policy = RandomPolicy()
    policy.start(world)
    timestep = world.reset()
    for _ in range(12):
        timestep = world.step(policy.act(timestep))
    assert timestep.over.all()
    last = _copy(timestep.observation)
    returns = world.metrics["episode_return"].copy()
    timestep = world.step(policy.act(timestep))
    assert timestep.over.all()
    assert not timestep.reward.any()
    assert not timestep.truncated.any()
    assert not timestep.acting.any()
    assert equal(last, _copy(timestep.observation))
    assert np.array_equal(returns, world.metrics["episode_return"])
    timestep = world.reset([1])
    assert timestep.over.tolist() == [True, False]


@pytest.mark.parametrize("where", ["info", "observation"])
def test_masks_come_from_info_or_observation(where):
    world = ParallelEnvWorld(Market, 3, kwargs={"mask": where})
    assert "action_mask" not in world.kinds[0].observation_space.spaces
    illegal = 0
    for timestep in stepped(world, 40):
        seller = timestep.action_mask["seller"]["action"]
        acting = timestep.acting[:, [0, 2, 3]]
        price = timestep.observation["seller"]["price"]
        assert np.array_equal(seller[acting][:, 0], price[acting] > 2)
        assert np.array_equal(seller[acting][:, 2], price[acting] < 8)
        assert timestep.action_mask["buyer"] == {}
        illegal += int((~seller).sum())
    assert illegal > 10


def test_each_world_and_episode_has_a_seed_of_its_own_whatever_the_batch():
    seeds = np.array([11, 12, 13], np.uint64)
    batch, single = ParallelEnvWorld(Market, 3), ParallelEnvWorld(Market, 1)
    together = batch.reset(seeds=seeds).observation["seller"]["price"][2].copy()
    assert np.array_equal(together, single.reset(seeds=seeds[2:]).observation["seller"]["price"][0])
    assert not np.array_equal(together, batch.reset().observation["seller"]["price"][2]), "the next episode"
    part = ParallelEnvWorld(Market, 2, first_world=1).reset().observation["buyer"]["offers.0"]
    assert np.array_equal(ParallelEnvWorld(Market, 3).reset().observation["buyer"]["offers.0"][1:], part)


@pytest.mark.parametrize("name", ["line", "hunt"])
def test_our_own_worlds_come_back_unchanged(name):
    """World -> PettingZoo -> World: the same trajectories, dead agents, masks and ends."""
    options = {"masked": True} if name == "line" else {}
    world = ParallelEnvWorld(HERE + name, 3, kwargs=options)
    direct = [Line(1, **options) if name == "line" else Hunt(1) for _ in range(3)]
    policy = RandomPolicy()
    policy.start(world, 1)
    seen = world.reset(seeds=7)
    stream = np.zeros((3, 3), np.uint64)
    stream[:, 0] = seeding.world_seeds(7, 3)
    said = [one.reset(seeds=int(s)) for one, s in zip(direct, environment_seeds(stream), strict=True)]
    for _ in range(45):
        for w in range(3):
            assert equal(_row(seen[:6], w), _row(said[w][:6], 0))
            if options:  # nobody reads the masks of those who are not acting
                acting = seen.acting[w]
                assert np.array_equal(
                    seen.action_mask["action"][w][acting], said[w].action_mask["action"][0][acting]
                )
        action = policy.act(seen)
        seen = world.step(action)
        said = [one.step(_row(action, slice(w, w + 1))) for w, one in enumerate(direct)]
    assert seen.over.all()


def _row(part, w):
    if isinstance(part, dict):
        return {key: _row(value, w) for key, value in part.items()}
    if isinstance(part, tuple):
        return tuple(_row(value, w) for value in part)
    return None if part is None else np.array(part[w])


def test_processes_give_the_same_bits_as_one():
    options = {"mask": "info"}
    expected = stepped(ParallelEnvWorld(HERE + "Market", 5, kwargs=options), 40, seed=3)
    world = ParallelEnvWorld(HERE + "Market", 5, processes=2, kwargs=options)
    assert equal(stepped(world, 40, seed=3), expected)
    world.close()
    assert not multiprocessing.active_children()
    with pytest.raises(RuntimeError, match="have ended"):
        world.step(RandomPolicy.act(_started(world), world.timestep))


def _started(world):
    policy = RandomPolicy()
    policy.start(world)
    return policy


def second_seed():
    world = ParallelEnvWorld(Market, 3)
    world.reset()
    return int(world._buffers["seed"][1])


def test_a_killed_process_is_noticed():
    world = ParallelEnvWorld(HERE + "Market", 2, processes=2)
    timestep = world.reset()
    policy = _started(world)
    world.step(policy.act(timestep))
    victim = world._pool._processes[1].pid
    os.kill(victim, signal.SIGKILL)
    os.waitid(os.P_PID, victim, os.WEXITED | os.WNOWAIT)
    with pytest.raises(UserError, match=r"world 1: its process died \(exit code -9\)"):
        world.step(policy.act(world.timestep))


def test_a_process_that_ends_is_named_by_its_world():
    world = ParallelEnvWorld(
        HERE + "Market", 3, processes=2, kwargs={"fail": "exit", "fail_seed": second_seed()}
    )
    with pytest.raises(UserError, match=r"world 1: its process died \(exit code 7\)"):
        stepped(world, 12)
    assert not multiprocessing.active_children(), "nobody is left behind"


def test_a_failure_in_this_process_keeps_its_cause():
    with pytest.raises(UserError, match=r"world 0, step 5: observation price of seller_0") as caught:
        stepped(ParallelEnvWorld(Market, 2, kwargs={"fail": "shape"}), 12)
    assert caught.value.__cause__ is not None


def test_it_cannot_be_saved_and_says_so():
    world = ParallelEnvWorld(Market)
    world.reset()
    with pytest.raises(UserError, match="cannot be saved"):
        world.save()
    with pytest.raises(UserError, match="cannot be restored"):
        world.load({})


@pytest.mark.parametrize(
    "path", ["pettingzoo.classic.rps_v2", "pettingzoo.butterfly.knights_archers_zombies_v11"]
)
def test_pettingzoos_own_environments(path):
    pytest.importorskip("pygame", reason="PettingZoo draws these with pygame")
    world = interplay.make_world(f"{path}:parallel_env", num_worlds=2)
    table = play(world, RandomPolicy(), episodes=2, max_steps=30)
    assert np.array_equal(table["steps"], table["episode_length"])
    again = play(
        interplay.make_world(f"{path}:parallel_env", num_worlds=1), RandomPolicy(), episodes=1, max_steps=30
    )
    assert again["steps"][0] > 0


def test_options_reach_the_factory():
    world = interplay.make_world(HERE + "Market", num_worlds=2, silent=True, processes=0)
    assert world.id == HERE + "Market"
    assert world._pool.environment(0).silent


@pytest.mark.parametrize(
    "make",
    [
        lambda: ParallelEnvWorld(one_market, 2),
        lambda: ParallelEnvWorld(HERE + "one_market", 2, processes=1),
        lambda: resolve_world(functools.cache(lambda: gymnasium.make("CartPole-v1"))).make(num_worlds=2),
        lambda: SimulationWorld(functools.cache(lambda: AllStepManager(MultiCorridor())), 2),
    ],
    ids=["function", "workers", "gymnasium", "manager"],
)
def test_one_object_for_several_worlds_is_refused(make):
    with pytest.raises(UserError, match="same environment"):
        make()


def test_one_object_in_each_process_is_one_for_each_world():
    world = ParallelEnvWorld(HERE + "one_market", 2, processes=2)
    assert stepped(world, 4)
    world.close()


class Luck(gymnasium.Env):
    """Pays what generators of its own draw; `seeded` ones are made anew by `reset`."""

    observation_space, action_space = spaces.Discrete(2), spaces.Discrete(2)

    def __init__(self, kind=np.random.default_rng, seeded=False):
        self.kind, self.seeded = kind, seeded
        self.luck = kind()

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        if self.seeded:
            self.luck = self.kind(seed)
        return 0, {}

    def step(self, action):
        return 0, self.luck.random(), False, True, {}


KINDS = [np.random.default_rng, np.random.RandomState, random.Random]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "wrap",
    [
        lambda env: env,
        lambda env: gymnasium.wrappers.TimeLimit(env, 5),
        lambda env: AllStepManager(gym_to_simulation(env)),
    ],
    ids=["plain", "wrapped", "managed"],
)
def test_copies_that_draw_the_same_are_warned_of_once(kind, wrap):
    world = resolve_world(wrap(Luck(kind))).make(num_worlds=3)
    with pytest.warns(UserWarning, match="luck"):
        world.reset()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        world.reset()
    world.step(np.zeros((3, 1), int))
    assert np.ptp(world.timestep.reward) == 0


@pytest.mark.parametrize("kind", KINDS)
def test_worlds_that_differ_are_not_warned_of(kind):
    def reset(thing, num_worlds=2, seeds=None):
        resolve_world(thing).make(num_worlds=num_worlds).reset(seeds=seeds)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        reset(Luck(kind, seeded=True))
        reset(lambda: Luck(kind))
        reset(Luck(kind), num_worlds=1)
        reset(Market())


def test_copies_of_a_simulation_that_draw_the_same_are_warned_of():
    class Drawn(MultiCorridor):
        luck = None

    sim = Drawn()
    sim.luck = np.random.default_rng()
    with pytest.warns(UserWarning, match="luck"):
        resolve_world(AllStepManager(sim)).make(num_worlds=2).reset()
