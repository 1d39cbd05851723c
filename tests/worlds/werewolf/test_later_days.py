"""Custom tables with rows on later days only: the walk goes on to the next day with a row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.worlds.werewolf.games import game, play, rounds
from tests.worlds.werewolf.pair import Pair
from tests.worlds.werewolf.settings_of_games import DAY_TALK, EXECUTION, NIGHT_KILL

CREW: dict[str, Any] = {"n_players": 9, "wolves": 1}


def on(day: int, row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "only_day": day}


@pytest.mark.parametrize("day", [0, 1, 2, 3, 7])
def test_a_game_begins_on_the_first_day_that_has_a_phase(day):
    world = game(num_worlds=2, phases=(on(day, NIGHT_KILL), on(day, EXECUTION)), **CREW)
    assert not world.timestep.over.any()
    assert (world.timestep.observation["day"] == day).all()
    assert (world.timestep.observation["phase"] == 1).all()


def test_a_game_without_a_first_day_is_played_to_its_end_like_the_naive_one():
    table = tuple({**row, "except_day": 0} for row in (NIGHT_KILL, DAY_TALK, EXECUTION))
    two = Pair(game(num_worlds=3, seed=2, phases=table, **CREW))
    two.play(np.random.default_rng(2), wild=0.1)
    assert two.events["games"] == 3
    assert two.events["steps"] >= 9


def test_another_row_takes_the_place_of_the_vote_on_the_first_day():
    """The table of docs/werewolf.md: one execution a day, that of day 0 at dusk."""
    table = (
        {**DAY_TALK, "rounds": 2},
        {"name": "hearing", "actors": {"seer": "speak"}, "except_day": 0},
        {**EXECUTION, "except_day": 0},
        on(0, {**EXECUTION, "name": "dusk"}),
        NIGHT_KILL,
    )
    world = game(num_worlds=20, seed=2, phases=table, roles={"seer": 1}, **CREW)
    votes: list[list[tuple[str, int]]] = [[] for _ in world.state.role]
    for action in rounds(world):
        going = ~world.state.room["over"]
        world.step(action)
        for w in np.flatnonzero(going):
            name, day = (
                world.phase_names[world.state.room["ended_phase"][w]],
                world.state.room["ended_day"][w],
            )
            if name in ("day_execution", "dusk"):
                votes[w].append((name, int(day)))
    for held in votes:
        assert held == [("dusk", 0), *(("day_execution", day) for day in range(1, len(held)))]
    assert max(map(len, votes)) > 2
    two = Pair(game(num_worlds=5, seed=2, phases=(table[0], *table[2:]), **CREW))
    two.play(np.random.default_rng(3), wild=0.1)


def test_days_between_two_rows_pass():
    """A vote on day 0, the next on day 5: nothing is held between them."""
    world = game(phases=(on(0, EXECUTION), on(5, {**EXECUTION, "name": "late_vote"})), **CREW)
    days = [int(world.timestep.observation["day"][0, 0])]
    while not world.timestep.over[0]:
        world.step(np.zeros_like(world.timestep.action_mask["action"][..., :1], np.int16))
        days.append(int(world.state.room["day"][0]))
    assert days[:2] == [0, 5]
    assert days[2] > 5


def test_a_table_whose_days_have_all_passed_cuts_the_game():
    world = game(num_worlds=2, phases=(on(0, NIGHT_KILL), on(0, EXECUTION)), max_days=5, **CREW)
    play(world)
    assert world.timestep.over.all()
    assert world.timestep.truncated.any()


def test_a_day_beyond_the_limit_is_never_reached():
    world = game(num_worlds=2, phases=(on(30, EXECUTION),), max_days=3, **CREW)
    assert world.timestep.over.all()
    assert not world.timestep.acting.any()
