"""Options that are the arguments of a Python function."""

from __future__ import annotations

import inspect
from typing import Any

from interplay.cli.declared import declared
from tests.cli.command import refusal, typed


def play(player: str, *, episodes: int = 1, every: int = 1) -> None:
    """Plays.

    Args:
        player: a policy.
        episodes: number of episodes.
        every: one in so many steps.
    """


def test_a_verb_that_names_its_arguments_gets_no_others():
    def named(player: str, episodes: int) -> None:
        """Plays."""

    def open_ended(player: str, **given: Any) -> None:
        """Plays."""

    def options(verb: Any) -> list[str]:
        return list(inspect.signature(declared(play, arguments=("player",))(verb)).parameters)

    assert options(named) == ["player", "episodes"]
    assert options(open_ended) == ["player", "episodes", "every"]


def test_what_is_no_list_of_numbers_is_refused_with_the_cure(capsys):
    line = refusal(capsys, "tournament", "random", "--caps", "16,x", "--out", "cup")
    assert "'16,x' is no list of whole numbers; write for example 16,32" in line


def test_the_help_says_which_options_may_be_repeated(capsys):
    for verb, flag in (("evaluate", "--roles"), ("tournament", "--option")):
        words = " ".join(typed(capsys, verb, "--help")[1].split())
        entry = words.split(f" {flag} ")[1].split(" --")[0]
        assert entry.endswith("May be repeated.")
