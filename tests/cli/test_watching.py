"""`interplay transcript` and what `interplay record` can be asked for."""

from __future__ import annotations

import numpy as np

from tests.cli.command import MARSH, refusal, typed

GAME = ("random", "--world", "werewolf/9-l1s9", "--seed", 3)


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


def test_revealed_pictures_differ(capsys, tmp_path):
    for name, words in (("a", ()), ("b", ("--reveal",)), ("c", ())):
        typed(capsys, "record", *GAME, "--out", tmp_path / f"{name}.png", "--size", "120x80", *words)
    a, b, c = (np.frombuffer((tmp_path / f"{name}.png").read_bytes(), np.uint8) for name in "abc")
    assert a.tobytes() == c.tobytes()
    assert a.tobytes() != b.tobytes()
