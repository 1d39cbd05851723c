"""Steps of equal worlds compared over batches, places, threads and processes, for one world per family.

Run from the repository root::

    .venv/bin/python -m bench.trust_determinism --ticks 1000000
    .venv/bin/python -m bench.trust_determinism --ticks 20000 --family mmo --seed 3

A world's seed and its actions name its trajectory. The same worlds are played in one batch, one by one and in batches of other
sizes, in turned order, by two threads and by another process; after every step the hashes of their whole states are compared with
those of the first batch. One world-tick is one world's step compared in two of these arrangements; so many are made per
family. A difference ends the run with world and tick, and exit status 1.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from interplay import make_world
from interplay.checker.bench import Players, map_tree
from interplay.core import seeding
from interplay.core.world import World
from interplay.train.run.progress import Progress

ROOT = Path(__file__).resolve().parents[1]
WORLDS = 12  # of the first batch
BLOCK = 50  # ticks played by all arrangements before their hashes are compared

FAMILIES: dict[str, tuple[str, dict[str, Any]]] = {
    "simulation": ("simulation/multi-corridor", {}),
    "gridworld": ("gridworld/team-battle", {}),
    "pacman": ("gridworld/pacman-simple", {}),
    "foragers": ("gridworld/foragers", {}),
    "navigation": ("navigation/proxy-soft", {}),
    "mmo": ("mmo/combat", {"interior": 24, "slots": 16, "npop": 2}),
    "werewolf": ("werewolf/9-l1s9", {}),
    "survival": ("survival/1v1-all-high", {}),
    "pommerman": ("pommerman/radio", {}),
    "battle": ("battle/mab", {"jitter": True, "limit": 30}),
    "dilemma": ("dilemma/open-ended", {}),
    "matrix": ("matrix/credit", {"rounds": 3}),
    "pong": ("pong/2p-pictures", {"randomize": True, "rounds": 3}),
    "soccer": ("soccer/2v2", {"seconds": 2.0}),
}


class Arrangement(NamedTuple):
    """How the worlds are spread.

    Attributes:
        name: told where they differ.
        batches: numbers of the worlds in each batch, in its order.
        threads: of each batch.
    """

    name: str
    batches: Sequence[Sequence[int]]
    threads: int = 1


def arrangements(worlds: int) -> list[Arrangement]:
    """All in this process but the first batch, whose order is 0, 1, ... and whose thread is one."""
    whole = list(range(worlds))
    return [
        Arrangement("one by one", [[w] for w in whole]),
        Arrangement("batches of other sizes, turned", [whole[:3][::-1], whole[3:][::-1]]),
        Arrangement("two threads", [whole], 2),
    ]


class Spread:
    """The worlds of a family in one arrangement.

    Args:
        family: which.
        arrangement: of its worlds.
        seed: names each world's trajectory, by its number.

    Attributes:
        batches: numbers and world of each batch.
        hashes: (W,) uint64 of the worlds as they stand, by their numbers.
    """

    def __init__(self, family: str, arrangement: Arrangement, seed: int) -> None:
        world_id, options = FAMILIES[family]
        seeds = seeding.world_seeds(seed, sum(map(len, arrangement.batches)))
        self.batches: list[tuple[list[int], World]] = []
        for numbers in map(list, arrangement.batches):
            world = make_world(world_id, len(numbers), threads=arrangement.threads, **options)
            world.reset(seeds=seeds[numbers])
            self.batches.append((numbers, world))
        self.hashes = np.zeros(len(seeds), np.uint64)

    def restart(self) -> None:
        """Begins the next episode of the worlds that are over."""
        for _, world in self.batches:
            if world.timestep.over.any():
                world.reset(world.timestep.over)

    def step(self, action: Any) -> None:
        """Steps every world with its row of the actions."""
        for numbers, world in self.batches:
            world.step(map_tree(lambda rows, own=numbers: rows[own], action))
            self.hashes[numbers] = world.hash()


def play_block(spreads: Sequence[Spread], players: Players) -> np.ndarray:
    """Plays `BLOCK` ticks in every arrangement alike: the hashes of each after each, (BLOCK, arrangements, W).

    Args:
        spreads: the first one, whose players choose, is one batch in order.
        players: of the first.
    """
    told = []
    for _ in range(BLOCK):
        for spread in spreads:
            spread.restart()
        action = players.act(players.world.timestep)
        for spread in spreads:
            spread.step(action)
        told.append(np.stack([spread.hashes for spread in spreads]))
    return np.stack(told)


def begin(family: str, worlds: int, seed: int) -> tuple[Spread, Players]:
    """The first batch and those who play in it."""
    first = Spread(family, Arrangement("first", [range(worlds)]), seed)
    return first, Players(first.batches[0][1], seed, range(worlds))


def blocks_of_a_child(family: str, worlds: int, seed: int) -> Generator[np.ndarray, None, None]:
    """The hashes (BLOCK, W) of another process, which plays the first batch and makes up its actions itself."""
    command = [sys.executable, "-m", "bench.trust_determinism", "--child", "--family", family]
    command += ["--worlds", str(worlds), "--seed", str(seed)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        try:
            while len(data := child.stdout.read(8 * BLOCK * worlds)) == 8 * BLOCK * worlds:
                yield np.frombuffer(data, np.uint64).reshape(BLOCK, worlds)
            raise RuntimeError(f"{family}: the other process has ended")
        finally:
            child.kill()


def compare(
    family: str, ticks: int, seed: int = 0, worlds: int = WORLDS, tell: Callable[[int], None] | None = None
) -> int:
    """Compares so many world-ticks, and says how many it were.

    Raises:
        AssertionError: naming arrangement, tick and world of the first difference.
    """
    first, players = begin(family, worlds, seed)
    others = arrangements(worlds)
    spreads = [first, *(Spread(family, one, seed) for one in others)]
    names = [*(one.name for one in others), "another process"]
    child, compared, begun = blocks_of_a_child(family, worlds, seed), 0, 0
    try:
        while compared < ticks:
            told = np.concatenate([play_block(spreads, players), next(child)[:, None]], axis=1)
            differs = np.argwhere(told[:, 1:] != told[:, :1])
            if len(differs):
                tick, which, world = differs[0]
                raise AssertionError(
                    f"{family}, {names[which]}: world {world} differs at tick {begun + tick + 1}"
                )
            compared += told[:, 1:].size
            begun += BLOCK
            if tell is not None:
                tell(min(compared, ticks))
    finally:
        child.close()
    return compared


def main() -> int:
    """Reads the command line, compares, prints a line per family."""
    parser = argparse.ArgumentParser(prog="python -m bench.trust_determinism")
    parser.add_argument("--ticks", type=int, default=1_000_000, help="world-ticks compared, per family")
    parser.add_argument("--family", action="append", choices=list(FAMILIES), default=[])
    parser.add_argument("--worlds", type=int, default=WORLDS, help="of the first batch")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        return _be_the_child(asked.family[0], asked.worlds, asked.seed)
    total, different = 0, 0
    for family in asked.family or list(FAMILIES):
        progress, began = Progress(asked.ticks, 0, unit=f"world-ticks of {family}"), time.monotonic()
        try:
            compared = compare(
                family, asked.ticks, asked.seed, asked.worlds, lambda done, p=progress: p.update(done)
            )
            total += compared
            print(
                f"{FAMILIES[family][0]}: {compared:,} world-ticks, 0 differences, {time.monotonic() - began:.0f} s"
            )
        except AssertionError as difference:
            different += 1
            print(f"{FAMILIES[family][0]}: {difference}")
        finally:
            progress.close()
    print(f"{total:,} world-ticks compared, {different} families with differences", flush=True)
    return int(different > 0)


def _be_the_child(family: str, worlds: int, seed: int) -> int:
    try:
        first, players = begin(family, worlds, seed)
        while True:
            sys.stdout.buffer.write(play_block([first], players).tobytes())
            sys.stdout.buffer.flush()
    except BrokenPipeError:
        return 0


if __name__ == "__main__":
    sys.exit(main())
