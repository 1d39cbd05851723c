"""Units of metrics: each column of a table has the one of its world."""

from __future__ import annotations

import pytest

from interplay.core.policy import RandomPolicy
from interplay.evaluate import play
from interplay.evaluate.units import unit_of
from interplay.registry import make_world


@pytest.mark.parametrize(
    ("world", "units"),
    [
        ("battle/3m", {"felled": "per team", "health": "per agent", "steps": "steps"}),
        ("pommerman/team", {"felled": "per team", "kicks": "per agent"}),
        ("pommerman/ffa", {"felled": "per team"}),  # of one player each
        ("survival/2v2-heals-mid", {"team_kills": "per team", "heals_used": "per episode"}),
        ("survival/1v1-heals-low", {"kills": "per agent", "boxes_placed": "per episode"}),
    ],
)
def test_columns_have_the_units_of_their_world(world, units):
    table = play(make_world(world, 4), RandomPolicy(), 4, max_steps=12)
    assert {name: table.unit(name) for name in units} == units
    assert all(table.unit(name) for name in table.summary())


def test_a_number_per_team_is_the_same_for_each_member():
    table = play(make_world("battle/3m", 8, limit=30), RandomPolicy(), 8)
    for name in (name for name, unit in table.units.items() if unit == "per team"):
        for slots in table.teams.values():
            own = table[name][:, list(slots)]
            assert (own == own[:, :1]).all()


def test_shares_have_a_unit_of_their_own_whatever_follows_their_name():
    for name in ("won[red]", "win_rate[random]", "win_rate_sampled[random]", "score_rate[a]", "cut"):
        assert unit_of(name) == "share of episodes"
    assert unit_of("rating_sampled") == "Elo"
    assert unit_of("unheard") == ""
