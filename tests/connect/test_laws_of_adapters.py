"""What holds at every adapter: what was handed out stays as it was, and a reset knows nothing of the episode before."""

from __future__ import annotations

import copy
from typing import Any

import gymnasium
import numpy as np
import pytest

from interplay.connect import GymWrapper, gym_to_simulation, to_aec, to_parallel
from interplay.connect.gymnasium import WorldGymEnv
from interplay.connect.pettingzoo import WorldEnv
from interplay.connect.smac import StarCraft2Env
from interplay.connect.tuples import make_tuples
from interplay.connect.turns import as_parallel
from interplay.connect.werewolf import EvaluatedEnv, MaskedEnv, make_role_named, make_written
from interplay.connect.world_simulation import WorldSimulation
from interplay.sim.managers import AllStepManager, DynamicOrderManager
from interplay.sim.wrappers import FlattenWrapper, SuperAgentWrapper
from tests.checker.sound_worlds import Camp, Colony
from tests.connect import test_copies
from tests.connect.relay import Relay
from tests.connect.test_copies import play_gym, play_parallel, same
from tests.connect.toy_simulations import Strict, mask
from tests.connect.toys import Line


class Wages(Relay):
    """Pays 1 in every step, to empty slots too."""

    def _tell(self, going):
        step = super()._tell(going)
        self.state.reward[going] = 1.0
        return step


def play_tuples(env, seed, steps=test_copies.STEPS):
    rng, told = np.random.default_rng(seed), [env.reset()]
    for _ in range(steps):
        told.append(env.step([int(rng.integers(space.n)) for space in env.action_space]))
        if told[-1][2] or told[-1][3]:
            told.append(env.reset())
    return told


ADAPTERS = test_copies.ADAPTERS | {
    "kept": (lambda: WorldEnv(Line(1, seed=3, masked=True, leave=True), on_death="keep"), play_parallel),
    "slots": (lambda: WorldEnv(Colony(1, seed=3), mask_in_observation=True, slots=True), play_parallel),
    "numbered lives": (lambda: WorldEnv(Colony(1, seed=3), lives=9), play_parallel),
    "flat": (lambda: WorldEnv(Camp(1, seed=3), flat=True), play_parallel),
    "one agent": (lambda: WorldGymEnv(Camp(1, seed=3), "camper_2", seed=3), play_gym),
    "one agent, waiting": (lambda: WorldGymEnv(Wages(1, story=("--ooox", "oooooo")), seed=3), play_gym),
    "tuples": (lambda: make_tuples("simulation/multi-corridor", seed=3), play_tuples),
}
SEED, SOME = 11, 40


def watched(env: Any, verbs: tuple[str, ...]) -> list[tuple[Any, Any]]:
    """From now on what these verbs return is noted beside a copy of it."""
    noted = []

    def noting(verb):
        def call(*args, **kwargs):
            told = verb(*args, **kwargs)
            if isinstance(told, tuple) and isinstance(told[-1], list):  # SB3: a clock's time
                for info in told[-1]:
                    info.get("episode", {}).pop("t", None)
            noted.append((told, copy.deepcopy(told)))
            return told

        return call

    for name in verbs:
        setattr(env, name, noting(getattr(env, name)))
    return noted


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_what_was_handed_out_stays_as_it_was(adapter):
    make, play = ADAPTERS[adapter]
    env = make()
    noted = watched(env, ("last",) if adapter == "aec" else ("reset", "step"))
    play(env, SEED, SOME)
    assert len(noted) > SOME // 2
    for at, (told, then) in enumerate(noted):
        assert same(_plain(told), _plain(then)), (adapter, at)


def _plain(told: Any) -> Any:
    """OpenSpiel's time steps are tuples of their own."""
    return tuple(told) if isinstance(told, tuple) else told


def episode(env: Any, play: Any, seed: int) -> Any:
    """What the next episodes say, the first of which is named by the seed."""
    reset, named = env.reset, []
    if hasattr(env, "env_is_wrapped") or type(env) is StarCraft2Env:  # both name their seeds beforehand
        env.seed(seed)
        return play(env, SEED, SOME)

    def once(*args, **kwargs):
        first, named[:] = not named, [True]
        return reset(seed=seed) if first else reset(*args, **kwargs)

    env.reset = once
    try:
        return play(env, SEED, SOME)
    finally:
        del env.reset


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_an_episode_that_was_left_leaves_nothing_behind(adapter):
    """Left before its first step, in the middle, or some episodes later: a seed names what follows."""
    make, play = ADAPTERS[adapter]
    expected = episode(make(), play, seed=5)
    for steps in (0, 1, 3, 29):
        used = make()
        play(used, 2, steps)
        told = episode(used, play, seed=5)
        at = next((t for t, pair in enumerate(zip(told, expected, strict=True)) if not same(*pair)), None)
        assert at is None, (adapter, steps, at, told[at], expected[at])


def short(**options):
    """A game that is mostly cut, with its world's own flags beside what the adapter says."""
    return make_written("werewolf/6", max_days=1, **options)


CUT = {
    "written": short,
    "masked": lambda: MaskedEnv(short()),
    "evaluated": lambda: EvaluatedEnv(MaskedEnv(short())),
    "named": lambda: make_role_named("werewolf/6", max_days=1),
    "line": lambda: WorldEnv(Line(1, seed=3, masked=True)),
    "line, lives end": lambda: WorldEnv(Line(1, seed=3, leave=True)),
    "line, removed": lambda: WorldEnv(Line(1, seed=3), on_death="remove"),
    "kept": lambda: WorldEnv(Line(1, seed=3, leave=True), on_death="keep"),
    "numbered lives": lambda: WorldEnv(Colony(1, seed=3), lives=9),
    "aec of a world": lambda: as_parallel(to_aec(of_world(Line(1, seed=3)))),
    "aec of a world, lives end": lambda: as_parallel(to_aec(of_world(Line(1, seed=3, leave=True)))),
    "parallel of a world": lambda: to_parallel(of_world(Line(1, seed=3, leave=True))),
    "rllib of a world": lambda: as_parallel(
        extra("ray.rllib", "MultiAgentWrapper")(of_world(Line(1, seed=3)))
    ),
    "aec of an environment": lambda: as_parallel(to_aec(of_env())),
    "parallel of an environment": lambda: to_parallel(of_env()),
    "gymnasium of an environment": lambda: as_parallel(GymWrapper(of_env())),
    "rllib of an environment": lambda: as_parallel(extra("ray.rllib", "MultiAgentWrapper")(of_env())),
    "flattened": lambda: to_parallel(AllStepManager(FlattenWrapper(of_env().sim))),
    "super agent": lambda: to_parallel(AllStepManager(SuperAgentWrapper(of_env().sim, {"all": ["agent"]}))),
}


def of_world(world):
    return DynamicOrderManager(WorldSimulation(WorldEnv(world)))


def of_env():
    """Falls over, or is cut after 12 steps."""
    return AllStepManager(gym_to_simulation(gymnasium.make("CartPole-v1", max_episode_steps=12)))


@pytest.mark.parametrize("adapter", CUT)
def test_an_end_is_by_the_rules_or_by_a_limit_and_comes_once(adapter):
    """Each end has one of the two flags, as in the world, and no report follows."""
    env, ends = CUT[adapter](), {"terminated": 0, "truncated": 0}
    kept = adapter == "kept"
    for step in play_parallel(env, SEED, 400):
        if len(step) == 2:
            over: set[str] = set()
            continue
        _, rewards, terminated, truncated, _ = step
        assert terminated.keys() == truncated.keys() == rewards.keys()
        assert not over & rewards.keys()
        for name in rewards:
            assert not (terminated[name] and truncated[name]), name
        over |= {name for name in rewards if terminated[name] or truncated[name]}
        assert not kept or not over or over == rewards.keys()
        for kind, flags in (("terminated", terminated), ("truncated", truncated)):
            ends[kind] += sum(flags.values())
    assert sum(ends.values()) > 3
    assert ends["truncated"] > 0


@pytest.mark.parametrize("adapter", ["to_aec", "to_parallel", "MultiAgentWrapper"])
@pytest.mark.parametrize("leave", [False, True])
def test_the_ends_are_the_worlds(adapter, leave):
    wrap = {"to_aec": to_aec, "to_parallel": to_parallel}.get(adapter) or extra("ray.rllib", adapter)
    found = []
    for seed in range(12):
        ends = [
            ends_of(env, seed)
            for env in (
                WorldEnv(Line(1, leave=leave)),
                as_parallel(wrap(of_world(Line(1, leave=leave)))),
            )
        ]
        assert ends[0] == ends[1]
        found += ends[0].values()
    assert set(found) == {(True, False), (False, True)}


def ends_of(env, seed):
    """Terminated and truncated of each agent at its end, where all stand in the wind, or run."""
    _, infos = env.reset(seed=seed)
    ends = {}
    while env.agents:
        chosen = np.array([1, 0] if seed % 2 else [2, 1])
        acts = {name: chosen for name in env.agents if infos[name]["acting"]}
        _, _, terminated, truncated, infos = env.step(acts)
        ends |= {
            name: (terminated[name], truncated[name])
            for name in infos
            if terminated.get(name) or truncated.get(name)
        }
    return ends


class Notebook(Strict):
    """Hands out infos that are its own, the same objects in every step."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.notes = {name: {"page": [number]} for number, name in enumerate(self.lives)}

    def get_info(self, agent_id, **kwargs):
        return self.notes[agent_id]


@pytest.mark.parametrize("adapter", ["aec", "parallel", "gymnasium", "rllib"])
def test_closing_an_adapter_closes_the_simulation(adapter):
    sim = Strict(lives={"a": 5})
    closed = []
    sim.close = lambda: closed.append(True)
    env, _ = MANAGED[adapter](AllStepManager(sim))
    env.close()
    assert closed == [True]


@pytest.mark.parametrize("adapter", ["aec", "parallel", "gymnasium", "rllib", "openspiel"])
def test_nothing_is_written_into_what_a_simulation_handed_out(adapter):
    names = ["a"] if adapter == "gymnasium" else ["a", "b"]
    masks = {name: mask(0, 1, 1) for name in names}
    sim = Notebook(lives=dict.fromkeys(names, 5), masks=masks)
    notes, legal = copy.deepcopy(sim.notes), copy.deepcopy(masks)
    env, play = MANAGED[adapter](AllStepManager(sim))
    play(env)
    assert sim.clock > 2
    assert sim.notes == notes
    assert all((masks[name] == legal[name]).all() for name in names)


def through_aec(env):
    env.reset(seed=1)
    for _ in env.agent_iter():
        _, _, terminated, truncated, info = env.last()
        info["read by"] = "somebody"  # what was told is the caller's to write into
        env.step(None if terminated or truncated else 1)


def through_parallel(env):
    _, infos = env.reset(seed=1)
    while env.agents:
        for info in infos.values():
            info["read by"] = "somebody"
        infos = env.step(dict.fromkeys(env.agents, 1))[4]


def through_gymnasium(env):
    _, info = env.reset(seed=1)
    over = False
    while not over:
        info["read by"] = "somebody"
        _, _, terminated, truncated, info = env.step(1)
        over = terminated or truncated


def through_rllib(env):
    seen, _ = env.reset(seed=1)
    over = False
    while not over:
        seen, _, terminated, _, _ = env.step(dict.fromkeys(seen, 1))
        over = terminated["__all__"]


def through_openspiel(env):
    step = env.reset(seed=1)
    while not step.last():
        step = env.step([1, 1])


def extra(name: str, maker: str) -> Any:
    pytest.importorskip(name, reason="an extra is not installed")
    import interplay.connect

    return getattr(interplay.connect, maker)


MANAGED = {
    "aec": lambda manager: (to_aec(manager), through_aec),
    "parallel": lambda manager: (to_parallel(manager), through_parallel),
    "gymnasium": lambda manager: (GymWrapper(manager), through_gymnasium),
    "rllib": lambda manager: (extra("ray.rllib", "MultiAgentWrapper")(manager), through_rllib),
    "openspiel": lambda manager: (extra("open_spiel", "OpenSpielListWrapper")(manager), through_openspiel),
}
