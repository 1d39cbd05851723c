"""Impossible snapshots are refused, one law after the other; the checker also plants wild numbers."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.worlds.pommerman.state import RIGID, WOOD
from tests.worlds.pommerman.scenes import cell_at, lay, open_world, put_bomb


def damages(saved):
    """Damage -> field that is refused, and (field, index in world 0 or None, value) of what is written."""
    bomb, owner, agent = saved["bomb.cell"][0], saved["bomb.owner"][0], saved["agent.cell"][0]
    return {
        "an open rim": ("ground", [("ground", 5, 0)]),
        "a bomb in a wall": ("bomb.life", [("ground", bomb[0], WOOD)]),
        "a spent bomb": ("bomb.life", [("bomb.life", 0, 0)]),
        "a bomb without reach": ("bomb.life", [("bomb.blast", 0, 0)]),
        "two bombs of one step": (
            "bomb.life",
            [("bomb.life", 1, saved["bomb.life"][0, 0]), ("bomb.owner", 1, owner[0])],
        ),
        "two bombs on a cell": ("bomb.cell", [("bomb.cell", 1, bomb[0])]),
        "fire in a wall": ("flame", [("flame", 0, 2)]),
        "a living agent in a wall": ("agent.cell", [("ground", agent[1], RIGID)]),
        "a dead agent on the rim": (
            "agent.cell",
            [("agent.alive", 0, False), ("acting", 0, False), ("agent.cell", 0, 13 * 13 - 1)],
        ),
        "two agents on a cell": ("agent.cell", [("agent.cell", 0, agent[1])]),
        "a dead agent that acts": ("acting", [("agent.alive", 2, False)]),
        "a living agent that ended": ("agent.ended", [("agent.ended", 2, True)]),
        "a game beyond its limit": ("room.steps", [("room.steps", None, 800)]),
        "too many bombs": ("room.bombs", [("room.bombs", None, 41)]),
    }


def test_impossible_states_are_refused():
    world = open_world()
    lay(world, ["0.1"], first=(5, 5))
    put_bomb(world, 3, 3, life=5)
    put_bomb(world, 3, 5, owner=1, life=6)
    saved = world.save()
    assert saved["bomb.cell"][0, 0] == cell_at(world, 3, 3)
    world.load(saved)
    for damage, (field, changes) in damages(saved).items():
        wrong = {name: array.copy() for name, array in saved.items()}
        for name, index, value in changes:
            wrong[name][0 if index is None else (0, index)] = value
        with pytest.raises(UserError) as caught:
            world.load(wrong)
        assert f"field {field} of" in str(caught.value) or f"field {field}[" in str(caught.value), damage
        assert np.array_equal(world.save()["ground"], saved["ground"]), damage
