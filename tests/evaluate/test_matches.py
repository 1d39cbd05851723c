"""A block of matches side by side: what is told of each is its own, however long the others last."""

from __future__ import annotations

import numpy as np

from interplay.evaluate.tournaments.matches import Match, play_block
from interplay.evaluate.tournaments.matchups import all_matchups
from tests.connect.toys import LIMIT, Line
from tests.evaluate.test_episodes import Walker


def block(matches: list[int], **kwargs) -> list[Match]:
    players = [Walker() for _ in range(3)]
    (matchup,) = all_matchups(3, 3)
    return play_block(Line(len(matches)), players, matchup, matches, 5, **kwargs)


def test_matches_that_ended_count_no_more_steps():
    """Played alone or beside longer ones, a match has its own steps, returns and scores."""
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
