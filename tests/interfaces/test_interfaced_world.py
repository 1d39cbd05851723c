"""Worlds seen through interfaces are worlds: every law of the protocol holds, with memory, births and teams."""

from __future__ import annotations

import pytest

from interplay.interfaces.world import InterfacedWorld
from interplay.registry import make_world
from interplay.testing import world_laws
from tests.interfaces.toys import Noise, Shift

pytestmark = pytest.mark.slow

HISTORY = [{"name": "FrameStack", "k": 3}, {"name": "PrevActObs", "n": 2}, "ConcatVec"]


def through(world_id, interfaces, groups=None, teams=False, reward="mean", **options):
    """``make(num_worlds, seed)`` of a world of ours behind interfaces."""

    def make(num_worlds, seed):
        world = make_world(world_id, num_worlds=num_worlds, seed=seed, **options)
        return InterfacedWorld(world, interfaces, groups, teams, reward, seed=seed)

    return make


test_history = world_laws(through("survival/1v1-heals-low", {"agent": HISTORY}), steps=120)
test_two_sides = world_laws(
    through("survival/2v2-all-low", {"red": HISTORY, "blue": ["MultiBinObs"]}, {"red": [0, 2], "blue": [1]}),
    steps=100,
)
test_masks_and_turns = world_laws(
    through("werewolf/6", {"agent": [{"name": "PrevActObs", "n": 2}]}), steps=100
)
test_kinds = world_laws(through("gridworld/hunters-foragers", {"hunter": HISTORY}), steps=100)
test_births = world_laws(
    through("mmo/combat-128", {"agent": [{"name": "PrevActObs"}, {"name": "MultiBinObs"}]}),
    steps=80,
    num_worlds=2,
)
test_draws = world_laws(through("dilemma/fixed", {"agent": Noise(Shift())}), steps=100)
test_teams = world_laws(
    through(
        "survival/2v2-all-low",
        {"team0": ["ConcatObsAct"], "team1": [{"name": "FrameStack", "k": 2}]},
        teams=True,
    ),
    steps=100,
)
test_teams_of_one_group = world_laws(
    through("gridworld/team-battle", {"agent": ["ConcatObsAct"]}, teams=True, reward="sum"), steps=60
)
