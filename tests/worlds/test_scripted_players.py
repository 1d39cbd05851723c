"""Choices of scripted players, window by window: pursuit, flight, giving, waiting."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from interplay.registry import make_world
from interplay.worlds.broadcast.policies import Talker
from interplay.worlds.corridor.policies import Walker
from interplay.worlds.foragers.policies import Greedy
from interplay.worlds.maze_navigation.policies import Seeker, distances, downhill
from interplay.worlds.pacman.policies import Hungry
from interplay.worlds.reach_the_target.policies import Leaper

WINDOW = "position_centered_encoding"


def decided(
    policy: Any, world: Any, kind: str, seen: dict[tuple[int, int], int], draws: int = 1
) -> list[Any]:
    """The choices of every agent of a kind with these encodings in view, rows down and columns right of it, and nothing else."""
    policy.start(world, seed=1)
    step = world.reset()
    observation = {name: {key: np.zeros_like(part) for key, part in fields.items()}
                   for name, fields in world.by_kind(step.observation).items()}  # fmt: skip
    window = observation[kind][WINDOW]
    middle = window.shape[-1] // 2
    for (down, right), code in seen.items():
        window[..., middle + down, middle + right] = code
    shown = step._replace(
        observation=observation if len(world.kinds) > 1 else observation[kind],
        acting=np.ones_like(step.acting),
    )
    return [world.by_kind(policy.act(shown))[kind] for _ in range(draws)]


def all_of(found: list[Any], key: str) -> set[Any]:
    """Every decision, however many agents and draws."""
    array = np.concatenate([np.asarray(each[key]).reshape(-1, *np.shape(each[key])[2:]) for each in found])
    return {tuple(row) if np.ndim(row) else int(row) for row in array.tolist()}


EDGE, RESOURCE, FORAGER, HUNTER = -1, 1, 2, 3
COLUMN = {(down, -1): EDGE for down in range(-3, 4)}  # the map ends at the left


@pytest.mark.parametrize(
    ("kind", "seen", "attack", "move"),
    [
        ("forager", {(0, 3): RESOURCE}, 0, (0, 1)),
        ("forager", {(-3, 2): RESOURCE}, 0, (-1, 1)),
        ("forager", {(3, 0): RESOURCE, (0, -2): RESOURCE}, 0, (0, -1)),  # the nearer one
        ("forager", {(-1, 1): RESOURCE}, 1, (0, 0)),  # in reach: it stays and takes
        ("forager", {(0, 2): HUNTER}, 0, (0, -1)),
        ("forager", {(-2, -3): HUNTER}, 0, (1, 1)),
        ("forager", {(0, 2): HUNTER, (0, 3): RESOURCE}, 0, (0, -1)),  # to live goes before to eat
        ("forager", {(0, 2): HUNTER, (1, 0): RESOURCE}, 1, (0, -1)),  # and takes what is in reach on its way
        ("forager", {**COLUMN, (2, 2): HUNTER}, 0, (-1, 0)),  # along the map's end
        ("hunter", {(0, 3): FORAGER}, 0, (0, 1)),
        ("hunter", {(2, -2): FORAGER}, 1, (0, 0)),  # hunters reach further
        ("hunter", {(0, 1): RESOURCE, (3, 3): FORAGER}, 0, (1, 1)),
        ("hunter", {(0, 1): HUNTER, (-3, 0): FORAGER}, 0, (-1, 0)),  # they fear no agent
    ],
)
def test_foragers_and_hunters(kind, seen, attack, move):
    world = make_world("gridworld/hunters-foragers", num_worlds=2)
    found = decided(Greedy(), world, kind, seen)
    assert all_of(found, "attack") == {attack}
    assert all_of(found, "move") == {move}


def test_who_sees_nothing_wanders_and_reaches_for_nothing():
    world = make_world("gridworld/hunters-foragers", num_worlds=2)
    for kind in ("forager", "hunter"):
        found = decided(Greedy(), world, kind, {}, draws=400)
        assert all_of(found, "attack") == {0}
        assert len(all_of(found, "move")) >= 8  # an agent at rest turns at once
        moves = [each["move"] for each in found]
        kept = np.mean([(one == other).all(axis=-1) for one, other in itertools.pairwise(moves)])
        assert 0.6 < kept < 0.97, "it goes straight on, and turns now and then"


PACMAN, WALL, FOOD, BADDIE = 1, 2, 3, 4
LEFT, DOWN, RIGHT, UP = 1, 2, 3, 4


@pytest.mark.parametrize(
    ("kind", "seen", "codes"),
    [
        ("pacman", {(0, 3): FOOD}, {RIGHT}),
        ("pacman", {(3, 0): FOOD, (0, -2): FOOD}, {LEFT}),
        ("pacman", {(0, -3): FOOD, (0, -1): WALL}, {UP, DOWN}),  # around the wall
        ("pacman", {(0, 3): FOOD, (0, 2): BADDIE, (0, -4): FOOD}, {LEFT}),  # not by a baddie, nor beside one
        ("pacman", {(-2, 0): FOOD, (0, 2): FOOD, (1, 2): BADDIE}, {UP}),
        ("baddie", {(2, 0): PACMAN, (0, 1): FOOD}, {DOWN}),
        ("baddie", {(0, -2): PACMAN, (0, -1): BADDIE}, {LEFT}),  # baddies do not mind each other
    ],
)
def test_pacman_and_baddies(kind, seen, codes):
    world = make_world("gridworld/pacman", num_worlds=2)
    assert all_of(decided(Hungry(), world, kind, seen, draws=8), "move") == codes


def test_pacman_without_a_way_goes_anywhere():
    world = make_world("gridworld/pacman", num_worlds=2)
    walled = {(0, 3): FOOD, **dict.fromkeys(((0, 1), (0, -1), (1, 0), (-1, 0)), WALL)}
    for seen in ({}, walled):
        assert all_of(decided(Hungry(), world, "pacman", seen, draws=60), "move") == {0, 1, 2, 3, 4}


def test_broadcasters_talk_and_blockers_go_beside_the_nearest():
    world = make_world("gridworld/broadcast", num_worlds=2)
    (speaker,) = [kind.name for kind in world.kinds if "broadcast" in kind.action_space.spaces]
    (blocker,) = [kind.name for kind in world.kinds if "move" in kind.action_space.spaces]
    ways = {(0, 3): (0, 1), (-2, -3): (-1, -1), (3, 0): (1, 0)}
    for place, way in ways.items():
        assert all_of(decided(Talker(), world, blocker, {place: 1}), "move") == {way}
    assert all_of(decided(Talker(), world, blocker, {(0, 1): 1}), "move") == {(0, 0)}
    assert all_of(decided(Talker(), world, blocker, {(0, 2): 1, (3, 3): 1}), "move") == {(0, 1)}
    assert len(all_of(decided(Talker(), world, blocker, {(0, 1): 2}, draws=60), "move")) == 9
    assert all_of(decided(Talker(), world, speaker, {}), "broadcast") == {1}


RUNNERS, TARGETS = 3, 2


def test_runners_leap_when_the_target_is_in_reach_and_else_come_within_a_leap():
    world = make_world("gridworld/reach-the-target", num_worlds=2)
    (runner,) = [kind.name for kind in world.kinds if "move" in kind.action_space.spaces]
    (target,) = [kind.name for kind in world.kinds if "attack" in kind.action_space.spaces]
    most = (
        int(world.kinds[[kind.name for kind in world.kinds].index(runner)].action_space["move"].nvec[0]) // 2
    )
    for place in ((0, most), (-most, 1), (1, -1)):
        assert all_of(decided(Leaper(), world, runner, {place: TARGETS}), "move") == {place}
    assert len(all_of(decided(Leaper(), world, runner, {}, draws=60), "move")) == (2 * most + 1) ** 2
    shots = np.unique([list(each["attack"].ravel()) for each in decided(Leaper(), world, target, {})])
    assert shots.tolist() == [0]
    (found,) = decided(Leaper(), world, target, {(0, 1): RUNNERS, (-1, 0): RUNNERS, (1, 1): TARGETS})
    side = found["attack"].shape[-1]
    middle = side // 2
    hit = {(int(r) - middle, int(c) - middle) for *_, r, c in np.argwhere(found["attack"])}
    assert hit == {(0, 1), (-1, 0)}


def test_walkers_of_the_corridor_wait_for_those_before_them():
    world = make_world("simulation/multi-corridor", num_worlds=2)
    policy = Walker()
    policy.start(world)
    step = world.reset()
    blocked = step.observation["right"][..., 0] == 1
    assert np.array_equal(policy.act(step), np.where(blocked, 1, 2))


def test_ways_through_a_maze():
    is_open = np.array([[1, 1, 0, 1], [0, 1, 0, 1], [1, 0, 0, 1]], bool)
    steps = distances(is_open, (0, 0))
    assert steps.tolist() == [[0, 1, -1, -1], [-1, 1, -1, -1], [2, -1, -1, -1]]  # diagonals are steps
    assert downhill(steps, (2, 0)) == (-1, 1)
    assert downhill(steps, (0, 0)) is None
    assert downhill(steps, (0, 3)) is None


def test_seekers_go_round_walls_to_the_target_that_they_see():
    world = make_world("gridworld/maze", num_worlds=2)
    kind = world.kinds[0].name
    wall, goal = 2, 3
    for place, way in {(0, 1): (0, 1), (-2, -2): (-1, -1), (2, 2): (1, 1)}.items():
        assert all_of(decided(Seeker(), world, kind, {place: goal}), "move") == {way}
    blocked = {(0, 2): goal, (0, 1): wall, (-1, 1): wall}
    assert all_of(decided(Seeker(), world, kind, blocked), "move") == {(1, 1)}
    hidden = {(0, 1): wall, (0, -1): -1}  # it walks neither into walls nor off the map
    ways = all_of(decided(Seeker(), world, kind, hidden, draws=80), "move")
    assert not {(0, 1), (0, -1)} & ways
    assert len(ways) == 7
