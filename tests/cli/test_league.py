"""`interplay train --league` and `interplay league`: what a person types, sees and mistypes."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from interplay.cli import main as cli
from interplay.core.errors import UserError
from interplay.registry import make_world
from interplay.verbs.contestants import find_contestant
from interplay.verbs.pairing import Admission, seat_pair
from interplay.view.server.play import Cast, Play
from interplay.view.server.rosters import Rosters
from interplay.view.server.sources import Opened, Sources
from tests.cli.command import refusal, typed
from tests.evaluate.roads import ratings

TRAIN = (
    "train", "matrix/rock-paper-scissors", "--num-worlds", "16", "--workers", "1", "train.shards=1", "train.quiet=true",
    "network.hidden=[8]", "population.block=8", "ppo.epochs=1", "league.period=600", "--steps", "2000",
)  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trained league."""
    folder = tmp_path_factory.mktemp("runs") / "league"
    assert cli.run([*TRAIN, "--league", "exploiters", "--out", str(folder)]) == 0
    return folder


def test_a_trained_league_is_described(capsys: pytest.CaptureFixture[str], run: Path) -> None:
    code, said, errors = typed(capsys, "league", run)
    assert code == 0, errors
    for player in ("main-0001", "main_exploiter-0001", "league_exploiter-0001"):
        assert player in said
    assert (run / "league.png").read_bytes().startswith(b"\x89PNG")
    (run / "league.png").unlink()
    (checkpoint,) = sorted((run / "checkpoints").iterdir())[-1:]
    assert typed(capsys, "league", checkpoint)[0] == 0
    assert (run / "league.png").is_file()
    assert not (checkpoint / "league.png").exists()


def test_the_table_is_that_of_the_matches_in_the_checkpoint(
    capsys: pytest.CaptureFixture[str], run: Path
) -> None:
    pool = load_file(sorted((run / "checkpoints").iterdir())[-1] / "pool.safetensors")
    met = pool["matches"] + pool["matches"].T
    there = np.ix_(*[np.flatnonzero(met.any(axis=1))] * 2)
    met, total, matches = met[there], pool["total"][there], pool["matches"][there]
    table = json.loads(typed(capsys, "league", run, "--json")[1])
    assert (table["outcomes"], table["matches"]) == (total.tolist(), matches.tolist())
    assert table["score"] == "return"
    assert table["seat_advantage"] == pytest.approx(total.sum() / matches.sum())
    names = [player["name"] for player in table["players"]]
    points = (total + matches) / 2 + ((matches - total) / 2).T
    elo = ratings(points, 1.0)
    elo -= elo[names.index(table["anchor"])]
    assert [player["elo"] for player in table["players"]] == pytest.approx(elo, abs=1e-2)
    mixture = np.array([player["nash"] for player in table["players"]])
    gains = np.where(met < 10, 0.0, points - points.T) / np.maximum(met, 1e-9) @ mixture
    assert gains.max() < 1e-6, "a player beats the mixture"
    text = typed(capsys, "league", run)[1]
    rows = [line.replace("│", " ").split() for line in text.splitlines() if line.count("│") > 4]
    assert "points" in text
    assert "won" not in text
    assert [row[0] for row in rows] == [str(number + 1) for number in range(len(names))]
    for row in rows:
        i = names.index(row[1])
        won = 100 * points[i].sum() / met[i].sum()
        assert row[2:] == [f"{elo[i]:+z.0f}", f"{met[i].sum():,.0f}", f"{won:.0f}", "%", f"{mixture[i]:.2f}"]
    assert [float(row[2]) for row in rows] == sorted((float(row[2]) for row in rows), reverse=True)
    assert f"first seat: {total.sum() / matches.sum():+.3f} on average" in text


def test_two_players_of_a_league_meet_live(run: Path) -> None:
    world, pair = seat_pair(run, ("main-0001", "main"), Admission(run))
    play = Play(Cast(world, pair, pair.name, of=pair.of))
    assert pair.name == "main-0001 against main"
    for slot, name in enumerate(("main-0001", "main")):
        told = play.agent(slot, person=False)
        assert told["policy"] == name
        assert told["value"] is not None  # each is asked by its own network
    play.step()
    play.close()
    with pytest.raises(UserError, match="no such player in"):
        seat_pair(run, ("main-0001", "rock"), Admission(run))
    numbers = Rosters(Sources(Opened("", run))).players(0)
    assert {"main", "main-0001"} <= {one["name"] for one in numbers}
    assert sorted(one["id"] for one in numbers) == list(range(len(numbers)))


def test_players_of_a_league_meet_in_tournaments_and_are_evaluated(
    capsys: pytest.CaptureFixture[str], run: Path, tmp_path: Path
) -> None:
    cup = (
        "tournament",
        f"{run}@main-0001",
        f"{run}@main",
        "rock",
        "--matches",
        "4",
        "--out",
        tmp_path / "cup",
    )
    code, said, errors = typed(capsys, *cup)
    assert code == 0, errors
    assert "ratings over 12 matches" in said
    with closing(make_world("matrix/rock-paper-scissors", 1)) as world:
        for name in ("main-0001", "main"):
            assert find_contestant(f"{run}@{name}", world).policy.names == (name,)
    code, said, errors = typed(capsys, "evaluate", f"{run}@main-0001", "--episodes", "10", "--json")
    assert code == 0, errors
    assert json.loads(said)["world"] == "matrix/rock-paper-scissors"
    assert "no population main-0099; there are" in refusal(capsys, "evaluate", f"{run}@main-0099")
    assert "names main, a player of a league" in refusal(capsys, "league", f"{run}@main")


def test_a_file_says_who_meets_whom(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('keep = 3\n[learners.main]\nmeets = [{by = "fixed", play = "rock"}]\n')
    code, _, errors = typed(capsys, *TRAIN, "--league", file, "--out", tmp_path / "run")
    assert code == 0, errors
    settings = (tmp_path / "run" / "settings.toml").read_text()
    assert "keep = 3 " in settings
    assert "period = 600 " in settings  # what was typed wins
    code, said, _ = typed(capsys, "league", tmp_path / "run", "--json")
    assert json.loads(said)["anchor"] == "rock"


def test_files_without_learners_are_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("keep = 3\n")
    assert "league.learners is missing" in refusal(
        capsys, *TRAIN, "--league", file, "--out", tmp_path / "run"
    )
    for text in ("seed = 3\n[league.learners.main]\n", "league = 3\n"):
        file.write_text(text)
        assert "than [league]; leave the rest out" in refusal(
            capsys, *TRAIN, "--league", file, "--out", tmp_path / "run"
        )
    file.write_text('[learners.main]\nmeets = [{by = "fixed", play = "somewhere:Code"}]\n')
    assert "names a program" in refusal(capsys, *TRAIN, "--league", file, "--out", tmp_path / "run")


def test_a_league_without_results_names_a_command_that_gives_some(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    words = (*TRAIN[:-3], "league.period=2500", "--steps", "600", "--league", "pfsp")
    assert typed(capsys, *words, "--out", run)[0] == 0
    said = refusal(capsys, "league", run)
    assert "league.period = 2,500" in said
    assert "league.measure" not in said
    command = said.split("`")[1].split()[1:]
    assert command[-1] == "3750"  # the middle of the second period
    assert typed(capsys, *command)[0] == 0
    assert typed(capsys, "league", run)[0] == 0


def test_a_run_without_a_league_says_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    plain = [word for word in TRAIN if not str(word).startswith("league.")]
    assert typed(capsys, *plain, "--out", tmp_path / "run")[0] == 0
    assert "this run has no league" in refusal(capsys, "league", tmp_path / "run")
    assert "leave out @main" in refusal(capsys, "evaluate", f"{tmp_path / 'run'}@main")
