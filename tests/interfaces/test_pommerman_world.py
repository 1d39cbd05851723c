"""Pommerman's interfaces around the game itself (specification interfaces 10; games 3.5)."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.checker import check_world
from interplay.interfaces.pommerman import boards
from interplay.interfaces.world import InterfacedWorld
from interplay.registry import make_policy, make_world

JOINT = ["CombineObs", {"name": "BoardMapObs", "joint": True}]


def teams(num_worlds=3, seed=2):
    world = make_world("pommerman/team-fog", num_worlds=num_worlds, seed=seed)
    return InterfacedWorld(world, {"agent": JOINT}, teams=True)


def test_a_team_sees_what_its_members_see():
    """Whatever a living member sees is in the joint view, as the board without fog has it; nothing else is."""
    fog = teams()
    clear = make_world("pommerman/team", num_worlds=3, seed=2)
    player = make_policy("pommerman/team", "simple")
    player.start(clear, seed=5)
    seen, shown = clear.reset(), fog.reset()
    pairs = clear.teams
    met = 0
    for _ in range(120):
        raw = fog.inner.timestep.observation
        for unit, (a, b) in enumerate(pairs):
            whole = seen.observation["board"][:, a]
            lives = np.stack([raw["alive"][:, agent, agent] for agent in (a, b)]).astype(bool)
            asked = (lives | ~lives.any(axis=0))[:, :, None, None]
            known = (np.stack([raw["board"][:, a], raw["board"][:, b]]) != boards.FOG) & asked
            view = shown.observation["board"][:, unit]
            assert np.array_equal(view, np.where(known.any(axis=0), whole, boards.FOG))
            planes = shown.observation["planes"][:, unit]
            for member, agent in enumerate((a, b)):
                here = (whole == 10 + agent) & known.any(axis=0)
                assert np.array_equal(planes[..., 8 + member] == 1, here)
            met += int((planes[..., 10] + planes[..., 11]).sum())
        action = player.act(seen)
        seen = clear.step(action)
        whole_team = {f"{k}": np.stack([action[:, team[k]] for team in pairs], axis=1) for k in range(2)}
        shown = fog.step(whole_team)
        if seen.over.any():
            seen, shown = clear.reset(seen.over), fog.reset(shown.over)
    assert met > 0


def test_teams_keep_the_laws_of_worlds():
    assert check_world(teams, steps=30).ok


@pytest.mark.parametrize("variant", ["ffa", "team-fog", "radio", "1v1"])
def test_each_agent_from_its_own_corner(variant):
    names = ["RotateItf", "BoardMapObs", "AttrObsItf", "ActMaskObsItf"]
    world = InterfacedWorld(make_world(f"pommerman/{variant}", num_worlds=2, seed=1), {"agent": names})
    step = world.reset()
    assert (step.observation["position"] == 1).all()
    assert (step.observation["board"][..., 1, 1] == 10).all()
    assert (step.observation["planes"][..., 21] == 1).all()
    assert check_world(
        lambda num_worlds, seed: InterfacedWorld(
            make_world(f"pommerman/{variant}", num_worlds=num_worlds, seed=seed), {"agent": names}
        ),
        steps=20,
    ).ok
