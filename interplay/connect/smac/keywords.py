"""SMAC's constructor keywords: settings of the battle, of the interface, or refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from interplay.core.errors import UserError
from interplay.core.loading import did_you_mean, load
from interplay.core.settings import Settings, build
from interplay.registry import find_world, list_worlds
from interplay.worlds.battle.world import BattleWorld

LIMITS = {"battle/5i": 120, "battle/3i2z": 120, "battle/mab": 200}  # decisions (specification 5.4)

# SMAC's name -> that of a battle's setting, a switch; both are taken.
_SAME = {
    "obs_last_action": "see_last_action",
    "obs_pathing_grid": "see_pathing",
    "obs_terrain_height": "see_heights",
    "obs_timestep_number": "see_time",
    "obs_own_pos": "see_position",
    "use_unit_ranges": "unit_ranges",
    "state_timestep_number": "state_time",
}
# A battle's setting -> SMAC's name, which alone is taken.
_SMACS = {"reward": "reward_sparse", "negatives": "reward_only_positive", "defeat": "reward_defeat"}

_NO_GAME = "no game runs here; leave it out"
_NO_AI = 'enemies are played by a policy; name it, enemy="focus_weakest"'
_FIXED = "it is fixed here; leave it out"
_NOT_OFFERED = "it is not offered here; leave it out"
# Keyword -> its only value, and the cure for another one.
_ONLY: dict[str, tuple[Any, str]] = {
    "step_mul": (8, "a decision is 8 ticks; leave it out"),
    "move_amount": (2, "a move leads 2 units; leave it out"),
    "difficulty": ("7", _NO_AI),
    "game_version": (None, "units are those of 4.10; leave it out"),
    "reward_death_value": (10, _FIXED),
    "reward_win": (200, _FIXED),
    "reward_negative_scale": (0.5, _FIXED),
    "window_size_x": (1920, _NO_GAME),
    "window_size_y": (1200, _NO_GAME),
    "heuristic_ai": (False, "scripted sides are policies of the world; let one of them choose"),
    "heuristic_rest": (False, "scripted sides are policies of the world; let one of them choose"),
    "debug": (False, "read what you need from env.world; leave it out"),
    "obs_starcraft": (True, _NOT_OFFERED),
    "min_attack_range": (2, _FIXED),
    "kill_unit_step_mul": (2, _NO_GAME),
    "fully_observable": (False, "let a policy of your own read get_state(); leave it out"),
    "capability_config": ({}, 'name the units, red="2 stalker, 3 zealot", drawn=True, randomize="positions"'),
    "see_field": (False, "observations are SMAC's vectors; leave it out"),
    "num_worlds": (1, "a face is one battle; use interplay.make_world for a batch"),
}


class FaceSettings(Settings):
    """The interface's own settings, by SMAC's names."""

    continuing_episode: bool = False  # infos mark a battle cut by the limit
    obs_all_health: bool = True  # observe HP and shields of others
    obs_own_health: bool = True  # observe the unit's own; read only without obs_all_health
    obs_instead_of_state: bool = False  # the state is all observations, one after another
    reward_sparse: bool = False
    reward_only_positive: bool = True
    reward_defeat: Annotated[float, Field(ge=-10_000, le=0)] = 0.0  # points
    reward_scale: bool = True
    reward_scale_rate: Annotated[float, Field(gt=0)] = 20.0  # what a clean win pays
    conic_fov: bool = False  # units look into one direction
    num_fov_actions: Annotated[int, Field(ge=2, le=64)] = (
        12  # directions, each a cone of an equal share of the circle
    )
    prob_obs_enemy: Annotated[float, Field(ge=0, le=1)] = (
        1.0  # chance to see an enemy that another unit saw first
    )
    action_mask: bool = True  # attacks out of reach are masked
    replay_dir: str = ""  # the folder of replays; empty: where the program runs
    replay_prefix: str = ""  # their names begin with it; empty: with the scenario's name


def read_keywords(map_name: str, keywords: Mapping[str, Any]) -> tuple[str, FaceSettings, dict[str, Any]]:
    """Splits keywords into the world's id, the interface's settings, and the world's settings.

    Args:
        map_name: a scenario, "3m", or the id of a world.
        keywords: of SMAC's constructor, or settings of the world.

    Example:
        >>> read_keywords("3I2Z", {"obs_last_action": True})[2]
        {'limit': 120, 'reward': 'smac', 'negatives': False, 'defeat': 0.0, 'see_last_action': True}
        >>> read_keywords("3m", {"difficulty": "A"})
        Traceback (most recent call last):
        interplay.core.errors.UserError: battle/3m: difficulty = 'A'; enemies are played by a policy; name it, enemy="focus_weakest"
    """
    world_id = _find_id(map_name)
    own = {name: value for name, value in keywords.items() if name in FaceSettings.model_fields}
    face = build(FaceSettings, own, world_id)
    options: dict[str, Any] = {"limit": LIMITS[world_id]} if world_id in LIMITS else {}
    options["reward"] = "smac_sparse" if face.reward_sparse else "smac"
    if not face.reward_sparse:  # SMAC ignores the others with it
        options["negatives"] = not face.reward_only_positive
        options["defeat"] = -face.reward_defeat + 0.0  # no negative zero
    options |= _smacv2(world_id, face, keywords)
    for name, value in keywords.items():
        if name in own:
            continue
        if name in _ONLY:
            only, cure = _ONLY[name]
            if value != only:
                raise UserError(f"{world_id}: {name} = {value!r}; {cure}")
        elif name in _SMACS:
            raise UserError(f"{world_id}: {name} = {value!r}; under SMAC's interface it is {_SMACS[name]}")
        elif name in _SAME and not isinstance(value, bool):  # the world would name its own setting
            raise UserError(f"{world_id}: {name} = {value!r} is not allowed; give true or false")
        elif _SAME.get(name) in keywords:
            raise UserError(f"{world_id}: {name} and {_SAME[name]} are the same; pass one of them")
        else:
            options[_SAME.get(name, name)] = value
    return world_id, face, options


def _smacv2(world_id: str, face: FaceSettings, keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of the world by SMACv2's names, those that were passed."""
    meant: dict[str, tuple[str, Any]] = {
        "conic_fov": ("look_directions", face.num_fov_actions if face.conic_fov else 0),
        "prob_obs_enemy": ("notice_chance", face.prob_obs_enemy),
        "action_mask": ("attack_anyone", not face.action_mask),
    }
    for name, (setting, _) in meant.items():
        if name in keywords and setting in keywords:
            raise UserError(f"{world_id}: {name} and {setting} are the same; pass one of them")
    return dict(meant[name] for name in meant if name in keywords)


def _find_id(map_name: Any) -> str:
    if not isinstance(map_name, str):
        raise UserError(f'map_name = {map_name!r}; name a scenario, such as "3m"')
    if ":" in map_name:
        return map_name
    if "/" in map_name:
        make = load(find_world(map_name).make)
        if not (isinstance(make, type) and issubclass(make, BattleWorld)):
            raise UserError(f'{map_name}: no battle; name one of battle/..., such as "3m"')
        return map_name
    known = [spec.id.partition("/")[2] for spec in list_worlds() if spec.id.startswith("battle/")]
    name = map_name.lower()
    if name not in known:
        near = did_you_mean(name, known, f"there are {', '.join(known)}.")
        raise UserError(
            f'map_name = {map_name!r}: no such scenario; {near} Or name units: "3m", red="2 marauder"'
        )
    return f"battle/{name}"
