"""Every maker of environments passes on its arguments: seed, world options, switches."""

from __future__ import annotations

import numpy as np
import pytest

import interplay
from interplay.connect import make_dense, world_to_simulation
from interplay.connect.gymnasium import world_to_gym
from interplay.connect.smac import StarCraft2Env
from interplay.connect.tuples import make_tuples
from interplay.connect.werewolf import make_role_named, make_written
from interplay.core.policy import RandomPolicy

LINE, WOLVES, COMMON = "simulation/multi-corridor", "werewolf/9-l1s9", "mmo/forage"
BATTLE = "battle/2s3z"
SMALL = {"interior": 20, "slots": 6, "npop": 2, "max_ticks": 40}


def world_of(env):
    while not hasattr(env, "world"):
        env = env.env
    return env.world


# Maker -> world, an option of it with a value that is not its default.
MAKERS = {
    "make": (interplay.make, LINE, {"end": 17}),
    "make, kept": (lambda *a, **k: interplay.make(*a, keep_dead=True, **k), LINE, {"end": 17}),
    "make, lives": (interplay.make, COMMON, {**SMALL, "food": 9}),
    "make, numbered": (lambda *a, **k: interplay.make(*a, lives=9, **k), COMMON, {**SMALL, "food": 9}),
    "make, slots": (lambda *a, **k: interplay.make(*a, agents="slots", **k), COMMON, {**SMALL, "food": 9}),
    "gym": (world_to_gym, LINE, {"end": 17}),
    "dense": (make_dense, LINE, {"end": 17}),
    "tuples": (make_tuples, LINE, {"end": 17}),
    "simulation": (world_to_simulation, LINE, {"end": 17}),
    "SMAC": (StarCraft2Env, BATTLE, {"randomize": "positions"}),
    "written": (make_written, WOLVES, {"signal_length": 2}),
    "named": (make_role_named, WOLVES, {"signal_length": 2}),
}


@pytest.mark.parametrize("maker", MAKERS)
def test_seed_and_options_are_the_worlds(maker):
    """The world that an environment drives begins as one does that was made by hand."""
    make, world_id, options = MAKERS[maker]
    set_by_maker = {"board": "last_visible", "reward_terms": True} if maker == "written" else {}
    first = set()
    for seed, asked in ((0, options), (5, options), (5, {})):
        world = world_of(make(world_id, seed=seed, **(asked or basic(options))))
        known = interplay.make_world(world_id, seed=seed, **set_by_maker, **(asked or basic(options)))
        world.reset()
        known.reset()
        assert world.num_worlds == 1
        assert world.hash().tolist() == known.hash().tolist()
        first.add(world.hash().item())
    assert len(first) == 3


def basic(options):
    """Without the option that is asked for."""
    return {key: value for key, value in options.items() if key in SMALL}


class Told(RandomPolicy):
    """Records its arguments."""

    def __init__(self):
        self.heard = []

    def start(self, world, seed=0):
        super().start(world, seed)
        self.heard.append((world, seed))


def test_a_gymnasium_environment_is_all_that_was_asked_for():
    others = Told()
    env = world_to_gym(LINE, agent="agent3", others=others, seed=7, render_mode="rgb_array", flat="discrete")
    assert (env.agent, env.render_mode, env.action_space.n) == ("agent3", "rgb_array", 3)
    env.reset()
    assert others.heard == [(env.world, 7)]
    plain = world_to_gym(LINE, seed=7)
    assert (plain.agent, plain.render_mode) == ("agent0", None)
    assert plain.observation_space == env.world.kinds[0].observation_space


def test_the_makers_seed_names_what_the_others_do():
    """The same episode of the world, other draws of the other players: each seed is its own stream."""

    def play(seed):
        env = world_to_gym(LINE, seed=seed)
        env.reset()
        timestep = env.world.timestep
        return [env._others.act(timestep).tolist() for _ in range(4)]

    assert play(4) == play(4)
    assert len({str(play(seed)) for seed in range(6)}) > 3


def test_tuples_end_with_the_mean_over_agents_of_every_metric():
    """An agent that leaves early has the metrics of its own end."""
    env, by_name = make_tuples(LINE, seed=1), interplay.make(LINE, seed=1, flat="discrete", keep_dead=True)
    env.reset()
    by_name.reset()
    rng, told = np.random.default_rng(0), {}
    while not told:
        chosen = [int(rng.integers(3)) for _ in env.action_space]
        *_, ended, cut, told = env.step(chosen)
        infos = by_name.step(dict(zip(by_name.possible_agents, chosen, strict=True)))[4]
        assert bool(told) == bool(ended or cut) == (not by_name.agents)
    for name in world_of(env).metrics:
        own = [info[f"metrics/{name}"] for info in infos.values()]
        assert told[f"metrics/{name}"] == pytest.approx(np.mean(own))
    assert len({str(info["metrics/episode_length"]) for info in infos.values()}) > 1
    assert len(told) == len(world_of(env).metrics)
