"""The shell commands of the guide to self-play, run in their order; training is shortened, nothing else is changed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from interplay.cli.main import run

pytestmark = pytest.mark.slow

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "self-play.md"
SHORT = {"--steps": "2400", "--matches": "2", "--episodes": "2"}
SMALL = (
    *("num_worlds=4", "train.shards=1", "train.workers=1", "network.hidden=[8]", "population.block=8"),
    *("ppo.rollout=64", "ppo.minibatch=128", "ppo.epochs=1", "world.options.rounds=1", "train.quiet=true"),
)


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", GUIDE.read_text(), re.MULTILINE | re.DOTALL)


def commands() -> list[list[str]]:
    return [shlex.split(line)[1:] for text in blocks("sh") for line in text.splitlines() if line.strip()]


def shortened(words: list[str]) -> list[str]:
    found = [SHORT.get(words[at - 1], word) if at else word for at, word in enumerate(words)]
    if words[0] != "train":
        return found
    return [*found, *SMALL, *(["league.period=520"] if "--league" in words else [])]


def test_every_command_does_what_the_guide_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    asked = commands()
    assert [words[0] for words in asked] == [
        "train",
        "train",
        "train",
        "league",
        "tournament",
        "evaluate",
        "record",
    ]
    for words in asked:
        code = run(shortened(words))
        assert code == 0, (words, capsys.readouterr().err)
    assert (tmp_path / "runs" / "league" / "league.png").exists()
    assert (tmp_path / "cup" / "ratings.json").exists()
    assert (tmp_path / "match.mp4").stat().st_size > 1000


def test_the_file_of_the_guide_is_a_league(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    (text,) = blocks("toml")
    Path("exploiters.toml").write_text(text)
    words = ["train", "pong/2p", "--league", "exploiters.toml", "--steps", "1", "--out", "run"]
    code = run(shortened(words))
    assert code == 0, capsys.readouterr().err
    assert run(["league", "run"]) == 0
    assert "main-0001" in capsys.readouterr().out
