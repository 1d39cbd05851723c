"""Werewolf through every adapter: the original's stack of wrappers, turns, dense arrays, and the learning libraries."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium import spaces

from interplay import UserError
from interplay.connect import make_dense, to_aec, world_to_simulation
from interplay.connect.werewolf import EvaluatedEnv, MaskedEnv, make_role_named, make_written, read_log
from interplay.sim.managers import DynamicOrderManager
from interplay.sim.wrappers import RavelActionWrapper
from interplay.worlds.werewolf.roles import WEREWOLF
from tests.machines.write_points import failing
from tests.worlds.werewolf.call_patterns import Player, dense

NIGHT = (0, 1)


def choose(mask, players, rng):
    """A legal action of the original's form."""
    row = [rng.choice(np.flatnonzero(part)) for part in mask.reshape(-1, players)]
    return np.array(row) if len(row) > 1 else int(row[0])


def play_written(env, rng, seed=None):
    """Plays to the end; yields what each step gave."""
    observations, infos = env.reset(seed=seed)
    yield observations, {}, {}, {}, infos
    n = env.world.settings.n_players
    while env.agents:
        actions = {name: choose(infos[name]["action_mask"], n, rng) for name in env.queried}
        told = env.step(actions)
        infos = told[-1]
        yield told


@pytest.mark.parametrize("variant", ["written", "published-code", "9-l1s9", "9-l9s9", "6"])
def test_the_originals_spaces_and_who_is_called(variant):
    env = make_written(f"werewolf/{variant}", signal_range=5)
    s = env.world.settings
    n, length = s.n_players, s.signal_length
    expected = {
        "day": spaces.Discrete(s.days + 1),
        "status_map": spaces.MultiBinary(n),
        "phase": spaces.Discrete(4),
        "targets": spaces.Box(-1, n - 1, (n,), np.int16),
        "own_id": spaces.Discrete(n),
    }
    if length:
        expected["signal"] = spaces.Box(-1, 4, (n, length), np.int16)
        assert env.action_space("seat_0") == spaces.MultiDiscrete([n] * (1 + length))
    else:
        assert env.action_space("seat_0") == spaces.Discrete(n)
    assert dict(env.observation_space("seat_0").items()) == expected
    rng = np.random.default_rng(1)
    for observations, _, terminated, _, infos in play_written(env, rng, seed=3):
        wolves = {f"seat_{i}" for i in np.flatnonzero(env.world.state.role[0] == WEREWOLF)}
        alive = {f"seat_{i}" for i in np.flatnonzero(env.world.state.alive[0])}
        if env.agents:
            phase = int(env.world.state.room["phase"][0])
            assert set(observations) == (wolves & alive if phase in NIGHT else alive)
            assert not any(terminated.values())
        else:
            assert set(observations) == set(env.possible_agents)
        for name, seen in observations.items():
            assert env.observation_space(name).contains(seen), seen
            assert f"seat_{seen['own_id']}" == name
            if env.agents:
                mask = infos[name]["action_mask"].reshape(-1, n)
                assert mask[1:, : s.signal_range].all()
                assert not mask[1:, s.signal_range :].any()
                assert not mask[0][seen["status_map"] == 0].any()
                if name in wolves and phase in NIGHT:
                    assert not mask[0][[int(wolf.partition("_")[2]) for wolf in wolves]].any()
    assert env.world.metrics["illegal"][0] == 0


def test_the_boards_of_the_two_originals():
    """After a night a villager sees the last board it may see, or, as in the published code, nothing."""
    seen = {}
    for variant in ("written", "published-code"):
        env = make_written(f"werewolf/{variant}", penalties={"day": -1.0}, max_days=9)
        rng = np.random.default_rng(2)
        seen[variant] = []
        for seed in range(8):
            for observations, *_ in play_written(env, rng, seed=seed):
                for name, one in observations.items():
                    villager = env.world.state.role[0, one["own_id"]] != WEREWOLF
                    if villager and one["phase"] == 2 and env.agents:
                        seen[variant].append((name, one["day"], one["targets"].max()))
    assert [row[:2] for row in seen["written"]] == [row[:2] for row in seen["published-code"]]
    assert all(top == -1 for _, _, top in seen["published-code"])
    later = [top for _, day, top in seen["written"] if day > 0]
    assert later
    assert min(later) >= 0


@pytest.mark.parametrize("boards", ["one_hot", "scaled"])
@pytest.mark.parametrize("length", [0, 2])
def test_the_flat_vector_can_be_read_back(boards, length):
    env = MaskedEnv(make_written("werewolf/9", signal_length=length, signal_range=4), boards)
    places = list(env.layout.values())
    assert [place.start for place in places] == [0, *(place.stop for place in places[:-1])]
    names = ["day", "phase", "own_id", "status_map", "targets"] + ["signal"] * (length > 0)
    assert list(env.layout) == names
    rng, seen = np.random.default_rng(0), 0
    observations, _ = env.reset(seed=1)
    while env.agents:
        for name, one in observations.items():
            assert env.observation_space(name).contains(one)
            flat, original = one["array_obs"], one["dict_obs"]
            assert flat.shape == (places[-1].stop,)
            for key, place in env.layout.items():
                assert np.array_equal(_read(flat[place], key, boards, length), original[key]), key
                seen += 1
        actions = {name: choose(observations[name]["action_mask"], 9, rng) for name in env.queried}
        observations, *_ = env.step(actions)
    assert seen > 100
    assert not any(one["action_mask"].any() for one in observations.values())


def _read(part, key, boards, length):
    if key in ("day", "phase", "own_id"):
        assert part.sum() == 1
        return int(part.argmax())
    if key == "status_map":
        return part
    top = 9 if key == "targets" else 4
    shape = (9,) if key == "targets" else (9, length)
    entries = part.reshape(-1, top + 1).argmax(axis=1) if boards == "one_hot" else np.rint(part * top)
    return entries.reshape(shape) - 1


def test_a_game_that_the_limit_cuts_does_not_terminate():
    env, rng = make_written("werewolf/9", max_days=1, dead="end_with_bootstrap"), np.random.default_rng(0)
    cut = died = 0
    for seed in range(4):
        for _, _, terminated, truncated, _ in list(play_written(env, rng, seed=seed))[1:]:
            flags = env.world.timestep
            assert not any(terminated[name] and truncated[name] for name in terminated)
            cut, died = cut + sum(truncated.values()), died + sum(terminated.values())
        assert sorted(name for name, flag in truncated.items() if flag) == [
            name for name, flag in zip(env.possible_agents, flags.truncated[0], strict=True) if flag
        ]
    assert cut > 0 < died


def test_rewards_of_sleepers_and_the_dead_are_kept_for_them():
    env = make_written("werewolf/9", dead="spectate")
    for seed in range(3):
        earned = dict.fromkeys(env.possible_agents, 0.0)
        parts = np.zeros((9, 5))
        rng = np.random.default_rng(seed)
        kept = 0
        for t, (_, rewards, *_) in enumerate(play_written(env, rng, seed=seed)):
            parts += env.world.reward_terms[0] if t else 0
            for name, reward in rewards.items():
                earned[name] += reward
            kept += sum(value != 0 for value in env.owed.values())
        assert list(earned.values()) == pytest.approx(parts.sum(axis=1).tolist())
        assert kept > 0
        assert not any(env.owed.values())


def test_the_log_holds_what_was_played(tmp_path):
    env = EvaluatedEnv(MaskedEnv(make_written("werewolf/9-l1s9")), tmp_path / "log", log_every=2)
    told = []
    rng = np.random.default_rng(0)
    for game in range(5):
        rows, role = [], None
        observations, _ = env.reset(seed=game)
        while env.agents:
            actions = {name: choose(observations[name]["action_mask"], 9, rng) for name in env.queried}
            phase, alive = env.world.timestep.observation["phase"][0, 0], env.world.state.alive[0].copy()
            observations, *_ = env.step(actions)
            died = np.flatnonzero(alive & ~env.world.state.alive[0])
            rows.append((int(phase), actions, died.tolist(), env.world.state.reward[0].copy()))
            role = env.world.state.role[0].copy()
        told.append((role, rows))
    games = read_log(tmp_path / "log")
    assert len(games) == 3 == len(list((tmp_path / "log").iterdir()))
    assert len(env.games) == 5
    for game, (role, rows) in zip(games, told[::2], strict=True):
        assert (game["role"] == role).all()
        assert game["phase"].tolist() == [row[0] for row in rows]
        assert np.allclose(game["terms"].sum(axis=2), game["reward"])
        assert np.allclose(game["reward"], [row[3] for row in rows])
        for t, (_, actions, died, _) in enumerate(rows):
            assert game["chosen"][t].tolist() == (died[0] if died else -1)
            for seat in range(9):
                said = actions.get(f"seat_{seat}", [-1, -1])
                assert [game["targets"][t, seat], *game["signals"][t, seat]] == list(said)
    wins = [game["win_wolf"] for game in env.games]
    assert env.summary()["win_wolf"][0] == pytest.approx(np.mean(wins))
    env.games = [{"a": 1.0, "b": np.nan}, {"a": 2.0, "b": 3.0}, {"a": 6.0, "b": 5.0}]
    assert env.summary() == {"a": (3.0, pytest.approx(np.sqrt(7 / 3))), "b": (4.0, pytest.approx(1.0))}


def test_every_column_of_the_log_is_as_it_was_after_its_phase(tmp_path):
    """Later phases change the world's own arrays; the rows that were noted before stay."""
    env = EvaluatedEnv(make_written("werewolf/9-l1s9"), tmp_path, log_every=1)
    rng, state = np.random.default_rng(3), env.world.state
    observations, _ = env.reset(seed=4)
    rows = []
    while env.agents:
        actions = {name: choose(env.env.action_mask(name), 9, rng) for name in env.queried}
        env.step(actions)
        room = {
            name: int(state.room[name][0])
            for name in ("chosen", "tied", "ended_day", "ended_phase", "ended_round")
        }
        rows.append(
            {**room, **{name: getattr(state, name)[0].tolist() for name in ("alive", "reward", "terms")}}
        )
    (game,) = read_log(tmp_path)
    assert len(observations) > 0
    names = {"ended_day": "day", "ended_phase": "phase", "ended_round": "round", "alive": "living"}
    for name in rows[0]:
        assert game[names.get(name, name)].tolist() == [row[name] for row in rows], name
    assert len({str(row["alive"]) for row in rows}) > 2
    assert game["role"].tolist() == state.role[0].tolist()
    (path,) = tmp_path.glob("game-*.npz")
    np.savez(path, **game | {"reward": np.where(game["reward"] == 0, np.nan, game["reward"])})
    with pytest.raises(UserError, match="no recorded game"):
        read_log(tmp_path)


def test_a_log_that_cannot_be_written_is_never_torn(tmp_path):
    env = EvaluatedEnv(make_written("werewolf/6"), tmp_path, log_every=1)
    full = failing("log of games: half written")
    with pytest.raises(UserError, match=r"writing the log of games .*: the disk is full"), full:
        list(play_written(env, np.random.default_rng(0), seed=1))
    assert not list(tmp_path.iterdir())
    list(play_written(env, np.random.default_rng(0), seed=1))
    assert len(read_log(tmp_path)) == 1


def test_names_tell_the_role_and_rows_do_not_tell_the_name():
    env = make_role_named("werewolf/9", roles={"seer": 1})
    assert env.possible_agents[:4] == ["werewolf_0", "werewolf_1", "werewolf_2", "villager_3"]
    assert env.possible_agents[-1] == "seer_8"
    ids = set()
    for seed in range(40):
        observations, _ = env.reset(seed=seed)
        ids.add(int(observations["werewolf_0"]["own_id"]))
        pack = np.flatnonzero(observations["werewolf_0"]["pack"])
        assert sorted(int(observations[f"werewolf_{i}"]["own_id"]) for i in range(3)) == pack.tolist()
    assert len(ids) > 5


def test_turns_are_in_seat_order_and_nobody_sees_what_others_say_in_the_same_phase():
    env = to_aec(DynamicOrderManager(world_to_simulation("werewolf/9-l1s9")))
    env.reset(seed=1)
    world = env.sim.sim.env.world
    rng = np.random.default_rng(0)
    frozen, phase, asked, turns = {}, None, [], 0
    for name in env.agent_iter():
        seen, _, terminated, truncated, info = env.last()
        if terminated or truncated:
            env.step(None)
            continue
        step = int(world.state.stream[0, 2])
        if step != phase:
            acting = [world.agents[i] for i in np.flatnonzero(world.timestep.acting[0])]
            assert not asked, "somebody who acts was not asked"
            phase, asked = step, list(acting)
            frozen = {one: {k: v.copy() for k, v in env.observe(one).items()} for one in env.possible_agents}
        assert name == asked.pop(0)
        for one in env.possible_agents:
            now = env.observe(one)
            assert all(np.array_equal(frozen[one][key], now[key]) for key in now)
        assert all(np.array_equal(frozen[name][key], seen[key]) for key in seen)
        assert all(key == "action_mask" or key.startswith("metrics/") for key in info)
        action = np.array([rng.choice(np.flatnonzero(part)) for part in info["action_mask"]])
        env.step(action)
        turns += 1
    assert turns > 20


def test_pettingzoos_own_tests_accept_the_turns():
    from pettingzoo.test import api_test

    env = to_aec(DynamicOrderManager(world_to_simulation("werewolf/9-l1s9", dead="end_with_bootstrap")))
    api_test(env, num_cycles=60)


def test_a_dead_player_leaves_the_turns_where_lives_end_with_death():
    env = to_aec(DynamicOrderManager(world_to_simulation("werewolf/9", dead="end_with_bootstrap")))
    env.reset(seed=2)
    world = env.sim.sim.env.world
    rng, left = np.random.default_rng(0), []
    for name in env.agent_iter():
        _, _, terminated, truncated, info = env.last()
        over = terminated or truncated
        if over:
            left.append(bool(world.timestep.over[0]))
            assert left[-1] or not world.state.alive[0, world.agents.index(name)]
        env.step(
            None if over else np.array([rng.choice(np.flatnonzero(part)) for part in info["action_mask"]])
        )
    assert len(left) == 9
    assert not left[0]


def test_openspiel_plays_phases():
    pytest.importorskip("open_spiel", reason="the extra openspiel is not installed")
    from interplay.connect import OpenSpielListWrapper

    sim = RavelActionWrapper(world_to_simulation("werewolf/6"))
    env = OpenSpielListWrapper(DynamicOrderManager(sim), enable_legality_check=True)
    assert env.action_spec()["num_actions"] == 7
    rng, singles = np.random.default_rng(0), 0
    for seed in range(8):
        time_step = env.reset(seed=seed)
        world = env.sim.sim.unwrapped.env.world
        earned, expected = np.zeros(6), np.zeros(6)
        while not time_step.last():
            legal = time_step.observations["legal_actions"]
            player = time_step.current_player()
            acting = np.flatnonzero(world.timestep.acting[0])
            if player >= 0:
                assert acting.tolist() == [player]
                singles += 1
                actions = [rng.choice(legal[player])]
            else:
                mask = world.timestep.action_mask["action"][0]
                assert all(legal[seat] == np.flatnonzero(mask[seat]).tolist() for seat in acting)
                actions = [rng.choice(row) for row in legal]
            time_step = env.step(actions)
            expected += world.timestep.reward[0]
            earned += time_step.rewards
        assert earned == pytest.approx(expected)
        assert world.metrics["illegal"][0] == 0
    assert singles  # a wolf alone


def test_dense_arrays():
    for seed in range(3):
        expected_seen, expected = dense(seed, variant="9-l1s9")
        env = make_dense("werewolf/9-l1s9")
        observation, info = env.reset(seed=seed)
        player, over = Player(list(env.agents)), False
        while not over:
            assert env.observation_space.contains(observation)
            action = env.action_space.sample(info["action_mask"])
            for seat in np.flatnonzero(info["acting"]):
                row = {key: field[seat] for key, field in observation.items()}
                action[seat] = player.choose(env.agents[seat], row, info["action_mask"][seat])
            assert env.action_space.contains(action)
            observation, reward, terminated, truncated, info = env.step(action)
            player.pay(dict(zip(env.agents, reward.tolist(), strict=True)))
            over = terminated or truncated
        assert player.story() == (expected_seen, pytest.approx(expected))
        assert info["metrics/win_vil"] + info["metrics/win_wolf"] == 1


def test_stable_baselines_takes_a_batch_of_games():
    pytest.importorskip("stable_baselines3", reason="the extra sb3 is not installed")
    from interplay import make_world
    from interplay.connect.sb3 import SB3VecEnv

    world = make_world("werewolf/6", 3, seed=1)
    env = SB3VecEnv(world)
    seen = env.reset()
    rng, ends, never, returns = np.random.default_rng(0), 0, False, np.zeros(18)
    for _ in range(60):
        masks = env.action_masks()
        assert masks.shape == (18, 7)
        assert masks.any(axis=1).all()
        acting = world.timestep.acting.reshape(-1)
        assert (masks[acting] == world.timestep.action_mask["action"].reshape(18, -1)[acting]).all()
        action = np.array([[rng.choice(np.flatnonzero(row))] for row in masks])
        seen, rewards, dones, infos = env.step(action)
        assert set(seen) == set(world.observation_space.spaces)
        returns += rewards
        for number in np.flatnonzero(dones):
            ends += 1
            assert infos[number]["episode"]["r"] == pytest.approx(returns[number])
            never |= infos[number]["episode"]["l"] == 0
        returns[dones] = 0
    assert ends % 6 == 0
    assert never  # eaten in the first night
    assert ends > 0
    assert (world.metrics["illegal"] == 0).all()


def test_rllib_asks_who_acts():
    pytest.importorskip("ray.rllib", reason="the extra rllib is not installed")
    from interplay.connect import world_to_rllib
    from interplay.connect.rllib.worlds import WorldMultiAgentEnv

    env = world_to_rllib("werewolf/9")
    observations, _ = env.reset(seed=4)
    assert len(observations) == 3
    named = WorldMultiAgentEnv(make_role_named("werewolf/9"))
    observations, infos = named.reset(seed=4)
    assert sorted(observations) == ["werewolf_0", "werewolf_1", "werewolf_2"]
    for _ in range(2):
        actions = {
            name: named.action_spaces[name].sample(info["action_mask"]) for name, info in infos.items()
        }
        observations, rewards, _, _, infos = named.step(actions)
    assert sum(name.startswith("villager") for name in observations) == 5  # one was eaten
    assert min(rewards.values()) == -5.0


def test_a_dense_game_that_the_limit_cuts_is_truncated_though_some_died_before():
    cut = 0
    for seed in range(4):
        env = make_dense("werewolf/9", max_days=1, dead="end_with_bootstrap")
        _, info = env.reset(seed=seed)
        terminated = truncated = False
        died = 0
        while not (terminated or truncated):
            _, _, terminated, truncated, info = env.step(env.action_space.sample(info["action_mask"]))
            died += int(info["terminated"].sum())
        assert terminated is not truncated
        if env.world.metrics["timeout"][0]:
            assert truncated
            assert died > 0
            cut += 1
    assert cut > 0
