"""A manager's seed names what the agents' spaces draw, through every wrapper; no two agents draw alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium.spaces import MultiDiscrete

from interplay.sim import Agent
from interplay.sim.managers import AllStepManager
from interplay.sim.wrappers import (
    CommunicationHandshakeWrapper,
    FlattenActionWrapper,
    FlattenWrapper,
    RavelActionWrapper,
    RavelDiscreteWrapper,
    SuperAgentWrapper,
)
from tests.sim.toys import Countdown

MANY = [1000] * 4  # choices: no two draws are equal by chance
NAMES = ("a", "b", "c", "d")


class Dice(Countdown):
    """Four agents with equal spaces of many points."""

    def __init__(self) -> None:
        super().__init__({})
        self.agents = {
            name: Agent(id=name, observation_space=MultiDiscrete(MANY), action_space=MultiDiscrete(MANY))
            for name in NAMES
        }
        self.lives = dict.fromkeys(NAMES, 5)
        self.finalize()

    def get_obs(self, agent_id: str, **kwargs: Any) -> np.ndarray:
        return np.zeros(4, int)


FORMS = {
    "plain": lambda sim: sim,
    "flat": FlattenWrapper,
    "flat actions": FlattenActionWrapper,
    "ravelled": RavelDiscreteWrapper,
    "ravelled actions": RavelActionWrapper,
    "super": lambda sim: SuperAgentWrapper(sim, {"ab": ["a", "b"], "cd": ["c", "d"]}),
    "handshake": CommunicationHandshakeWrapper,
    "flat handshake": lambda sim: FlattenWrapper(CommunicationHandshakeWrapper(sim)),
}


def drawn(manager: AllStepManager, seed: int) -> dict[tuple[str, str], str]:
    """What each space draws after a reset with the seed."""
    manager.reset(seed=seed)
    return {
        (name, kind): repr(getattr(agent, kind).sample())
        for name, agent in manager.agents.items()
        for kind in ("observation_space", "action_space")
    }


@pytest.mark.parametrize("form", FORMS)
def test_a_managers_seed_names_what_spaces_draw(form):
    manager = AllStepManager(FORMS[form](Dice()))
    first, other = drawn(manager, 7), drawn(manager, 8)
    assert drawn(manager, 7) == first  # after draws of another seed
    assert drawn(AllStepManager(FORMS[form](Dice())), 7) == first
    assert not {key for key in first if first[key] == other[key]}
    for kind in ("observation_space", "action_space"):
        by_agent = [said for (_, which), said in first.items() if which == kind]
        assert len(set(by_agent)) == len(by_agent)
