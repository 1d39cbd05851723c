"""Slots that never lived leave when their world ends, through every adapter of worlds."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.connect import to_aec
from interplay.connect.gymnasium import WorldGymEnv
from interplay.connect.pettingzoo import WorldEnv
from interplay.connect.world_simulation import WorldSimulation
from interplay.core.errors import UserError
from interplay.sim.managers import DynamicOrderManager
from tests.connect.toys import LIMIT, Line

RUN = [2, 1]


class Vacant(Line):
    """Slot 1 is always empty: it never acts, earns nothing, and no life of it ends."""

    def _reset(self, which, seeds):
        super()._reset(which, seeds)
        self.state.alive[which, 1] = False
        self.state.gone[which, 1] = True
        return self._read()


@pytest.mark.parametrize("cut", [False, True])
def test_who_never_lived_leaves_with_the_world(cut):
    """Runners die; others stay inside, and the limit truncates the living, but not slots that never lived."""
    ends = set()
    for seed in range(20):
        world = Vacant(1)
        env = WorldEnv(world)
        env.reset(seed=seed)
        assert env.agents == ["agent_0", "agent_1", "agent_2"]
        for _ in range(LIMIT):
            assert "agent_1" in env.agents
            actions = dict.fromkeys(("agent_0", "agent_2"), RUN)
            if cut:  # to the middle, against the wind
                place = world.state.place[0]
                actions = {f"agent_{i}": [1 - np.sign(place[i]), 0] for i in (0, 2)}
            observations, rewards, terminated, truncated, infos = env.step(actions)
            assert set(observations) == set(rewards) == set(infos)
            assert rewards["agent_1"] == 0.0
            assert not infos["agent_1"]["acting"]
            assert not truncated["agent_1"]
            assert not any(terminated[name] and truncated[name] for name in terminated)
            assert terminated["agent_1"] == bool(world.timestep.over[0])
            if world.timestep.over[0]:
                break
        assert env.agents == []
        assert infos["agent_1"]["metrics/moves"] == 0.0
        ends.add(any(truncated.values()))
    assert ends == {cut}


def test_who_never_lived_is_reported_once_one_by_one():
    simulation = WorldSimulation(WorldEnv(Vacant(1)))
    env = to_aec(DynamicOrderManager(simulation))
    env.reset(seed=1)
    asked = []
    for name in env.agent_iter(9 * LIMIT):
        _, _, terminated, truncated, _ = env.last()
        asked.append((name, terminated or truncated))
        env.step(None if terminated or truncated else np.array(RUN))
    assert [entry for entry in asked if entry[0] == "agent_1"] == [("agent_1", True)]
    assert env.agents == []


def test_who_never_lived_leaves_rllib_too():
    pytest.importorskip("ray.rllib", reason="the extra rllib is not installed")
    from interplay.connect.rllib import WorldMultiAgentEnv

    env = WorldMultiAgentEnv(WorldEnv(Vacant(1)))
    observations, _ = env.reset(seed=1)
    assert list(observations) == ["agent_0", "agent_2"]
    for _ in range(LIMIT):
        observations, _, terminateds, truncateds, _ = env.step(dict.fromkeys(observations, np.array(RUN)))
        over = terminateds["__all__"] or truncateds["__all__"]
        assert terminateds.get("agent_1", False) == over
        if over:
            break
    assert over


def test_who_never_lives_can_not_be_played(monkeypatch):
    monkeypatch.setattr("interplay.connect.gymnasium.worlds.MAX_WAIT", 50)
    with pytest.raises(UserError, match="agent_1 "):
        WorldGymEnv(Vacant(1), "agent_1").reset(seed=1)
