"""Refusals of simulations."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

import interplay
from interplay.core.errors import USER_ERRORS
from interplay.sim import ActingAgent, Agent, Box, ObservingAgent, PrincipleAgent, make_dict
from interplay.sim.adapt import SimulationWorld
from interplay.sim.managers import AllStepManager, DynamicOrderManager, SimulationManager, TurnBasedManager
from interplay.sim.wrappers import (
    FlattenActionWrapper,
    FlattenWrapper,
    RavelActionWrapper,
    RavelDiscreteWrapper,
    SuperAgentWrapper,
    Wrapper,
)
from interplay.sim.wrappers.flatten_wrapper import flat_mask, flatten
from interplay.sim.wrappers.ravel_discrete_wrapper import ravel, ravel_space
from interplay.worlds.corridor.simulation import MultiCorridor
from tests.refusals import case, refuses
from tests.sim.odd_simulations import Locked
from tests.sim.toys import Called, Countdown

ODD = "tests.sim.odd_simulations:"
TWO, BYTES = spaces.Discrete(2), spaces.Box(0, 255, (2,), np.uint8)
MANAGERS = (TurnBasedManager, AllStepManager, DynamicOrderManager)


def countdown(agents: Any) -> Countdown:
    sim = Countdown({"a": 3})
    sim.agents = agents
    sim.finalize()
    return sim


def stepped(manager: SimulationManager, actions: Any, resets: bool = True) -> None:
    if resets:
        manager.reset(seed=1)
    manager.step(actions)


def walk(wrap: Callable[[Any], Any], action: Any) -> None:
    stepped(AllStepManager(wrap(MultiCorridor(end=5, num_agents=1))), {"agent0": action})


def called(choices: list[Any], lives: dict[str, int] | None = None) -> None:
    DynamicOrderManager(Called(lives or {"a": 1, "b": 2}, choices)).reset()


def coach(sim: MultiCorridor) -> SuperAgentWrapper:
    return SuperAgentWrapper(sim, super_agent_mapping={"coach": ["agent0"]})


def ravelled(space: Any) -> RavelDiscreteWrapper:
    return RavelDiscreteWrapper(countdown({"a": Agent(id="a", observation_space=space, action_space=TWO)}))


refused = partial(case, error=USER_ERRORS)
REAL = spaces.Dict(a=TWO, b=spaces.Box(0, 1, (1,), np.float32))
HALF, LEFT = Box(0, np.inf, (2,), int), Box(-np.inf, 3, (2,), int)
OUTSIDE: dict[
    type[Wrapper], tuple[Any, ...]
] = {  # the number of another point would be carried out otherwise
    RavelDiscreteWrapper: (-1, 3, 10**9, 0.5, "x", None, [1, 1], {}),
    FlattenWrapper: ([-1], [3], [0.5], [np.nan], [1, 1], "x", None, {}),
    FlattenActionWrapper: ([-1], [3], [1, 1], None),
    RavelActionWrapper: (-1, 3),
}
NEXT = (7, None, ("a", "z"), (name for name in "ab"))
SIZES = ((1, 1), (10, 10), (10, 0), (True, 1), (5.0, 2))
REFUSED = [
    *(refused("id .*str", PrincipleAgent, id=value) for value in (None, 3, np.str_("a"), b"a")),
    *(
        refused("agent a: seed", PrincipleAgent, id="a", seed=value)
        for value in (True, 1.0, np.int64(1), "1")
    ),
    *(
        refused("a: action_space", ActingAgent, id="a", action_space=v)
        for v in (3, {"a": 3}, [TWO], {"a": [TWO]})
    ),
    refused("null_observation 1", lambda: ObservingAgent(id="a", null_observation=1).finalize()),
    refused("agent b", countdown, {"b": Agent(id="b", observation_space=TWO)}),
    refused("no dict", countdown, []),
    refused(r"agents\['a'\] is 3", countdown, {"a": 3}),
    refused(r"agents\['a'\] .*'b'", countdown, {"a": PrincipleAgent(id="b")}),
    refused("'x'", make_dict, {"a": (TWO, "x")}),
    *(refused("next_agent", called, [value]) for value in NEXT),
    refused("next_agent", called, [[], "a"], {"a": 3}),
    refused("DynamicOrderSimulation", DynamicOrderManager, Countdown({"a": 1})),
    *(refused("sim 3", kind, 3) for kind in MANAGERS),
    *(
        refused("randomize", AllStepManager, Countdown({"a": 1}), randomize_action_input=v)
        for v in (1, 0, None)
    ),
    *(refused("time_limit", AllStepManager, Countdown({"a": 1}), time_limit=v) for v in (0, -1, 2.0, True)),
    *(
        refused("Countdown", stepped, kind(Countdown({"a": 1})), {"a": 1}, resets=False)
        for kind in MANAGERS[:2]
    ),
    *(refused("no dict", stepped, AllStepManager(Countdown({"a": 1})), value) for value in (None, [1], 3)),
    *(refused("end|num_agents", MultiCorridor, end=end, num_agents=agents) for end, agents in SIZES),
    *(refused("agent0: .*MultiCorridor", walk, lambda sim: sim, v) for v in (7, -1, "x", None, 1.5, [1])),
    *(refused("agent a: observation space", ravelled, space) for space in (Box(0, 1, (2,)), HALF, LEFT)),
    *(
        refused("a: observation space", ravelled, s)
        for s in (spaces.Dict(a=Box(-1, 1, (1,))), spaces.Text(4))
    ),
    refused("73,786,976,294,838,206,464", ravel_space, spaces.MultiDiscrete([2**22] * 3)),
    *(
        refused(f"agent0: .* of {w.__name__}", walk, w, action)
        for w, actions in OUTSIDE.items()
        for action in actions
    ),
    refused("agent coach: action 3", lambda: stepped(AllStepManager(coach(MultiCorridor())), {"coach": 3})),
    refused("sim 3", Wrapper, 3),
    refused("agent me", flat_mask, REAL, {"a": [1, 0], "b": None}, "me"),
    refused("0.7", flatten, BYTES, np.array([0.7, 0.0])),
    refused("300", flatten, BYTES, np.array([300, 0])),
    refused("2.7", flatten, spaces.Dict(x=spaces.Discrete(4)), {"x": 2.7}),
    refused("2.7", ravel, spaces.Discrete(4), 2.7),
    refused("3", ravel, spaces.MultiDiscrete([4, 3]), [1, 3]),
    refused("-1", ravel, spaces.MultiDiscrete([4, 3]), [-1, 2]),
    refused("Locked", AllStepManager(Locked()).vectorize, 2),
    refused("Zoo", SimulationWorld, ODD + "bare"),
    refused("Zoo", interplay.make_world, ODD + "bare", processes=1),
    refused("'nothing'", interplay.make_world, ODD + "nothing"),
    refused("'nothing'", SimulationWorld, ODD + "nothing", processes=1),
    refused("Countdown", SimulationWorld, lambda: AllStepManager(Countdown({}, passive=("wall",)))),
]


@pytest.mark.parametrize(("call", "key", "error"), REFUSED)
def test_a_refusal_is_one_line_that_names_its_key(call, key, error):
    refuses(call, key, error)


def test_a_refused_assignment_changes_nothing():
    agent, sim = PrincipleAgent(id="a"), Countdown({"a": 3})
    with pytest.raises(AssertionError):
        agent.id = None
    with pytest.raises(AssertionError):
        sim.agents = []
    assert (agent.id, list(sim.agents)) == ("a", ["a"])
