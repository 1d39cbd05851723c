"""Rewards and early ends (specification games 6.5)."""

from __future__ import annotations

import pytest
from s2clientprotocol import sc2api_pb2 as sc

from interplay.worlds.sc2.payoff import army_change, army_sign, is_hopeless, result_of, reward_vector, tally
from interplay.worlds.sc2.view import read_view
from tests.worlds.sc2.messages import observation, unit, view


def test_the_reward_vector_has_production_income_and_combat():
    later = observation(
        score={
            "spent_minerals": 600.0,
            "spent_vespene": 160.0,
            "collection_rate_minerals": 300.0,
            "collection_rate_vespene": 50.0,
            "killed_value_units": 900.0,
            "killed_value_structures": 100.0,
        }
    )
    lost = later.observation.score.score_details
    lost.lost_minerals.army, lost.lost_vespene.economy, lost.lost_minerals.upgrade = 150, 50, 50
    before, after = (
        tally(view(score={"collection_rate_minerals": 400.0, "spent_minerals": 100.0})),
        tally(read_view(later)),
    )
    assert reward_vector(before, after).tolist() == pytest.approx(
        [(500 + 200) / 1000, -50 / 100, (1000 - 250) / 1000]
    )


def test_shaping_counts_combat_units():
    few = tally(view(unit("own", "roach", 1, 1), unit("own", "drone", 1, 1), unit("enemy", "zergling", 1, 1)))
    many = tally(view(*[unit("own", "roach", 1, 1)] * 4, *[unit("enemy", "zergling", 1, 1)] * 3))
    assert army_sign(few, many, 0.0) == 1
    assert army_sign(many, few, 0.0) == -1
    assert army_sign(few, few, -1.0) == -10
    scouted = tally(view(unit("own", "roach", 1, 1), *[unit("enemy", "drone", 1, 1)] * 2))
    assert army_sign(few, scouted, 0.0) == -1  # it counts enemies of all kinds
    assert army_change(few, scouted) == pytest.approx(0.02)
    assert army_change(few, many) == pytest.approx(0.02 * (3 - 2))


@pytest.mark.parametrize(
    ("units", "minerals", "income", "lost"),
    [
        ((), 1000, 0, True),
        (("drone",), 300, 0, False),
        (("drone",), 299, 0, True),
        (("larva",), 300, 0, False),
        (("drone",), 299, 1, False),
        (("lair",), 49, 0, True),
        (("lair",), 50, 0, False),
        (("lair", "drone"), 0, 0, False),
    ],
)
def test_a_side_that_can_rebuild_nothing_has_lost(units, minerals, income, lost):
    seen = view(
        *(unit("own", name, 1, 1) for name in units),
        minerals=minerals,
        score={"collection_rate_vespene": income},
    )
    assert is_hopeless(seen) is lost


def test_results_are_numbers():
    results = {1: sc.Victory, 2: sc.Defeat}
    assert [result_of(results, player) for player in (1, 2, 3)] == [1, -1, None]
    assert result_of({1: sc.Tie}, 1) == 0
