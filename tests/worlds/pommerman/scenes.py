"""Crowded games for tests: few walls, many bombs, kicks and flames, so that everything that can meet does."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.worlds.pommerman.config import PommermanSettings
from interplay.worlds.pommerman.state import EXTRA_BOMB, PASSAGE, RIGID, WOOD
from interplay.worlds.pommerman.world import PommermanWorld


def crowd(world: PommermanWorld, rng: np.random.Generator, which: Any = None) -> None:
    """Puts the worlds of the mask `which` (all if None), which were just reset, into crowded situations."""
    for w in range(world.num_worlds) if which is None else np.flatnonzero(which):
        _crowd_one(world, rng, int(w))
    world.refresh()


def _crowd_one(world: PommermanWorld, rng: np.random.Generator, w: int) -> None:
    s, state = world.settings, world.state
    side = s.size + 2
    inner = np.zeros((side, side), bool)
    inner[1:-1, 1:-1] = True
    cells = np.flatnonzero(inner)
    kinds = rng.choice(
        [PASSAGE, RIGID, WOOD, EXTRA_BOMB, EXTRA_BOMB + 1, EXTRA_BOMB + 2],
        len(cells),
        p=[0.72, 0.06, 0.1, 0.03, 0.04, 0.05],
    )
    state.ground[w, cells] = kinds
    state.item[w] = 0
    wood = cells[kinds == WOOD]
    state.item[w, wood] = rng.choice([0, 6, 7, 8], len(wood))
    state.flame[w] = 0
    middle = cells[np.abs(cells // side - side / 2) + np.abs(cells % side - side / 2) < 6]
    places = rng.permutation(middle)[: s.players + int(rng.integers(0, 12))]
    state.ground[w, places] = PASSAGE
    for a in range(s.players):
        person = state.agent[w, a]
        person["cell"], person["ammo"] = places[a], rng.integers(0, 4)
        person["blast"], person["kick"] = rng.integers(2, s.most_blast + 1), rng.random() < 0.7
    bombs = 0
    lives = {a: list(rng.permutation(9) + 1) for a in range(s.players)}
    for cell in places[s.players :]:
        if rng.random() < 0.25:
            state.flame[w, cell] = rng.integers(1, 4)
            state.item[w, cell] = rng.choice([0, 0, 6, 7, 8])
            continue
        owner = int(rng.integers(s.players))
        if not lives[owner]:  # all its bombs lie already
            continue
        bomb = state.bomb[w, bombs]
        bomb["cell"], bomb["owner"], bomb["life"] = cell, owner, lives[owner].pop()
        bomb["blast"], bomb["direction"] = rng.integers(2, s.most_blast + 1), rng.integers(0, 5)
        bombs += 1
    if rng.random() < 0.5 and bombs < s.players:  # one stands on its bomb
        bomb = state.bomb[w, bombs]
        bomb["cell"], bomb["owner"], bomb["life"], bomb["blast"], bomb["direction"] = (
            places[0],
            0,
            lives[0].pop(),
            3,
            0,
        )
        bombs += 1
    state.room["bombs"][w] = bombs


SIGNS = {".": PASSAGE, "#": RIGID, "w": WOOD, "b": EXTRA_BOMB, "r": EXTRA_BOMB + 1, "k": EXTRA_BOMB + 2}


def open_world(num_worlds: int = 1, **options: Any) -> PommermanWorld:
    """Reset worlds without walls; each player in its corner."""
    world = PommermanWorld(PommermanSettings(**options), num_worlds, seed=3)
    world.reset()
    lay(world, [])
    return world


def lay(
    world: PommermanWorld, rows: list[str], first: tuple[int, int] = (0, 0), **places: tuple[int, int]
) -> None:
    """Clears all boards and lays `rows` of signs on them, the first sign at `first`.

    Args:
        world: that was reset.
        rows: of `SIGNS`; digits are players, with passage below them.
        first: row and column of the first sign.
        places: ``p0=(row, column)`` and so on, of players that no digit names.
    """
    n, state = world.settings.size, world.state
    ground = np.full((n + 2, n + 2), RIGID, np.uint8)
    ground[1:-1, 1:-1] = PASSAGE
    for r, row in enumerate(rows, first[0]):
        for c, sign in enumerate(row, first[1]):
            ground[r + 1, c + 1] = SIGNS.get(sign, PASSAGE)
            if sign.isdigit():
                state.agent["cell"][:, int(sign)] = cell_at(world, r, c)
    for name, (r, c) in places.items():
        state.agent["cell"][:, int(name[1:])] = cell_at(world, r, c)
    state.ground[:] = ground.reshape(-1)
    state.item[:], state.flame[:], state.room["bombs"] = 0, 0, 0
    world.refresh()


def put_bomb(
    world: PommermanWorld,
    row: int,
    col: int,
    owner: int = 0,
    life: int = 9,
    blast: int = 2,
    direction: int = 0,
) -> None:
    """Puts a bomb into all worlds, out of its owner's hand."""
    state, k = world.state, int(world.state.room["bombs"][0])
    bomb = state.bomb[:, k]
    bomb["cell"], bomb["owner"], bomb["life"] = cell_at(world, row, col), owner, life
    bomb["blast"], bomb["direction"] = blast, direction
    state.agent["ammo"][:, owner] -= state.agent["ammo"][:, owner] > 0
    state.room["bombs"] = k + 1
    world.refresh()


def cell_at(world: PommermanWorld, row: int, col: int) -> int:
    """The number of a cell of the board with its rim."""
    return (row + 1) * (world.settings.size + 2) + col + 1


def still(world: PommermanWorld, **choices: int) -> np.ndarray:
    """(W, A) stop for all players but those given: ``still(world, p0=UP)``."""
    action = np.zeros((world.num_worlds, world.settings.players), np.int64)
    for name, choice in choices.items():
        action[:, int(name[1:])] = choice
    return action


def seen(world: PommermanWorld, name: str, agent: int = 0) -> np.ndarray:
    """What an agent of the first world sees."""
    return world.timestep.observation[name][0, agent]


def at(world: PommermanWorld, agent: int) -> tuple[int, int]:
    """Row and column of a player of the first world."""
    row, col = divmod(int(world.state.agent["cell"][0, agent]), world.settings.size + 2)
    return row - 1, col - 1
