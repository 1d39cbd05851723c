"""A world or a player that calls sys.exit(0) does not make a command succeed."""

from __future__ import annotations

import pytest

from interplay.cli.main import run

WORLD = "tests.cli.leaver:Leaver"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (f"train {WORLD} network.kind=mlp --workers 1 --out run", 21),
        (f"evaluate random --world {WORLD} --episodes 8", 21),
        ("evaluate tests.cli.leaver:LeavingPlayer --world tests.cli.marsh:Marsh --episodes 8", 29),
        (f"record random --world {WORLD} --out film.replay", 21),
        (f"check {WORLD} --steps 13", 21),
        (f"bench {WORLD} --num-worlds 4 --seconds 0.1", 21),
        (
            "tournament random tests.cli.leaver:LeavingPlayer --world tests.cli.marsh:Marsh --matches 4 --out cup --workers 1",
            29,
        ),
    ],
)
def test_a_command_that_was_left_fails(
    words: str, line: int, tmp_path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(words.split()) == 1
    said = capsys.readouterr().err.splitlines()[-1]
    assert f"leaver.py, line {line}" in said
    assert "sys.exit(0)" in said
