"""The faces of SMAC: what they tell, and the traps of code that was written for SMAC (specification 5.1 to 5.5)."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from interplay.connect.smac import EPyMARLEnv, MAPPOEnv, StarCraft2Env
from interplay.core.errors import UserError
from interplay.core.policy import RandomPolicy
from interplay.registry import make_policy
from interplay.worlds.battle.units import UNITS

FACES = {"pymarl": StarCraft2Env, "epymarl": EPyMARLEnv, "mappo": MAPPOEnv}
NO_OP, STOP, EAST = 0, 1, 4
faces = pytest.mark.parametrize("face", FACES.values(), ids=FACES)


def drawn(env, rng):
    legal = np.array(env.get_avail_actions())
    return (rng.random(legal.shape) * legal).argmax(axis=1)


def waiting(env):
    """Everybody stands; the dead do nothing."""
    return [STOP if row[STOP] else NO_OP for row in env.get_avail_actions()]


def attacking(env):
    """The first enemy in reach, else ahead."""
    actions = []
    for row in env.get_avail_actions():
        targets = np.flatnonzero(row[6:])
        ahead = EAST if row[EAST] else STOP
        actions.append(NO_OP if row[NO_OP] else 6 + int(targets[0]) if len(targets) else ahead)
    return actions


def outcome(env, told):
    """(reward, over, cut) of a step of any face."""
    if isinstance(env, EPyMARLEnv):
        return told[1], told[2] or told[3], told[3]
    if isinstance(env, MAPPOEnv):
        return told[2][0][0], bool(told[3].all()), told[4][0]["bad_transition"]
    return told[0], told[1], None


def play(env, choose):
    """Plays to the end: rewards, and the last step."""
    env.reset()
    rewards, over, told = [], False, None
    while not over:
        told = env.step(choose(env))
        reward, over, _ = outcome(env, told)
        rewards.append(reward)
    return rewards, told


def hurt(env, side, health=1.0, but=()):
    """Leaves a side's units hardly a point; those in `but` are spared."""
    team = env.world.teams[side]
    for k, slot in enumerate(team):
        if k not in but:
            env.world.state.unit["health"][0, slot] = health
            env.world.state.unit["shield"][0, slot] = 0.0
    env.world.refresh()


def close_in(env):
    """All units in the middle of the field, in two columns 3 apart, so that marines are in reach."""
    unit = env.world.state.unit[0]
    for team, x in zip(env.world.teams, (-1.5, 1.5), strict=True):
        for k, slot in enumerate(team):
            unit["x"][slot], unit["y"][slot] = x, k - 1.0
    env.world.refresh()


# -- what is told ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scenario", "sizes"),
    [("5I", (60, 100, 11)), ("3I2Z", (80, 120, 11)), ("2s3z", (80, 120, 11)), ("MAB", (500, 1200, 31))],
)
def test_sizes_are_those_of_the_specification(scenario, sizes):
    env = StarCraft2Env(scenario, seed=0)
    info = env.get_env_info()
    assert (info["obs_shape"], info["state_shape"], info["n_actions"]) == sizes
    assert (info["n_agents"], info["episode_limit"]) == (env.n_agents, env.episode_limit)
    assert (env.get_obs_size(), env.get_state_size(), env.get_total_actions()) == sizes
    assert env.n_actions == 6 + env.n_enemies
    kinds = len(set(env.world.settings.types))
    types = [f"type_{k}" for k in range(kinds)] if kinds > 1 else []
    shield = [] if scenario == "MAB" else ["shield"]
    assert info["agent_features"] == ["health", "energy/cooldown", "rel_x", "rel_y", *shield, *types]
    assert info["enemy_features"] == ["health", "rel_x", "rel_y", *shield, *types]


def test_limits_under_this_interface():
    assert {name: StarCraft2Env(name, seed=0).episode_limit for name in ("5i", "3i2z", "mab", "2s3z")} == {
        "5i": 120,
        "3i2z": 120,
        "mab": 200,
        "2s3z": 120,
    }
    assert StarCraft2Env("mab", seed=0, limit=30).episode_limit == 30


def parts_of(env, agent, all_health=True, own_health=True, last_action=False, **further):
    """An observation by the letter of specification 5.2: moves, enemies, allies, own, as lists of rows.

    With SMAC's points around (`get_surrounding_points`), and SMACv2's place, from the corner, and direction before the type.
    """
    world, n = env.world, env.n_agents
    unit, sides = world.state.unit[0], world.settings.sides
    types, shields = world.settings.types, ["protoss" in UNITS[side[0]].attributes for side in sides]
    me = unit[agent]

    def kind(side, k):
        return [float(sides[side][k] == name) for name in types] if len(types) > 1 else []

    def health(side, k, told):
        if not told:
            return []
        body, it = UNITS[sides[side][k]], unit[side * n + k]
        share = [it["shield"] / body.shield if body.shield else 0.0] if shields[side] else []
        return [it["health"] / body.health, *share]

    looks, shots = world.settings.look_directions, len(world.settings.sides[1])
    turn = 2 * np.pi * world.state.look[0, agent] / looks if looks else 0.0
    # SMACv2 numbers looks before attacks; here red has no more enemies than blue has.
    numbers = [*range(6), *range(6 + shots, 6 + shots + looks), *range(6, 6 + shots)]

    def faced(dx, dy):
        off = np.arctan2(dy, dx) - turn
        return not looks or abs((off + np.pi) % (2 * np.pi) - np.pi) <= np.pi / looks

    def noticed(side, k):
        return side == 0 or world.settings.notice_chance == 1 or world.state.known[0, agent, k]

    def seen(side, k, first):
        other = unit[side * n + k]
        dx, dy = other["x"] - me["x"], other["y"] - me["y"]
        way = float(np.hypot(dx, dy))
        row = [first(way), way / 9, dx / 9, dy / 9, *health(side, k, all_health), *kind(side, k)]
        if side == 0 and last_action:
            row += [float(other["last"] == number) for number in numbers]
        there = other["alive"] and way < 9 and me["alive"] and faced(dx, dy) and noticed(side, k)
        return row if there else [0.0] * len(row)

    half = world.settings.width / 2
    points = [(0, 1), (0, -1), (1, 0), (-1, 0)]
    around = [(0, 4), (0, -4), (4, 0), (-4, 0), (2, 2), (-2, -2), (2, -2), (-2, 2)]
    points += around if further.get("pathing_grid") else []
    move = [[float(max(abs(me["x"] + x), abs(me["y"] + y)) <= half) for x, y in points]]
    enemies = [seen(1, k, lambda way: float(way <= 6)) for k in range(env.n_enemies)]
    allies = [seen(0, k, lambda way: 1.0) for k in range(n) if k != agent]
    place = [me["x"] / (2 * half) + 0.5, me["y"] / (2 * half) + 0.5] if further.get("own_pos") else []
    time = [int(world.state.room["steps"][0]) / env.episode_limit] if further.get("timestep_number") else []
    look = [np.cos(turn), np.sin(turn)] if looks else []
    own = [health(0, agent, all_health or own_health) + place + look + kind(0, agent) + time]
    if not me["alive"]:
        move, own = [[0.0] * len(points)], [[0.0] * len(own[0])]
    return move, enemies, allies, own


SIGHTS = [
    ("2s3z", {}),
    ("10m_vs_11m", {"obs_last_action": True}),
    ("2s3z", {"obs_all_health": False}),
    ("2s3z", {"obs_own_pos": True, "obs_timestep_number": True}),
    ("3m", {"obs_pathing_grid": True, "width": 12.0, "height": 12.0, "obs_own_pos": True, "red": "6 marine"}),
    ("2s3z", {"obs_all_health": False, "obs_own_health": False, "obs_own_pos": True}),
    ("2s3z", {"conic_fov": True, "obs_own_pos": True, "obs_timestep_number": True, "obs_last_action": True}),
    ("3m", {"conic_fov": True, "num_fov_actions": 3, "prob_obs_enemy": 0.5, "obs_last_action": True}),
    ("2s3z", {"prob_obs_enemy": 0.0, "action_mask": False, "obs_last_action": True}),
    ("2s3z", {"obs_all_health": False, "obs_own_health": False, "obs_last_action": True}),
    ("3m", {"red": "2 marine, 1 marauder", "blue": "1 zealot, 1 stalker", "obs_last_action": True}),
    ("3m", {"red": "2 zealot, 2 stalker", "blue": "1 marine", "obs_all_health": False}),
]


@faces
@pytest.mark.parametrize(("scenario", "options"), SIGHTS)
def test_observations_by_the_letter(face, scenario, options):
    """Also where sides are of different size and race, and for the dead; MAPPO has them in its own order."""
    env, rng = face(scenario, seed=2, enemy="focus_weakest", randomize="positions", **options), None
    told = {key.removeprefix("obs_"): value for key, value in options.items() if key.startswith("obs_")}
    env.reset()
    rng, over, dead = np.random.default_rng(1), False, 0
    while not over:
        _, over, _ = outcome(env, env.step(drawn(env, rng)))
        for agent in range(env.n_agents):
            move, enemies, allies, own = parts_of(env, agent, **told)
            order = (allies, enemies, move, own) if face is MAPPOEnv else (move, enemies, allies, own)
            expected = np.concatenate([np.ravel(part) for part in order])
            np.testing.assert_allclose(env.get_obs_agent(agent), expected, atol=1e-6)
            if face is MAPPOEnv:
                sizes = env.observation_space[agent]
                assert sizes == [len(expected), *(list(np.shape(part)) for part in order if len(part))]
        dead += env._dead()[: env.n_agents].sum()
    assert dead > 0


@pytest.mark.parametrize(("red", "blue"), [("4 marine", "2 marine"), ("1 marine", "3 zealot")])
def test_actions_are_as_many_as_there_are_enemies(red, blue):
    """Attacks that only the other side has are none of one's own: neither among actions nor among last actions."""
    env = StarCraft2Env("3m", seed=0, red=red, blue=blue, width=16.0, obs_last_action=True)
    assert env.n_actions == 6 + env.n_enemies
    obs, state = env.reset()
    assert np.shape(env.get_avail_actions()) == (env.n_agents, env.n_actions)
    last = state[-env.n_agents * env.n_actions :].reshape(env.n_agents, env.n_actions)
    assert not last.any()
    actions = attacking(env)
    env.step(actions)
    state = env.get_state()
    last = state[-env.n_agents * env.n_actions :].reshape(env.n_agents, env.n_actions)
    assert last.argmax(axis=1).tolist() == actions
    assert state.shape == (env.get_state_size(),)
    assert env.get_obs()[0].shape == (env.get_obs_size(),) == obs[0].shape


def test_diagonal_moves_are_the_last_actions():
    env = StarCraft2Env("3m", seed=0, red="3 marine", blue="1 marine", diagonals=True)
    env.reset()
    assert env.n_actions == 6 + 1 + 4
    before = env.world.state.unit[0][:3].copy()
    env.step([7, 8, 9])  # north-east, south-east, south-west
    moved = env.world.state.unit[0][:3]
    assert np.sign(moved["x"] - before["x"]).tolist() == [1, 1, -1]
    assert np.sign(moved["y"] - before["y"]).tolist() == [1, -1, -1]


@faces
def test_looks_stand_between_moves_and_attacks(face):
    """SMACv2's numbers: 6 + k looks 30 k degrees left of ahead, 18 + j attacks; last actions use them too."""
    options = {"red": "2 marine", "blue": "3 marine", "diagonals": True, "obs_last_action": True}
    env = face("3m", seed=0, enemy="still", conic_fov=True, num_fov_actions=12, **options)
    env.reset()
    assert env.n_actions == 6 + 12 + 3 + 4
    close_in(env)
    legal = np.array(env.get_avail_actions())
    assert legal[:, 6:18].all()
    targets = np.flatnonzero(legal[0, 18:21])  # enemies stand 3 away, one of them straight ahead
    assert targets.tolist() == [0]
    env.step([18, 6 + 3])
    assert env.world.state.look[0].tolist() == [0, 3, 0, 0, 0]
    assert (env.world.state.unit["health"][0] < 45).tolist() == [False, False, True, False, False]
    last = env.get_state()[-2 * env.n_actions :].reshape(2, env.n_actions)
    assert last.argmax(axis=1).tolist() == [18, 9]
    assert not np.array(env.get_avail_actions())[1, 18:21].any()  # it looks north now
    env.step([6, 21 + 2])
    assert env.world.state.unit["last"][0, 1] == 6 + 3 + 2  # south-west


def test_the_state_tells_directions_before_types():
    env = StarCraft2Env("2s3z", seed=0, conic_fov=True)
    env.reset()
    info = env.get_env_info()
    names = ["health", "energy/cooldown", "rel_x", "rel_y", "shield", "fov_x", "fov_y", "type_0", "type_1"]
    assert info["agent_features"] == names
    assert info["enemy_features"] == [*(name for name in names[:1] + names[2:5]), *names[7:]]
    env.step([6 + 4] * 5)
    state = env.get_state()
    assert len(state) == info["state_shape"] == 5 * 9 + 5 * 6 + 5 * (6 + 12 + 5)
    for row, types in zip(state[: 5 * 9].reshape(5, 9), ([1, 0],) * 2 + ([0, 1],) * 3, strict=True):
        assert row[5:] == pytest.approx([-0.5, 0.75**0.5, *types])


def test_without_the_mask_of_reach_all_who_live_may_be_attacked():
    env = StarCraft2Env("3m", seed=0, enemy="still", action_mask=False)
    env.reset()
    assert np.array(env.get_avail_actions())[:, 6:].tolist() == [[1, 1, 1]] * 3
    before = env.world.state.unit["x"][0, :3].copy()
    env.step([6, 7, 8])
    assert env.world.state.unit["x"][0, :3].tolist() == before.tolist()
    assert env.world.state.unit["health"][0, 3:].tolist() == [45.0] * 3
    hurt(env, 1, health=0.0, but=(1, 2))
    env.world.state.unit["alive"][0, 3] = False
    env.world.refresh()
    assert np.array(env.get_avail_actions())[:, 6:].tolist() == [[0, 1, 1]] * 3
    with pytest.raises(AssertionError, match="agent 0 chose action 6"):
        env.step([6, 1, 1])


def test_200_battles_of_hidden_enemies():
    """Cones and draws together: red turns and walks at random until an enemy is in reach, and beats chance."""
    hidden = {"conic_fov": True, "num_fov_actions": 6, "prob_obs_enemy": 0.5, "action_mask": False}
    size = {"blue": "2 marine", "width": 8.0, "height": 8.0, "limit": 100, "randomize": "positions"}
    env, rng = StarCraft2Env("3m", seed=0, enemy="random", **hidden, **size), np.random.default_rng(0)
    for _ in range(200):
        env.reset()
        over = False
        while not over:
            reach = np.array(env.get_obs())[:, 4:14:5] == 1
            legal = np.array(env.get_avail_actions())[:, : 6 + 6]
            others = (rng.random(legal.shape) * legal).argmax(axis=1)
            _, over, _ = env.step(np.where(reach.any(axis=1), 6 + 6 + reach.argmax(axis=1), others))
    stats = env.get_stats()
    assert stats["battles_game"] == 200
    assert stats["battles_won"] > 150


@faces
def test_the_state_is_the_worlds_or_all_that_is_seen(face):
    env, other = face("2s3z", seed=1), face("2s3z", seed=1, obs_instead_of_state=True)
    env.reset(), other.reset()
    np.testing.assert_array_equal(env.get_state(), env.world.global_state()[0])
    np.testing.assert_array_equal(other.get_state(), np.concatenate(other.get_obs()))
    for one in (env, other):
        size = one.get_state_size()
        assert one.get_state().shape == (size[0] if face is MAPPOEnv else size,)


def test_mappos_sizes_are_those_of_their_parts():
    for options in ({}, {"obs_instead_of_state": True}, {"state_timestep_number": True, "obs_own_pos": True}):
        env = MAPPOEnv("2s3z", seed=0, **options)
        obs, states, legal = env.reset()
        for space, seen in ((env.observation_space, obs), (env.share_observation_space, states)):
            assert len(space) == env.n_agents == len(seen)
            total, *parts = space[0]
            assert type(space[0]) is list
            assert total == seen.shape[1] == sum(rows * width for rows, width in parts)
        assert [type(space).__name__ for space in env.action_space] == ["Discrete"] * 5
        assert legal.shape == (5, env.action_space[0].n)
        assert (states == states[0]).all()


def test_the_three_faces_tell_one_battle():
    envs = [face("3i2z", seed=5) for face in FACES.values()]
    for env in envs:
        env.reset()
    rng, over, steps = np.random.default_rng(0), False, 0
    while not over:
        actions = drawn(envs[0], rng)
        (r1, over, info), (o2, r2, ended, cut, info2), told = [env.step(actions) for env in envs]
        assert (r1, info) == (r2, info2)
        assert told[2] == [[r1]] * 5
        assert over == (ended or cut) == bool(told[3].all())
        np.testing.assert_array_equal(o2, envs[0].get_obs())
        np.testing.assert_array_equal(told[1][2], envs[0].get_state())
        np.testing.assert_array_equal(told[5], envs[0].get_avail_actions())
        steps += 1
    assert steps > 5


@faces
def test_what_is_handed_out_is_the_receivers_own(face):
    env = face("3m", seed=0)
    first = env.reset()
    seen = [*first, env.get_obs(), env.get_state(), env.get_avail_actions(), env.get_obs_agent(1)]
    then = copy.deepcopy(seen)
    for _ in range(3):
        told = env.step(attacking(env))
    seen.append(told)
    then.append(copy.deepcopy(told))
    env.reset()
    assert pickle.dumps(seen) == pickle.dumps(then)
    env.get_obs()[0][:] = 99.0
    env.get_state()[:] = 99.0
    assert max(np.max(env.get_obs()), env.get_state().max()) < 99.0


# -- the traps -------------------------------------------------------------------------------------


def winning(env):
    hurt(env, 1)
    return attacking(env)


def losing(env):
    hurt(env, 0)
    return waiting(env)


ENDS = {
    "won": (winning, {"enemy": "still"}, (1, 0, False)),
    "lost": (losing, {"enemy": "attack_nearest"}, (0, 0, False)),
    "cut": (waiting, {"enemy": "still", "limit": 4}, (0, 1, True)),
}


@faces
@pytest.mark.parametrize("end", ENDS)
def test_getters_answer_after_the_last_step(face, end):
    """Runners choose once more from what they say then: each row has a legal action."""
    choose, options, (won, timeouts, cut) = ENDS[end]
    env = face("3m", seed=0, **options)
    _, told = play(env, choose)
    obs, state, legal = env.get_obs(), env.get_state(), np.array(env.get_avail_actions())
    assert (len(obs), len(legal)) == (3, 3)
    assert legal.any(axis=1).all()
    dead = env._dead()[:3]
    assert (legal[dead, NO_OP] == 1).all()
    assert legal[dead].sum() == dead.sum()
    assert not legal[~dead, NO_OP].any()
    assert not np.array(obs)[dead].any()
    assert np.isfinite(state).all()
    assert env.get_env_info()["n_actions"] == 9
    stats = env.get_stats()
    assert stats == {
        "battles_won": won,
        "battles_game": 1,
        "battles_draw": timeouts,
        "win_rate": float(won),
        "timeouts": timeouts,
        "restarts": 0,
    }
    if face is EPyMARLEnv:
        assert told[2:4] == (not cut, cut)
    with pytest.raises(UserError, match=r"the battle is over; call reset\(\)"):
        env.step(waiting(env))
    env.reset()
    assert env.get_stats() == stats


@pytest.mark.parametrize("face", [StarCraft2Env, EPyMARLEnv])
@pytest.mark.parametrize("continuing", [False, True])
def test_infos_are_numbers_and_name_the_limit_only_where_episodes_go_on(face, continuing):
    env = face("3m", seed=0, enemy="still", limit=3, continuing_episode=continuing)
    env.reset()
    infos = [env.step(waiting(env))[-1] for _ in range(3)]
    plain = {"battle_won": False, "dead_allies": 0, "dead_enemies": 0}
    assert infos[:2] == [plain, plain]
    assert infos[2] == plain | ({"episode_limit": True} if continuing else {})
    assert sum(sum(info.values()) for info in infos) == continuing
    _, told = play(face("3m", seed=0, enemy="still", continuing_episode=continuing), winning)
    assert told[-1] == {"battle_won": True, "dead_allies": 0, "dead_enemies": 3}
    _, told = play(face("10m_vs_11m", seed=0, enemy="still", continuing_episode=continuing), winning)
    assert told[-1] == {"battle_won": True, "dead_allies": 0, "dead_enemies": 11}


def test_counts_of_the_dead_leave_out_who_took_no_part():
    env = StarCraft2Env("mab", seed=3, enemy="still")
    env.reset()
    absent = int((~env.world.state.unit["present"][0]).sum())
    assert absent > 0
    assert env.step(waiting(env))[2] == {"battle_won": False, "dead_allies": 0, "dead_enemies": 0}
    mappo = MAPPOEnv("mab", seed=3, enemy="still")
    mappo.reset()
    dones = mappo.step(waiting(mappo))[3]
    assert dones.sum() == absent / 2
    assert EPyMARLEnv("mab", seed=3).get_stats()["win_rate"] == 0.0


@faces
def test_statistics_before_the_first_game(face):
    env = face("3m", seed=0)
    none = dict.fromkeys(["battles_won", "battles_game", "battles_draw", "timeouts", "restarts"], 0)
    assert env.get_stats() == none | {"win_rate": 0.0}
    env.reset()
    assert env.get_stats() == none | {"win_rate": 0.0}


def test_mappo_tells_deaths_and_time_outs():
    env = MAPPOEnv("3m", seed=0, enemy="attack_nearest", limit=200)
    env.reset()
    hurt(env, 0, but=(1,))
    dead, over = [], False
    while not over:
        *_, dones, infos, _ = env.step(waiting(env))
        assert len(infos) == 3
        over = bool(dones.all())
        dead.append(dones.tolist())
        assert not any(info["bad_transition"] for info in infos)
    assert [True, False, True] in dead
    assert infos[0] == {
        "battles_won": 0,
        "battles_game": 1,
        "battles_draw": 0,
        "restarts": 0,
        "bad_transition": False,
        "won": False,
    }
    cut = MAPPOEnv("3m", seed=0, enemy="still", limit=2, continuing_episode=True)
    cut.reset()
    first, last = cut.step(waiting(cut)), cut.step(waiting(cut))
    assert (first[3].tolist(), last[3].tolist()) == ([False] * 3, [True] * 3)
    assert [info["bad_transition"] for info in first[4] + last[4]] == [False] * 3 + [True] * 3
    assert ["episode_limit" in info for info in first[4] + last[4]] == [False] * 3 + [True] * 3


def test_mappos_counts_go_on_from_battle_to_battle():
    env = MAPPOEnv("3m", seed=0, enemy="still")
    told = [play(env, winning)[1][4][2] for _ in range(3)]
    assert [info["battles_won"] for info in told] == [1, 2, 3]
    assert [info["won"] for info in told] == [True] * 3
    env.reset()
    info = env.step(waiting(env))[4][0]
    assert (info["battles_game"], info["won"]) == (3, False)


@faces
def test_both_sides_dead_at_once_is_no_win(face):
    env = face("3m", seed=0, enemy="attack_nearest")
    env.reset()
    close_in(env)
    hurt(env, 0)
    hurt(env, 1)
    told = env.step([6, 7, 8])
    reward, over, _ = outcome(env, told)
    assert over
    assert not env.world.state.unit["alive"].any()
    assert (env.battles_won, env.battles_game, env.timeouts) == (0, 1, 0)
    assert reward == pytest.approx(20 * (3 * 11) / (3 * 55 + 200))
    assert np.array(env.get_avail_actions())[:, NO_OP].all()
    if face is EPyMARLEnv:
        assert told[2:4] == (True, False)


# -- actions ---------------------------------------------------------------------------------------


@faces
@pytest.mark.parametrize(
    ("actions", "line"),
    [
        ([1, 1, 6], r"battle/3m: agent 2 chose action 6, legal are \[1, 2, 3, 4, 5\] now; choose by"),
        ([0, 1, 1], r"battle/3m: agent 0 chose action 0, legal are \[1, 2, 3, 4, 5\] now; choose by"),
        ([1, 9, 1], r"battle/3m: agent 1 chose action 9, n_actions = 9 here; read get_env_info\(\)"),
        ([1, -1, 1], r"battle/3m: agent 1 chose action -1, n_actions = 9 here; read get_env_info\(\)"),
        ([1, 1], r"battle/3m: actions of shape \(2,\); pass one number for each of 3 agents"),
        ([[1, 1, 1]], r"battle/3m: actions of shape \(1, 3\); pass one number for each of 3 agents"),
        ([1, 1.5, 1], r"battle/3m: actions = \[1.0, 1.5, 1.0\]; pass whole numbers"),
        ([1, float("nan"), 1], r"battle/3m: actions = \[1.0, nan, 1.0\]; pass whole numbers"),
        (["1", "1", "1"], r"battle/3m: actions = \['1', '1', '1'\]; pass whole numbers"),
        (
            [[1], [1], [1]],
            r"battle/3m: agent 0's action is \[1\]; pass one whole number for each of 3 agents",
        ),
        ([1, (1,), 1], r"battle/3m: actions of shape \(\); pass one number for each of 3 agents"),
        ([1, True, 1], r"battle/3m: agent 1's action is True; pass one whole number for each of 3 agents"),
        ([[1], [1, 1], 1], r"battle/3m: actions of shape \(\); pass one number for each of 3 agents"),
    ],
)
def test_an_illegal_action_is_an_assertion_error_and_nothing_happens(face, actions, line):
    env = face("3m", seed=0)
    env.reset()
    before = env.world.hash()
    with pytest.raises(AssertionError, match=line) as caught:
        env.step(actions)
    assert "\n" not in str(caught.value)
    assert env.world.hash() == before
    env.step([1, 1, 1])
    assert env.world.hash() != before


class OnGpu:
    """A tensor on a GPU, as runners of PyMARL hand it over: NumPy cannot read it."""

    def __init__(self, numbers):
        self.numbers = numbers

    def __array__(self, dtype=None, copy=None):
        raise TypeError("can't convert cuda:0 device type tensor to numpy")

    def __len__(self):
        return len(self.numbers)

    def __getitem__(self, place):
        return OnGpu(self.numbers[place])

    def tolist(self):
        return self.numbers


FORMS = [
    list,
    np.array,
    np.float32,
    lambda a: np.array(a)[:, None],
    np.uint8,
    OnGpu,
    lambda a: list(OnGpu(a)),
    lambda a: [np.array([one]) for one in a],
    lambda a: list(np.array(a)),
]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("form", FORMS)
def test_forms_of_actions(form):
    env, same = (StarCraft2Env("3m", seed=0) for _ in range(2))
    env.reset(), same.reset()
    env.step(form([4, 1, 2]))
    same.step((4, 1, 2))
    assert env.world.hash() == same.world.hash()


def test_the_dead_do_nothing():
    env = StarCraft2Env("3m", seed=0, enemy="still")
    env.reset()
    hurt(env, 0, 0.0, but=(0, 1))
    env.world.state.unit["alive"][0, 2] = False
    env.world.refresh()
    assert env.get_avail_agent_actions(2) == [1] + [0] * 8
    with pytest.raises(AssertionError, match=r"agent 2 chose action 1, legal are \[0\] now"):
        env.step([1, 1, 1])
    env.step([1, 1, 0])


@faces
def test_before_the_first_reset(face):
    env = face("3m", seed=0)
    asked = (
        env.get_state,
        env.get_obs,
        env.get_avail_actions,
        env.render,
        env.save_replay,
        lambda: env.get_obs_agent(0),
        lambda: env.get_avail_agent_actions(0),
        lambda: env.step([1, 1, 1]),
    )
    for ask in asked:
        with pytest.raises(UserError, match=r"^battle/3m: no battle has begun; call reset\(\) first$"):
            ask()


def test_agents_that_do_not_exist():
    env = StarCraft2Env("3m", seed=0)
    env.reset()
    for ask in (env.get_obs_agent, env.get_avail_agent_actions):
        for number in (3, -1, 0.5, "a"):
            with pytest.raises(UserError, match=f"no agent {number}; there are 0 to 2"):
                ask(number)
        assert np.array_equal(ask(1.0), ask(1))


# -- rewards ---------------------------------------------------------------------------------------


def total(**options):
    env = StarCraft2Env("3m", seed=0, **{"enemy": "still", **options})
    return sum(play(env, attacking)[0])


def test_a_clean_win_pays_twenty_or_what_was_asked_for():
    assert total() == pytest.approx(20.0, rel=1e-6)
    assert total(reward_scale_rate=5) == pytest.approx(5.0, rel=1e-6)
    assert total(reward_scale=False) == pytest.approx(3 * 10 + 200 + 3 * 45, rel=1e-6)
    assert total(reward_sparse=True) == pytest.approx(1.0)
    assert total(reward_sparse=True, reward_scale_rate=5) == pytest.approx(1.0)
    assert total(reward_sparse=True, exact_smac=True) == pytest.approx(20 / 365)
    assert total(reward_sparse=True, exact_smac=True, reward_scale=False) == pytest.approx(1.0)


def test_defeats_and_losses():
    def lose(**options):
        env = StarCraft2Env("3m", seed=0, enemy="attack_nearest", **options)
        return sum(play(env, waiting)[0])

    assert lose() == 0.0
    assert lose(reward_defeat=-100) == pytest.approx(-100 * 20 / 365)
    assert lose(reward_only_positive=False) == pytest.approx(-0.5 * 3 * 55 * 20 / 365)
    assert lose(reward_sparse=True) == -1.0
    assert lose(reward_sparse=True, reward_only_positive=False, reward_defeat=-100) == -1.0


@pytest.mark.parametrize("options", [{}, {"reward_scale": False}, {"reward_scale_rate": 5}])
def test_what_the_limit_pays_is_not_scaled(options):
    env = StarCraft2Env("3m", seed=0, enemy="still", limit=2, timeout=-1.0, **options)
    assert play(env, waiting)[0] == [0.0, -1.0]


def test_recovering_shields_pay_only_in_exact_smac():
    def healed(**options):
        env = StarCraft2Env("2s3z", seed=0, enemy="still", **options)
        env.reset()
        unit = env.world.state.unit
        unit["shield"][0, 5] = 10.0
        unit["calm"][0] = 200
        env.world.refresh()
        return env.step(waiting(env))[0]

    assert healed() == 0.0
    assert healed(exact_smac=True) == pytest.approx(1.0 * 20 / (200 + 50 + 2 * 160 + 3 * 150))


@pytest.mark.parametrize("exact", [False, True])
def test_smac_divides_by_the_first_army_for_ever(exact):
    """The paper's armies are drawn anew in each battle: ours is divided by its own army, SMAC's by the first."""
    scaled, points = (
        StarCraft2Env(
            "mab", seed=4, enemy="still", randomize="positions", exact_smac=exact, reward_scale=scale
        )
        for scale in (True, False)
    )
    armies = []
    for _ in range(3):
        rewards = []
        for env in (scaled, points):
            env.reset()
            unit = env.world.state.unit[0]
            unit["x"][0], unit["y"][0] = unit["x"][25], unit["y"][25] + 1.0
            env.world.refresh()
            rewards.append(sum(env.step([6, *waiting(env)[1:]])[0] for _ in range(3)))
        body, present = scaled.world.body, scaled.world.state.unit["present"][0]
        armies.append(200 + ((10 + body["health"]) * present)[25:].sum())
        assert rewards[1] > 0
        assert rewards[0] == pytest.approx(rewards[1] * 20 / armies[0 if exact else -1])
    assert len(set(armies)) == 3


def test_rewards_of_agents_one_by_one():
    one, many = EPyMARLEnv("3m", seed=0, enemy="still"), EPyMARLEnv("3m", 0, "still", common_reward=False)
    shared, each = play(one, attacking)[0], play(many, attacking)[0]
    assert each == [[reward] * 3 for reward in shared]
    assert EPyMARLEnv("3m", seed=0, reward_scalarisation="mean").common_reward


# -- seeds, enemies, copies ------------------------------------------------------------------------


def history(env, episodes=2):
    """Everything of some episodes at random."""
    rng, told = np.random.default_rng(0), []
    for _ in range(episodes):
        env.reset()
        told.append(env.get_state().tolist())
        over = False
        while not over:
            reward, over, _ = outcome(env, env.step(drawn(env, rng)))
            told.append((reward, env.get_state().tolist(), np.array(env.get_obs()).tolist()))
    return told


@faces
def test_a_seed_names_the_battles(face):
    """Also what an enemy draws; naming them later is the same."""
    named = history(face("3i2z", seed=4, enemy="random"))
    assert history(face("3i2z", seed=4, enemy="random")) == named
    assert history(face("3i2z", seed=5, enemy="random")) != named
    env = face("3i2z", seed=5, enemy="random")
    env.reset()
    env.step(waiting(env))
    assert env.seed(4) == env.seed() == 4
    assert history(env) == named
    assert history(env) != named, "the stream goes on"


def test_without_a_seed_one_is_drawn():
    first, second = StarCraft2Env("3i2z"), StarCraft2Env("3i2z")
    assert first.seed() != second.seed()
    assert history(first, 1) == history(StarCraft2Env("3i2z", seed=first.seed()), 1)


def test_epymarl_names_battles_by_reset():
    env = EPyMARLEnv("3i2z", seed=1)
    first, info = env.reset(seed=8)
    other, _ = env.reset()
    again, _ = env.reset(seed=8)
    assert info == {}
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    assert env.seed() == 8


def test_the_enemy_is_whom_one_names():
    def ended(enemy):
        env = StarCraft2Env("3m", seed=0, enemy=enemy)
        _, told = play(env, attacking)
        return env.enemy.name, told[2]["dead_allies"]

    assert ended("still") == ("still", 0)
    assert ended(make_policy("battle/3m", "still")) == ("still", 0)
    assert ended("focus_weakest")[1] > 0
    assert StarCraft2Env("3m").enemy.name == "attack_move"


def test_an_enemy_acts_for_its_own_units_alone():
    class Watcher(RandomPolicy):
        def act(self, timestep):
            self.asked = timestep.acting.copy()
            return super().act(timestep)

    watcher = Watcher()
    env = StarCraft2Env("3m", seed=0, enemy=watcher)
    env.reset()
    env.step([1, 1, 1])
    assert watcher.asked.tolist() == [[False] * 3 + [True] * 3]
    assert env.world.state.unit["last"][0, :3].tolist() == [1, 1, 1]


def test_an_enemy_that_remembers_is_told_of_new_battles():
    class Memory(RandomPolicy):
        heard = ()

        def start(self, world, seed=0):
            super().start(world, seed)
            self.heard = (*self.heard, ("start", seed))

        def forget(self, which):
            self.heard = (*self.heard, ("forget", which.tolist()))

    memory = Memory()
    env = EPyMARLEnv("3m", seed=6, enemy=memory)
    env.reset(), env.reset(), env.reset(seed=9)
    assert memory.heard == (("start", 6), ("forget", [True]), ("start", 9))


def test_one_policy_does_not_play_two_battles():
    """Scripted ones read the world that they were started with: of the first battle nothing would be true."""
    enemy = make_policy("battle/3m", "attack_move")
    first, second = (StarCraft2Env("3m", seed=0, enemy=enemy) for _ in range(2))
    first.reset(), second.reset()
    second.step([1, 1, 1])
    with pytest.raises(UserError, match="enemy attack_move plays in another environment by now; give each"):
        first.step([1, 1, 1])


# -- pictures and replays --------------------------------------------------------------------------


def test_render_gives_the_picture():
    env = StarCraft2Env("3m", seed=0)
    env.reset()
    picture = env.render()
    assert (picture.shape, picture.dtype) == ((512, 512, 3), np.uint8)
    for _ in range(6):
        env.step(attacking(env))
    assert (env.render(mode="rgb_array") != picture).any()
    with pytest.raises(UserError, match='mode = \'ansi\'; choose "rgb_array" or "human"'):
        env.render("ansi")


def test_a_window_shows_the_picture(monkeypatch):
    """One window, which closes with the environment; copies open their own."""

    class Window:
        def __init__(self, *told):
            self.seen = [told]

        def show(self, picture):
            self.seen.append(picture.shape)

        def close(self):
            self.seen.append("closed")

    monkeypatch.setattr("interplay.view.window.Window", Window)
    env = StarCraft2Env("3m", seed=0)
    env.reset()
    assert env.render("human") is None
    env.render(mode="human")
    window = env._window
    assert window.seen == [("battle/3m", 512, 512), (512, 512, 3), (512, 512, 3)]
    assert copy.deepcopy(env)._window is None
    env.close()
    env.close()
    assert window.seen[3:] == ["closed"]


def test_a_replay_shows_the_battle_that_was_played(tmp_path, monkeypatch):
    """Every decision of it, from its first state; the battle itself is not disturbed."""
    av = pytest.importorskip("av", reason="the extra video is not installed")
    from interplay.core.scene import scene_of
    from interplay.view.video import HOLD

    monkeypatch.chdir(tmp_path)
    env = StarCraft2Env("3i2z", seed=1, enemy="random", jitter=True)
    play(env, attacking)
    env.reset()
    expected = [scene_of(env.world, 0)]
    for _ in range(5):
        env.step(attacking(env))
        expected.append(scene_of(env.world, 0))
    before = env.world.hash()
    scenes = list(env._replay.scenes(env.world))
    assert [str(scene) for scene, *_ in scenes] == [str(scene) for scene in expected]
    assert [last for *_, last in scenes] == [False] * 5 + [True]
    path = env.save_replay()
    assert path == "3i2z_000002.mp4"
    with av.open(tmp_path / path) as video:
        frames = sum(1 for _ in video.decode(video=0))
    assert frames == 6 * env.world.frames_per_step + HOLD - 1
    assert env.world.hash() == before
    env.step(attacking(env))


def test_where_replays_go(tmp_path):
    pytest.importorskip("av", reason="the extra video is not installed")
    env = StarCraft2Env("3m", seed=0, replay_dir=str(tmp_path), replay_prefix="final")
    env.reset()
    env.step([1, 1, 1])
    assert env.save_replay() == str(tmp_path / "final_000001.mp4")
    nowhere = StarCraft2Env("3m", seed=0, replay_dir=str(tmp_path / "none"))
    nowhere.reset()
    with pytest.raises(UserError, match=r"replay_dir = '.*none': there is no such folder; make it first"):
        nowhere.save_replay()
