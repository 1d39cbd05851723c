"""A world as a PettingZoo environment: PettingZoo's own tests, then what those let through."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from gymnasium import spaces
from pettingzoo.test.render_test import render_test
from pettingzoo.test.state_test import state_test
from pettingzoo.utils.conversions import parallel_to_aec

import interplay
from interplay.connect.pettingzoo import WorldEnv
from interplay.core.errors import UserError
from tests.connect.toys import Hunt, Line

MAKERS = {
    "line": lambda: WorldEnv(Line(1)),
    "line, masked, mask in observation": lambda: WorldEnv(Line(1, masked=True), mask_in_observation=True),
    "line, dead removed": lambda: WorldEnv(Line(1), on_death="remove"),
    "line, lives end": lambda: WorldEnv(Line(1, leave=True)),
    "two kinds": lambda: WorldEnv(Hunt(1)),
    "by class": lambda: interplay.make("tests.connect.toys:Line", agents=2),
}


@pytest.fixture(params=MAKERS.values(), ids=MAKERS.keys())
def maker(request):
    return request.param


def play(env, seed, masks=True):
    """One episode with sampled actions: the list of what `step` gave, reset first."""
    observation, infos = env.reset(seed=seed)
    for i, agent in enumerate(env.possible_agents):
        env.action_space(agent).seed(seed + i)
    story = [(observation, {}, {}, {}, infos)]
    while env.agents:
        actions = {
            agent: env.action_space(agent).sample(infos[agent].get("action_mask") if masks else None)
            for agent in env.agents
        }
        story.append(env.step(actions))
        infos = story[-1][-1]
    return story


def equal(a, b):
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(equal(a[key], b[key]) for key in a)
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(map(equal, a, b))
    return type(a) is type(b) and np.array_equal(a, b)


def test_without_a_seed_the_stream_of_episodes_goes_on():
    first, second = WorldEnv(Line(1, seed=5)), WorldEnv(Line(1, seed=5))
    episodes = [play(first, 0) for _ in range(2)]
    assert equal(episodes[0], episodes[1])
    a = [first.reset()[0] for _ in range(6)]
    b = [second.reset()[0] for _ in range(6)]
    assert any(not equal(a[0], other) for other in a[1:])
    assert any(not equal(b[0], other) for other in b[1:])


def test_returned_arrays_are_the_callers_own(maker):
    env = maker()
    story = play(env, 1)
    again = play(env, 1)
    assert equal(story, again)
    for observation, *_ in again:
        for values in observation.values():
            for array in values.get("observation", values).values():
                if isinstance(array, np.ndarray):
                    array[...] = 0
    assert equal(play(env, 1), story)


def long_story(env, wanted):
    for seed in range(50):
        story = play(env, seed)
        if wanted(story):
            return story
    raise AssertionError("no such episode in 50 seeds")


def somebody_outlived(story):
    return any(len({info["acting"] for info in infos.values()}) == 2 for *_, infos in story)


def test_the_dead_stay_listed_and_go_on_earning_to_the_end():
    env = WorldEnv(Line(1))
    story = long_story(env, somebody_outlived)
    for _, rewards, terminations, truncations, infos in story[1:]:
        assert (
            rewards.keys()
            == terminations.keys()
            == truncations.keys()
            == infos.keys()
            == set(env.possible_agents)
        )
    dead = [
        (rewards[agent], observation[agent]["self"][1])
        for observation, rewards, *_, infos in story[1:-1]
        for agent, info in infos.items()
        if not info["acting"]
    ]
    assert dead
    assert set(dead) == {(-1.0, 0.0)}
    assert len({*story[-1][2].values()}) == 1, "all end together"


def test_remove_dead_removes_them_at_death():
    env = WorldEnv(Line(1), on_death="remove")
    story = long_story(env, lambda s: any(len(rewards) < 3 for _, rewards, *_ in s[1:]))
    listed = set(env.possible_agents)
    for _, rewards, terminations, truncations, infos in story[1:]:
        assert rewards.keys() == listed, "who was removed is never heard of again"
        gone = {a for a in listed if terminations[a] or truncations[a]}
        assert all(infos[a]["acting"] for a in listed - gone)
        listed -= gone
    assert not listed


def test_an_ended_life_leaves_the_list_and_metrics_come_with_its_last_step():
    env = WorldEnv(Line(1, leave=True))
    story = long_story(env, lambda s: any(len(rewards) < 3 for _, rewards, *_ in s[1:]))
    ended = 0
    for at, (_, _, terminations, truncations, infos) in enumerate(story[1:], 1):
        for agent, info in infos.items():
            over = terminations[agent] or truncations[agent]
            told = {key: value for key, value in info.items() if key.startswith("metrics/")}
            assert set(told) == {"metrics/steps", "metrics/moves"}
            assert all(type(value) is float for value in told.values())
            ended += over
            assert told["metrics/steps"] == (at if over else 0.0)
    assert ended == 3


def test_the_mask_is_the_same_in_info_and_in_the_observation():
    env = WorldEnv(Line(1, masked=True), mask_in_observation=True)
    seen = set()
    for observation, *_, infos in play(env, 2):
        for agent, info in infos.items():
            assert info["action_mask"].dtype == bool
            assert info["action_mask"].shape == (5,)
            assert np.array_equal(info["action_mask"], observation[agent]["action_mask"])
            seen |= {tuple(info["action_mask"][:3])}
    assert len(seen) > 1, "some action was illegal somewhere"


def test_it_is_the_world():
    """Rewards and observations are the batch's own, agent by agent."""
    world, env = Line(1), WorldEnv(Line(1))
    timestep = world.reset(seeds=9)
    env.reset(seed=9)
    rng = np.random.default_rng(0)
    while not timestep.over[0]:
        action = rng.integers(0, 2, (1, 3, 2))
        timestep = world.step(action)
        observation, rewards, *_ = env.step(dict(zip(env.possible_agents, action[0], strict=True)))
        for slot, agent in enumerate(env.possible_agents):
            assert rewards[agent] == timestep.reward[0, slot]
            for key, values in timestep.observation.items():
                assert np.array_equal(observation[agent][key], values[0, slot])


def test_two_kinds_have_their_own_spaces():
    env = WorldEnv(Hunt(1))
    env.reset()
    assert isinstance(env.action_space("hunter_1"), spaces.Discrete)
    assert env.action_space("prey_0").shape == (2,)
    _, rewards, *_ = env.step({"hunter_0": 1, "hunter_1": 2, "prey_0": np.array([0.5, 0], np.float32)})
    assert rewards == {"hunter_0": 0.5, "prey_0": 1.0, "hunter_1": 1.5}


@pytest.mark.parametrize(
    "options",
    [{}, {"keep_dead": True}, {"flat": True, "mask_in_observation": True}],
    ids=["plain", "kept", "flat"],
)
def test_the_state_is_the_worlds(options):
    env = interplay.make("matrix/climbing", **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        state_test(parallel_to_aec(interplay.make("matrix/climbing", **options)), env)
    env.reset(seed=0)
    env.step({"agent_0": 0, "agent_1": 2})
    assert env.state().tolist() == [0, 1, 0, 0, 0, 0, 0, 1, np.float32(0.1)]
    assert env.state_space == env.world.state_space


@pytest.mark.parametrize("options", [{}, {"keep_dead": True}, {"flat": True}], ids=["plain", "kept", "flat"])
def test_a_world_without_a_state_shows_all_observations(options):
    env = interplay.make("tests.connect.toys:Line", **options)
    env.reset(seed=0)
    observation = env.world.timestep.observation
    expected = np.concatenate([field[0].ravel() for field in observation.values()])
    assert np.array_equal(env.state(), expected.astype(np.float32))
    assert env.state_space.contains(env.state())
    assert parallel_to_aec(env).state_space == env.state_space


def test_state_fits_its_space(maker):
    env = maker()
    env.reset(seed=0)
    assert env.state_space.contains(env.state())


def test_after_the_end_a_step_says_nothing():
    env = WorldEnv(Line(1))
    play(env, 0)
    assert env.step({}) == ({}, {}, {}, {}, {})


def legal(env):
    return {agent: np.array([1, 0]) for agent in env.agents}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a: a.pop("agent_1"), "no action for agent_1"),
        (lambda a: a.update(agent_9=np.array([1, 0])), "unknown agent 'agent_9'"),
        (
            lambda a: a.update(agent_2=np.array([3, 0])),
            r"array\(\[3, 0\]\) of agent_2 is not in MultiDiscrete",
        ),
        (lambda a: a.update(agent_2=np.array([1.0, 0.0])), "of agent_2"),
        (lambda a: a.update(agent_2=np.array([1])), "of agent_2"),
        (lambda a: a.update(agent_0=None), "action None of agent_0"),
        (lambda a: a.update(agent_0=np.array([1, np.nan])), "of agent_0"),
    ],
)
def test_a_wrong_action_names_the_agent_in_one_line(change, message):
    env = WorldEnv(Line(1))
    env.reset(seed=0)
    before = env.world.save()
    actions = legal(env)
    change(actions)
    with pytest.raises(UserError, match=message) as caught:
        env.step(actions)
    assert "\n" not in str(caught.value)
    assert equal(before, env.world.save()), "the world is unchanged"
    env.step(legal(env))


def test_pettingzoo_render_test(monkeypatch):
    pytest.importorskip("pygame", reason="pictures need the extra render")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    render_test(lambda render_mode: parallel_to_aec(WorldEnv(Line(1), render_mode)))


def test_pictures_show_the_state():
    pytest.importorskip("pygame", reason="pictures need the extra render")
    env = WorldEnv(Line(1), "rgb_array")
    env.reset(seed=0)
    before = env.render()
    assert before.shape == (512, 512, 3)
    assert np.array_equal(before, env.render())
    env.step(legal(env))
    assert not np.array_equal(before, env.render())


def test_a_window_shows_every_reset_and_step(monkeypatch):
    pytest.importorskip("pygame", reason="pictures need the extra render")
    shown = []

    class Window:
        def __init__(self, *args):
            pass

        def show(self, picture):
            shown.append(picture)

        def close(self):
            pass

    monkeypatch.setattr("interplay.view.window.Window", Window)
    env, quiet = WorldEnv(Line(1, seed=2), "human"), WorldEnv(Line(1, seed=2), "rgb_array")
    expected = []
    for number in range(4):
        for one in (env, quiet):
            one.step(dict.fromkeys(one.agents, np.array([2, 0]))) if number else one.reset(seed=1)
        expected.append(quiet.render())
        assert len(shown) == number + 1
    assert np.array_equal(shown, expected)
    assert not np.array_equal(shown[0], shown[-1])
