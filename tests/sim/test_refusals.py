"""Refusals of simulations: case -> call, and the name or value in the error; letters and numbers are those of the specification."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

import interplay
from interplay.core.errors import UserError
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


def outside(wrap: type[Wrapper], actions: tuple[Any, ...]) -> dict[str, Any]:
    """Cases of actions outside a wrapped space; the number of another point would be carried out otherwise."""
    named = rf"agent agent0: .* of {wrap.__name__}"
    return {f"{wrap.__name__} {action!r}": (lambda a=action: walk(wrap, a), named) for action in actions}


REAL = spaces.Dict(a=TWO, b=spaces.Box(0, 1, (1,), np.float32))
CASES: dict[str, tuple[Callable[[], object], str]] = {
    **{f"a1 id {v!r}": (lambda v=v: PrincipleAgent(id=v), "id .*str") for v in (None, 3, np.str_("a"), b"a")},
    **{
        f"a1 seed {v!r}": (lambda v=v: PrincipleAgent(id="a", seed=v), "agent a: seed")
        for v in (True, 1.0, np.int64(1), "1")
    },
    **{
        f"a2 space {v!r}": (lambda v=v: ActingAgent(id="a", action_space=v), "agent a: action_space")
        for v in (3, {"a": 3}, [TWO], {"a": [TWO]})
    },
    "a3 a null point without a space": (
        lambda: ObservingAgent(id="a", null_observation=1).finalize(),
        "null_observation 1",
    ),
    "a5 no action space": (lambda: countdown({"b": Agent(id="b", observation_space=TWO)}), "agent b"),
    "a6 agents in a list": (lambda: countdown([]), "no dict"),
    "a6 a number for an agent": (lambda: countdown({"a": 3}), r"agents\['a'\] is 3"),
    "a6 another id": (lambda: countdown({"a": PrincipleAgent(id="b")}), r"agents\['a'\] .*'b'"),
    "a8 text in a nest": (lambda: make_dict({"a": (TWO, "x")}), "'x'"),
    **{
        f"next_agent {type(v).__name__}": (lambda v=v: called([v]), "next_agent")
        for v in (7, None, ("a", "z"), (name for name in "ab"))
    },
    "m8 a reset that names no agent": (lambda: called([[], "a"], {"a": 3}), "next_agent"),
    "m8 no dynamic order": (lambda: DynamicOrderManager(Countdown({"a": 1})), "DynamicOrderSimulation"),
    **{f"m9 {kind.__name__} of 3": (lambda kind=kind: kind(3), "sim 3") for kind in MANAGERS},
    **{
        f"m7 random order {v!r}": (
            lambda v=v: AllStepManager(Countdown({"a": 1}), randomize_action_input=v),
            "randomize_action_input",
        )
        for v in (1, 0, None, "yes")
    },
    **{
        f"time_limit {v}": (lambda v=v: AllStepManager(Countdown({"a": 1}), time_limit=v), "time_limit")
        for v in (0, -1, 2.0, True)
    },
    **{
        f"{kind.__name__}, a step before the reset": (
            lambda kind=kind: stepped(kind(Countdown({"a": 1})), {"a": 1}, resets=False),
            "Countdown",
        )
        for kind in MANAGERS[:2]
    },
    **{
        f"actions {v!r}": (lambda v=v: stepped(AllStepManager(Countdown({"a": 1})), v), "no dict")
        for v in (None, [1], 3)
    },
    **{
        f"f29 a corridor of {end!r} for {agents}": (
            lambda end=end, agents=agents: MultiCorridor(end=end, num_agents=agents),
            "end|num_agents",
        )
        for end, agents in ((1, 1), (10, 10), (10, 0), (True, 1), (5.0, 2))
    },
    **{
        f"corridor {v!r}": (lambda v=v: walk(lambda sim: sim, v), "agent agent0: .*MultiCorridor")
        for v in (7, -1, "x", None, 1.5, [1])
    },
    **{
        f"w5 ravelled {v}": (lambda v=v: ravelled(v), "agent a: observation space")
        for v in (
            Box(0, 1, (2,)),
            Box(0, np.inf, (2,), int),
            Box(-np.inf, 3, (2,), int),
            spaces.Dict(a=Box(-1, 1, (1,))),
            spaces.Text(4),
        )
    },
    "f16 more points than a number holds": (
        lambda: ravel_space(spaces.MultiDiscrete([2**22] * 3)),
        "73,786,976,294,838,206,464",
    ),
    **outside(RavelDiscreteWrapper, (-1, 3, 10**9, 0.5, "x", None, [1, 1], {})),
    **outside(FlattenWrapper, ([-1], [3], [0.5], [np.nan], [1, 1], "x", None, {})),
    **outside(FlattenActionWrapper, ([-1], [3], [1, 1], None)),
    **outside(RavelActionWrapper, (-1, 3)),
    "a super agent's number": (
        lambda: stepped(AllStepManager(coach(MultiCorridor())), {"coach": 3}),
        "agent coach: action 3",
    ),
    "a wrapper of 3": (lambda: Wrapper(3), "sim 3"),
    "a flat mask of real numbers": (lambda: flat_mask(REAL, {"a": [1, 0], "b": None}, "me"), "agent me"),
    "half a byte": (lambda: flatten(BYTES, np.array([0.7, 0.0])), "0.7"),
    "300 in a byte": (lambda: flatten(BYTES, np.array([300, 0])), "300"),
    "a part of a choice": (lambda: flatten(spaces.Dict(x=spaces.Discrete(4)), {"x": 2.7}), "2.7"),
    "2.7 of 4": (lambda: ravel(spaces.Discrete(4), 2.7), "2.7"),
    "3 of 3": (lambda: ravel(spaces.MultiDiscrete([4, 3]), [1, 3]), "3"),
    "-1 of 4": (lambda: ravel(spaces.MultiDiscrete([4, 3]), [-1, 2]), "-1"),
    "a copy of a lock": (lambda: AllStepManager(Locked()).vectorize(2), "Locked"),
    "no manager": (lambda: SimulationWorld(ODD + "bare"), "Zoo"),
    "no manager in a process": (lambda: interplay.make_world(ODD + "bare", processes=1), "Zoo"),
    "unknown function": (lambda: interplay.make_world(ODD + "nothing"), "'nothing'"),
    "unknown function in a process": (lambda: SimulationWorld(ODD + "nothing", processes=1), "'nothing'"),
    "no agent that plays": (
        lambda: SimulationWorld(lambda: AllStepManager(Countdown({}, passive=("wall",)))),
        "Countdown",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_refusal_is_one_line_that_names_its_key(case):
    call, named = CASES[case]
    with pytest.raises((AssertionError, UserError), match=named) as refused:
        call()
    assert "\n" not in str(refused.value)


def test_a_refused_assignment_changes_nothing():
    agent, sim = PrincipleAgent(id="a"), Countdown({"a": 3})
    with pytest.raises(AssertionError):
        agent.id = None
    with pytest.raises(AssertionError):
        sim.agents = []
    assert (agent.id, list(sim.agents)) == ("a", ["a"])
