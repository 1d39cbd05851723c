"""Speed of battles under random legal actions, beside SMAClite and JaxMARL's SMAX (specification 4.8).

Run from the repository root::

    .venv/bin/python -m bench.battle                                   # ours against the bars
    .venv/bin/python -m bench.battle --smaclite CHECKOUT               # and SMAClite in the same run, turn by turn
    .venv/bin/python -m bench.battle --smax PYTHON                     # and SMAX, in a process of an environment that has jaxmarl

What is timed: the draw of legal actions, the step with the check of its actions, what every unit of both sides sees, its mask, its reward,
a state, and the reset of battles that are over. 256 different battles, one thread pinned to one core; steps of single battles per second of
the process' CPU time, median of `BLOCKS` blocks after a warm-up in which the battles come apart. The figures of the bars were measured
once (specification 4.8); a peer that runs beside replaces its bar.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from bench.battle_peers import Smaclite, Smax
from interplay.cli.measure import pin
from interplay.registry import make_policy, make_world

BLOCKS, BLOCK_SECONDS = 15, 0.4
WARM_UP_STEPS = 150
WORLDS = 256


class Load(NamedTuple):
    """A row of the table: SMAClite's steps per CPU second, the times that we owe, and SMAX's."""

    smaclite: float
    times: int
    smax: float


LOADS = {
    "2s3z": Load(196, 330, 65_000),
    "10m_vs_11m": Load(115, 200, 0),
    "bane_vs_bane": Load(46, 200, 0),
}


class Ours:
    """A batch of battles under random legal actions."""

    def __init__(self, scenario: str, worlds: int) -> None:
        self.world = make_world(f"battle/{scenario}", worlds, seed=1)
        self.world.reset()
        self.player = make_policy(f"battle/{scenario}", "random")
        self.player.start(self.world, 2)

    def run(self, steps: int) -> int:
        """Steps the batch; how many steps of single battles these were."""
        for _ in range(steps):
            over = self.world.step(self.player.act(self.world.timestep)).over
            self.world.global_state()
            if over.any():
                which = over.copy()
                self.world.reset(which)
                self.player.forget(which)
        return steps * self.world.num_worlds


def rate_of(run: Callable[[int], int], steps: int) -> float:
    """Steps of single battles per second of CPU time."""
    start = time.process_time()
    return run(steps) / (time.process_time() - start)


def calibrated(run: Callable[[int], int], warm_up: int) -> int:
    """How many steps make a block."""
    run(warm_up)
    start = time.process_time()
    run(10)
    return max(10, round(10 * BLOCK_SECONDS / (time.process_time() - start)))


def compare(scenario: str, worlds: int, smaclite: Path | None, smax: str | None) -> bool:
    """Prints a row; whether every bar is met."""
    load, ours = LOADS[scenario], Ours(scenario, worlds)
    runs = [ours.run] + ([Smaclite(smaclite, scenario).run] if smaclite else [])
    counts = [calibrated(run, warm_up) for run, warm_up in zip(runs, (WARM_UP_STEPS, 20), strict=False)]
    peer = Smax(smax, scenario) if smax else None
    rates: list[list[float]] = [[] for _ in runs]
    others: list[float] = []
    for _ in range(BLOCKS):  # in turn, so that a busy neighbour meets all
        for run, count, found in zip(runs, counts, rates, strict=True):
            found.append(rate_of(run, count))
        if peer:
            others.append(peer.rate())
    middle = statistics.median(rates[0])
    theirs = statistics.median(rates[1]) if smaclite else load.smaclite
    other = statistics.median(others) if peer else load.smax
    row = f"{scenario:<14} {middle:>12,.0f} {max(rates[0]):>12,.0f} {theirs:>10,.1f} {middle / theirs:>7,.0f} {load.times:>6}"
    row += f" {other:>10,.0f} {middle / other:>6.2f}" if other else ""
    print(row + (f"   SMAX compiled in {peer.compile_seconds:.1f} s" if peer else ""), flush=True)
    return middle >= load.times * theirs and middle >= other


def main() -> None:
    """Prints the table; exit status 1 if a bar is not met."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", nargs="+", choices=LOADS, default=list(LOADS), help="some of it")
    parser.add_argument("--worlds", type=int, default=WORLDS, help="of a batch")
    parser.add_argument("--smaclite", type=Path, help="a checkout of uoe-agents/smaclite")
    parser.add_argument("--smax", help="the Python of an environment with jaxmarl")
    arguments = parser.parse_args()
    pin(1)
    print("scenario             median         best   SMAClite    over   owed       SMAX   over")
    met = [
        compare(name, arguments.worlds, arguments.smaclite, arguments.smax if LOADS[name].smax else None)
        for name in arguments.rows
    ]
    raise SystemExit(not all(met))


if __name__ == "__main__":
    main()
