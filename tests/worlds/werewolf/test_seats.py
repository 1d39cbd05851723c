"""`seats = by_role`: numbers tell roles, and nothing else is another game."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from interplay.core.policy import RandomPolicy
from interplay.evaluate import play
from interplay.registry import make_world
from interplay.worlds.werewolf.config import WerewolfSettings
from interplay.worlds.werewolf.theory import odds
from tests.worlds.werewolf.games import game
from tests.worlds.werewolf.games import play as play_out


@pytest.mark.parametrize("variant", ["9", "21-l1s9", "aiwolf5", "aiwolf13"])
def test_every_game_seats_the_roles_in_their_order(variant: str) -> None:
    world = game(variant, num_worlds=3, seed=5, seats="by_role")
    crew = np.repeat(np.arange(len(world.settings.crew)), world.settings.crew)
    for _ in range(4):
        assert (world.state.role == crew).all()
        assert (world.timestep.observation["own_id"] == np.arange(len(crew))).all()
        play_out(world)
        world.reset()


def test_roles_are_dealt_anew_unless_it_is_asked_for() -> None:
    world = game("9", num_worlds=64, seed=5)
    assert WerewolfSettings().seats == "dealt"
    assert len({tuple(row) for row in world.state.role.tolist()}) > 30  # of 84 deals


@pytest.mark.slow
def test_the_odds_of_random_play_stay_what_they_are() -> None:
    """Random players ignore seat numbers: villagers win as often as in the closed form (specification 14.2)."""
    games = 6_000
    world = make_world("werewolf/6", 256, 0, seats="by_role")
    won = play(world, RandomPolicy(), episodes=games, seed=3)["win_vil"].mean()
    chance = float(odds.villagers_win(2, 4))
    assert abs(won - chance) < 4 * sqrt(chance * (1 - chance) / games)
