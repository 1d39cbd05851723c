"""`interplay analyze --overlay`: files, table, one-line refusals."""

from __future__ import annotations

import json

import numpy as np

from interplay.cli.overlays import on_one_map
from interplay.cli.printing import ProgressLines
from tests.cli.command import refusal, typed

SMALL = ["--ticks", "30", "--world", "mmo/combat", "interior=24", "slots=12", "npop=2"]


def test_arrays_meaning_picture_and_a_table(capsys, tmp_path):
    code, out, errors = typed(
        capsys, "analyze", "random", *SMALL, "--overlay", "combat", "--overlay", "lives", "--out", tmp_path / "new" / "pictures"
    )  # fmt: skip
    assert code == 0
    assert all(
        "left" in line or "compiled" in line for line in errors.splitlines()
    )  # where the machine is slow
    assert "random on mmo/combat, 1 world, up to 30 ticks" in out
    assert "population 1" in out
    folder = tmp_path / "new" / "pictures"
    assert {path.name for path in folder.iterdir()} == {
        f"{name}.{end}" for name in ("combat", "lives") for end in ("npz", "json", "png")
    }
    described = json.loads((folder / "combat.json").read_text())
    with np.load(folder / "combat.npz", allow_pickle=False) as arrays:
        assert arrays[described["layers"][0]["name"]].shape == (3, 11, 11)
    assert (folder / "lives.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_players_stand_beside_each_other_in_one_picture(capsys, tmp_path):
    shared = [*SMALL, "--overlay", "blows", "--seed", "4", "--world-seed", "2"]
    assert (
        typed(capsys, "analyze", "random", *shared, "--beside", "fighter", "--out", tmp_path / "both")[0] == 0
    )
    typed(capsys, "analyze", "fighter", *shared, "--out", tmp_path / "alone")
    with np.load(tmp_path / "both/blows.npz") as both, np.load(tmp_path / "alone/blows.npz") as alone:
        assert {name.partition(".")[0] for name in both} == {"random", "fighter"}
        for name in alone:
            np.testing.assert_array_equal(both[f"fighter.{name}"], alone[name])
        np.testing.assert_array_equal(both["random.tiles"] == 0, both["fighter.tiles"] == 0)
    described = json.loads((tmp_path / "both/blows.json").read_text())
    assert described["columns"][0] == "home"
    assert len({tuple(layer["limits"]) for layer in described["layers"]}) == 1


def test_nothing_stands_beside_a_script(capsys):
    assert "--beside runs/b: only overlays" in refusal(
        capsys, "analyze", "runs/a", "s.py", "--beside", "runs/b"
    )


def test_the_same_seed_writes_the_same_bytes(capsys, tmp_path):
    for name in ("a", "b"):
        typed(
            capsys,
            "analyze",
            "random",
            *SMALL,
            "--overlay",
            "exploration",
            "--seed",
            "4",
            "--out",
            tmp_path / name,
        )
    for end in ("npz", "json", "png"):
        assert (tmp_path / f"a/exploration.{end}").read_bytes() == (
            tmp_path / f"b/exploration.{end}"
        ).read_bytes()


def test_the_map_is_the_one_that_was_asked_for(capsys, tmp_path):
    from bench.mmo_maps import generate_map
    from interplay.worlds.mmo.config import MmoSettings

    typed(
        capsys,
        "analyze",
        "random",
        *SMALL,
        "--overlay",
        "exploration",
        "--world-seed",
        "77",
        "--out",
        tmp_path,
    )
    with np.load(tmp_path / "exploration.npz", allow_pickle=False) as arrays:
        drawn = generate_map(MmoSettings(interior=24, slots=12, npop=2), 77).tiles
        solid = np.isin(drawn, (0, 1, 5))  # what nobody eats
        np.testing.assert_array_equal(arrays["tiles"][solid], drawn[solid])


def test_worlds_are_alike_unless_told_otherwise():
    assert on_one_map("mmo/forage", {"npop": 2}, ["npop=2"], 5) == {
        "npop": 2, "maps": 1, "cap_draw": "fixed", "map_seed": 5,
    }  # fmt: skip
    assert on_one_map("mmo/forage", {"maps": 3}, ["maps=3"], None)["maps"] == 3
    assert on_one_map("mmo/forage", {"maps": 3}, [], None)["maps"] == 1  # a run's own option
    assert on_one_map("survival/1v1-all-low", {}, [], 5) == {}


def test_a_checkpoint_that_is_not_there_is_named_with_those_that_are(capsys, tmp_path):
    (tmp_path / "run/checkpoints/000000000500").mkdir(parents=True)
    line = refusal(
        capsys, "analyze", tmp_path / "run", "-c", "7", "--overlay", "lives", "--out", tmp_path / "x"
    )
    assert "-c 7" in line
    assert line.endswith("no such checkpoint; it has 500")


def test_a_file_in_the_way_is_told_before_the_play(capsys, tmp_path):
    (tmp_path / "file").write_text("kept")
    line = refusal(
        capsys, "analyze", "random", *SMALL, "--overlay", "lives", "--out", tmp_path / "file" / "x"
    )
    assert "is no folder" in line
    assert (tmp_path / "file").read_text() == "kept"


def test_time_left_is_told_after_two_seconds(capsys):
    tell, now = ProgressLines(), [0.0]
    tell._clock = lambda: now[0]
    for done in range(6):
        now[0] = 100.0 + done if done else 0.0  # the first tick waits for the compiler
        tell("ticks", 100 * done, 1000)
    tell("ghosts", 5, 10)
    assert capsys.readouterr().err.splitlines() == [
        "ticks: 300 / 1,000, 7 s left",
        "ticks: 500 / 1,000, 5 s left",
    ]
