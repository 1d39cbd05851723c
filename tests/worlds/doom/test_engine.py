"""Doom with its engine: whole episodes, deaths, seeds, spaces, and games that are lost (specification 7)."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import interplay
from interplay.core.errors import CannotSave
from interplay.registry import make_policy
from interplay.worlds.doom.config import ROOMS
from interplay.worlds.doom.variables import COLUMN
from interplay.worlds.doom.world import DoomWorld

EVERYTHING = {
    "labels": True,
    "depth": True,
    "automap": True,
    "variables": ("health", "ammo", "armour", "frags", "dead"),
}


def engines_of(world: DoomWorld, w: int) -> list[int]:
    """Processes of the engines of a match."""
    group = world._matches[w].pid
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            name, fields = (folder / "stat").read_text().rsplit(")", 1)
        except OSError:
            continue
        if int(fields.split()[2]) == group and name.endswith("(vizdoom"):
            found.append(int(folder.name))
    return sorted(found)


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
    """`interplay.make_world`, whose worlds are closed after the test."""
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


def test_a_duel_is_played_to_its_end_with_deaths_and_an_outcome(made):
    world = made("doom/duel", num_worlds=1, seed=2, tics=2_000, respawn_delay=1, **EVERYTHING)
    assert contained(world, world.reset())
    dead = paid = 0
    for episode in range(2):
        timestep, idle = world.reset(), 0
        for timestep in play(world, 2_000, seed=episode):
            assert contained(world, timestep)
            rows = world._shared["variables"][0]
            assert (timestep.acting[0] == (rows[:, COLUMN["dead"]] == 0)).all() or timestep.over[0]
            idle += (~timestep.acting[0]).sum()
            paid += np.abs(timestep.reward).sum()
        metrics = world.metrics
        assert timestep.terminated.all()
        assert not timestep.truncated.any()
        assert metrics["outcome"].sum() == 0
        assert (np.sign(metrics["frags"][0, 0] - metrics["frags"][0, 1]) == metrics["outcome"][0, 0]).all()
        assert metrics["tic_drift"].tolist() == [0]
        assert metrics["engine_restarts"].tolist() == [0]
        dead += metrics["deaths"].sum()
        assert idle >= 10 * metrics["deaths"].sum()  # a second is 17 decisions
        assert world._shared["tic"].min() >= 2_000
    assert dead > 2
    assert paid > 0


def test_a_match_against_built_in_players_ranks_them_too(made):
    world = made("doom/deathmatch", seed=1, players=1, bots=2, tics=400, respawn_delay=0)
    world.reset()
    list(play(world, 300))
    assert world.timestep.over.all()
    assert world.metrics["outcome"][0, 0] in (-1, -0.5, 0, 0.5, 1)
    assert world.rewards.shape == (1, 1, 10)


@pytest.mark.parametrize(
    ("way", "line"), [(signal.SIGKILL, "ViZDoom"), (signal.SIGSTOP, "has not come back for 1.5 s")]
)
def test_a_lost_engine_cuts_its_own_match_alone(made, capfd, way, line):
    world = made("doom/duel", num_worlds=2, seed=2, deadline=1.5, respawn_delay=0)
    world.reset()
    list(play(world, 5))
    os.kill(engines_of(world, 1)[-1], way)
    begun = time.monotonic()
    lost = next(step for step in play(world, 50) if step.over.any())
    assert time.monotonic() - begun < 6
    assert (lost.over.tolist(), lost.truncated.tolist()) == ([False, True], [[False, False], [True, True]])
    assert not lost.terminated.any()
    assert contained(world, lost)
    assert world.metrics["engine_restarts"].tolist() == [0, 1]
    said = [text for text in capfd.readouterr().err.splitlines() if text.startswith("interplay:")]
    assert len(said) == 1
    assert line in said[0]
    first = [step.over.tolist() for step in play(world, 5)]
    assert first == [[False, True]] * 5  # the other match goes on
    again = world.reset(lost.over)
    assert not again.over.any()
    assert not any(step.over.any() for step in play(world, 10))
    assert len(engines_of(world, 1)) == 2


def test_nothing_is_left_when_a_world_is_closed():
    world = interplay.make_world("doom/duel", seed=2)
    world.reset()
    pids, folder = engines_of(world, 0), world._matches[0]._folder
    assert len(pids) == 2
    names = (folder / "instances").read_text().split()
    world.close()
    assert not folder.exists()
    assert not any(path.name.endswith(tuple(names)) for path in Path("/dev/shm").iterdir())
    assert gone(pids)


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


ORPHANS = """
import interplay, time
from tests.worlds.doom.test_engine import engines_of
if __name__ == "__main__":
    world = interplay.make_world("doom/basic")
    world.reset()
    print(*engines_of(world, 0), world._matches[0].pid, flush=True)
    time.sleep(60)
"""


def test_engines_end_with_a_process_that_is_killed(tmp_path):
    script = tmp_path / "orphans.py"
    script.write_text(ORPHANS)
    root = str(Path(__file__).parents[3])
    with subprocess.Popen(
        [sys.executable, script],
        stdout=subprocess.PIPE,
        text=True,
        cwd=root,
        env={**os.environ, "PYTHONPATH": root},
    ) as process:
        pids = [int(pid) for pid in process.stdout.readline().split()]
        process.kill()
    assert len(pids) == 2
    assert gone(pids)


def test_a_turn_by_positive_degrees_turns_right(made):
    """The post rules' sign (specification 7.4)."""
    import vizdoom

    from interplay.core.settings import build
    from interplay.worlds.doom.config import VARIANTS, DoomSettings
    from interplay.worlds.doom.engine import find_map, make_game

    settings = build(DoomSettings, {**VARIANTS["basic"], "actions": "discrete7", "post_rules": True}, "test")
    turned = []
    for button, value in (("TURN_LEFT_RIGHT_DELTA", 20), ("TURN_RIGHT", 1)):
        game = make_game(settings, find_map(settings), 0, 0, 1)
        game.add_available_game_variable(vizdoom.GameVariable.ANGLE)
        game.init()
        names = [one.name for one in game.get_available_buttons()]
        before = game.get_game_variable(vizdoom.GameVariable.ANGLE)
        for _ in range(3):
            game.make_action([value * (name == button) for name in names], 1)
        turned.append((game.get_game_variable(vizdoom.GameVariable.ANGLE) - before + 180) % 360 - 180)
        game.close()
    assert turned[0] < -15
    assert turned[1] < 0


def test_rules_after_the_choice_play_in_the_engine(made):
    world = made("doom/basic", seed=3, actions="discrete7", post_rules=True, reward="vector")
    world.reset()
    for _ in range(6):
        world.step(np.full((1, 1), 1))
    buttons = world._buttons
    assert world._shared["presses"][0, 0, buttons.index("turn_left_right_delta")] == -20
    assert world._shared["presses"][0, 0, buttons.index("turn_left")] == 0
    assert len(world._rooms[0, 0]) < ROOMS


def test_buttons_are_held_one_by_one(made):
    world = made("doom/basic", seed=3, actions="buttons", buttons=("attack", "move_left"))
    world.reset()
    ammo = world._shared["variables"][0, 0, COLUMN["ammo"]].copy()
    for _ in range(20):
        world.step(np.array([[[1, 0]]], np.int8))
    assert world._shared["variables"][0, 0, COLUMN["ammo"]] < ammo


def test_an_interrupt_between_command_and_answer_loses_nothing(made):
    world = made("doom/basic", seed=3)
    world.reset()
    match = world._matches[0]
    match.send(b"s")  # as if Ctrl-C had come here
    assert world.step(np.zeros((1, 1), np.int64)).acting.all()
    assert world._shared["tic"].tolist() == [[14 + 2 * 2]]


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
