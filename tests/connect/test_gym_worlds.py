"""Worlds as Gymnasium environments: one agent is played, a policy plays the others; Gymnasium's own checks and wrappers."""

from __future__ import annotations

import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import RecordVideo

import interplay
from interplay.connect.gymnasium import WorldGymEnv, gym_id, register_worlds, world_to_gym
from interplay.core.errors import UserError
from interplay.core.policy import Policy, RandomPolicy
from interplay.core.spec import WorldSpec
from tests.connect.relay import Relay
from tests.connect.toys import Hunt, Line

CORRIDOR = "interplay/simulation.multi-corridor"
TURNS = "interplay/simulation.multi-corridor-turns"


class Stay(Policy):
    """Only the agent moves."""

    name = "stay"

    def act(self, timestep):
        return np.tile([1, 0], (*timestep.acting.shape, 1))


def story(env, seed, choose, most=200):
    """What an episode showed, as text."""
    seen, info = env.reset(seed=seed)
    told = [repr((seen, info))]
    for step in range(most):
        seen, reward, terminated, truncated, info = env.step(choose(step))
        told.append(repr((seen, reward, terminated, truncated, info)))
        if terminated or truncated:
            break
    return told


# -- Gymnasium's own ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [CORRIDOR, TURNS])
@pytest.mark.filterwarnings("error")
def test_make_finds_worlds_and_the_check_passes(name):
    env = gymnasium.make(name)
    assert isinstance(env.unwrapped, WorldGymEnv)
    check_env(env.unwrapped)  # its render mode, too
    env.close()


def test_every_registered_world_has_a_name():
    names = {gym_id(spec.id) for spec in interplay.list_worlds()}
    assert "interplay/survival.1v1-heals-low" in names
    assert names <= set(gymnasium.registry)


def test_a_world_of_ones_own_gets_a_name_when_asked(monkeypatch):
    spec = WorldSpec(id="own/line", summary="x", make="tests.connect.test_gym_worlds:line")
    monkeypatch.setattr("interplay.registry._WORLDS.added", {spec.id: spec})
    register_worlds()
    try:
        assert gymnasium.make("interplay/own.line").unwrapped.world.id == "own/line"
    finally:
        del gymnasium.registry["interplay/own.line"]


def line(settings, *, num_worlds, seed, threads, first_world):
    return Line(num_worlds, seed, first=first_world)


def test_the_module_before_the_colon_registers():
    code = (
        "import sys, gymnasium\n"
        "assert 'interplay' not in sys.modules\n"
        f"env = gymnasium.make('interplay.connect.gymnasium:{CORRIDOR}', agent='agent2', seed=3)\n"
        "print(env.unwrapped.agent)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "agent2", done.stderr


def test_a_video_of_an_episode(tmp_path):
    pytest.importorskip("moviepy", reason="Gymnasium's RecordVideo needs moviepy")
    env = RecordVideo(
        gymnasium.make(CORRIDOR, render_mode="rgb_array", max_episode_steps=4),
        str(tmp_path),
        disable_logger=True,
    )
    env.reset(seed=1)
    while not any(env.step(1)[2:4]):
        pass
    env.close()
    (video,) = tmp_path.glob("*.mp4")
    assert video.stat().st_size > 1000


@pytest.mark.parametrize("mode", ["rgb_array", "rgb_array_list"])
def test_gymnasiums_render_modes(mode):
    env = gymnasium.make(CORRIDOR, render_mode=mode)
    env.reset(seed=1)
    env.step(1)
    shown = env.render()
    pictures = shown if mode == "rgb_array_list" else [shown]
    assert len(pictures) == (2 if mode == "rgb_array_list" else 1)
    assert all(p.dtype == np.uint8 and p.ndim == 3 and p.std() > 0 for p in pictures)


def test_a_vector_of_environments_plays_different_episodes():
    env = gymnasium.make_vec(CORRIDOR, num_envs=6)
    unseeded, _ = env.reset()
    assert len({str({k: v[i] for k, v in unseeded.items()}) for i in range(6)}) > 1
    first, _ = env.reset(seed=3)
    again, _ = env.reset(seed=3)
    assert all(np.array_equal(first[key], again[key]) for key in first)
    _, rewards, *_ = env.step(np.full(6, 2))
    assert rewards.shape == (6,)
    env.close()


# -- whose turn it is, what is paid, how it ends --------------------------------------------------------------------


@pytest.mark.parametrize("runs", [False, True])
def test_others_are_played_by_the_policy_and_the_agent_by_its_actions(runs):
    """A runner dies early, and its rewards while the others go on are in its last one."""
    env = WorldGymEnv(Line(1), "agent_1", Stay())
    assert (env.observation_space, env.action_space) == (env.world.observation_space, env.world.action_space)
    world = Line(1)
    timestep = world.reset(seeds=7)
    seen, _ = env.reset(seed=7)
    for step in range(60):
        assert seen["self"].tolist() == timestep.observation["self"][0, 1].tolist()
        action = np.tile([1, 0], (1, 3, 1))
        action[0, 1] = [2, 1] if runs else [step % 3, step % 2]
        timestep = world.step(action)
        earned = timestep.reward[0, 1]
        while not (timestep.acting[0, 1] or timestep.over[0]):
            timestep = world.step(np.tile([1, 0], (1, 3, 1)))
            earned += timestep.reward[0, 1]
        seen, reward, terminated, truncated, info = env.step(action[0, 1])
        assert reward == earned
        assert terminated == timestep.terminated[0, 1]
        assert truncated == timestep.truncated[0, 1]
        assert terminated or truncated or info["metrics/steps"] == 0.0
        if terminated or truncated:
            assert info["metrics/steps"] == world.metrics["steps"][0]
            break
    assert terminated or truncated
    assert (reward < -5) == runs


def test_agents_of_another_kind_and_slot():
    env = WorldGymEnv(Hunt(1), "prey_0")
    assert env.action_space == spaces.Box(-1.0, 1.0, (2,), np.float32)
    env.reset(seed=1)
    push = np.array([0.25, -0.5], np.float32)
    for _ in range(9):
        _, reward, terminated, truncated, _ = env.step(push)
        assert (reward, terminated, truncated) == (0.5, False, False)  # the prey earns twice its push
    assert env.step(push)[2:4] == (True, False)
    hunter = WorldGymEnv(Hunt(1), "hunter_1")
    hunter.reset(seed=1)
    hunter.step(2)
    assert hunter.world.state.side[0, 1] == 2  # its own column


def test_masks_are_what_the_space_draws_from():
    env = WorldGymEnv(Line(1, masked=True))
    _, info = env.reset(seed=1)
    env.action_space.seed(1)
    narrow = 0
    for _ in range(40):
        narrow += not info["action_mask"][0].all()
        *_, terminated, truncated, info = env.step(env.action_space.sample(info["action_mask"]))
        if terminated or truncated:
            _, info = env.reset()
    assert narrow


@pytest.mark.parametrize("flat", [True, "discrete"])
def test_flat_is_the_same_game_in_rows_of_numbers(flat):
    """What trainers for one agent ask for: a float32 Box and actions from 0, the mask as one row."""
    plain, rows = WorldGymEnv(Line(1, masked=True)), WorldGymEnv(Line(1, masked=True), flat=flat)
    count = 6 if flat == "discrete" else [3, 2]
    assert rows.action_space == (spaces.Discrete(6) if flat == "discrete" else spaces.MultiDiscrete(count))
    assert rows.observation_space.dtype == np.float32
    rows.action_space.seed(1)
    seen, info = rows.reset(seed=2)
    nested, told = plain.reset(seed=2)
    for _ in range(60):
        assert rows.observation_space.contains(seen)
        assert seen.tolist() == np.concatenate([nested["others"].ravel(), nested["self"]]).tolist()
        move, fast = told["action_mask"]
        both = np.outer(move, fast).ravel() if flat == "discrete" else np.concatenate([move, fast])
        assert info["action_mask"].tolist() == both.astype(bool).tolist()
        action = rows.action_space.sample(info["action_mask"])
        points = np.array(divmod(int(action), 2)) if flat == "discrete" else action
        seen, *same, info = rows.step(action)
        nested, *expected, told = plain.step(points)
        assert same == expected
        if same[1] or same[2]:
            break
    wrong = (
        [6, -1, 1.5, [1, 1], None, "up"] if flat == "discrete" else [[3, 0], [0, -1], [1], 1.5, None, "up"]
    )
    rows.reset()
    for action in wrong:
        with pytest.raises(UserError) as error:
            rows.step(action)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("lines", "rewards", "ends"),
    [
        # It is asked at birth, in the steps that it lives, and no more; rewards are the step's number / 100.
        (("--ooox--", "oooooooo"), [0.03, 0.04, 0.05], (True, False)),
        (("oooc----", "oooooooo"), [0.01, 0.02, 0.03], (False, True)),
        (("oo*ooooo", "oooooooo"), [0.01, 0.02], (True, False)),
        (("oo+ooooo", "oooooooo"), [0.01, 0.02], (False, True)),
    ],
)
def test_an_episode_is_one_life(lines, rewards, ends):
    env = WorldGymEnv(Relay(1, story=lines))
    seen, _ = env.reset(seed=1)
    assert seen["place"] == lines[0].index("o")
    told = [env.step(0) for _ in rewards]
    assert [step[1] for step in told] == pytest.approx(rewards)
    assert [step[2:4] for step in told[:-1]] == [(False, False)] * (len(rewards) - 1)
    assert told[-1][2:4] == ends
    if lines[0][2] in "*+":
        assert told[-1][0]["place"] == 0.0  # somebody else lives there by now
    with pytest.raises(UserError, match=r"no episode is being played; call reset\(\) first"):
        env.step(0)


def test_who_is_never_asked_is_one_line(monkeypatch):
    monkeypatch.setattr("interplay.connect.gymnasium.worlds.MAX_WAIT", 20)
    env = WorldGymEnv(Relay(1, story=("-----", "ooooo")))
    with pytest.raises(UserError, match=r"slot_0 .* 20 episodes"):
        env.reset(seed=1)


class Paid(Relay):
    """Its slot earns 1/4 in every step, even while nobody lives there; in the first episode nobody ever does."""

    lines = ("-----", "--ooo")

    def _reset(self, which, seeds):
        self.story[0], self.lines = list(self.lines[0]), self.lines[1:] or self.lines
        return super()._reset(which, seeds)

    def _tell(self, going):
        step = super()._tell(going)
        step.reward[going] += 0.25
        return step


def test_what_was_earned_in_an_episode_that_was_passed_over_is_not_paid():
    env = WorldGymEnv(Paid(1, story=("-----",)))
    env.reset(seed=1)
    assert env.step(0)[1] == pytest.approx(3 * 0.25 + 0.03), "two steps before its birth, and its first"
    assert env.step(0)[1] == pytest.approx(0.25 + 0.04)


def test_a_seed_names_the_episode_with_all_that_the_others_do():
    def choose(step):
        return [step % 3, 0]

    env = WorldGymEnv(Line(1), others=RandomPolicy())
    first = story(env, 5, choose)
    second = story(env, None, choose)
    assert story(env, 5, choose) == first == story(WorldGymEnv(Line(1), seed=9), 5, choose)
    assert story(env, None, choose) == second != first
    assert story(env, 6, choose) != first


class Told(RandomPolicy):
    """Records its arguments."""

    def __init__(self):
        self.heard = []

    def start(self, world, seed=0):
        super().start(world, seed)
        self.heard.append(seed)

    def forget(self, which):
        super().forget(which)
        self.heard.append("forget")


def test_the_others_start_anew_with_a_seed_and_forget_otherwise():
    others = Told()
    env = WorldGymEnv(Line(1), others=others, seed=9)
    for seed in (None, 5, None, 6):
        env.reset(seed=seed)
    assert others.heard == [9, 5, "forget", 6]


def test_the_others_forget_an_episode_that_was_passed_over(monkeypatch):
    monkeypatch.setattr("interplay.connect.gymnasium.worlds.MAX_WAIT", 20)
    others = Told()
    with pytest.raises(UserError, match="20 episodes"):
        WorldGymEnv(Relay(1, story=("-----", "ooooo")), others=others).reset(seed=3)
    assert others.heard == [3, *["forget"] * 20]


class Stubborn(RandomPolicy):
    """Gives the same array every time; it is its own."""

    actions = np.ones((1, 3, 2), np.int64)

    def act(self, timestep):
        return self.actions


def test_what_a_policy_gave_is_left_as_it_was():
    others = Stubborn()
    env = WorldGymEnv(Line(1), others=others)
    env.reset(seed=3)
    env.step([2, 0])
    assert (others.actions == 1).all()


def test_the_makers_seed_names_the_stream():
    def start(**options):
        env = world_to_gym("simulation/multi-corridor", **options)
        return [repr(env.reset()[0]) for _ in range(12)]

    assert start(seed=4) == start(seed=4)
    assert start() != start()


# -- what strangers do wrong ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (7, "action 7 at index .* outside 0..2"),
        (-1, "action -1 .* outside"),
        (1.0, "expected integers"),
        ("up", "expected integers"),
        ([1, 1], r"shape \(1, 1, 2\)"),
        ({"agent0": 1}, "shape|integers"),
        (np.array(1 << 56, ">i8"), "action 72057594037927936 at index .* outside"),
    ],
)
def test_wrong_actions_are_one_line_and_change_nothing(action, words):
    env = world_to_gym("simulation/multi-corridor", seed=1)
    with pytest.raises(UserError, match="call reset"):
        env.step(1)
    env.reset(seed=1)
    with pytest.raises(UserError, match=words) as error:
        env.step(action)
    assert "\n" not in str(error.value)
    whole = world_to_gym("simulation/multi-corridor", seed=1)
    whole.reset(seed=1)
    assert repr(env.step(1)) == repr(whole.step(1))


def test_without_a_render_mode_there_is_no_picture():
    env = WorldGymEnv(Line(1))
    env.reset()
    with pytest.raises(UserError, match="no render_mode"):
        env.render()
