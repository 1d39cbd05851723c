"""Wrong options of worlds are refused in one line that names them."""

from __future__ import annotations

from typing import Any

import pytest

from interplay.registry import make_world
from tests.refusals import case, refuses


def each(world_id: str, *pairs: tuple[str, Any]) -> list[Any]:
    """A case for each option and value, which is named by the option's last part."""
    return [
        case(rf"\b{name.rpartition('.')[2]}", make_world, world_id, **{name: value}) for name, value in pairs
    ]


def of(key: str, world_id: str, **options: Any) -> Any:
    return case(key, make_world, world_id, **options)


def task(key: str, *texts: str) -> list[Any]:
    return [of(key, "mmo/forage", task=text) for text in texts]


NAN, DUEL = float("nan"), "survival/2v2-all-high"
BOXES = {"box_width": (1.0, 0.0), "box_height": (1.0, 0.0), "box_least": 0.2, "boxes_dynamic": True}
BOXES |= {"box_health": 9, "ownership": False}
REFUSED = [
    *each(
        "dilemma/fixed", ("temptation", 3), ("reward", 5.5), ("punishment", 3), ("sucker", 1.0), ("sucker", 7)
    ),
    of("rows", "gridworld/broadcast", rows=2, cols=3),
    *each("gridworld/broadcast", ("done_tolerance", 0), ("talkers", 3)),
    of("resources", "gridworld/foragers", resources=17, rows=4, cols=4),
    of("hunters", "gridworld/foragers", hunters=17, resources=3, rows=4, cols=4),
    *each("gridworld/foragers", ("forager", 3), ("sight", "sonar")),
    *each("gridworld/maze", ("view_range", 0)),
    *each("gridworld/multi-maze", ("num_walls", 26), ("num_navigators", 26)),
    *each("gridworld/pacman", ("view_range", 0), ("time_limit", 0), ("learning_baddie", True)),
    *each("gridworld/reach-the-target", ("num_barriers", 49), ("num_runners", 5)),
    *each("gridworld/traffic-corridor", ("cols", 2)),
    of("num_agents = 3 .*teams = 4", "gridworld/team-battle", num_agents=3),
    of("num_agents = 65 .* 64", "gridworld/team-battle", start="anywhere", num_agents=65),
    *each("gridworld/team-battle", ("strength", 2)),
    of("strenght; did you mean strength", "gridworld/team-battle", strenght=1),
    *each("navigation/proxy-soft", ("configuration", "hard")),
    of("players", "pommerman/ffa", players=2, teams=True),
    *each("pommerman/ffa", ("radio", True), ("rigid", 35), ("wood", 10), ("rigid", 70), ("items", 37)),
    *each("pommerman/ffa", ("collapse", 798), ("size", 7), ("players", 3), ("reward_weights", [1.0])),
    *each("pong/2p", ("ball_speed", 0.0), ("ball_speed", 17.0), ("rounds", 100), ("follow", "both")),
    *each("pong/2p", ("bat_speeds", (16.0,)), ("bat_speeds", (16.0, 0.0)), ("see", "nothing"), ("frames", 0)),
    of("num_agents", "simulation/multi-corridor", num_agents=5, end=4),
    *each("mmo/forage", ("cap", 100), ("npop", 7), ("interior", 8), ("prefill", 129), ("slots", 70_000)),
    *each("mmo/forage", ("vision", 10), ("border", 6), ("reward_new_tile", 1.0), ("feature_tiles", 1e-12)),
    *each("mmo/forage", ("slot", 3), ("max_tick", 3), ("reward_task", 2.0), ("regrow", NAN)),
    of('respawn = "nobody"', "mmo/forage", respawn="nobody"),
    of(r"damage\.2", "mmo/forage", damage=[1, 2]),
    of("npop = 8 .* 4", "mmo/forage", cap=4, prefill=1),
    of(r"quotas = \[1, 2\]", "mmo/forage", quotas=[1, 2], npop=2),
    of("cap_draw", "mmo/forage", quotas=[64, 64], npop=2),
    of("prefill = 0", "mmo/forage", prefill=0, respawn="none"),
    of("prefill = 53", "mmo/forage", interior=14, one_per_tile=True, prefill=53),
    of(
        "border = 7", "mmo/forage", border=7, lava="next_update"
    ),  # an agent on lava would see beyond the array
    of("map_seed = 3 .* maps", "mmo/forage", map_seed=3),
    *(
        of("compact .* 128; ", "mmo/forage", compact=True, **{store: 128})
        for store in ("food", "water", "health")
    ),
    *each("mmo/forage", ("damage", (9, 2, 1)), ("reach", (1, 2, 4)), ("freeze", 4), ("steal_fraction", 0.5)),
    *each("mmo/forage", ("steal", "conserved"), ("immunity", "off"), ("immunity_ticks", 3)),
    *each("mmo/forage", ("reward_kill", 1.0), ("friendly_fire", False), ("retest_range", True)),
    of("elder_age .* immunity", "mmo/combat", elder_age=9),
    *task("task: fly", "fly(3)"),
    *task('task: "eat', "eat", "eat(n=3)", "eat(3) + drink(3)"),
    *task("task: eat needs", "eat()", "eat(0)"),
    *task("task: stand needs", "stand(3)"),
    *task("task: centre", "centre(3)"),
    *task("task = ", "eat(3) and", "not " * 200 + "eat(1)"),
    *task("task: food.* 32", "food(33)"),
    *task("task: apart.* 7", "apart(8)"),
    *task("is no condition", "__import__('os').getcwd()"),
    *each("werewolf/9", ("n_players", 2), ("n_players", 257), ("n_players", 4), ("n_players", 9.5)),
    *each("werewolf/9", ("wolves", 0), ("wolves", 5), ("wolves", "some"), ("ballot_len", 0), ("quota", 0.5)),
    *each("werewolf/9", ("rule", "threshold"), ("rule", "most"), ("flexibility", 1.0), ("max_days", 0)),
    *each("werewolf/9", ("arm", "signals_off"), ("roles.jester", 1), ("roles.seer", 7), ("obs.history", 65)),
    *each("werewolf/9", ("penalties.deaths", -1), ("signal_lenght", 1)),
    of("vote_depth", "werewolf/9", vote_depth=3, ballot_len=2),
    of("signal_range", "werewolf/9", signal_range=0, signal_length=2),
    of("quota", "werewolf/9", quota=1.5, rule="threshold"),
    of("max_steps", DUEL, zone="off"),
    of("max_steps", DUEL, zone_damage=0),
    of("melee_cooldown .* melee", DUEL, melee_cooldown=9),
    of("immunity .* with melee = off", DUEL, melee="off", immunity=9),
    of("box_health .* with melee = off", DUEL, melee="off", box_health=9),
    of("ownership .* with melee = off", DUEL, melee="off", ownership=False),
    of("heal_amount .* with inventory = off", DUEL, inventory="off", heal_amount=9),
    of("pickup_radius .* with inventory = off", DUEL, inventory="off", pickup_radius=1.0),
    *(
        of(f"{name} .* with boxes = 0", "survival/1v1-heals-low", **{name: value})
        for name, value in BOXES.items()
    ),
    of("team_reward .* with teams = false", "survival/1v1-heals-low", team_reward="each"),
    of("health_cap = 99 .* 100", DUEL, health_cap=99),
    of("damping = 61 ", DUEL, damping=61.0),
    of("drop_action .* with inventory = off", DUEL, inventory="off", drop_action=True),
    of("melee_range .* with melee = off", DUEL, melee="off", melee_range=3.0),
    of("zone_damage .* with zone = off", DUEL, zone="off", max_steps=9, zone_damage=2),
    of("view_depth .* with cameras = off", DUEL, cameras="off", view_depth=5.0),
    *each(DUEL, ("zone", "no"), ("teams", [4]), ("teams", [0, 4]), ("teams", 3)),
    of("agents = 6", DUEL, teams=[2, 1, 3]),
    of(r"teams = \[3, 2\]", DUEL, agents=5),
    of("mariner", "battle/3m", red="3 mariner"),
    of("ghost", "battle/3m", red="3 ghost"),
    *each("battle/3m", ("red", ""), ("red", "0 marine"), ("look_directions", 1)),
    of("65 units", "battle/3m", red="65 marine"),
    of("marine twice", "battle/3m", blue="1 marine, 1 marine"),
    of("135 of ground", "battle/3m", red="60 immortal", width=12.0, height=12.0),
    of("drawn = true", "battle/3m", drawn=True, blue="3 marine"),
]


@pytest.mark.parametrize(("call", "key", "error"), REFUSED)
def test_wrong_options_are_refused(call, key, error):
    refuses(call, key, error)
