"""Refusals of grid worlds; letters and numbers are those of the specification."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from interplay.gridworld import register
from interplay.gridworld.actors import BinaryAttackActor, MoveActor, SelectiveAttackActor
from interplay.gridworld.agents import AttackingAgent, GridObservingAgent, MovingAgent
from interplay.gridworld.dones import ActiveDone, TargetAgentOverlapDone
from interplay.gridworld.grid import Grid
from interplay.gridworld.maze import generate_maze
from interplay.gridworld.observers import AbsolutePositionObserver
from interplay.gridworld.sight import create_grid_and_mask
from interplay.gridworld.states import HealthState, PositionState
from interplay.gridworld.wrappers import ExclusiveChannelActionWrapper, RavelActionWrapper
from tests.gridworld.boards import named, placed, thing, walker, walking
from tests.gridworld.fighters import Fighter, declared, settle
from tests.refusals import case, refuses


def seen_from(agent, reach):
    grid = Grid(2, 2)
    placed(grid, agent)
    create_grid_and_mask(agent, grid, reach)


def ask_the_first_grid(call):
    """The agent's second grid has it by now."""
    agent, target, first = walker("a"), thing("t"), Grid(3, 3)
    placed(first, agent, target)
    done = TargetAgentOverlapDone(agents=named(agent, target), grid=first, target_mapping={"a": "t"})
    Grid(2, 2).place(agent, (0, 0))
    call(agent, first, done)


def state(kind=PositionState, **given):
    return kind(**{"agents": {}, "grid": Grid(2, 2), **given})


def attacks_far():
    me = Fighter(id="me", encoding=1, attack_range=5, simultaneous_attacks=2)  # F16: 3^121 points
    return SelectiveAttackActor(**settle([me]), attack_mapping={})


def crowded(*agents, **given):
    placed(Grid(1, 1, **given), *agents)


A = partial(case, error=AssertionError)
NO_PAIRS = ((0, 0), [0, 0], np.array(0), np.array([0]), np.array([[0, 0]]), np.array(["a"] * 2))
NO_CELLS = (None, 3, (1,), (1, 2, 3), (0.5, 0), ("a", 0), (np.nan, 0), (np.inf, 0))
OUTSIDE = ((3, 0), (0, 3), (-1, 0), (0, -1), (2**31 - 1, 0))
CALLS = (Grid.query, Grid.place, Grid.remove)
WRAPPERS = (RavelActionWrapper, ExclusiveChannelActionWrapper)
MOVER = MoveActor(**settle([MovingAgent(id="m", encoding=1, move_range=1)]))
OBSERVER = AbsolutePositionObserver(**settle([walker("w")]))
OF_OTHER_FAMILIES = [
    *(
        ("states", "MoveActor"),
        ("actors", "PositionState"),
        ("observers", "Observer"),
        ("rewards", "ActiveDone"),
    ),
    *(("dones", MoveActor), ("states", ActiveDone), ("rewards", 3), ("actors", lambda agents, grid: None)),
    ("actors", lambda agents, grid: ActiveDone(agents=agents, grid=grid)),
    ("observers", (RavelActionWrapper, "MoveActor")),
]
REFUSED = [
    A("maze: rows", generate_maze, 2.0, 3),
    A("maze: cols", generate_maze, 3, 0),
    A("maze: strict 1", generate_maze, 3, 3, strict=1),
    *(A("maze: start", generate_maze, 3, 3, start=start) for start in NO_PAIRS),
    *(case("maze: start", generate_maze, 3, 3, start=np.array(at), error=IndexError) for at in OUTSIDE),
    *(A("is outside", call, Grid(3, 3), thing(), cell) for call in CALLS for cell in OUTSIDE),
    *(A("no pair", call, Grid(3, 3), thing(), cell) for call in CALLS for cell in NO_CELLS),
    *(A("'x' is no agent", call, Grid(3, 3), "x", (0, 0)) for call in CALLS),
    *(A("x: initial_position", lambda at: placed(Grid(3, 3), thing(at=at)), cell) for cell in OUTSIDE),
    A("y: initial_position", crowded, thing("x", at=(0, 0)), thing("y", 2, at=(0, 0))),
    case("for y", crowded, thing("x"), thing("y", 2), overlapping={1: 1}, error=RuntimeError),
    A("view_range", GridObservingAgent, id="x", encoding=1),
    A("move_range", MovingAgent, id="x", encoding=1),
    A("attack_range", AttackingAgent, id="x", encoding=1),
    *(A("no_overlap_at_reset", state, no_overlap_at_reset=value) for value in (0, 1, None, "yes")),
    *(A("randomize_placement_order", state, randomize_placement_order=value) for value in (0, 1, None)),
    *(A("agents", state, agents=value) for value in (None, [thing()], {"y": thing()}, {"x": 3})),
    *(A("Grid", state, grid=value) for value in (None, (2, 2))),
    *(A("only", state, HealthState, only=value) for value in ("one", 1, True)),
    A("'tow', 9", state, HealthState, agents=named(thing("two")), only=["tow", "two", 9, 1]),
    A("it places all agents", state, only={"one"}),
    *(
        A("stacked_attacks", state, BinaryAttackActor, attack_mapping={}, stacked_attacks=v)
        for v in (0, None)
    ),
    A("agent a has no position", create_grid_and_mask, walker("a"), Grid(2, 2), 1),
    *(A("grid_range", seen_from, walker("a"), value) for value in (-1, "FULL", 1.0, None, True)),
    A("agent a", ask_the_first_grid, lambda agent, first, _: create_grid_and_mask(agent, first, 1)),
    A("agent a", ask_the_first_grid, lambda agent, _, done: done.get_done(agent)),
    A("'nobody'", walking, walker("me"), target_mapping={"me": "nobody"}, observers=["TargetObserver"]),
    A("'overlapping'", walking, walker("me"), overlaping={1: {1}}),
    A("'no_overlap_at_reset'", walking, walker("me"), no_overlap_at_rest=True),
    A("agent a is not configured", walking, walker(), actors=[], observers=[]),
    *(A("is no actor", wrapper, wrong) for wrapper in WRAPPERS for wrong in (None, MoveActor, OBSERVER)),
    A("cannot be wrapped", ExclusiveChannelActionWrapper, MOVER),
    A("points|large|many", lambda: RavelActionWrapper(attacks_far())),
    *(A(".", lambda family, entry: declared(**{family: [entry]}), *case) for case in OF_OTHER_FAMILIES),
    case(
        "target_mapping",
        state,
        TargetAgentOverlapDone,
        agents=named(thing("a"), thing("b")),
        target_mapping={"a": ["b"]},
        error=TypeError,
    ),
    *(
        case("register", register, value, error=TypeError)
        for value in (None, "MoveActor", int, ActiveDone.get_done)
    ),
]


@pytest.mark.parametrize(("call", "key", "error"), REFUSED)
def test_a_refusal_names_its_key(call, key, error):
    refuses(call, key, error)


def test_keywords_that_are_like_no_other_are_handed_on():
    """B4"""
    walking(walker("me"), temperature=21)
