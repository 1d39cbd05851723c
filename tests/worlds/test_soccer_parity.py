"""Soccer against dm_control 1.0.50: equal compiled models, equal matches, equal observations (specification 8.4)."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from interplay.registry import make_policy, make_world
from interplay.worlds.soccer.config import GOAL_DEPTH, SoccerSettings
from interplay.worlds.soccer.engine import load_mujoco
from interplay.worlds.soccer.layout import observation
from interplay.worlds.soccer.model import FIRST_POST, FIXED, build_mjcf, furnish

pytest.importorskip("dm_control", reason="dm_control needs labmaze, which has no wheel for Python 3.13")

OBSERVED = (
    1e-7  # share of a number, at least of 10: rounding to float32; speeds in turning frames reach 300 m/s
)
FELT = 2e-4  # m/s^2, accelerometers reach 1,000; 4e-5 was measured
SPEED_TO_BALL = 3e-3  # m/s: the library takes the velocity at the player's centre of mass; 4e-4 was measured
OWN_TOLERANCE = {
    "sensors_accelerometer": FELT,
    "stats_vel_to_ball": SPEED_TO_BALL,
    "stats_closest_vel_to_ball": SPEED_TO_BALL,
}

FIELDS = {
    "geom": "type contype conaffinity condim priority friction solref solimp pos quat margin gap solmix",
    "body": "mass inertia pos quat iquat invweight0",
    "jnt": "type axis pos range stiffness solref solimp margin",
    "dof": "damping armature invweight0 M0 frictionloss",
    "actuator": "gear ctrlrange gainprm biasprm",
}
OPTIONS = "timestep integrator cone solver iterations tolerance ls_iterations impratio gravity density viscosity noslip_iterations noslip_tolerance ccd_iterations"


def library(side: int, seed: int, decision: float = 0.05, contacts: bool = False) -> Any:
    """dm_control's environment, reset."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from dm_control.locomotion import soccer

        env = soccer.load(
            side, random_state=np.random.RandomState(seed), disable_walker_contacts=not contacts
        )
        env.task.set_timesteps(decision, 0.005)
        env.reset()
    return env


@pytest.mark.parametrize(("side", "contacts"), [(1, True), (2, False), (3, False)])
def test_the_compiled_model_is_the_librarys(side, contacts):
    env = library(side, seed=side, contacts=contacts)
    theirs = env.physics.model.ptr
    ours = load_mujoco().MjModel.from_xml_string(build_mjcf(side, contacts, env.task.arena.size))
    rows = {
        "geom": np.flatnonzero(theirs.geom_contype | theirs.geom_conaffinity),
        "body": [n for n in range(theirs.nbody) if theirs.body(n).name != "field/"],
    }
    for kind, names in FIELDS.items():
        for name in names.split():
            expected = getattr(theirs, f"{kind}_{name}")[rows.get(kind, slice(None))]
            assert np.array_equal(getattr(ours, f"{kind}_{name}"), expected), f"{kind}_{name}"
    for name in OPTIONS.split():
        assert np.array_equal(getattr(ours.opt, name), getattr(theirs.opt, name)), name
    assert np.array_equal(ours.qpos_spring, theirs.qpos_spring)
    assert ours.stat.meaninertia == theirs.stat.meaninertia
    # The ground's size is for pictures alone, a plane is infinite.
    assert np.abs(ours.geom_size[1:] - theirs.geom_size[rows["geom"]][1:]).max() < 1e-14
    assert np.abs(ours.body_ipos - theirs.body_ipos[rows["body"]]).max() < 1e-15


def test_moved_walls_and_goals_are_those_of_a_model_compiled_for_their_pitch():
    sizes = np.array([[32.0, 24.0], [41.7, 35.2], [48.0, 36.0]])
    furniture = furnish(sizes)
    for w, size in enumerate(sizes):
        model = load_mujoco().MjModel.from_xml_string(build_mjcf(2, False, tuple(size)))
        assert np.array_equal(furniture.place[w], model.geom_pos[:FIXED])
        assert np.array_equal(furniture.radius[w], model.geom_size[FIRST_POST:FIXED, 0])
        assert np.abs(furniture.half[w] - model.geom_size[FIRST_POST:FIXED, 1]).max() < 1e-14


def copy_match(world: Any, env: Any) -> Any:
    """Sets the world to the state of the library's environment; returns its time step."""
    state = world.state
    state.size[0] = env.task.arena.size
    state.qpos[0], state.qvel[0] = env.physics.data.qpos, env.physics.data.qvel
    state.warmstart[0] = env.physics.data.ptr.qacc_warmstart
    return world.refresh()


def differences(observed: list[dict[str, Any]], world: Any) -> dict[str, float]:
    """Key of the library -> the largest difference of any player: absolute where a key has its own tolerance, else a share."""
    settings = world.settings.model_copy(update={"layout": "dm_control"})
    fields = observation(world.state, settings, world._seen, world._now)
    apart = {}
    for key in observed[0]:
        theirs = np.array([np.ravel(own[key]).astype(float) for own in observed])
        size = 1.0 if key in OWN_TOLERANCE else np.maximum(np.abs(theirs), 10.0)
        apart[key] = float((np.abs(theirs - fields[key][0]) / size).max())
    return apart


def check_step(theirs: Any, ours: Any, env: Any, world: Any) -> None:
    """Compares the results of one step in both."""
    assert np.array_equal(world.state.qpos[0], env.physics.data.qpos)
    assert np.array_equal(world.state.qvel[0], env.physics.data.qvel)
    for key, apart in differences(theirs.observation, world).items():
        assert apart < OWN_TOLERANCE.get(key, OBSERVED), key
    assert np.array_equal(ours.reward[0], np.ravel(theirs.reward))
    assert bool(ours.terminated[0, 0]) == bool(theirs.last() and theirs.discount == 0)


def test_matches_are_the_librarys_over_1000_steps():
    """Free running: positions and velocities keep equal bits from every start and every throw-in, which draws its place, to the next."""
    env, world = library(2, seed=11), make_world("soccer/2v2")
    chaser, rng = make_policy(world, "chaser"), np.random.default_rng(0)
    chaser.start(world)
    world.reset()
    ours, compared = copy_match(world, env), 0
    while compared < 1_000:
        action = chaser.act(ours)
        action[:, 0] = rng.uniform(-1, 1, 3)
        action[..., 2] = rng.uniform(-1, 1, (1, 4)) > 0.8
        thrown, before = bool(env.task.arena.detected_off_court()), int(world.state.throw_ins[0])
        theirs, ours = env.step(list(action[0].astype(float))), world.step(action)
        assert thrown == (world.state.throw_ins[0] > before)
        if not thrown:
            check_step(theirs, ours, env, world)
            compared += 1
        if theirs.last():
            env.reset()
            world.reset()
        if theirs.last() or thrown:
            ours = copy_match(world, env)


def test_shots_at_both_goals_end_as_the_librarys():
    """Balls shot from 6 m at places in and beside a goal: the same goals, rewards and ends in both."""
    env, world = library(2, seed=13), make_world("soccer/2v2")
    rng, results = np.random.default_rng(0), []
    for shot in range(16):
        env.reset()
        world.reset()
        end, (length, width) = 1 - 2 * (shot % 2), env.task.arena.size
        with env.physics.reset_context():
            env.physics.data.qpos[:3] = end * (length - 2 * GOAL_DEPTH - 6), 0, 0.5
            env.physics.data.qvel[:6] = end * 20, rng.uniform(-2, 2) * width, rng.uniform(0, 15), 0, 0, 0
        copy_match(world, env)
        for _ in range(12):
            action = rng.uniform(-1, 1, (1, 4, 3)).astype(np.float32)
            theirs = env.step(list(action[0].astype(float)))
            check_step(theirs, world.step(action), env, world)
            if theirs.last() or env.task.arena.detected_off_court():
                break
        results.append(int(world.state.result[0]))
    assert min(results.count(end) for end in (-1, 0, 1)) > 2, results


@pytest.mark.parametrize(("side", "contacts"), [(1, True), (3, False)])
def test_other_sides_contacts_and_decisions_are_the_librarys(side, contacts):
    env = library(side, 12, 0.025, contacts)
    world = make_world("soccer/2v2", players=side, decision=0.025, contacts=contacts)
    world.reset()
    copy_match(world, env)
    rng = np.random.default_rng(0)
    for step in range(120):
        action = rng.uniform(-1, 1, (1, 2 * side, 3)).astype(np.float32)
        action[..., 0] -= 0.8 * (step % 40 < 30)
        action = np.clip(action, -1, 1)
        check_step(env.step(list(action[0].astype(float))), world.step(action), env, world)


def test_the_vector_has_the_librarys_numbers_without_statistics_and_end_effectors_of_others():
    keys = make_world("soccer/2v2", seed=4, layout="dm_control")
    vector = make_world("soccer/2v2", seed=4)
    fields, numbers = keys.reset().observation, vector.reset().observation["numbers"]
    action = np.random.default_rng(1).uniform(-1, 1, (1, 4, 3)).astype(np.float32)
    for _ in range(3):
        fields, numbers = keys.step(action).observation, vector.step(action).observation["numbers"]
    assert numbers.shape == (1, 4, 93)
    assert sum(space.shape[0] for space in keys.observation_space.spaces.values()) == 119
    kept = [
        *("body_height", "end_effectors_pos", "joints_pos", "joints_vel", "prev_action"),
        *("sensors_accelerometer", "sensors_gyro", "sensors_velocimeter", "world_zaxis"),
        *("ball_ego_position", "ball_ego_linear_velocity", "ball_ego_angular_velocity"),
        *(
            f"{other}_ego_{part}"
            for other in ("teammate_0", "opponent_0", "opponent_1")
            for part in ("linear_velocity", "position", "orientation")
        ),
        *("team_goal_back_right", "team_goal_mid", "team_goal_front_left", "field_front_left"),
        *("opponent_goal_back_left", "opponent_goal_mid", "opponent_goal_front_right", "field_back_right"),
    ]
    assert np.array_equal(np.concatenate([fields[key] for key in kept], axis=-1), numbers)


def test_settings_count_as_the_specification_does():
    assert SoccerSettings().steps == 900
    assert SoccerSettings(decision=0.025).steps == 1_800
    assert (SoccerSettings().substeps, SoccerSettings(decision=0.025).substeps) == (10, 5)
