"""Whatever is wrong with a command or a settings file, it is said in one line, and nothing is left behind."""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import pytest

from interplay.cli.main import run
from tests.cli.random_configurations import Configuration, configuration, huge

NOTES = ("skipped a checkpoint: ",)  # said before the line that counts
FEW = " agent-steps are few for "  # a short run takes fewer worlds


class Answer(NamedTuple):
    """What a command said, and what it left in the working folder."""

    code: int
    lines: list[str]
    left: list[str]

    def fault(self) -> str:
        """What is wrong with the answer; empty if nothing is."""
        said = [line for line in self.lines if not line.startswith(NOTES) and FEW not in line]
        if self.code != 2:
            return f"exit code {self.code}: {said}"
        if len(said) != 1 or not said[0].startswith("interplay: "):
            return f"{len(said)} lines: {said[:3]}"
        if len(said[0]) > 600 or not said[0].isprintable():
            return f"an odd line: {said[0][:200]!r}"
        return f"left behind: {self.left}" if self.left else ""


def answer(asked: Configuration, folder: Path) -> Answer:
    """Runs a command in this process; the working folder is `folder`, which must be empty."""
    for name, data in asked.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    before, errors = set(folder.rglob("*")), io.StringIO()
    with redirect_stderr(errors), redirect_stdout(io.StringIO()):
        code = run(list(asked.words))
    # A lock in a folder that was there means nothing once its process has ended.
    left = sorted(str(path) for path in set(folder.rglob("*")) - before if path.name != ".lock")
    return Answer(code, errors.getvalue().split("\n")[:-1], left)


@pytest.mark.parametrize("first", range(0, 100, 10))
def test_random_configurations_are_refused_in_one_line(tmp_path, monkeypatch, first):
    for seed in range(first, first + 10):
        folder = tmp_path / str(seed)
        folder.mkdir()
        monkeypatch.chdir(folder)
        asked = configuration(seed)
        fault = answer(asked, folder).fault()
        assert not fault, (seed, asked.fault, [word[:80] for word in asked.words], fault)


@pytest.mark.parametrize(
    "words",
    [
        ("train", "simulation/multi-corridor", "train=3"),
        ("train", "simulation/multi-corridor", "train=3", "--workers", "1"),
        ("train", "simulation/multi-corridor", "--out", ""),
        ("train", "simulation/multi-corridor", "ppo.clip=" + "[" * 5_000),
        ("train", "simulation/multi-corridor", "seed=" + "7" * 5_000),
        ("evaluate", "random", "--world", "simulation/multi-corridor", "end=" + "7" * 5_000),
        ("evaluate", "\x1b]0;title\x07", "--world", "simulation/multi-corridor"),
        ("evaluate", "\udcff", "--world", "simulation/multi-corridor"),
    ],
)
def test_faults_that_outsiders_found(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    assert not answer(Configuration("", words), tmp_path).fault()


def test_numbers_that_no_memory_has_room_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for asked in huge():
        assert not answer(asked, tmp_path).fault(), asked.words
