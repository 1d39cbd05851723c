"""Battles through the protocol of StarCraft II, against a stand-in that plays by the rules of the native world."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

from interplay.core.errors import CannotSave, MissingExtraError, UserError
from interplay.core.settings import build
from interplay.registry import make_policy
from interplay.worlds.sc2.client import GameLost
from interplay.worlds.sc2.config import GameBattleSettings, GameSettings
from interplay.worlds.sc2.launcher import start_game
from interplay.worlds.sc2.match import Match
from tests.worlds.sc2.game import install
from tests.worlds.sc2.scenes import put_on_grid


@pytest.mark.parametrize("name", ["5i", "3i2z", "mab"])
def test_a_battle_in_the_game_is_that_of_the_native_world(make, name):
    game = make(f"sc2/battle-{name}", seed=4, randomize="positions")
    native = make(f"battle/{name}", seed=4, randomize="positions")
    game.reset()
    native.reset()
    policy = make_policy(native, "hit_and_run")
    policy.start(native, 0)
    for _ in range(120):
        put_on_grid(native.state.unit)
        seen, shown = native.refresh(), game.timestep
        np.testing.assert_array_equal(shown.observation["units"], seen.observation["units"])
        for mine, other in zip(shown[1:6], seen[1:6], strict=True):
            np.testing.assert_array_equal(mine, other)
        np.testing.assert_array_equal(shown.action_mask["action"], seen.action_mask["action"])
        if seen.over[0]:
            break
        action = policy.act(seen).copy()
        native.step(action)
        game.step(action)
    assert game.metrics["outcome"].tolist() == native.metrics["outcome"].tolist()
    assert game.metrics["fallen"].sum() > 0


def test_one_match_holds_many_battles_and_a_process_many_matches(make):
    world = make(lives=2, matches=2, limit=3)
    processes = []
    for _ in range(5):
        world.reset()
        assert world.timestep.acting.all()
        assert (world.state.unit["health"] >= 100).all()
        while not world.timestep.over[0]:
            world.step(np.ones((1, 10), int))
        assert world.timestep.truncated.all()
        processes.append([one.process.pid for one in world._arenas[0]._match._processes])
    assert processes[0] == processes[3]
    assert not set(processes[3]) & set(processes[4])
    assert world.metrics["engine_restarts"].tolist() == [0]


@pytest.mark.parametrize(("how", "player"), [(signal.SIGKILL, 0), (signal.SIGSTOP, 1)])
def test_a_lost_game_truncates_its_battle_and_no_other(make, how, player, capsys):
    world = make(num_worlds=2, answer_seconds=2.0)
    world.reset()
    stay = np.ones((2, 10), int)
    world.step(stay)
    process = world._arenas[1]._match._processes[player].process
    os.kill(process.pid, how)
    after = world.step(stay)
    assert "sc2: world 1: StarCraft II at port" in capsys.readouterr().err
    assert after.over.tolist() == [False, True]
    assert after.truncated.tolist() == [[False] * 10, [True] * 10]
    assert after.acting.any(axis=1).tolist() == [True, False]
    assert process.wait(5) is not None
    assert np.isnan(world.metrics["outcome"][1]).all()
    assert world.step(stay).over.tolist() == [False, True]
    begun = world.reset(after.over)
    assert begun.acting.all()
    assert world.metrics["engine_restarts"].tolist() == [0, 1]
    assert world.metrics["episode_length"].tolist() == [3, 0]
    assert not world.step(stay).over.any()


def test_a_game_lost_between_battles_is_replaced_and_one_that_never_starts_is_an_error(
    make, monkeypatch, tmp_path, capsys
):
    world = make()
    world.reset()
    os.kill(world._arenas[0]._match._processes[0].process.pid, signal.SIGKILL)
    assert world.reset().acting.all()
    assert "sc2: world 0: StarCraft II at port" in capsys.readouterr().err
    assert world.metrics["engine_restarts"].tolist() == [1]
    broken = install(tmp_path) / "Versions" / "Base75689" / "SC2_x64"
    broken.write_text("#!/bin/sh\nexit 3\n")
    monkeypatch.setenv("SC2PATH", str(tmp_path))
    world = make()
    with pytest.raises(GameLost, match="ended with code 3"):
        world.reset()
    assert "sc2: world 0: " in capsys.readouterr().err


def test_a_match_that_the_game_ends_is_replaced(make, capsys):
    """The stand-in ends a match after 1,500 loops: in the second battle of 800."""
    world = make(limit=100)
    stay = np.ones((1, 10), int)
    for battle in range(3):
        world.reset()
        while not world.timestep.over[0]:
            world.step(stay)
        assert capsys.readouterr().err.count("ended the match") == (battle == 1)
        assert np.isnan(world.metrics["outcome"]).all() == (battle == 1)
    assert world.metrics["engine_restarts"].tolist() == [1]


def test_no_process_outlives_a_program_that_is_killed():
    code = (
        "import interplay; world = interplay.make_world('sc2/battle-5i'); world.reset();"
        "games = world._arenas[0]._match._processes;"
        "print(*[part for one in games for part in (one.process.pid, one._scratch)], flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as program:
        told = program.stdout.readline().decode().split()
        left = [*(Path(f"/proc/{number}/exe") for number in told[::2]), *map(Path, told[1::2])]
        assert [path.exists() for path in left] == [True] * 4
        program.kill()
    deadline = time.monotonic() + 10
    while any(path.exists() for path in left):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_every_process_ends_with_its_world(make):
    world = make()
    world.reset()
    processes = [one.process for one in world._arenas[0]._match._processes]
    world.close()
    assert [process.poll() is not None for process in processes] == [True, True]


def test_a_match_cannot_be_saved(make):
    world = make()
    for refused in (world.save, world.hash, lambda: world.load({})):
        with pytest.raises(CannotSave):
            refused()


def test_another_version_is_refused(make):
    """The stand-in says 4.10.0.75689."""
    for other in ("5.0", "4.1", "4.10.1"):
        with pytest.raises(UserError, match="game_version"):
            make(game_version=other).reset()
    for own in ("any", "4", "4.10.0"):
        make(game_version=own, limit=2).reset()


def test_the_newest_build_of_the_version_is_run(monkeypatch, tmp_path):
    old = install(tmp_path) / "Versions" / "Base75689" / "SC2_x64"
    new = tmp_path / "Versions" / "Base99999" / "SC2_x64"
    new.parent.mkdir()
    new.write_text(old.read_text().replace("PYTHONPATH", "STAND_IN_VERSION=5.0.14.99999 PYTHONPATH"))
    new.chmod(0o755)
    monkeypatch.setenv("SC2PATH", str(tmp_path))
    for wanted, program in (("4.10", old), ("5.0", new), ("any", new)):
        game = start_game(GameSettings(game_version=wanted))
        game.close()
        assert game.process.args[0] == str(program)
    with pytest.raises(UserError, match=r"5\.0\.14\.99999, 4\.10\.0\.75689"):
        start_game(GameSettings(game_version="4.9"))


def test_a_program_that_cannot_be_run_is_one_line_and_leaves_no_folder(make, monkeypatch, tmp_path):
    (install(tmp_path) / "Versions" / "Base75689" / "SC2_x64").chmod(0o644)
    monkeypatch.setenv("SC2PATH", str(tmp_path))
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    with pytest.raises(UserError, match="SC2_x64 cannot be run"):
        make().reset()
    assert list((tmp_path / "scratch").iterdir()) == []


def test_a_refused_join_is_tried_again_with_new_processes(make, monkeypatch, capsys):
    world, usual = make("sc2/zvz", opponent="Easy"), Match._joins
    first = iter([[{"join_game": {}}]])
    monkeypatch.setattr(Match, "_joins", lambda self: next(first, None) or usual(self))
    assert world.reset().acting.all()
    assert "sc2: world 0: StarCraft II refused join_game: MissingParticipation" in capsys.readouterr().err
    assert world.metrics["engine_restarts"].tolist() == [1]


@pytest.mark.parametrize(
    "options", [{"jitter": True}, {"barrier": True}, {"bounce_radius": 0.0}, {"mutalisk_regeneration": True}]
)
def test_numbers_that_are_the_games_are_refused(options):
    with pytest.raises(UserError, match=next(iter(options))):
        build(GameBattleSettings, options, "sc2/battle-mab")


def test_refusals_of_a_match_lose_it_and_those_of_its_making_are_errors(make):
    world = make()
    world.reset()
    client = world._arenas[0]._match.clients[0]
    with pytest.raises(GameLost, match="quick_save in a match"):
        client.call(quick_save={})
    with pytest.raises(UserError, match="MissingMap") as caught:
        client.call(create_game={"local_map": {}})
    assert caught.type is UserError


def test_a_missing_map_and_a_missing_game_are_one_line(make, monkeypatch, tmp_path):
    with pytest.raises(MissingExtraError, match="map Nowhere"):
        make(map="Nowhere")
    monkeypatch.setenv("SC2PATH", str(tmp_path))
    with pytest.raises(MissingExtraError, match="SC2PATH"):
        make()
