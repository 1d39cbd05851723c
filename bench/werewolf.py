"""Speed of werewolf with a random policy in the loop (specification 20).

Run from the repository root::

    .venv/bin/python -m bench.werewolf                  # the whole table
    .venv/bin/python -m bench.werewolf --rows 9 9-l9s9  # some of it

What is timed: the scripted player `random`, which draws every name and symbol among the legal ones; ``world.step`` with the check
of its actions, the rules, the boards and masks of everybody, rewards and the sums of the metrics; and the reset of games that are
over. Boards that all players see are one array, the pack's are copied to each wolf; ``dense`` also copies every field of every
player's observation into arrays of its own. An env step is one phase of one game. Games are different, and in different phases
after a warm-up. The rate is per second of the process' CPU time, one thread pinned to one core, best and median of `BLOCKS` blocks.

The bar: 250 and 100 times the reference environment, which was measured at 5.4 and 2.7 thousand steps per second at n = 9 without
words and with words of nine symbols, its mask wrapper and a random policy in its loop (specification 20); it cannot be
installed beside current libraries, so it is not run here.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any, NamedTuple

import numpy as np

from interplay.cli.measure import pin
from interplay.registry import make_policy, make_world

BLOCKS, BLOCK_SECONDS = 40, 0.4  # long enough that a neighbour on the same machine comes and goes
WARM_UP_STEPS = 40
WORLDS = 1024


class Load(NamedTuple):
    """A row of the table."""

    world: str
    bar: float | None  # env steps per second
    options: dict[str, Any] = {}  # noqa: RUF012 - never changed


LOADS = {
    "9": Load("werewolf/9", 1_350_000),
    "9-l1s9": Load("werewolf/9-l1s9", None),
    "9-l9s9": Load("werewolf/9-l9s9", 270_000),
    "9-l1s9-history": Load("werewolf/9-l1s9", None, {"obs": {"history": 8}}),
    "21": Load("werewolf/21", None),
    "21-l21s21": Load("werewolf/21-l21s21", None),
    "multi-round": Load("werewolf/multi-round", None),
    "aiwolf13": Load("werewolf/aiwolf13", None),
}


class Table:
    """A batch of games and who plays them."""

    def __init__(self, load: Load, dense: bool = False) -> None:
        self.world = make_world(load.world, WORLDS, seed=1, **load.options)
        self.world.reset()
        self.policy = make_policy(load.world, "random")
        self.policy.start(self.world, 2)
        fields = self.world.timestep.observation
        self.copies = {name: np.empty(field.shape, field.dtype) for name, field in fields.items() if dense}

    def run(self, steps: int) -> None:
        """Plays; games that are over begin anew."""
        for _ in range(steps):
            timestep = self.world.step(self.policy.act(self.world.timestep))
            for name, copy in self.copies.items():
                np.copyto(copy, timestep.observation[name])
            over = timestep.over
            if over.any():
                which = over.copy()
                self.world.reset(which)
                self.policy.forget(which)

    def rates(self) -> list[float]:
        """Env steps per second of each block."""
        self.run(WARM_UP_STEPS)
        start = time.process_time()
        self.run(8)
        steps = max(4, round(8 * BLOCK_SECONDS / (time.process_time() - start)))
        found = []
        for _ in range(BLOCKS):
            start = time.process_time()
            self.run(steps)
            found.append(steps * WORLDS / (time.process_time() - start))
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed of werewolf, a random policy in the loop, one core.")
    parser.add_argument("--rows", nargs="*", choices=sorted(LOADS), default=list(LOADS), metavar="ROW")
    args = parser.parse_args()
    pin(1)
    print(f"env steps/s, {WORLDS} games, one core")
    print(f"{'row':16} {'best':>10} {'median':>10} {'spread':>7}  {'dense':>10}  {'bar':>9}")
    for name in args.rows:
        load = LOADS[name]
        found, dense = Table(load).rates(), Table(load, dense=True).rates()
        median = statistics.median(found)
        bar = "" if load.bar is None else f"{load.bar:9,.0f}"
        spread = (max(found) - min(found)) / median
        print(
            f"{name:16} {max(found):10,.0f} {median:10,.0f} {spread:6.0%}  {statistics.median(dense):10,.0f}  {bar}"
        )


if __name__ == "__main__":
    main()
