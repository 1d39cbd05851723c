"""`interplay transcript` and what `interplay record` can be asked for."""

from __future__ import annotations

import numpy as np
import pytest

from tests.cli.command import MARSH, refusal, typed

GAME = ("random", "--world", "werewolf/9-l1s9", "--seed", 3)


def size_of(path) -> tuple[int, int]:
    head = path.read_bytes()[16:24]  # of a PNG's first chunk
    return int.from_bytes(head[:4], "big"), int.from_bytes(head[4:], "big")


def test_a_transcript_hides_the_roles_until_the_end(capsys):
    code, out, _ = typed(capsys, "transcript", *GAME)
    assert code == 0
    boards, _, end = out.partition(" win")
    assert out.startswith("all: random\nwerewolf/9-l1s9, seed 3\n  0  the game begins with the night talk\n")
    assert "role" not in boards
    assert "werewolf: " in end
    code, revealed, _ = typed(capsys, "transcript", *GAME, "--reveal")
    assert "role" in revealed.partition(" win")[0]
    assert len(revealed.splitlines()) > len(out.splitlines())


def test_options_and_limits_of_a_transcript(capsys):
    code, out, _ = typed(capsys, "transcript", *GAME, "n_players=12", "--max-steps", 1, "--episodes", 2)
    assert code == 0
    assert "12 players: 9 villagers, 3 werewolves" in out
    assert out.count("episode ") == 2


def test_nothing_can_be_revealed_where_nothing_is_hidden(capsys):
    assert "hides nothing" in refusal(capsys, "transcript", "random", "--world", MARSH, "--reveal")


@pytest.mark.parametrize(
    ("words", "sides"),
    [((), (768, 537)), (("--size", "300"), (300, 300)), (("--size", "90x60"), (90, 60))],
)
def test_pictures_have_the_size_that_was_asked_for(capsys, tmp_path, words, sides):
    """Without a size it is 768 x 512 and the line of players below."""
    path = tmp_path / "a.png"
    code, _, errors = typed(capsys, "record", *GAME, "--out", path, *words, "--step", 3)
    assert code == 0, errors
    assert size_of(path) == sides


@pytest.mark.parametrize("size", ["wide", "1x2x3", "5", "-3"])
def test_a_wrong_size_is_one_line(capsys, tmp_path, size):
    assert "size" in refusal(capsys, "record", *GAME, "--out", tmp_path / "a.png", "--size", size)


def test_a_step_that_was_not_played_is_one_line(capsys, tmp_path):
    line = refusal(capsys, "record", *GAME, "--out", tmp_path / "a.png", "--step", 999)
    assert "step = 999" in line
    assert list(tmp_path.iterdir()) == []


def test_revealed_pictures_differ(capsys, tmp_path):
    for name, words in (("a", ()), ("b", ("--reveal",)), ("c", ())):
        typed(capsys, "record", *GAME, "--out", tmp_path / f"{name}.png", "--size", "120x80", *words)
    a, b, c = (np.frombuffer((tmp_path / f"{name}.png").read_bytes(), np.uint8) for name in "abc")
    assert a.tobytes() == c.tobytes()
    assert a.tobytes() != b.tobytes()
