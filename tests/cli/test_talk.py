"""`interplay talk`: tables, JSON, recorded games, one-line refusals."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest

from interplay.evaluate.communication import read_talk
from interplay.evaluate.communication.games import Subject
from tests.cli.command import refusal, typed

QUICK = ["--games", "40", "--permutations", "20", "--num-worlds", "20"]
WORLD = ["--world", "werewolf/9-l1s9"]


@pytest.fixture
def kept(capsys, tmp_path):
    code, _, errors = typed(
        capsys, "talk", "random", *WORLD, *QUICK, "--arm", "none", "--no-probe", "--out", tmp_path / "games"
    )
    assert code == 0, errors
    return tmp_path / "games"


def test_a_report_has_a_null_beside_every_figure(capsys):
    code, out, _ = typed(capsys, "talk", "random", *WORLD, *QUICK, "--arm", "signals_off")
    assert code == 0
    first, *_ = out.splitlines()
    assert first.startswith("random on werewolf/9-l1s9, seed 0: 40 games")
    for words in (
        "positive signalling",
        "positive listening      no",
        "signal-role: bits between",
        "null 95 %",
        "heard-vote",
        "bussing",
        "logistic",
        "signals_off",
    ):
        assert words in out
    assert "signals_shuffled" not in out


def test_json_says_the_same(capsys):
    arguments = ("talk", "random", *WORLD, *QUICK, "--arm", "signals_shuffled", "--json")
    code, out, _ = typed(capsys, *arguments)
    assert code == 0
    report = json.loads(out)
    assert (report["games"], report["permutations"], report["positive_listening"]) == (40, 20, False)
    assert report["ablations"][0]["difference"] == 0
    assert all(f["permutations"] == 20 and 0 < f["p"] <= 1 for f in report["findings"])
    assert json.loads(typed(capsys, *arguments)[1]) == report


def test_recorded_games_give_the_same_figures(capsys, kept):
    played = json.loads(
        typed(capsys, "talk", "random", *WORLD, *QUICK, "--arm", "none", "--no-probe", "--json")[1]
    )
    read = json.loads(typed(capsys, "talk", kept, "--permutations", "20", "--no-probe", "--json")[1])
    assert read["findings"] == played["findings"]
    assert read["ablations"] == []
    assert len(read_talk(kept)) == 40
    refused = refusal(capsys, "talk", kept, "--arm", "signals_off")
    assert "played now" in refused
    assert "played already" in refusal(capsys, "talk", kept, "--against", "random")


def test_wolves_may_be_somebody_else(capsys):
    code, out, _ = typed(
        capsys,
        "talk",
        "random",
        "--against",
        "muted_wolf",
        *WORLD,
        *QUICK,
        "--arm",
        "none",
        "--no-probe",
        "--json",
    )
    assert code == 0
    told = {
        f["part"]: f
        for f in json.loads(out)["findings"]
        if f["measure"] == "signal-role" and f["phase"] == "all" and f["statistic"] == "information"
    }
    assert told["symbol 0"]["above"]  # wolves who always say 0 are seen
    assert json.loads(out)["positive_signalling"]


def test_without_words_names_are_what_is_said(capsys):
    code, out, errors = typed(capsys, "talk", "random", "--world", "werewolf/9", *QUICK, "--json")
    assert code == 0, errors
    report = json.loads(out)
    assert {f["part"] for f in report["findings"]} == {"name"}
    assert [a["arm"] for a in report["ablations"]] == ["talk_off", "targets_off"]
    assert report["language"] == []
    assert len(report["probes"]) > 2


def test_other_worlds_talk_too(capsys):
    code, out, errors = typed(
        capsys, "talk", "random", "--world", "gridworld/broadcast", "--games", "6", "--permutations", "10"
    )
    assert code == 0, errors
    assert "signal-role" in out
    assert "bussing" not in out
    assert "positive listening      not looked at" in out


def test_a_run_is_asked_for_those_whom_it_moves_itself():
    """Those whom a run's own opponents move are not asked, and each is known to the policy by its seat among those that it was given."""
    settings = SimpleNamespace(foreign={"werewolf": "unite"}, belief=SimpleNamespace(about="werewolf"))
    policy = SimpleNamespace(
        settings=settings, beliefs=lambda seen, own: own, probabilities=lambda *given: given[2]
    )
    everybody = Subject(policy, (0, 1), ("villager", "werewolf"))
    assert (everybody.queried, everybody.foe) == ((0,), "unite")
    some = Subject(policy, (0, 2), ("villager", "werewolf", "seer"))
    assert some.queried == (0, 2)
    assert some.beliefs({}, np.array([2, 0, 2])).tolist() == [1, 0, 1]
    assert some.probabilities({}, None, np.array([2, 0])).tolist() == [1, 0]
    scripted = Subject(SimpleNamespace(), (0, 1), ("villager", "werewolf"))
    assert (scripted.queried, scripted.foe) == ((0, 1), "")
