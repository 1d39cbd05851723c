"""Environments of PettingZoo and Gymnasium under their own names: watched, recorded and played like worlds of ours."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from pettingzoo.utils.env import AECEnv

from interplay.core import targets
from interplay.core.errors import UserError
from interplay.core.policy import RandomPolicy
from interplay.core.replay import ReplayReader
from interplay.core.replay.writer import WorldRecorder
from interplay.core.scene import scene_of
from interplay.registry import make_world
from interplay.view.server.play import Cast, Play, tick_seconds

pytest.importorskip("pygame", reason="they draw with it")

TURNS, TOGETHER, ALONE = (
    "pettingzoo.classic.tictactoe_v3:env",
    "pettingzoo.classic.rps_v2:parallel_env",
    "gymnasium:CartPole-v1",
)
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


class Counter(AECEnv):
    """Two count to four in turns; odd numbers are painted."""

    metadata = {"name": "counter", "render_modes": ["rgb_array"], "render_fps": 4}  # noqa: RUF012 - as PettingZoo has it

    def __init__(self, render_mode=None):
        self.possible_agents, self.render_mode = ["a", "b"], render_mode
        self.action_spaces = dict.fromkeys("ab", spaces.Discrete(2))
        self.observation_spaces = dict.fromkeys("ab", spaces.Discrete(5))

    def observation_space(self, agent):
        return self.observation_spaces[agent]

    def action_space(self, agent):
        return self.action_spaces[agent]

    def reset(self, seed=None, options=None):
        self.agents, self.count, self.agent_selection = ["a", "b"], 0, "a"
        self.rewards, self._cumulative_rewards = dict.fromkeys("ab", 0), dict.fromkeys("ab", 0)
        self.terminations, self.truncations = dict.fromkeys("ab", False), dict.fromkeys("ab", False)
        self.infos = {name: {} for name in "ab"}

    def observe(self, agent):
        return self.count

    def step(self, action):
        if self.terminations[self.agent_selection]:
            self._was_dead_step(action)
            return
        self.count += 1
        self.agent_selection = "ba"[self.count % 2 == 0]
        self.terminations = dict.fromkeys("ab", self.count == 4)

    def render(self):
        return np.full((20, 30, 3), 255 * (self.count % 2), np.uint8)


def env(**options):
    return raw_env(**options)


raw_env = Counter


def unsaid(**options):
    return raw_env(**options)


def test_pettingzoos_custom_says_what_env_makes():
    assert targets.kind_made(env) == targets.kind_made(Counter) == targets.ENVIRONMENT
    assert targets.kind_made(gymnasium.make) == targets.kind_made(gymnasium.Env) == targets.ENVIRONMENT
    assert targets.kind_made(unsaid) is None


@pytest.mark.parametrize(
    ("name", "agents", "size", "seconds"),
    [
        (TURNS, ("player_1", "player_2"), (1000, 1000), 1.0),
        (TOGETHER, ("player_0", "player_1"), (800, 285), 0.5),
        (ALONE, ("agent",), (400, 600), 0.02),
        ("tests.connect.test_elsewhere:Counter", ("a", "b"), (20, 30), 0.25),
    ],
)
def test_they_show_their_own_pictures_at_their_own_pace(name, agents, size, seconds):
    world = make_world(name, seed=3)
    world.reset(seeds=3)
    scene = scene_of(world)
    assert scene.picture is not None
    assert (world.agents, scene.picture.shape, tick_seconds(world)) == (agents, (*size, 3), seconds)
    many = make_world(name, num_worlds=2)
    many.reset()
    assert scene_of(many).picture is None
    world.close()
    many.close()


def test_a_person_plays_noughts_and_crosses_by_its_mask():
    play = Play(Cast(make_world(TURNS), RandomPolicy(), "random"), 3)
    assert (play.turn_based, play.turn()) == (True, 0)
    assert [(head["kind"], head["n"]) for head in play.heads(0)] == [("discrete", 9)]
    play.take(0)
    play.step({0: play.read(0, {"action": 4})})
    assert play.turn() == 1
    play.step({})
    with pytest.raises(UserError, match="not legal"):
        play.read(0, {"action": 4})


def test_what_was_recorded_is_seen_tick_by_tick(tmp_path):
    path, world = tmp_path / "a.replay", make_world("tests.connect.test_elsewhere:Counter")
    world.reset(seeds=1)
    with WorldRecorder(path, world) as recorder:
        recorder.begin()
        while not world.timestep.over[0]:
            world.step(np.zeros((1, 2), np.int64))
            recorder.step(np.zeros((1, 2), np.int64), last=bool(world.timestep.over[0]))
    with ReplayReader(path) as reader:
        pictures = [frame.scene.picture for frame in reader.frames()]
        assert [picture.shape for picture in pictures] == [(20, 30, 3)] * 5
        assert [int(picture.min()) for picture in pictures] == [0, 255, 0, 255, 0]
        assert (reader.header.exact, reader.header.tick_seconds) == (False, 0.25)
        assert reader.frame(3).scene.picture.min() == 255


def test_a_limit_of_steps_that_gymnasium_has_not():
    world = make_world(ALONE, max_episode_steps=3)
    world.reset()
    for _ in range(3):
        world.step(np.zeros((1, 1), np.int64))
    assert world.timestep.truncated[0, 0]
    world.close()
