"""The frame of the command line: help, one-line errors, exit codes, interruptions, closed pipes."""

from __future__ import annotations

import subprocess
import sys

import pytest

import interplay
from interplay.cli import main as main_module
from interplay.cli.main import VERBS, run
from tests.cli.command import ROOT, refusal, typed
from tests.cli.command import interplay as command

NAMES = [verb.__name__ for verb in VERBS]


def test_the_verbs_that_are_promised_exist():
    promised = {"worlds", "train", "resume", "evaluate", "tournament", "record", "bench", "check", "curves"}
    assert promised | {
        "debug",
        "visualize",
        "analyze",
        "talk",
        "play",
        "transcript",
        "view",
        "league",
        "export",
        "prepare",
        "sweep",
        "runs",
        "compare",
        "diagnose",
        "cluster",
    } == set(NAMES)


@pytest.mark.parametrize(("name", "example"), [(verb.__name__, verb.example) for verb in VERBS])
def test_help_of_each_verb_shows_its_examples(capsys, name, example):
    assert run([name, "--help"]) == 0
    out = capsys.readouterr().out
    for line in example.splitlines():
        assert line in out
        assert line.startswith(f"interplay {name}")


def test_no_arguments_is_help_and_a_complaint(capsys):
    """Simulations 6.1: help on stderr, exit code 1."""
    code, out, errors = typed(capsys)
    assert (code, out) == (1, "")
    assert "Usage: interplay" in errors


def test_version():
    assert command("--version").stdout.split() == ["interplay", interplay.__version__]


def test_a_mistake_ends_the_process_with_code_2():
    done = command("bench", "survival/1v1-heal-low")
    assert done.returncode == 2
    assert done.stderr.startswith("interplay: unknown world")
    assert done.stderr.count("\n") == 1


def test_ctrl_c_is_one_line_and_130(capsys):
    assert typed(capsys, "check", "tests.cli.marsh:interrupted") == (130, "", "interplay: interrupted\n")


def test_a_bug_is_one_line(capsys):
    code, _, errors = typed(capsys, "check", "tests.cli.marsh:breaks")
    assert code == 1
    assert errors.count("\n") == 1
    assert "ZeroDivisionError: a bug with two lines" in errors


@pytest.mark.parametrize(("arguments", "env"), [(["--traceback"], {}), ([], {"INTERPLAY_TRACEBACK": "1"})])
def test_a_bug_shows_its_place_on_request(arguments, env):
    done = command("check", "tests.cli.marsh:breaks", *arguments, env=env)
    assert done.returncode == 1
    assert 'marsh.py", line' in done.stderr


def test_what_a_name_holds_is_shown_and_does_nothing_to_the_terminal(capsys, tmp_path):
    words = ("random", "--world", "tests.cli.marsh:Marsh", "--out", tmp_path / "cup")
    line = refusal(capsys, "tournament", "runs/\x1b]0;title\x07ä", *words)
    assert line.startswith(r"interplay: runs/\x1b]0;title\x07ä: no such run folder")


def test_a_reader_that_leaves_is_no_error():
    process = subprocess.Popen(
        [sys.executable, "-m", "interplay.cli", "worlds"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.close()
    errors = process.stderr.read().decode()
    process.stderr.close()
    process.wait()
    assert errors == ""


@pytest.mark.parametrize(
    ("words", "variable", "asked"),
    [
        ([], None, False),
        ([], "", False),
        ([], "0", False),
        ([], "1", True),
        (["--traceback"], None, True),
        (["--traceback"], "0", True),
    ],
)
def test_tracebacks_are_shown_where_a_switch_asks_for_them(monkeypatch, words, variable, asked):
    """By the option, wherever it stands, or by the variable; the verb does not see the option."""
    given = []
    monkeypatch.setattr(
        main_module, "run", lambda arguments, traceback: given.append((arguments, traceback)) or 0
    )
    monkeypatch.setattr("sys.argv", ["interplay", "worlds", *words, "--json"])
    monkeypatch.delenv("INTERPLAY_TRACEBACK", raising=False)
    if variable is not None:
        monkeypatch.setenv("INTERPLAY_TRACEBACK", variable)
    with pytest.raises(SystemExit):
        main_module.main()
    assert given == [(["worlds", "--json"], asked)]
