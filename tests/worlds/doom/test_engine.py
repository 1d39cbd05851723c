"""Doom with its engine: whole episodes, deaths, seeds, spaces, and games that are lost (specification 7)."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

import interplay
from interplay.checker import check_world
from interplay.core.errors import CannotSave, UserError
from interplay.registry import make_policy
from interplay.worlds.doom.buttons import ACTION_SETS
from interplay.worlds.doom.engine import CLASSES, aims_at_barrel, load_vizdoom
from interplay.worlds.doom.outcome import outcomes, rounded
from interplay.worlds.doom.variables import COLUMN
from interplay.worlds.doom.world import DoomWorld

EVERYTHING = {
    "labels": True,
    "enemies": True,
    "depth": True,
    "automap": True,
    "variables": ("health", "ammo", "armour", "frags", "dead"),
}


def engines_of(world: DoomWorld, w: int) -> list[int]:
    """Processes of the engines of a match, by player."""
    files = sorted(world._matches[w]._folder.glob("*.engine"))
    return [int(file.read_text().split("\n")[1]) for file in files]


def play(world, steps, seed=0):
    """Random steps until all worlds are over; yields the time steps."""
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        if world.timestep.over.all():
            return
        shape = (world.num_worlds, len(world.agents))
        yield world.step(rng.integers(0, world.action_space.n, shape))


def contained(world, timestep) -> bool:
    space = world.observation_space
    return all(
        space[name].contains(np.ascontiguousarray(value[w, a]))
        for name, value in timestep.observation.items()
        for w in range(world.num_worlds)
        for a in range(len(world.agents))
    )


@pytest.fixture
def made():
    """`interplay.make_world`; the worlds are closed after the test."""
    worlds = []

    def make(*args, **options):
        worlds.append(interplay.make_world(*args, **options))
        return worlds[-1]

    yield make
    for world in worlds:
        world.close()


def test_equal_seeds_give_equal_screens_to_a_single_player(made):
    shown = []
    for _ in range(2):
        world = made("doom/basic", num_worlds=2, seed=4)
        world.reset()
        shown.append([step.observation["screen"].copy() for step in play(world, 40)])
    used = made("doom/basic", num_worlds=2, seed=9)
    used.reset()
    list(play(used, 30, seed=3))
    used.reset(seeds=4)
    shown.append([step.observation["screen"].copy() for step in play(used, 40)])
    assert np.array_equal(shown[0], shown[1])
    assert np.array_equal(shown[0], shown[2])
    assert not np.array_equal(shown[0][0][0], shown[0][0][1])  # other worlds begin otherwise


def test_basic_ends_by_the_kill_or_by_its_length_and_pays_what_the_engine_pays(made):
    world = made("doom/basic", num_worlds=3, seed=1, **EVERYTHING, resolution="200x150", colour=False)
    timestep = world.reset()
    assert contained(world, timestep)
    assert "outcome" not in world.metrics
    assert timestep.observation["screen"].shape == (3, 1, 150, 200, 1)
    killed = cut = 0
    for episode in range(4):
        world.reset()
        total = np.zeros(3)
        for timestep in play(world, 200, seed=episode):
            assert contained(world, timestep)
            total += timestep.reward[:, 0]
        assert (total[world.metrics["kills"][:, 0] == 0] <= -300).all()  # every tic costs 1
        killed += world.metrics["kills"].sum()
        cut += (world.metrics["kills"] == 0).sum()
    assert killed + cut == 12
    assert killed > 0
    assert cut > 0


COUNTS = {
    "frags": "FRAGCOUNT",
    "deaths": "DEATHCOUNT",
    "hits": "HITCOUNT",
    "hits_taken": "HITS_TAKEN",
    "kills": "KILLCOUNT",
}


def counted(world, variable):
    """What the engines of the first match count: (A,)."""
    asked = getattr(load_vizdoom().GameVariable, variable)
    return np.array([player.game.get_game_variable(asked) for player in world._matches[0].players])


def test_a_duel_is_played_to_its_end_with_deaths_and_an_outcome(made):
    world = made("doom/duel", num_worlds=1, seed=2, tics=2_000, respawn_delay=1, **EVERYTHING)
    assert contained(world, world.reset())
    players = world._matches[0].players
    dead = paid = 0
    for episode in range(2):
        timestep, idle = world.reset(), 0
        begun = {name: counted(world, engines) for name, engines in COUNTS.items()}
        for timestep in play(world, 2_000, seed=episode):
            assert contained(world, timestep)
            alive = [player.values[COLUMN["dead"]] == 0 for player in players]
            assert timestep.acting[0].tolist() == alive or timestep.over[0]
            assert timestep.acting.any() or timestep.over[0]
            idle += (~timestep.acting[0]).sum()
            paid += np.abs(timestep.reward).sum()
        metrics = world.metrics
        assert timestep.terminated.all()
        assert not timestep.truncated.any()
        assert metrics["outcome"].sum() == 0
        assert np.sign(metrics["frags"][0, 0] - metrics["frags"][0, 1]) == metrics["outcome"][0, 0]
        assert world.rewards[0, :, 0].tolist() == metrics["outcome"][0].tolist()
        assert metrics["tic_drift"].tolist() == [0]
        assert metrics["engine_restarts"].tolist() == [0]
        for name, engines in COUNTS.items():
            assert (counted(world, engines) - begun[name] == metrics[name][0]).all(), name
        dead += metrics["deaths"].sum()
        assert metrics["hits_taken"].sum() > 0
        assert idle > metrics["deaths"].sum()  # a second is 17 decisions
        assert all(player.game.get_episode_time() >= 2_000 for player in players)
    assert dead > 2
    assert paid > 0


def test_the_reward_of_each_step_is_the_weighted_sum_of_its_components(made):
    weights = (3.0, -2.0, 0.5, 0.7, 5.0, 1.1, 0.3, 4.0, 0.9, 8.0)
    world = made("doom/duel", seed=2, tics=400, respawn_delay=0, weights=weights)
    world.reset()
    survivor, victim = world._matches[0].players
    for number, step in enumerate(play(world, 300)):
        assert step.reward[0] == pytest.approx(world.rewards[0] @ weights, rel=1e-6)
        if number > 20 and victim.gained("frags") == survivor.gained("frags"):
            victim.game.send_game_command("kill")  # a new life is protected for a while
    assert number == 199
    assert world.rewards[0, :, 0].tolist() == world.metrics["outcome"][0].tolist() != [0, 0]


def test_a_match_against_built_in_players_ranks_them_too(made):
    world = made("doom/deathmatch", seed=1, players=1, bots=2, tics=400, respawn_delay=0)
    world.reset()
    list(play(world, 300))
    assert world.timestep.over.all()
    metrics = world.metrics
    assert metrics["outcome"][0, 0] in (-1, 0, 1)  # all that learners and ratings take
    assert round(world.rewards[0, 0, 0]) == metrics["outcome"][0, 0]
    assert world.rewards.shape == (1, 1, 10)
    game = world._matches[0].players[0].game
    names = [getattr(load_vizdoom().GameVariable, f"PLAYER{n}_FRAGCOUNT") for n in (1, 2, 3)]
    of_bots = sum(map(game.get_game_variable, names)) - metrics["frags"][0, 0]
    assert metrics["bot_frags"].tolist() == [of_bots / 2]


def test_one_player_alone_on_a_map_of_death_matches_is_cut_by_the_length_and_not_ranked(made):
    world = made("doom/deathmatch", num_worlds=2, seed=1, players=1, tics=41)
    assert "outcome" not in world.metrics
    world.reset()
    steps = [step.over.tolist() for step in play(world, 100)]
    assert steps == [[False, False]] * 20 + [[True, True]]  # decisions of two tics
    assert world.timestep.truncated.all()
    assert (world.rewards[:, 0, 9] != 0).all()  # movement


@pytest.mark.parametrize("frames", [3, 8])
def test_a_match_of_long_decisions_pays_every_tic_of_them(made, frames):
    """Engines that play more than two tics without meeting wait for each other for ever."""
    world = made(
        "doom/duel", seed=1, frames=frames, tics=480, deadline=10, reward="engine", living_reward=0.5
    )
    world.reset()
    game = world._matches[0].players[1].game
    before, paid = game.get_episode_time(), []
    while not world.timestep.over.all():
        paid.append(world.step(np.full((1, 2), 1)).reward[0].tolist())  # they turn
    assert len(paid) == 480 // frames
    assert world.timestep.terminated.all()
    assert game.get_episode_time() - before == 480
    assert paid == [[frames / 2] * 2] * len(paid)
    assert (world.metrics["tic_drift"].tolist(), world.metrics["engine_restarts"].tolist()) == ([0], [0])


def test_eight_players_meet_and_are_ranked(made):
    world = made("doom/deathmatch", seed=1, tics=60)
    world.reset()
    steps = list(play(world, 100))
    assert len(steps) == 30
    assert world.timestep.terminated.all()
    frags, outcome = world.metrics["frags"][0], world.metrics["outcome"][0]
    assert outcome.tolist() == rounded(outcomes(frags)).tolist()
    assert world.rewards[0, :, 0].tolist() == outcomes(frags).tolist()  # not rounded
    assert world.metrics["tic_drift"].tolist() == [0]


def test_a_step_without_a_living_player_lasts_until_one_has_respawned(made):
    world = made("doom/deathmatch", seed=1, players=1, tics=700, respawn_delay=2)
    world.reset()
    game = world._matches[0].players[0].game
    list(play(world, 3))
    game.send_game_command("kill")
    tics = []
    while not world.timestep.over.any():
        tics.append(game.get_episode_time())
        assert world.step(np.full((1, 1), 5)).acting.all() or world.timestep.over.all()
        if world.metrics["deaths"][0, 0] and not world._matches[0].players[0].dead:
            break
    assert world.metrics["deaths"][0, 0] == 1
    assert game.get_episode_time() - tics[-1] > 35  # two seconds after the death
    assert world.rewards[0, 0, 2] == -1  # a suicide is a lost frag
    assert world.rewards[0, 0, 9] == 0  # the way to the next start is no movement


def test_a_new_life_remembers_nothing_of_the_one_before(made):
    world = made("doom/deathmatch", seed=1, players=1, tics=700, respawn_delay=0, post_rules=True)
    world.reset()
    player = world._matches[0].players[0]
    list(play(world, 5))
    player.rooms.update((x, y) for x in range(-20, 20) for y in range(-20, 20))  # the whole map
    world.step(np.full((1, 1), 1))
    assert world.rewards[0, 0, 0] == 0
    player.game.send_game_command("kill")
    while not player.was_dead:
        world.step(np.full((1, 1), 1))
    assert (player.dead, len(player.past), player.running) == (False, 0, 0)
    world.step(np.full((1, 1), 1))
    assert world.rewards[0, 0, 0] == 1  # a room that the life before had entered


@pytest.mark.parametrize("no_cheat", [False, True])
def test_the_rule_of_the_competition_hides_things_depth_and_places(made, no_cheat):
    options = {"labels": True, "enemies": True, "depth": True, "no_cheat": no_cheat}
    world = made("doom/deathmatch", seed=1, players=1, **options)
    shown, player = world.reset().observation, world._matches[0].players[0]
    assert shown["screen"].any()
    for place in (COLUMN["x"], COLUMN["y"]):
        assert (player.values[place] == 0) == no_cheat
    paid, seen = np.zeros(10), set()
    for _ in range(40):
        world.step(np.full((1, 1), 1))
        paid += np.abs(world.rewards[0, 0])
        seen |= {name for name in ("labels", "depth") if shown[name].any()}
    assert seen == (set() if no_cheat else {"labels", "depth"})
    assert not shown["enemies"].any()
    assert [paid[0] == 0, paid[9] == 0] == [no_cheat, no_cheat]


def test_depth_and_automap_are_the_engines(made):
    world = made("doom/basic", seed=2, depth=True, automap=True)
    shown, state = world.reset().observation, world._matches[0].players[0].game.get_state()
    assert np.array_equal(shown["automap"][0, 0], state.automap_buffer)
    assert not np.array_equal(shown["automap"], shown["screen"])
    assert np.array_equal(shown["depth"][0, 0, :, :, 0], state.depth_buffer)
    assert shown["depth"].any()


def test_the_engine_plays_with_the_skill_of_the_settings(made):
    world = made("doom/basic", skill=4)
    world.reset()
    assert world._matches[0].players[0].game.get_doom_skill() == 4


def test_labels_are_classes_of_the_things_in_the_picture(made):
    import vizdoom

    assert list(CLASSES[1:]) == vizdoom.get_default_categories()
    world = made("doom/basic", seed=2, labels=True, enemies=True)
    shown = world.reset().observation
    labels, enemies = (shown[name][0, 0, :, :, 0] for name in ("labels", "enemies"))
    raw = world._matches[0].players[0].game.get_state()
    names = {label.value: label.object_category for label in raw.labels}
    assert {"Monster", "Self"} <= set(names.values())
    assert [CLASSES[one] for one in labels.flat] == [names.get(one, "") for one in raw.labels_buffer.flat]
    assert enemies.tolist() == np.where(labels == CLASSES.index("Monster"), 255, 0).tolist()
    alone = made("doom/basic", seed=2, enemies=True).reset().observation
    assert "labels" not in alone
    assert np.array_equal(alone["enemies"][0, 0, :, :, 0], enemies)


@pytest.mark.slow
def test_the_protocol_holds(made):
    report = check_world(
        lambda num_worlds, seed: made("doom/basic", num_worlds=num_worlds, seed=seed), steps=30
    )
    assert report.ok, str(report)


@pytest.mark.parametrize(
    ("signal_", "player", "frames", "deadline", "line"),
    [
        (signal.SIGKILL, 0, 2, 60, "the engine of player_0 has failed"),
        (signal.SIGKILL, 1, 7, 60, "the engine of player_1 has failed"),  # waited for within the decision
        (signal.SIGSTOP, 0, 7, 3, "have not come back for 3 s"),
        (signal.SIGSTOP, 1, 2, 3, "have not come back for 3 s"),
    ],
)
def test_a_lost_engine_cuts_its_own_match_alone(made, capfd, signal_, player, frames, deadline, line):
    world = made("doom/duel", num_worlds=2, seed=2, frames=frames, deadline=deadline, respawn_delay=0)
    world.reset()
    list(play(world, 5))
    engines = engines_of(world, 0), engines_of(world, 1)
    os.kill(engines[1][player], signal_)
    begun = time.monotonic()
    lost = next(step for step in play(world, 50) if step.over.any())
    assert time.monotonic() - begun < 20  # long before the deadline of 60 s
    assert (lost.over.tolist(), lost.truncated.tolist()) == ([False, True], [[False, False], [True, True]])
    assert not lost.terminated.any()
    assert contained(world, lost)
    assert world.metrics["engine_restarts"].tolist() == [0, 1]
    said = [text for text in capfd.readouterr().err.splitlines() if text.startswith("interplay:")]
    assert len(said) == 1
    assert line in said[0]
    assert gone(engines[1])
    first = [step.over.tolist() for step in play(world, 5)]
    assert first == [[False, True]] * 5  # the other match goes on
    assert not world.rewards[1].any()
    assert not world.timestep.truncated.any()
    again = world.reset(lost.over)
    assert not again.over.any()
    assert not any(step.over.any() for step in play(world, 10))
    assert engines_of(world, 0) == engines[0]
    assert len(engines_of(world, 1)) == 2


def test_engines_outlive_a_ctrl_c(made):
    world = made("doom/basic", seed=2)
    world.reset()
    os.kill(engines_of(world, 0)[0], signal.SIGINT)
    time.sleep(0.2)
    assert not any(step.over.any() for step in play(world, 10))


def test_nothing_is_left_when_a_world_is_closed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    world = interplay.make_world("doom/duel", seed=2)
    world.reset()
    list(play(world, 3))
    pids, folder = engines_of(world, 0), world._matches[0]._folder.parent
    names = [player.game.get_instance_id() for player in world._matches[0].players]
    assert len(pids) == 2
    assert left_of(names)
    world.close()
    for call in (world.reset, lambda: world.step(np.zeros((1, 2), np.int64))):
        with pytest.raises(RuntimeError):
            call()
    assert not folder.exists()
    assert not left_of(names)
    assert gone(pids)
    assert not list(tmp_path.iterdir())  # nor has an engine written here


def left_of(names) -> list[Path]:
    """Shared memory of engines."""
    return [path for path in Path("/dev/shm").iterdir() if path.name.endswith(tuple(names))]


def gone(pids) -> bool:
    """Whether processes end within some seconds."""
    for _ in range(100):
        if not any(Path(f"/proc/{pid}").exists() and _runs(pid) for pid in pids):
            return True
        time.sleep(0.05)
    return False


def _runs(pid) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def run_script(folder, text) -> subprocess.Popen:
    script, root = folder / "script.py", str(Path(__file__).parents[3])
    script.write_text(text)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(
        [sys.executable, script], text=True, cwd=folder, env={**os.environ, "PYTHONPATH": root}, **pipes
    )


ORPHANS = """
import interplay, time
from tests.worlds.doom.test_engine import engines_of
world = interplay.make_world("doom/basic")
world.reset()
print(engines_of(world, 0)[0], world._matches[0]._folder.parent, world._matches[0].players[0].game.get_instance_id(), flush=True)
time.sleep(60)
"""


def test_engines_end_with_a_process_that_is_killed(tmp_path):
    with run_script(tmp_path, ORPHANS) as process:
        pid, folder, name = process.stdout.readline().split()
        process.kill()
    assert gone([int(pid)])
    for _ in range(100):
        if not Path(folder).exists() and not left_of([name]):
            return
        time.sleep(0.05)
    raise AssertionError("files are left")


FAILING = """
import interplay, vizdoom
from interplay.core.errors import UserError
vizdoom.exe_path = "/bin/false"
world = interplay.make_world("doom/duel", num_worlds=2)
try:
    world.reset()
except UserError as error:
    print(error)
    print(world._matches[0]._launcher.parent)
"""


def test_an_engine_that_cannot_start_is_an_error_of_one_line(tmp_path):
    with run_script(tmp_path, FAILING) as process:
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    line, folder = out.splitlines()
    assert "have not started, 3 times in a row" in line
    for _ in range(100):
        if not Path(folder).exists():
            return
        time.sleep(0.05)
    raise AssertionError("files are left")


def test_a_level_without_a_place_for_the_player_is_refused(made):
    import vizdoom

    world = made("doom/duel", players=1, wad=f"{vizdoom.scenarios_path}/cig.wad")
    with pytest.raises(UserError):
        world.reset()


def test_a_turn_by_positive_degrees_turns_right(tmp_path):
    """The post rules' sign (specification 7.4)."""
    import vizdoom

    from interplay.core.settings import build
    from interplay.worlds.doom.config import VARIANTS, DoomSettings
    from interplay.worlds.doom.engine import find_map, make_game, write_launcher

    settings = build(DoomSettings, {**VARIANTS["basic"], "actions": "discrete7", "post_rules": True}, "test")
    turned = []
    for button, value in (("TURN_LEFT_RIGHT_DELTA", 20), ("TURN_RIGHT", 1)):
        folder = tmp_path / button
        folder.mkdir()
        game = make_game(settings, find_map(settings), write_launcher(folder), folder, 0, 0, 1)
        game.add_available_game_variable(vizdoom.GameVariable.ANGLE)
        game.init()
        (folder / "player0.ready").touch()
        names = [one.name for one in game.get_available_buttons()]
        before = game.get_game_variable(vizdoom.GameVariable.ANGLE)
        for _ in range(3):
            game.make_action([value * (name == button) for name in names], 1)
        turned.append((game.get_game_variable(vizdoom.GameVariable.ANGLE) - before + 180) % 360 - 180)
        game.close()
    assert turned[0] < -15
    assert turned[1] < 0


@pytest.mark.parametrize("frames", [2, 5])
def test_the_fourth_equal_turn_is_one_of_20_degrees_in_the_engine(made, frames):
    world = made("doom/basic", seed=3, actions="discrete7", post_rules=True, reward="vector", frames=frames)
    world.reset()
    game, facing = world._matches[0].players[0].game, load_vizdoom().GameVariable.ANGLE
    angles = []
    for _ in range(6):
        world.step(np.full((1, 1), 1))
        angles.append(game.get_game_variable(facing))
    assert np.diff(angles[2:]) % 360 == pytest.approx([20] * 3, abs=0.1)


def test_suppressed_fire_needs_an_enemy_in_the_picture(made):
    options = {"actions": "buttons", "buttons": ("attack", "turn180"), "enemies": True, "suppress_fire": True}
    world = made("doom/basic", seed=3, **options)
    world.reset()
    player = world._matches[0].players[0]
    shots = []
    for turn in (0, 1, 0, 0, 1, 0):
        sees = bool(world.timestep.observation["enemies"].any())
        world.step(np.array([[[1, turn]]], np.int8))
        shots.append((sees, player.game.get_last_action()[0]))
        if world.timestep.over.any():
            break
    assert all(bool(shot) == sees for sees, shot in shots)
    assert {sees for sees, _ in shots} == {True, False}


def test_a_barrel_of_the_map_holds_a_shot_back(made):
    """The player turns where it begins, made to stand 100 units from each barrel that comes into the middle of its picture."""
    world = made(
        "doom/deathmatch",
        seed=1,
        players=1,
        labels=True,
        avoid_barrel=True,
        actions="buttons",
        buttons=("turn_left",),
    )
    world.reset()
    player = world._matches[0].players[0]
    found = []
    for _ in range(400):
        world.step(np.ones((1, 1, 1), np.int8))
        state = player.game.get_state()
        barrels = [label for label in state.labels if label.object_name == "ExplosiveBarrel"]
        aimed = [label for label in barrels if label.x <= 80 <= label.x + label.width]
        for label in aimed:
            found.append(aims_at_barrel(state, label.object_position_x - 100, label.object_position_y))
        if not aimed:
            assert not player.holds_fire
    assert found
    assert all(found)


@pytest.mark.parametrize("option", ["avoid_barrel", "suppress_fire"])
def test_a_shot_that_is_held_back_is_not_fired(made, option):
    world = made("doom/basic", seed=3, labels=True, **{option: True})
    world.reset()
    player = world._matches[0].players[0]
    for held in (True, False):
        player.holds_fire = held
        world.step(np.full((1, 1), [name for (name,) in ACTION_SETS["basic3"]].index("attack")))
        fired = dict(zip(world._buttons, player.game.get_last_action(), strict=True))["attack"]
        assert fired == (not held)


def test_buttons_are_held_one_by_one(made):
    world = made("doom/basic", seed=3, actions="buttons", buttons=("attack", "move_left"))
    world.reset()
    player = world._matches[0].players[0]
    ammo = player.values[COLUMN["ammo"]]
    for _ in range(20):
        world.step(np.array([[[1, 0]]], np.int8))
    assert player.values[COLUMN["ammo"]] < ammo
    assert player.game.get_last_action() == [1, 0]


def test_an_interrupt_between_call_and_answer_leaves_a_step_to_the_next_call(made):
    world = made("doom/basic", num_worlds=2, seed=3)
    world.reset()
    matches = world._matches
    matches._open += 1  # as if Ctrl-C had come here
    matches._jobs.put((matches[0], 0, [0.0] * 3))
    assert world.step(np.zeros((2, 1), np.int64)).acting.all()
    assert [match.players[0].game.get_episode_time() for match in matches] == [14 + 2 * 2, 14 + 2]


def test_a_match_cannot_be_saved(made):
    world = made("doom/basic")
    world.reset()
    with pytest.raises(CannotSave):
        world.save()


def test_the_turret_shoots(made):
    world = made("doom/basic", num_worlds=2, seed=5)
    player = make_policy("doom/basic", "turret")
    player.start(world, 0)
    timestep = world.reset()
    while not timestep.over.all():
        timestep = world.step(player.act(timestep))
    assert (world.metrics["kills"] + timestep.truncated).all()


def test_actors_go_on_when_an_engine_of_one_is_killed(tmp_path, capfd):
    """Two actors play ahead, each with two engines of its own; one is killed in the second update."""

    def kill(run, numbers):
        if numbers["updates"] == 2:
            engines = [one for one in psutil.Process().children(recursive=True) if "vizdoom" in one.name()]
            killed.append(len(engines))
            engines[0].kill()

    killed = []
    interplay.train(
        "doom/basic",
        tmp_path / "run",
        num_worlds=2,
        workers=1,
        train={"actors": 2, "max_updates": 8, "quiet": True},
        ppo={"rollout": 16, "minibatch": 16, "epochs": 1, "target_kl": "off"},
        network={"kind": "mlp", "hidden": [4]},
        interfaces={"agent": [{"name": "Downsample", "factor": 8, "index": "screen"}]},
        record={"every": 0},
        on_update=kill,
    )
    lines = [
        line for line in map(json.loads, (tmp_path / "run" / "metrics.jsonl").open()) if "ending" not in line
    ]
    assert [line["updates"] for line in lines] == list(range(1, 9))
    assert lines[-1]["slot_steps"] == 8 * 16 * 2
    assert all(np.isfinite(line["policy_loss"]) for line in lines)
    assert max(line["age"] for line in lines) >= 1
    assert killed == [4]
    assert capfd.readouterr().err.count("its episode is cut, the next starts new engines") == 1
