"""Laws of soccer: the pitch, the start, goals, throw-ins, time, rewards, contacts, symmetry (specification 8)."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from interplay.core.errors import MissingExtraError, UserError
from interplay.interfaces.generic.vectors import ConcatObsAct, Dict2Vec
from interplay.registry import make_policy, make_world
from interplay.worlds.soccer import engine, observe, rules
from interplay.worlds.soccer.config import BALL_RADIUS, GOAL_DEPTH, SIDE, SoccerSettings
from interplay.worlds.soccer.observe import OWN
from interplay.worlds.soccer.policies import _nearest, _numbers
from interplay.worlds.soccer.state import BALL_POSITIONS, BALL_SPEEDS, HEADING, KICKED, bodies


def still(world: Any) -> np.ndarray:
    return np.zeros((world.num_worlds, len(world.agents), 3), np.float32)


def put_ball(world: Any, place: tuple[float, float, float], speed: tuple[float, float, float]) -> None:
    """Puts every world's ball, by its centre."""
    world.state.qpos[:, :3] = np.subtract(place, (0, 0, BALL_RADIUS))
    world.state.qpos[:, 3:7] = 1, 0, 0, 0
    world.state.qvel[:, :6] = 0
    world.state.qvel[:, :3] = speed
    world.refresh()


def test_each_match_draws_a_pitch_and_a_start_within_its_bounds():
    world = make_world("soccer/2v2", num_worlds=20, seed=1)
    sizes = []
    for _ in range(2):
        world.reset()
        sizes.append(world.state.size.copy())
        place = world._seen.place[..., :2]
        assert (np.abs(place) <= 0.6 * world.state.size[:, None]).all()
        assert np.allclose(world._seen.ball[:, 2], 0.5 + BALL_RADIUS)
        assert not world.state.qvel.any()
    drawn = np.concatenate(sizes)
    assert len(np.unique(drawn)) == 80
    assert (drawn >= (32, 24)).all()
    assert (drawn <= (48, 36)).all()


def test_two_seeds_differ():
    first, second = (make_world("soccer/2v2", seed=seed) for seed in (1, 2))
    first.reset(), second.reset()
    assert not np.allclose(first.state.qpos, second.state.qpos)


@pytest.mark.parametrize(("end", "rewards"), [(1, [1, 1, -1, -1]), (-1, [-1, -1, 1, 1])])
def test_a_goal_ends_the_match(end, rewards):
    world = make_world("soccer/2v2", num_worlds=2, seed=3)
    world.reset()
    line = world.state.size[0, 0] - 2 * GOAL_DEPTH
    put_ball(world, (end * (line - 0.3), 0, 1.0), (0, 0, 0))
    world.state.qvel[0, 0] = end * 10.0
    timestep = world.step(still(world))
    assert timestep.reward.tolist() == [rewards, [0, 0, 0, 0]]
    assert timestep.terminated.tolist() == [[True] * 4, [False] * 4]
    assert not timestep.truncated.any()
    assert timestep.over.tolist() == [True, False]
    assert world.metrics["outcome"][0].tolist() == rewards
    assert np.isnan(world.metrics["outcome"][1]).all()


def test_a_ball_in_a_goal_after_any_substep_counts():
    world = make_world("soccer/2v2", num_worlds=4, seed=3)
    world.reset()
    track = np.zeros((4, 10, BALL_POSITIONS))
    track[..., 3] = 1.0
    length, width = world.state.size.T
    track[0, 3, 0], track[1, 9, 0] = length[0] - GOAL_DEPTH, GOAL_DEPTH - length[1]
    track[2, :, 0], track[2, :, 1] = length[2] - GOAL_DEPTH, 0.34 * width[2]  # beside the goal
    track[3, :, 0], track[3, :, 2] = length[3] - GOAL_DEPTH, 2 * GOAL_DEPTH  # above it
    rules.find_goals(world.state, track, np.ones(4, bool))
    assert world.state.result.tolist() == [1, -1, 0, 0]


def test_matches_are_cut_as_draws():
    world = make_world("soccer/1v1", num_worlds=2, seconds=0.2, seed=5)
    world.reset()
    for step in range(4):
        timestep = world.step(still(world))
        assert timestep.truncated.all() == (step == 3)
    assert not timestep.terminated.any()
    assert not timestep.reward.any()
    assert world.metrics["outcome"].tolist() == [[0, 0], [0, 0]]


def test_a_ball_that_left_the_field_is_thrown_in():
    world = make_world("soccer/2v2", num_worlds=30, seed=6)
    world.reset()
    before = world.state.size - SIDE + 1.0
    world.state.qpos[:, :2] = before * (1, -1)
    world.state.qvel[:, :6] = 3.0
    world.refresh()
    world.step(still(world))
    share = world._seen.ball[:, :2] / (before * (1, -1))
    assert (share > 0.69).all()
    assert (share < 0.91).all()
    assert share.std() > 0.03
    assert (world._seen.ball[:, 2] < 0.5 + BALL_RADIUS).all()
    assert (np.abs(world._seen.ball_speed[:, :2]) < 0.1).all()
    assert (world.metrics["throw_ins"] == 1).all()


def run_into_each_other(contacts: bool) -> float:
    """The least distance of two players that run towards each other."""
    world = make_world("soccer/1v1", contacts=contacts, seed=7)
    world.reset()
    body = bodies(world.state.qpos, BALL_POSITIONS)
    body[0, :, :2] = (-2, 0.1), (2, -0.1)
    body[0, :, HEADING] = -np.pi / 2, np.pi / 2  # forwards to +x and to -x
    put_ball(world, (10, 10, BALL_RADIUS), (0, 0, 0))
    action = still(world)
    action[..., 0] = -1
    nearest = np.inf
    for _ in range(60):
        world.step(action)
        nearest = min(nearest, float(np.linalg.norm(np.diff(world._seen.place[0], axis=0))))
    return nearest


def test_players_pass_through_each_other_unless_contacts_are_on():
    assert run_into_each_other(contacts=False) < 0.3
    assert run_into_each_other(contacts=True) > 0.35


def test_a_players_action_rolls_steers_and_kicks():
    world = make_world("soccer/1v1", num_worlds=3, seed=8)
    world.reset()
    action = still(world)
    action[0, 0, 0], action[1, 0, 1], action[2, 0, 2] = -1, 1, 1
    for _ in range(10):
        seen = world.step(action).observation["numbers"][:, 0]
    forward, turn, up = seen[:, 15], seen[:, 14], seen[:, 0]
    assert forward[0] > 1
    assert turn[1] < -5  # clockwise
    assert up.argmax() == 2
    assert bodies(world.state.qpos, BALL_POSITIONS)[2, 0, KICKED] > 0.1
    assert np.array_equal(seen[:, 6:9], action[:, 0])


def test_discrete_actions_are_the_ends_and_the_middle_of_the_numbers():
    numbers, discrete = (
        make_world("soccer/1v1", seed=8, actions=kind) for kind in ("continuous", "discrete")
    )
    assert discrete.action_space == spaces.MultiDiscrete([3, 3, 3])
    choices = np.random.default_rng(0).integers(0, 3, (1, 2, 3))
    for world, action in ((numbers, choices.astype(np.float32) - 1), (discrete, choices)):
        world.reset()
        world.step(action)
    assert np.array_equal(numbers.state.qpos, discrete.state.qpos)


@pytest.mark.parametrize(
    ("key", "column", "sign"), [("ArrowUp", 15, 1), ("ArrowDown", 15, -1), ("ArrowLeft", 14, 1), ("ArrowRight", 14, -1), (" ", 0, 1)]
)  # fmt: skip
def test_keys_run_turn_and_jump(key, column, sign):
    """Columns: speed forwards, turn rate anticlockwise, height above that of rest."""
    world = make_world("soccer/1v1", seed=8, actions="discrete")
    world.reset()
    controls = world.controls(0)
    choices = controls.idle | controls.keys[key]
    action = np.ones((1, 2, 3), np.int64)
    action[0, 0] = [world.action_names[head].index(choice) for head, choice in choices.items()]
    for _ in range(10):
        seen = world.step(action).observation["numbers"][0]
    assert sign * (seen[0, column] - seen[1, column]) > 0.2


def test_both_teams_see_the_same_match_from_their_own_side():
    """Turned by half a turn and with teams exchanged, every player sees what its counterpart saw."""
    world = make_world("soccer/3v3", num_worlds=2, seed=9, layout="dm_control")
    world.reset()
    rng = np.random.default_rng(0)
    for _ in range(5):
        world.step(rng.uniform(-1, 1, (2, 6, 3)).astype(np.float32))
    before = {key: value.copy() for key, value in world.timestep.observation.items()}
    state, other = world.state, np.roll(np.arange(6), 3)
    body, rate = bodies(state.qpos, BALL_POSITIONS), bodies(state.qvel, BALL_SPEEDS)
    for array in (body, rate, state.felt, state.action):
        array[:] = array[:, other]
    body[..., :2] *= -1
    body[..., HEADING] += np.pi
    for array in (state.qpos, state.qvel, rate):
        array[..., :2] *= -1
    w, x, y, z = state.qpos[:, 3:7].T.copy()
    state.qpos[:, 3:7] = np.stack([-z, -y, x, w], axis=-1)  # half a turn around z, then the old turn
    after = world.refresh().observation
    for key, value in before.items():
        assert np.allclose(after[key], value[:, other], atol=1e-4), key


def test_the_shaped_reward_is_the_mean_of_its_members_weighted_events():
    world = make_world("soccer/2v2", num_worlds=3, seed=10, reward="shaped", weights=(2, 3, 0.5, 0.25))
    world.reset()
    bodies(world.state.qvel, BALL_SPEEDS)[..., :2] = np.random.default_rng(0).uniform(-4, 4, (3, 4, 2))
    put_ball(world, (3.0, 1.0, 2.0), (5, 0, 0))
    timestep = world.step(still(world))
    now = observe.statistics(world.state.size, observe.motion(world.state))
    assert (now[..., 0] != now[..., 1]).sum() == 6  # a player of each team is not its nearest
    each = 0.5 * now[..., 0] + 0.25 * now[..., 3]
    expected = np.repeat(each.reshape(3, 2, 2).mean(axis=-1), 2, axis=1)
    assert np.allclose(timestep.reward, expected, atol=1e-6)
    put_ball(world, (world.state.size[0, 0] - SIDE - 0.1, 0, 1.0), (20, 0, 0))
    reward = world.step(still(world)).reward[0]
    now = observe.statistics(world.state.size, observe.motion(world.state))[0]
    each = 0.5 * now[:, 0] + 0.25 * now[:, 3] + np.array([2, 2, -3, -3])
    assert np.allclose(reward, np.repeat(each.reshape(2, 2).mean(axis=-1), 2), atol=1e-6)


def test_statistics_worked_by_hand():
    world = make_world("soccer/2v2", seed=11, layout="dm_control")
    world.reset()
    state = world.state
    state.size[0] = 40, 30
    body, rate = bodies(state.qpos, BALL_POSITIONS), bodies(state.qvel, BALL_SPEEDS)
    body[:], rate[:] = 0, 0
    body[0, :, :2] = (0, 0), (0, 4), (10, 0), (10, 6)
    body[0, :, HEADING] = -np.pi / 2  # all face +x
    rate[0, :, :2] = (2, 0), (0, -1), (0, 3), (-2, 0)
    put_ball(world, (3.0, 0.0, GOAL_DEPTH), (6, 1, 0))
    numbers = {
        key: value[0, :, 0] for key, value in world.timestep.observation.items() if key.startswith("stats")
    }
    assert np.allclose(numbers["stats_vel_to_ball"], [2, 0.8, 0, 14 / np.hypot(7, 6)], atol=1e-5)
    assert np.allclose(numbers["stats_closest_vel_to_ball"], [2, 0, 0, 0], atol=1e-5)
    assert np.allclose(numbers["stats_veloc_forward"], [2, 0, 0, -2], atol=1e-5)
    assert np.allclose(numbers["stats_vel_ball_to_goal"], [6, 6, -6, -6], atol=1e-5)
    assert np.allclose(numbers["stats_home_avg_teammate_dist"], [4, 4, 6, 6], atol=1e-5)
    assert numbers["stats_teammate_spread_out"].tolist() == [0, 0, 1, 1]


def test_the_time_left_falls_from_one_to_nothing():
    world = make_world("soccer/1v1", seed=4, seconds=0.2)
    world.reset()
    column = 2 + 3 * 3  # behind the pitch's size and the ball's place, speed and spin
    left = [float(world.global_state()[0, column])]
    while not world.timestep.over.any():
        world.step(still(world))
        left.append(float(world.global_state()[0, column]))
    assert left == pytest.approx([1, 0.75, 0.5, 0.25, 0])


def test_the_teams_nearest_player_runs_to_the_ball():
    """By the distances of places in the pitch, whatever the speeds."""
    world = make_world("soccer/3v3", num_worlds=30, seed=6)
    world.reset()
    bodies(world.state.qvel, BALL_SPEEDS)[..., :2] = np.random.default_rng(0).uniform(-4, 4, (30, 6, 2))
    world.refresh()
    seen = world._seen
    away = np.linalg.norm(seen.place[..., :2] - seen.ball[:, None, :2], axis=-1).reshape(30, 2, 3)
    numbers = _numbers(world.timestep)
    found = _nearest(3, numbers, numbers[..., OWN : OWN + 2])
    assert (found.reshape(30, 2, 3) == (away == away.min(axis=-1, keepdims=True))).all()


def test_a_keeper_runs_to_a_place_between_its_goal_and_the_ball():
    """Goals lie at x = -37.33 and 37.33: the places at 0.35 of the ways to the ball at -20, 10 are -31.27, 3.5 and 17.27, 3.5."""
    world = make_world("soccer/2v2", seed=11)
    world.reset()
    world.state.size[0] = 40, 30
    body = bodies(world.state.qpos, BALL_POSITIONS)
    body[0, [0, 2], :2] = (-34, 3), (20, 3)
    body[0, [0, 2], HEADING] = -np.pi / 2, np.pi / 2  # home faces +x, away -x
    put_ball(world, (-20, 10, BALL_RADIUS), (0, 0, 0))
    keeper = make_policy(world, "keeper")
    keeper.start(world)
    roll, steer = keeper.act(world.timestep)[0, [0, 2], :2].T
    assert roll == pytest.approx([-(34 - 31.2667) / 4] * 2, abs=1e-4)  # 2.73 ahead; slower within 4 m
    assert steer == pytest.approx(1.5 * np.arctan2(0.5, 2.7333) * np.array([-1, 1]), abs=1e-4)  # 0.5 beside


def test_results_depend_on_neither_threads_nor_the_place_in_the_batch():
    action = np.random.default_rng(0).uniform(-1, 1, (15, 6, 4, 3)).astype(np.float32)
    hashes = []
    for parts, threads in (([range(6)], 1), ([range(6)], 3), ([range(2), range(2, 6)], 1)):
        rows = np.zeros(6, np.uint64)
        for part in parts:
            world = make_world("soccer/2v2", len(part), seed=12, first_world=part[0], threads=threads)
            world.reset()
            for step in action:
                world.step(step[list(part)])
            rows[list(part)] = world.hash()
            world.close()
        hashes.append(rows.tolist())
    assert hashes[0] == hashes[1] == hashes[2]


def test_interfaces_flatten_keys_without_statistics_and_join_a_team():
    world = make_world("soccer/2v2", layout="dm_control")
    vector = Dict2Vec()
    vector.setup(world.observation_space, world.action_space)
    assert vector.observation_space.shape == (111,)
    own = make_world("soccer/2v2")
    team = ConcatObsAct(Dict2Vec())
    team.setup(spaces.Tuple([own.observation_space] * 2), spaces.Tuple([own.action_space] * 2))
    assert (team.observation_space.shape, team.action_space.shape) == ((186,), (6,))


def test_the_chaser_beats_random_play():
    world = make_world("soccer/2v2", num_worlds=8, seed=13)
    timestep = world.reset()
    home, away = make_policy(world, "chaser"), make_policy(world, "random")
    home.start(world), away.start(world)
    for _ in range(500):
        action = home.act(timestep).copy()
        action[:, 2:] = away.act(timestep)[:, 2:]
        timestep = world.step(action)
    outcome = world.metrics["outcome"][:, 0]
    assert np.nansum(outcome) >= 4


@pytest.mark.parametrize("versions", [[], ["4.0.0"]])
def test_a_missing_engine_or_another_version_is_one_line_with_the_cure(monkeypatch, versions):
    assert engine.missing() == ""
    assert f"mujoco=={engine.VERSION}" in (Path(__file__).parents[2] / "pyproject.toml").read_text()
    found = [SimpleNamespace(version=version) for version in versions]
    monkeypatch.setattr(engine, "distributions", lambda name: found)
    assert engine.missing() == engine.CURE
    with pytest.raises(MissingExtraError, match=r'pip install "interplay\[soccer\]"') as caught:
        make_world("soccer/2v2")
    assert isinstance(caught.value, ImportError)
    assert isinstance(caught.value, UserError)


@pytest.mark.parametrize(
    "options", [{"players": 0}, {"players": 12}, {"decision": 0.033}, {"width": (30, 25)}]
)
def test_settings_out_of_range_are_refused(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        SoccerSettings(**options)


@pytest.mark.parametrize("speed", [np.nan, 1e11])
def test_a_match_that_mujoco_begins_anew_is_refused_and_no_other(tmp_path, monkeypatch, speed):
    """MuJoCo puts such a match back to the model's start and goes on; it also writes a log where it runs."""
    monkeypatch.chdir(tmp_path)
    world = make_world("soccer/2v2", num_worlds=3, seed=1)
    world.reset()
    world.state.qvel[1, 0] = speed
    with pytest.raises(UserError, match="soccer: world 1: MuJoCo found numbers"):
        world.step(still(world))
    world.reset()
    before = world.state.qpos.copy()
    world.step(still(world))
    assert np.isfinite(world.state.qpos).all()
    assert not np.array_equal(before, world.state.qpos)
