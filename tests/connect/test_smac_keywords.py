"""Keywords of SMAC's constructor: each is honoured, or refused in one line that names it (specification 5.1 to 5.5)."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import interplay
from interplay.connect.smac import EPyMARLEnv, MAPPOEnv, StarCraft2Env
from interplay.core.errors import UserError
from tests.connect.smac_loops import PYMARL

FACES = (StarCraft2Env, EPyMARLEnv, MAPPOEnv)
# What SMACv2's constructor takes besides.
SMACV2 = {
    "obs_own_pos": False,
    "obs_starcraft": True,
    "conic_fov": False,
    "num_fov_actions": 12,
    "use_unit_ranges": False,
    "min_attack_range": 2,
    "kill_unit_step_mul": 2,
    "fully_observable": False,
    "capability_config": {},
    "prob_obs_enemy": 1.0,
    "action_mask": True,
}
DEFAULTS = {**PYMARL, **SMACV2, "window_size_x": 1920, "window_size_y": 1200}
# Another value of a keyword -> the world's setting that it is.
HONOURED = {
    "obs_last_action": (True, "see_last_action", True),
    "obs_pathing_grid": (True, "see_pathing", True),
    "obs_terrain_height": (True, "see_heights", True),
    "obs_timestep_number": (True, "see_time", True),
    "obs_own_pos": (True, "see_position", True),
    "use_unit_ranges": (True, "unit_ranges", True),
    "state_last_action": (False, "state_last_action", False),
    "state_timestep_number": (True, "state_time", True),
    "reward_sparse": (True, "reward", "smac_sparse"),
    "reward_only_positive": (False, "negatives", True),
    "reward_defeat": (-7, "defeat", 7.0),
    "conic_fov": (True, "look_directions", 12),
    "prob_obs_enemy": (0.25, "notice_chance", 0.25),
    "action_mask": (False, "attack_anyone", True),
}
# Those that the face itself honours: tests of their own are in test_smac.py.
ITS_OWN = {
    "continuing_episode",
    "map_name",
    "num_fov_actions",
    "obs_all_health",
    "obs_instead_of_state",
    "obs_own_health",
    "replay_dir",
    "replay_prefix",
    "reward_scale",
    "reward_scale_rate",
    "seed",
}
REFUSED = {
    "step_mul": 4,
    "move_amount": 3,
    "difficulty": "A",
    "game_version": "4.6",
    "reward_death_value": 5,
    "reward_win": 100,
    "reward_negative_scale": 1.0,
    "window_size_x": 640,
    "window_size_y": 480,
    "heuristic_ai": True,
    "heuristic_rest": True,
    "debug": True,
    "obs_starcraft": False,
    "min_attack_range": 3,
    "kill_unit_step_mul": 1,
    "fully_observable": True,
    "capability_config": {"n_units": 5},
}


@pytest.mark.parametrize("face", FACES)
def test_all_of_smacs_keywords_are_taken(face):
    given = dict(DEFAULTS)
    env = face(**given)
    assert env.world.settings == face("3i2z").world.settings
    assert given == DEFAULTS
    assert env.seed() == PYMARL["seed"]


def test_each_keyword_is_honoured_or_refused():
    assert HONOURED.keys() | ITS_OWN | REFUSED.keys() == DEFAULTS.keys()
    assert len(HONOURED) + len(ITS_OWN) + len(REFUSED) == len(DEFAULTS)


@pytest.mark.parametrize("name", HONOURED)
def test_keywords_that_are_settings(name):
    value, setting, meant = HONOURED[name]
    plain, asked = StarCraft2Env("2s3z").world.settings, StarCraft2Env("2s3z", **{name: value}).world.settings
    assert getattr(asked, setting) == meant
    assert getattr(plain, setting) != meant
    assert asked == plain.model_copy(update={setting: meant})


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("name", REFUSED)
def test_keywords_that_nobody_honours(face, name):
    with pytest.raises(UserError) as caught:
        face("3m", **{name: REFUSED[name]})
    line = str(caught.value)
    assert line.startswith(f"battle/3m: {name} = {REFUSED[name]!r}; ")
    assert "\n" not in line


def test_the_number_of_directions_counts_with_the_cone_alone():
    assert StarCraft2Env("3m", num_fov_actions=6).world.settings.look_directions == 0
    assert StarCraft2Env("3m", num_fov_actions=6, conic_fov=True).world.settings.look_directions == 6
    assert StarCraft2Env("3m", look_directions=6).n_actions == 6 + 6 + 3


def test_settings_of_the_world_are_taken_beside_them():
    env = StarCraft2Env("3m", red="2 marauder", blue="3 zealot", randomize="positions", jitter=True)
    assert (env.n_agents, env.n_enemies) == (2, 3)
    assert env.world.settings.jitter
    assert StarCraft2Env("battle/3M".lower()).world.id == "battle/3m"
    plain = interplay.make_world("battle/2s3z").settings
    assert StarCraft2Env("2s3z").world.settings == plain


def arguments(**changed):
    """What the on-policy code's parser makes of no switches but the two that ask for SMAC's own state."""
    switches = (
        "local_obs",
        "move_state",
        "visible_state",
        "distance_state",
        "xy_state",
        "enemy_action_state",
    )
    given = {f"add_{name}": False for name in (*switches, "agent_id")}
    given |= {"add_center_xy": True, "use_state_agent": False, "use_mustalive": True}
    given |= {"use_stacked_frames": False, "stacked_frames": 1, "use_obs_instead_of_state": False}
    return SimpleNamespace(map_name="2s3z", **{**given, **changed})


def test_mappos_parsed_arguments():
    env = MAPPOEnv(arguments(), seed=1)
    assert env.world.id == "battle/2s3z"
    assert env.share_observation_space == MAPPOEnv("2s3z").share_observation_space
    seen = MAPPOEnv(arguments(use_obs_instead_of_state=True))
    assert seen.share_observation_space[0] == [400, [5, 80]]
    env.seed(7)
    env.reset()
    again = MAPPOEnv("2s3z", seed=7)
    again.reset()
    assert np.array_equal(env.world.hash(), again.world.hash())
