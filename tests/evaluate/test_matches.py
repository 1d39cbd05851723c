"""A block of parallel matches: each result is independent of the other matches' lengths."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.evaluate.tournaments.matches import Match, play_block
from interplay.evaluate.tournaments.matchups import all_matchups
from tests.connect.toys import LIMIT, Line
from tests.evaluate.test_episodes import Walker


def block(matches: list[int], **kwargs) -> list[Match]:
    players = [Walker() for _ in range(3)]
    (matchup,) = all_matchups(3, 3)
    return play_block(Line(len(matches)), players, matchup, matches, 5, **kwargs)


def test_matches_that_ended_count_no_more_steps():
    """A match has the same steps, returns and scores alone and beside longer ones."""
    together = block(list(range(12)))
    steps = [match.more["steps"] for match in together]
    assert len(set(steps)) > 3, "they end at different times"
    for number, match in enumerate(together):
        assert block([number]) == [match]
        assert match.more["truncated"] <= (match.more["steps"] == LIMIT), (
            "only the world's limit ends a match"
        )


def test_a_cut_match_has_as_many_steps_as_the_limit_and_one_that_ended_fewer():
    whole = {match.match: match.more["steps"] for match in block(list(range(12)))}
    limit = int(np.median(list(whole.values())))
    cut = block(list(range(12)), max_steps=limit)
    for match in cut:
        assert match.more["steps"] == min(whole[match.match], limit)
        assert match.more["truncated"] == (whole[match.match] > limit)
    assert {match.more["truncated"] for match in cut} == {True, False}


class Failing(Walker):
    """Fails in its third action, or returns an invalid action."""

    name = "the third"

    def __init__(self, how: str) -> None:
        self.how, self.acted = how, 0

    def act(self, timestep):
        self.acted += 1
        if self.acted < 3:
            return super().act(timestep)
        if self.how == "refused":
            raise UserError("no such thing")
        if self.how == "crash":
            raise KeyError("lost")
        shape = timestep.acting.shape if self.how == "shape" else (*timestep.acting.shape, 2)
        return np.full(shape, 77)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("refused", ("the third", "no such thing")),
        ("crash", ("the third", "KeyError", "test_matches.py")),
        ("action", ("the third", "77")),
        ("shape", ("the third", "shape")),
    ],
)
def test_what_goes_wrong_in_a_match_names_the_player(how, words):
    players = [Walker(), Walker(), Failing(how)]
    (matchup,) = all_matchups(3, 3)
    with pytest.raises(UserError) as caught:
        play_block(Line(4), players, matchup, [0, 1, 2, 3], 5)
    assert [word for word in words if word not in str(caught.value)] == []
