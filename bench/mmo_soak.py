"""10^8 agent-steps of the persistent world with all its laws checked after every tick, and its memory watched.

Run from the repository root (``make soak``)::

    .venv/bin/python -m bench.mmo_soak
    .venv/bin/python -m bench.mmo_soak --steps 2000000 --parts main learned --seed 3

Most are 64 worlds of mmo/combat-128 that are kept full; the rest goes to other settings (`PARTS`). Actions are random, every
fourth batch of them among the legal ones alone, but for two parts with scripted players. A broken law (`bench.mmo_laws`) ends the run with one line that
names world, tick and slot, and exit status 1. The same steps and seed give the same states: compare the printed hashes.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bench.mmo_invariants import Invariants, Violation
from interplay import make_world
from interplay.core.policy import Policy, RandomPolicy
from interplay.core.spaces import sample_actions
from interplay.core.world import TimeStep
from interplay.registry import make_policy
from interplay.train.run.progress import Progress
from interplay.worlds.mmo.state import CAUSES

STEPS = 100_000_000
SHOW = 50  # ticks between updates of the progress
GROWTH = 2**20  # bytes that a process may grow by in the main part after its warm-up
WARM_UP = 0.1  # share of a part

FULL = {"respawn": "immediate", "cap_draw": "fixed"}


HEAD = f"{'part':13} {'W x slots':>9} {'agent-steps':>12} {'ticks':>7} {'lives':>11}  {'memory, MiB':>11}  hash; ended lives by cause"


class Part(NamedTuple):
    """Settings to soak, and their share of the agent-steps."""

    share: float
    worlds: int
    world: str
    options: dict[str, Any]
    threads: int = 1
    player: str = ""  # a scripted player who acts; without one actions are random


PARTS = {
    "main": Part(0.77, 64, "mmo/combat-128", {**FULL, "prefill": 128}),
    "forage": Part(0.02, 64, "mmo/forage", {}, threads=2),
    "simultaneous": Part(
        0.03, 32, "mmo/combat", {**FULL, "resolution": "simultaneous", "steal": "conserved"}
    ),
    "code2019": Part(0.03, 32, "mmo/code2019", {**FULL, "interior": 40}),
    "learned": Part(0.02, 32, "mmo/combat", {**FULL, "targeting": "learned", "compact": True, "rows": 16}),
    "peaceful": Part(
        0.02, 32, "mmo/combat-128", {"no_attack": True, "friendly_fire": False, "cap_draw": "uniform"}
    ),
    "crowded": Part(
        0.02, 32, "mmo/combat", {**FULL, "interior": 14, "immunity": "elders", "order": "rotate", "rows": 4}
    ),
    "alone": Part(
        0.01, 32, "mmo/forage", {**FULL, "interior": 20, "one_per_tile": True, "count_visits": True}
    ),
    "ending": Part(
        0.02, 32, "mmo/combat", {"respawn": "none", "prefill": 100, "max_ticks": 50, "cap_draw": "fixed"}
    ),
    "hard": Part(
        0.01,
        32,
        "mmo/combat",
        {
            **FULL,
            "drain": 3,
            "starve": 4,
            "regrow": 0.5,
            "targeting": "nearest",
            "retest_range": True,
            "vision": 5,
            "occupancy": False,
            "mask_lava": True,
            "terrain": "max_ratio",
        },
    ),
    "foragers": Part(0.01, 16, "mmo/forage", {**FULL, "slots": 64, "prefill": 64}, player="forager"),
    "fighters": Part(0.02, 16, "mmo/combat", {**FULL, "interior": 80}, player="fighter"),
    "large": Part(0.02, 1, "mmo/combat-8192", {**FULL, "quotas": (2000, 900, 900, 900, 900, 900, 900, 900)}),
}


class Report(NamedTuple):
    """What came out of a part."""

    shape: str  # worlds x slots
    steps: int
    ticks: int
    births: int
    causes: np.ndarray  # (9,) ended lives
    grown: int | None  # bytes of resident memory since the warm-up, None where nobody can tell
    hash: int

    def lines(self, name: str) -> str:
        """Of the printed table."""
        grown = "unknown" if self.grown is None else f"{self.grown / 2**20:+.2f}"
        died = ", ".join(f"{CAUSES[k]} {n:,}" for k, n in enumerate(self.causes) if n)
        return (
            f"{name:13} {self.shape:>9} {self.steps:12,} {self.ticks:7,} {self.births:11,}  {grown:>11}  {self.hash:016x}\n"
            f"    {died}"
        )


def soak(part: Part, steps: int, seed: int, show: Callable[[int], None]) -> Report:
    """Plays one part.

    Args:
        part: its settings.
        steps: agent-steps, at least.
        seed: of worlds and actions.
        show: told now and then how many agent-steps are done.

    Raises:
        Violation: of a law.
    """
    world: Any = make_world(part.world, part.worlds, seed, part.threads, **part.options)
    timestep = world.reset()
    watch = Invariants(world)
    player = _player(world, part.player, seed)
    ticks = births = 0
    causes, at_first = np.zeros(len(CAUSES), np.int64), None
    while watch.checked < steps:
        if timestep.over.any():
            over = timestep.over.copy()
            births, causes = births + _births(world, over), causes + world.state.causes[over].sum(axis=0)
            timestep = world.reset(over)
            watch.begin(over)
            player.forget(over)
        timestep = world.step(player.act(timestep))
        watch.check(timestep)
        ticks += 1
        if at_first is None and watch.checked >= WARM_UP * steps:
            timestep = world.load(world.save())  # a snapshot continues; and all pages of the state are there
            at_first = resident_bytes()
        if ticks % SHOW == 0:
            show(watch.checked)
    last = resident_bytes()
    world.close()
    every = np.ones(part.worlds, bool)
    return Report(
        f"{part.worlds} x {len(world.agents)}",
        watch.checked,
        ticks,
        births + _births(world, every),
        causes + world.state.causes.sum(axis=0),
        None if last is None or at_first is None else last - at_first,
        int(np.bitwise_xor.reduce(world.hash())),
    )


def _births(world: Any, which: np.ndarray) -> int:
    return int(world.state.room["births"][which].sum())


def _player(world: Any, name: str, seed: int) -> Policy:
    player = make_policy(world.id, name) if name else AnyChoice()
    player.start(world, seed)
    return player


class AnyChoice(RandomPolicy):
    """Draws actions among all, legal or not, and in every fourth tick among the legal ones."""

    def act(self, timestep: TimeStep) -> Any:
        if self.world.state.room["tick"][0] % 4 == 0:  # type: ignore[attr-defined]
            return super().act(timestep)
        return sample_actions(self.world.action_space, self.rng, timestep.acting.shape)


def resident_bytes() -> int | None:
    """Resident memory of this process, where the system tells."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return 1024 * int(line.split()[1])
    except OSError:
        pass
    return None


def soak_all(names: list[str], steps: int, seed: int) -> int:
    """Plays the parts one after another, prints a table, and says whether all was well: the exit status."""
    began, lines, done = time.monotonic(), [], 0
    total = sum(PARTS[name].share for name in names)
    status, said = 0, "no law was broken"
    try:
        with Progress(steps) as progress:
            for name in names:
                goal = int(steps * PARTS[name].share / total)
                report = soak(PARTS[name], goal, seed, partial(_show, progress, done))
                done += report.steps
                lines.append(report.lines(name))
                if name == "main" and (report.grown or 0) > GROWTH:
                    status, said = 1, f"memory grew by {report.grown} bytes after the warm-up of {name}"
                    break
    except Violation as violation:
        status, said = 1, f"broken law: {name}, {violation}"
    except KeyboardInterrupt:
        status, said = (
            130,
            f"interrupted in {name} after {progress.done:,} agent-steps, no law was broken until then",
        )
    print(
        HEAD,
        *lines,
        f"{done:,} agent-steps in whole parts, {time.monotonic() - began:,.0f} s",
        said,
        sep="\n",
    )
    return status


def _show(progress: Progress, before: int, done: int) -> None:
    progress.update(before + done)


def main() -> int:
    parser = argparse.ArgumentParser(
        description="The persistent world with its laws checked after every tick."
    )
    parser.add_argument("--steps", type=int, default=STEPS, help="agent-steps in all")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="which settings")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    return soak_all(args.parts, args.steps, args.seed)


if __name__ == "__main__":
    sys.exit(main())
