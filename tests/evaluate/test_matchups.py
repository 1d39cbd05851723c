"""Sides, matchups and rotation of seats."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import interplay
from interplay.core.policy import Policy
from interplay.evaluate.tournaments.matches import match_seeds
from interplay.evaluate.tournaments.matchups import MatchupPolicy, all_matchups, seat, sides
from tests.connect.toys import Line


class Always(Policy):
    """Chooses the same in every slot."""

    def __init__(self, *action):
        self.action, self.name = action, f"always {action}"

    def act(self, timestep):
        return np.broadcast_to(self.action, (*timestep.acting.shape, 2))


@pytest.mark.parametrize(("together", "count"), [(2, 2), (2, 4), (3, 3), (3, 6), (4, 4)])
def test_everybody_sits_everywhere_equally_often(together, count):
    tally = Counter(
        (s, int(p)) for match in range(2 * together) for s, p in enumerate(seat(together, count, match))
    )
    assert set(tally.values()) == {2}
    for match in range(2 * together):
        assert set(Counter(seat(together, count, match).tolist()).values()) == {count // together}


def test_three_in_a_row_follow_each_other_in_both_orders():
    orders = {tuple(seat(3, 3, match).tolist()) for match in range(6)}
    assert len(orders) == 6


def test_sides_are_teams_or_single_agents():
    pairs = interplay.make_world("survival/2v2-all-low")
    battle = interplay.make_world("gridworld/team-battle", num_agents=8)
    assert sides(pairs) == ((0, 1), (2, 3))
    assert sides(battle) == ((0, 4), (1, 5), (2, 6), (3, 7))
    assert sides(Line(1)) == ((0,), (1,), (2,))


def test_teams_are_those_who_share_rewards():
    world = interplay.make_world("survival/2v2-all-low", 8, seed=1)
    world.reset()
    rng = np.random.Generator(np.random.PCG64(1))
    total = np.zeros((8, 4))
    for _ in range(300):
        actions = np.stack([rng.integers(0, n, (8, 4)) for n in world.action_space.nvec], axis=-1)
        total += world.step(actions).reward
    assert (total[:, 0] == total[:, 1]).all()
    assert (total[:, 2] == total[:, 3]).all()


def test_seats_differ_from_world_to_world():
    world = Line(2)
    timestep = world.reset()
    table = MatchupPolicy([Always(0, 0), Always(1, 1), Always(2, 1)], sides(world), [0, 1])
    table.start(world)
    assert table.act(timestep)[:, :, 0].tolist() == [[0, 1, 2], [1, 2, 0]]


def test_everybody_sees_its_own_seats_as_the_only_ones_that_act():
    class Witness(Always):
        def act(self, timestep):
            self.acting = timestep.acting.copy()
            return super().act(timestep)

    world = Line(2)
    timestep = world.reset()
    players = [Witness(0, 0), Witness(1, 1), Witness(2, 1)]
    table = MatchupPolicy(players, sides(world), [0, 1])
    table.start(world)
    table.act(timestep)
    assert sum(player.acting.astype(int) for player in players).tolist() == [[1, 1, 1], [1, 1, 1]]
    assert players[0].acting.tolist() == [[True, False, False], [False, False, True]]


def test_everybody_at_the_table_has_a_stream_of_its_own():
    class Sleeper(Always):
        def start(self, world, seed=0):
            super().start(world, seed)
            self.woken_by = seed

    players = [Sleeper(0, 0), Sleeper(1, 1), Sleeper(2, 1)]
    world, told = Line(2), []
    for seed in (5, 5, 6):
        MatchupPolicy(players, sides(world), [0, 1]).start(world, seed)
        told.append([player.woken_by for player in players])
    assert told[0] == told[1]
    assert len({*told[0], *told[2]}) == 6


def test_matchups_are_every_choice_once():
    found = all_matchups(5, 3)
    assert len({matchup.players for matchup in found}) == len(found) == 10
    assert [matchup.number for matchup in found] == list(range(10))


def test_matches_of_a_round_share_their_seed():
    seeds = match_seeds(7, 2, range(8))
    assert (seeds[::2] == seeds[1::2]).all()
    assert len(set(seeds.tolist())) == 4
    assert (match_seeds(7, 2, [5, 6]) == seeds[5:7]).all()
