"""What foragers and hunters do, measured: covering, following the edge, splitting before a hunter (manual 4.1).

Run from the repository root, with run folders or names of scripted players::

    .venv/bin/python -m studies.foragers --world gridworld/foragers runs/foragers greedy random

Every player plays the same episodes (the same starts); a row is a mean over episodes and its standard error. Distances are
Chebyshev, in cells. Trained episodes are shorter, so all but the last rows look at the first `HORIZON` steps alone:

    distance        mean distance of all pairs of foragers; at step 0 that of the random start
    close           share of pairs who see each other
    seen            share of the map within sight of some forager, at one time
    explored        share of the map that was seen by step `HORIZON`, or the end
    edge            share of foragers without a resource in sight who see the map's edge (a random cell: about 0.51)
    clockwise       of their moves there along the nearest edge, the share that goes round clockwise
    apart, chased   mean change, in a step, of the distance of two foragers who see each other, with a hunter in sight of one
    apart, free     the same without a hunter
    per 100         resources collected in 100 steps, over whole episodes
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from interplay.core.world import World
from interplay.evaluate.episodes import play
from interplay.evaluate.statistics import Estimate, estimate
from interplay.verbs.players import find_player
from interplay.worlds.foragers.config import FORAGER, HUNTER, RESOURCE, VIEW_RANGE

HORIZON = 30  # steps; trained foragers are done soon after
EPISODES, WORLDS = 256, 64


class Group(NamedTuple):
    """Those of one encoding, in W worlds.

    Attributes:
        cell: (W, K, 2) row and column.
        active: (W, K) bool.
    """

    cell: np.ndarray
    active: np.ndarray


def read_groups(world: World) -> dict[int, Group]:
    """Encoding -> who and where, from a snapshot."""
    saved = world.save()
    cell = np.stack([saved["agents.row"], saved["agents.col"]], axis=-1).astype(np.int64)
    groups = {}
    for encoding in (RESOURCE, FORAGER, HUNTER):
        members = np.flatnonzero(saved["agents.encoding"][0] == encoding)
        groups[encoding] = Group(cell[:, members], saved["agents.active"][:, members])
    return groups


def distances(a: Group, b: Group) -> np.ndarray:
    """(W, K, L) between all of two groups; a pair with somebody inactive is infinitely far."""
    apart = np.abs(a.cell[:, :, None] - b.cell[:, None]).max(axis=-1).astype(float)
    return np.where(a.active[:, :, None] & b.active[:, None], apart, np.inf)


def pair_distances(foragers: Group) -> np.ndarray:
    """(W, pairs)."""
    i, j = np.triu_indices(foragers.cell.shape[1], 1)
    return distances(foragers, foragers)[:, i, j]


def mean_where(values: np.ndarray, which: np.ndarray) -> np.ndarray:
    """Means over the last axis of what is named, NaN where nothing is."""
    number = which.sum(axis=-1)
    total = np.where(which, values, 0.0).sum(axis=-1)
    return np.where(number > 0, total / np.maximum(number, 1), np.nan)


class Watcher:
    """Looks at a batch after every step and keeps the sums of each episode.

    Args:
        episodes: how many will be played.
        shape: rows and columns of the map.
    """

    def __init__(self, episodes: int, shape: tuple[int, int]) -> None:
        self.shape = np.array(shape)
        self.sums: dict[str, np.ndarray] = {}
        self.counts: dict[str, np.ndarray] = {}
        self.explored = np.zeros((episodes, *shape), bool)
        self.clock = np.zeros(episodes, np.int64)
        self._before: dict[int, Group] = {}
        self._playing = np.zeros(0, np.int64)

    def __call__(self, world: World, episode: np.ndarray) -> None:
        """What `play` calls: ``episode`` (W,) says which one each world plays, -1 for none."""
        now = read_groups(world)
        playing = episode >= 0
        self.clock[episode[playing]] += 1
        early = playing & (self.clock[episode] <= HORIZON)
        same = early & (self._playing == episode) if len(self._playing) else np.zeros_like(early)
        self.look(now, episode, early)
        if same.any():
            self.compare(self._before, now, episode, same)
        self._before, self._playing = now, episode.copy()

    def note(self, name: str, values: np.ndarray, episode: np.ndarray, which: np.ndarray) -> None:
        """Adds a number of each world of ``which`` to its episode; NaN is none."""
        sums = self.sums.setdefault(name, np.zeros(len(self.clock)))
        counts = self.counts.setdefault(name, np.zeros(len(self.clock)))
        which = which & np.isfinite(values)
        np.add.at(sums, episode[which], values[which])
        np.add.at(counts, episode[which], 1)

    def look(self, now: Mapping[int, Group], episode: np.ndarray, which: np.ndarray) -> None:
        """Distances, and what is seen."""
        foragers = now[FORAGER]
        if foragers.cell.shape[1] > 1:
            apart = pair_distances(foragers)
            self.note("distance", mean_where(apart, np.isfinite(apart)), episode, which)
            self.note("close", mean_where(apart <= VIEW_RANGE, np.isfinite(apart)), episode, which)
        seen = self.in_sight(foragers)
        self.note("seen", seen.mean(axis=(1, 2)), episode, which)
        self.explored[episode[which]] |= seen[which]
        idle = foragers.active & ~(distances(foragers, now[RESOURCE]) <= VIEW_RANGE).any(axis=-1)
        self.note("edge", mean_where(self.edge_distance(foragers) <= VIEW_RANGE - 1, idle), episode, which)

    def compare(
        self, before: Mapping[int, Group], now: Mapping[int, Group], episode: np.ndarray, which: np.ndarray
    ) -> None:
        """Moves: round the map, and away from each other."""
        was, foragers = before[FORAGER], now[FORAGER]
        idle = was.active & foragers.active & ~(distances(was, before[RESOURCE]) <= VIEW_RANGE).any(axis=-1)
        near = idle & (self.edge_distance(was) <= VIEW_RANGE - 1)
        out = 2 * was.cell - (self.shape - 1)  # from the centre, doubled
        step = foragers.cell - was.cell
        turn = out[..., 1] * step[..., 0] - out[..., 0] * step[..., 1]  # right edge downwards: clockwise, > 0
        self.note("clockwise", mean_where(turn > 0, near & (turn != 0)), episode, which)
        if foragers.cell.shape[1] < 2:
            return
        i, j = np.triu_indices(foragers.cell.shape[1], 1)
        first, then = pair_distances(was), pair_distances(foragers)
        close = (first <= VIEW_RANGE) & np.isfinite(then)
        hunted = (distances(was, before[HUNTER]) <= VIEW_RANGE).any(axis=-1)
        chased = hunted[:, i] | hunted[:, j]
        change = np.where(close, then - np.where(close, first, 0.0), 0.0)
        if before[HUNTER].cell.shape[1]:
            self.note("apart, chased", mean_where(change, close & chased), episode, which)
        self.note("apart, free", mean_where(change, close & ~chased), episode, which)

    def in_sight(self, foragers: Group) -> np.ndarray:
        """(W, R, C) bool: within the window of an active forager."""
        rows, cols = np.arange(self.shape[0]), np.arange(self.shape[1])
        in_row = np.abs(foragers.cell[..., 0, None] - rows) <= VIEW_RANGE
        in_col = np.abs(foragers.cell[..., 1, None] - cols) <= VIEW_RANGE
        windows = in_row[..., :, None] & in_col[..., None, :] & foragers.active[..., None, None]
        return np.asarray(windows.any(axis=1))

    def edge_distance(self, foragers: Group) -> np.ndarray:
        """(W, K) cells to the nearest edge; 0 on it."""
        cell = foragers.cell
        return np.minimum(cell, self.shape - 1 - cell).min(axis=-1)

    def table(self) -> dict[str, Estimate]:
        """Name -> estimate over the episodes that have the number."""
        found = {}
        for name, sums in self.sums.items():
            has = self.counts[name] > 0
            if has.any():
                found[name] = estimate(sums[has] / self.counts[name][has])
        found["explored"] = estimate(self.explored.mean(axis=(1, 2)))
        return found


def measure(player: str, world_id: str, options: dict[str, object], episodes: int, seed: int) -> None:
    """Plays and prints one player's rows."""
    found = find_player(player, world_id, options)
    world = found.make_world(num_worlds=min(WORLDS, episodes), seed=seed)
    world.reset(seeds=seed)
    board = world.save()["cells.first"].shape[1:]
    watcher = Watcher(episodes, (int(board[0]), int(board[1])))
    table = play(world, found.policy, episodes, seed, on_step=watcher)
    resources = (read_groups(world)[RESOURCE].active.shape[1] - table["resources"]) * 100 / table["steps"]
    rows = {**watcher.table(), "per 100": estimate(resources)}
    rows |= {name: table.summary()[name] for name in ("steps", "return", "resources", "foragers")}
    for agents, slots in by_kind(world).items():
        rows[f"return, {agents}"] = estimate(table["return"][:, slots].mean(axis=1))
    print(f"\n{world.id}, {found.policy.name}, {episodes} episodes, seed {seed}")
    for name, value in rows.items():
        print(f"    {name:20} {value}   ({value.n})")


def by_kind(world: World) -> dict[str, list[int]]:
    """Kind -> slots, where there are several."""
    return {kind.name: list(kind.slots) for kind in world.kinds} if len(world.kinds) > 1 else {}


def start_distance(world_id: str, seed: int) -> None:
    """Prints how far apart foragers begin."""
    import interplay

    world = interplay.make_world(world_id, num_worlds=4096, seed=seed)
    world.reset()
    foragers = read_groups(world)[FORAGER]
    if foragers.cell.shape[1] > 1:
        apart = pair_distances(foragers)
        print(f"{world_id}, step 0 of 4096 episodes")
        print(f"    distance             {estimate(apart.mean(axis=1))}")
        print(f"    close                {estimate((apart <= VIEW_RANGE).mean(axis=1))}")


def main() -> None:
    parser = argparse.ArgumentParser(description="What foragers and hunters do, measured.")
    parser.add_argument("players", nargs="+", help="run folders, or names of scripted players")
    parser.add_argument("--world", default="gridworld/foragers")
    parser.add_argument("--episodes", type=int, default=EPISODES)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    start_distance(args.world, args.seed)
    for player in args.players:
        measure(player, args.world, {}, args.episodes, args.seed)


if __name__ == "__main__":
    main()
