"""Round robins: the same bits with and without kills, fair seats, refusals in one line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.core.files import FileLock
from interplay.core.policy import Policy, RandomPolicy
from interplay.evaluate import round_robin
from interplay.evaluate.tournaments import folder, results_log
from interplay.evaluate.tournaments.folder import TournamentFolder
from interplay.evaluate.tournaments.round_robins import make_settings, run_round_robin
from interplay.registry import make_policy
from tests.evaluate import cup

ROOT = Path(__file__).resolve().parents[2]
DUEL = "survival/1v1-heals-low"


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """An uninterrupted tournament."""
    out = tmp_path_factory.mktemp("whole") / "cup"
    return out, cup.play(out)


def lines(out: Path) -> dict[str, dict]:
    rows = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    assert len({row["key"] for row in rows}) == len(rows)
    return {row["key"]: row for row in rows}


def test_every_pair_plays_every_match_once(whole):
    out, result = whole
    assert set(lines(out)) == {f"{pair}/{n}" for pair in ("0-1", "0-2", "1-2") for n in range(6)}
    assert result.matches == 18
    assert (result.wins + result.wins.T)[~np.eye(3, dtype=bool)].tolist() == [6] * 6
    assert result.names[result.order[0]] == "hunter"


def test_seats_go_round_on_the_same_seed(whole):
    rows = lines(whole[0])
    for n in (0, 2, 4):
        assert rows[f"0-1/{n}"]["seed"] == rows[f"0-1/{n + 1}"]["seed"] == rows[f"1-2/{n}"]["seed"]
    assert len({row["seed"] for row in rows.values()}) == 3


def test_a_match_does_not_depend_on_what_else_is_played(whole, tmp_path):
    cup.play(tmp_path / "short", matches=4)
    rows, short = lines(whole[0]), lines(tmp_path / "short")
    assert all(rows[key] == row for key, row in short.items())
    assert len(short) == 12


@pytest.mark.parametrize(
    ("point", "times"), [("results: part written", 3), ("results: written", 2), ("settings: half written", 1)]
)
def test_kill_9_loses_nothing_and_counts_nothing_twice(whole, tmp_path, point, times):
    out = tmp_path / "cup"
    command = [sys.executable, "-m", "tests.evaluate.cup", str(out), point, str(times)]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, timeout=300, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    before = (out / "results.jsonl").read_bytes() if (out / "results.jsonl").exists() else b""
    if point == "results: part written":
        assert not before.endswith(b"\n")  # the kill did tear a line
    finished = before[: before.rfind(b"\n") + 1].splitlines()
    counted = []
    cup.play(out, resume=True, on_progress=lambda done, total: counted.append((done, total)))
    assert counted[0] == (len(finished), 18)
    assert (out / "results.jsonl").read_bytes() == (whole[0] / "results.jsonl").read_bytes()
    assert (out / "ratings.json").read_bytes() == (whole[0] / "ratings.json").read_bytes()


def test_a_block_that_lacks_a_line_is_played_again_for_that_line(whole, tmp_path):
    out = tmp_path / "cup"
    cup.play(out)
    file = out / "results.jsonl"
    all_lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(line for line in all_lines if b'"0-2/1"' not in line))
    cup.play(out, resume=True)
    assert sorted(file.read_bytes().splitlines(keepends=True)) == sorted(all_lines)
    assert (out / "ratings.json").read_bytes() == (whole[0] / "ratings.json").read_bytes()


def test_a_folder_belongs_to_one_tournament(whole, tmp_path):
    out, _ = whole
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    with pytest.raises(UserError, match="seed is 11 there and 12 here; choose another --out"):
        cup.play(out, seed=12, resume=True)
    with pytest.raises(UserError, match="already holds this tournament; go on with it by --resume"):
        cup.play(out)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("x")
    with pytest.raises(UserError, match="holds other things than a tournament"):
        cup.play(tmp_path / "other")
    assert {path.name: path.read_bytes() for path in out.iterdir() if path.name != ".lock"} == {
        name: data for name, data in before.items() if name != ".lock"
    }


def test_a_setting_that_only_one_of_two_tournaments_knows_makes_them_two(tmp_path, monkeypatch):
    """As in a file of another version."""
    with TournamentFolder(tmp_path, cup.settings()):
        pass
    stands = folder._read(tmp_path / "tournament.toml").values
    older = {key: value for key, value in stands.items() if key != "greedy"}
    for values, said in (
        (older, "greedy is not given there and False here"),
        ({**stands, "x": 3}, "x is 3 there and not given here"),
    ):
        monkeypatch.setattr(folder, "_read", lambda file, values=values: SimpleNamespace(values=values))
        with pytest.raises(UserError, match=f"{said}; choose another --out"):
            TournamentFolder(tmp_path, cup.settings(), resume=True)


def test_two_processes_do_not_share_a_folder(tmp_path):
    out = tmp_path / "cup"
    out.mkdir()
    with FileLock(out / ".lock"), pytest.raises(UserError, match=f"is in use by process {os.getpid()} of "):
        cup.play(out)


def test_a_finished_tournament_plays_nothing_again(whole):
    out, result = whole
    written = (out / "results.jsonl").stat().st_mtime_ns
    again = cup.play(out, resume=True)
    assert (out / "results.jsonl").stat().st_mtime_ns == written
    assert again.elo.tolist() == result.elo.tolist()


class Sharp(Policy):
    """A hunter that plays well in its first slot only, so that seats matter."""

    name = "sharp"

    def start(self, world, seed=0):
        super().start(world, seed)
        self._hunter, self._random = make_policy(DUEL, "hunter"), RandomPolicy()
        self._hunter.start(world, seed)
        self._random.start(world, seed)

    def act(self, timestep):
        action = np.array(self._random.act(timestep))
        action[:, 0] = self._hunter.act(timestep)[:, 0]
        return action


def test_who_is_strong_in_one_seat_only_gets_both():
    found = round_robin({"sharp": Sharp(), "random": RandomPolicy()}, DUEL, matches=8, seed=2)
    # Strong in half of the matches: not 8 to 0 as it would be if it always sat there.
    assert found.wins[0, 1] + found.wins[1, 0] == 8
    assert 4 <= found.wins[0, 1] < 8


def test_another_score_than_the_return():
    found = round_robin(
        {"hunter": make_policy(DUEL, "hunter"), "zone": make_policy(DUEL, "zone")},
        DUEL,
        matches=2,
        score="kills",
        max_steps=400,
    )
    assert found.mean_score.max() <= 1.0


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"matches": 5}, "matches = 5 is no multiple of the 2 ways to sit, so seats would be unfair; give 6"),
        (
            {"per_match": 3, "matches": 6},
            "3 players cannot share its 4 sides equally; let 2 or 4 play together",
        ),
        ({"score": "glory"}, "no score 'glory'; there are return, "),
        ({"world": "pong/2p", "options": {"follow": "right"}}, "the game plays right itself"),
    ],
)
def test_refusals_come_before_there_is_a_folder(tmp_path, values, said):
    with pytest.raises(UserError) as refused:
        run_round_robin(
            make_settings(**{**cup.settings().model_dump(), **values}), cup.policies(), tmp_path / "cup"
        )
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "cup").exists()


@pytest.mark.parametrize(
    "scores",
    [["1.0", "0.0"], [1.0], [1.0, 0.0, 0.0], "10", None, [True, False], [1.0, [0.0]], [10**39, 1e301]],
)
def test_results_that_are_no_scores_are_refused(tmp_path, scores):
    """Numbers stored as text are refused."""
    out = tmp_path / "cup"
    cup.play(out, matches=2)
    file = out / "results.jsonl"
    first, *others = file.read_text().splitlines(keepends=True)
    row = json.loads(first)
    del row["check"]
    file.write_text("".join([results_log._line({**row, "scores": scores}), *others]))
    with pytest.raises(UserError, match="scores of 0-1/0 are not 2 numbers; delete its line"):
        cup.play(out, matches=2, resume=True)


def test_numbers_of_a_tournament_are_kept_as_numbers(whole, tmp_path):
    ratings = json.loads((whole[0] / "ratings.json").read_text())
    assert all(
        type(row[key]) is float for row in ratings["players"] for key in ("elo", "mean_score", "points")
    )
    out = tmp_path / "cup"
    cup.play(out, matches=2)
    settings = cup.settings(matches=2)
    text = settings.model_copy(update={"options": {**settings.options, "rows": "6"}})
    with pytest.raises(UserError, match="holds another tournament: options is"):
        TournamentFolder(out, text, resume=True)


@pytest.mark.parametrize(("randomize", "repeated"), [("nothing", "1 of 3"), ("positions", "")])
def test_matchups_that_repeat_a_match_are_counted(randomize, repeated):
    """Scripts without draws in a fixed formation; random play draws its actions."""
    players = {name: make_policy("battle/3m", name) for name in ("focus_weakest", "attack_move", "random")}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        round_robin(players, "battle/3m", matches=8, options={"randomize": randomize})
    lines = [str(one.message) for one in caught if "matchups repeat" in str(one.message)]
    assert [line.partition(" matchups")[0] for line in lines] == [repeated] * bool(repeated)
