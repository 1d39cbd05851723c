"""Speed and length of Pommerman games, with their players in the loop, beside the playground's (specification 3.8 and 3.9).

Run from the repository root::

    .venv/bin/python -m bench.pommerman                          # ours against the bars
    .venv/bin/python -m bench.pommerman --peer PLAYGROUND        # and both in one run, turn by turn
    .venv/bin/python -m bench.pommerman --lengths 1000           # how long games last; with --peer theirs, too, `--peer-games` of them

What is timed: the players' choices, the step with the check of its actions, what everybody sees, metrics, and the reset of games that
are over. Random actions are drawn by the player `random`, in the loop. 256 different games, one thread pinned to one core; steps of
single games per second of the process' CPU time, median of `BLOCKS` blocks after a warm-up in which the games come apart. The
playground plays one game after another in the same way. The figures of the bar were measured with the playground once (specification 3.9).
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from bench.pommerman_peer import load_playground, make_game
from interplay.cli.measure import pin
from interplay.core.errors import UserError
from interplay.registry import make_policy, make_world
from interplay.worlds.pommerman.config import VARIANTS, PommermanSettings

BLOCKS, BLOCK_SECONDS = 15, 0.4
WARM_UP_STEPS = 400
WORLDS = 256


class Load(NamedTuple):
    """A row of the table: a variant, who plays all its slots, the times that we owe, and the playground's steps per second."""

    variant: str
    player: str
    times: int
    reference: float


LOADS = {
    "ffa-random": Load("ffa", "random", 50, 7_240),
    "team-fog-random": Load("team-fog", "random", 100, 1_800),
    "radio-random": Load("radio", "random", 100, 1_790),
    "ffa-simple": Load("ffa", "simple", 50, 838),
    "team-fog-simple": Load("team-fog", "simple", 50, 699),
}


class Ours:
    """A batch of games and who plays them."""

    def __init__(self, load: Load, num_worlds: int = WORLDS, **options: Any) -> None:
        self.world = make_world(f"pommerman/{load.variant}", num_worlds, seed=1, **options)
        self.world.reset()
        self.player = make_policy(f"pommerman/{load.variant}", load.player)
        self.player.start(self.world, 2)
        self.lengths: list[list[int]] = [[] for _ in range(num_worlds)]

    def run(self, steps: int) -> int:
        """Steps the batch; games that are over begin anew. How many steps of single games these were."""
        for _ in range(steps):
            over = self.world.step(self.player.act(self.world.timestep)).over
            length = self.world.metrics["episode_length"]
            if over.any():
                which = over.copy()
                for w in np.flatnonzero(which):
                    self.lengths[w].append(int(length[w]))
                self.world.reset(which)
                self.player.forget(which)
        return steps * self.world.num_worlds


class Theirs:
    """One game of the playground, and its own agents."""

    def __init__(self, load: Load, peer: SimpleNamespace) -> None:
        settings = PommermanSettings(**VARIANTS[load.variant])
        make = peer.simple_agent.SimpleAgent if load.player == "simple" else peer.random_agent.RandomAgent
        self.game = make_game(peer, settings, [make() for _ in range(settings.players)])
        self.seen = self.game.reset()
        self.lengths: list[int] = []

    def run(self, steps: int) -> int:
        """Steps the game; one that is over begins anew."""
        for _ in range(steps):
            self.seen, _, done, _ = self.game.step(self.game.act(self.seen))
            if done:
                self.lengths.append(self.game._step_count)
                self.seen = self.game.reset()
        return steps


def rate_of(side: Ours | Theirs, steps: int) -> float:
    """Steps of single games per second of CPU time."""
    start = time.process_time()
    return side.run(steps) / (time.process_time() - start)


def calibrated(side: Ours | Theirs) -> int:
    """How many calls of `run` make a block."""
    side.run(WARM_UP_STEPS)
    start = time.process_time()
    side.run(50)
    return max(50, round(50 * BLOCK_SECONDS / (time.process_time() - start)))


def compare_speed(name: str, load: Load, peer: SimpleNamespace | None) -> bool:
    """Prints a row; whether the bar is met."""
    sides: list[Ours | Theirs] = [Ours(load)] + ([Theirs(load, peer)] if peer else [])
    counts = [calibrated(side) for side in sides]
    rates: list[list[float]] = [[] for _ in sides]
    for _ in range(BLOCKS):  # in turn, so that a busy neighbour meets both
        for side, count, found in zip(sides, counts, rates, strict=True):
            found.append(rate_of(side, count))
    middle = statistics.median(rates[0])
    bar = load.times * load.reference
    row = f"{name:<16} {middle:>12,.0f} {max(rates[0]):>12,.0f} {bar:>10,.0f} {middle / bar:>6.1f}"
    ratio = middle / bar
    if peer:
        each = [ours / theirs for ours, theirs in zip(*rates, strict=True)]
        row += f" {statistics.median(rates[1]):>10,.0f} {statistics.median(each):>8,.0f} {load.times:>5}"
        ratio = statistics.median(each) / load.times
    print(row, flush=True)
    return ratio >= 1


def compare_lengths(name: str, load: Load, games: int, peer: SimpleNamespace | None, peer_games: int) -> None:
    """Prints mean lengths of games, as many of each world, so that short ones are not preferred."""
    num_worlds = min(games, 250)
    ours = Ours(load, num_worlds, classic_quirks=True)
    each = -(-games // num_worlds)
    while min(map(len, ours.lengths)) < each:
        ours.run(20)
    row = f"{name:<16} " + told([length for of in ours.lengths for length in of[:each]])
    if peer:
        theirs = Theirs(load, peer)
        while len(theirs.lengths) < peer_games:
            theirs.run(20)
        row += "   playground " + told(theirs.lengths[:peer_games])
    print(row, flush=True)


def told(lengths: list[int]) -> str:
    """Mean, standard error and number."""
    array = np.array(lengths, float)
    return f"{array.mean():7.1f} +- {array.std(ddof=1) / np.sqrt(len(array)):4.1f} ({len(array)} games)"


def main() -> None:
    """Prints the table; exit status 1 if a bar is not met."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", nargs="+", choices=LOADS, default=list(LOADS), help="some of it")
    parser.add_argument("--peer", type=Path, help="the playground's checkout")
    parser.add_argument("--lengths", type=int, default=0, help="measure lengths of so many games instead")
    parser.add_argument("--peer-games", type=int, default=200, help="of the playground, for --lengths")
    arguments = parser.parse_args()
    try:
        peer = load_playground(arguments.peer) if arguments.peer else None
    except UserError as error:
        parser.error(str(error))
    pin(1)
    random.seed(1)
    if arguments.lengths:
        for name in arguments.rows:
            compare_lengths(name, LOADS[name], arguments.lengths, peer, arguments.peer_games)
        return
    print(
        "row                    median         best        bar  times"
        + ("       peer     over  owed" if peer else "")
    )
    met = [compare_speed(name, LOADS[name], peer) for name in arguments.rows]
    raise SystemExit(not all(met))


if __name__ == "__main__":
    main()
