"""A run folder is data: whatever stands in it, no verb starts a program that the user did not name or trust."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from interplay.core.errors import UserError
from interplay.core.settings import build
from interplay.core.trust import Untrusted
from interplay.train.play.policy import find_opponent
from interplay.train.settings import TrainSettings
from interplay.train.trainer import load_policy, load_population, resume, train
from interplay.verbs.settings import build_settings
from tests.cli.command import refusal, typed
from tests.cli.planting import (
    CANARY,
    COMMANDS,
    SETTINGS,
    WORLD,
    copied,
    forge,
    forget_settings,
    make_run,
    plant_json,
    plant_json_lines,
    plant_toml,
    verbs,
    watched,
)

pytestmark = pytest.mark.slow

CODE = [
    *(("world.id", command) for command in COMMANDS),
    ("network.kind", COMMANDS[0]),
    ("opponents.planted", COMMANDS[0]),
]
OTHERWISE = ("visualize", "talk --against")  # want an experiment, a world with hidden teams
OWN = "tests.connect.toys:Line"


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """A run whose settings name no program, and whose checkpoints say nothing of them."""
    out = make_run(tmp_path_factory.mktemp("runs") / "corridor")
    forget_settings(out)
    return out


@pytest.fixture(scope="module")
def own(tmp_path_factory) -> Path:
    """A run of a world of the user's own."""
    values = {**SETTINGS, "world": {"id": OWN}}
    return train(build(TrainSettings, values, "test"), tmp_path_factory.mktemp("own") / "line")


def asked(capsys, command, executed) -> str:
    """Runs a command; asserts that nothing was executed and that it ended well or in one line; gives that line."""
    code, _, errors = typed(capsys, *command)
    assert executed == [], command
    assert code in (0, 2), (command, errors)
    said = [line for line in errors.splitlines() if line.startswith("interplay: ")]
    assert len(said) == (code == 2), errors
    return said[0] if said else ""


@pytest.mark.parametrize(("field", "command"), CODE)
def test_no_verb_follows_a_planted_program(capsys, tmp_path, run, field, command):
    (planted,) = (
        one for one in plant_toml((run / "settings.toml").read_bytes(), [command]) if one.field == field
    )
    with copied(run, "settings.toml", planted.data) as folder, watched(tmp_path) as executed:
        for name, words in verbs(folder, tmp_path).items():
            line = asked(capsys, words, executed)
            if name not in OTHERWISE:
                for word in ("settings.toml", field, command, "--trust"):
                    assert word in line, (name, line)
    assert executed == []


def test_no_field_of_the_settings_is_followed(capsys, tmp_path, run):
    asks = plant_toml((run / "settings.toml").read_bytes(), [COMMANDS[0]])
    fields = set()
    with watched(tmp_path) as executed:
        for planted in asks:
            fields.add(planted.field)
            with copied(run, "settings.toml", planted.data) as folder:
                asked(capsys, verbs(folder, tmp_path)["evaluate"], executed)
    assert executed == []
    assert {"world.id", "network.kind", "opponents.planted", "world.options.planted", "algorithm"} <= fields
    assert len(fields) > 20


@pytest.mark.parametrize("file", ["record.json", "manifest.json"])
def test_no_field_of_a_checkpoint_is_followed(capsys, tmp_path, run, file):
    (checkpoint,) = (run / "checkpoints").iterdir()
    inside = f"checkpoints/{checkpoint.name}/{file}"
    with watched(tmp_path) as executed:
        for planted in plant_json((run / inside).read_bytes(), [COMMANDS[0]]):
            with copied(run, inside, planted.data) as folder:
                if not planted.field.startswith("files"):
                    forge(folder / "checkpoints" / checkpoint.name)
                asked(capsys, verbs(folder, tmp_path)["evaluate"], executed)
    assert executed == []


def test_no_field_of_a_tournament_is_followed(capsys, tmp_path):
    cup = tmp_path / "cup"
    played = ("tournament", "random", "walker", "--world", WORLD, "--option", "num_agents=2", "--option", "time_limit=4",
              "--matches", 2, "--max-steps", 2, "--out", cup)  # fmt: skip
    assert typed(capsys, *played)[0] == 0
    again = ("tournament", "--resume", "--out")
    with watched(tmp_path) as executed:
        for file, plant in (("tournament.toml", plant_toml), ("results.jsonl", plant_json_lines)):
            for planted in plant((cup / file).read_bytes(), COMMANDS):
                with copied(cup, file, planted.data) as folder:
                    line = asked(capsys, (*again, folder), executed)
                if planted.field in ("world", "players.0"):
                    assert planted.command in line
                    assert "--trust" in line
    assert executed == []


def test_an_experiments_folder_from_elsewhere_is_not_run(capsys, tmp_path, run, monkeypatch):
    with copied(run, "experiment.py", f"import {CANARY}\nparams = {{}}\n".encode()) as folder:
        script = tmp_path / "script.py"
        script.write_text("def run(sim, trainer): pass\n")
        with watched(tmp_path) as executed:
            for words in (("visualize", folder, "--record-only"), ("analyze", folder, script)):
                line = asked(capsys, words, executed)
                assert "experiment.py: it is a program" in line
                assert "--trust" in line
        assert executed == []
        with watched(tmp_path) as executed:
            typed(capsys, "visualize", folder, "--record-only", "--trust")
        assert CANARY in executed  # so the watch would have seen it


def test_a_run_of_ones_own_opens_without_a_question_wherever_it_is_moved(capsys, tmp_path, own):
    moved = tmp_path / "moved"
    shutil.copytree(own, moved)
    assert typed(capsys, "evaluate", moved, "--episodes", 1, "--num-worlds", 1)[0] == 0
    assert resume(moved, steps=40) == moved  # which writes the settings anew
    assert load_policy(moved).settings.steps == 40


def test_a_run_from_elsewhere_is_asked_for_once(capsys, tmp_path, own, monkeypatch):
    moved = tmp_path / "moved"
    shutil.copytree(own, moved)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "another machine"))
    evaluate = ("evaluate", moved, "--episodes", 1, "--num-worlds", 1)
    line = refusal(capsys, *evaluate)
    for word in (str(moved / "settings.toml"), "world.id", OWN, "--trust"):
        assert word in line
    for open_run in (load_policy, resume, lambda path: load_population(path, "pop0")):
        with pytest.raises(UserError, match="trust=True"):
            open_run(moved)
    assert typed(capsys, *evaluate, "--trust")[0] == 0
    assert typed(capsys, *evaluate)[0] == 0
    assert resume(moved, steps=40) == moved
    assert load_population(moved, "pop0").settings.world.id == OWN


def test_trust_in_one_run_is_none_in_the_run_that_it_leads_to(tmp_path, own, monkeypatch):
    """A run's opponents may be another run."""
    against = build(TrainSettings, {**SETTINGS, "opponents": {"b": str(own)}}, "test")
    assert find_opponent(against, "b").settings.world.id == OWN
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "another machine"))
    with pytest.raises(Untrusted, match=r"^opponents\.b: .*line/settings\.toml: world\.id"):
        find_opponent(against, "b")
    load_policy(own, trust=True)
    assert find_opponent(against, "b").settings.world.id == OWN


def test_what_was_typed_is_the_users_own_word(capsys, tmp_path):
    settings = tmp_path / "mine.toml"
    settings.write_text(
        f'steps = 1\nnum_worlds = 4\n[world]\nid = "{OWN}"\n[network]\nkind = "no_such:Net"\n'
    )
    train_it = ("train", settings, "--out", tmp_path / "run")
    assert "world.id" in refusal(capsys, *train_it)
    assert "world.id" in refusal(capsys, *train_it, "network.kind=mlp")
    assert "network.kind" in refusal(capsys, *train_it, f"world.id={OWN}")
    line = refusal(capsys, *train_it, f"world.id={OWN}", "network.width=8")
    assert 'network.kind = "no_such:Net" names a program' in line  # of which nothing was typed
    assert not (tmp_path / "run").exists()
    typed_both = build_settings(str(settings), [f"world.id={OWN}", "network.kind=also_mine:Net"], {})
    assert (typed_both.world.id, typed_both.network.kind) == (OWN, "also_mine:Net")
    trusted = build_settings(str(settings), [], {}, trust=True)
    assert (trusted.world.id, trusted.network.kind) == (OWN, "no_such:Net")
