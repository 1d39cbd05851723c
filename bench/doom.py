"""Speed of Doom beside the bare engine in the same run (specification 7.7). From the repository root::

    python -m bench.doom                 # every row
    python -m bench.doom --rows duel     # rows with a word in their name
    python -m bench.doom --worlds 4      # four copies, beside four bare engines in one loop

A decision is two tics of one player; rates are decisions a second by the wall clock, of all copies. The bare side is vizdoom's `make_action` and
`get_state` on the same engines, in this process, with a thread for each of several players. Blocks of both sides are played by turns, so that
a neighbour slows both. Actions are drawn beforehand; finished episodes begin anew inside the measured time. The bar is a ratio of 0.9.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import numpy as np

from interplay.registry import make_world
from interplay.worlds.doom.buttons import ACTION_SETS, buttons_of, press_table
from interplay.worlds.doom.world import DoomWorld

BLOCKS, BLOCK_SECONDS, BAR = 11, 0.5, 0.9
POOL = 512  # actions drawn beforehand
PICTURES: dict[str, Any] = {"labels": True, "depth": True, "automap": True}
ALONE: dict[str, Any] = {"players": 1}
DUEL: dict[str, Any] = {"tics": 1_000_000, "respawn_delay": 0}
ROWS: dict[str, tuple[str, dict[str, Any]]] = {
    "basic, screen": ("doom/basic", {}),
    "basic, all pictures": ("doom/basic", PICTURES),
    "death match map, one player, screen": ("doom/deathmatch", ALONE),
    "death match map, one player, all pictures": ("doom/deathmatch", ALONE | PICTURES),
    "duel, screen": ("doom/duel", DUEL),
    "4 players, screen": ("doom/deathmatch", DUEL | {"players": 4}),
    "8 players, screen": ("doom/deathmatch", DUEL | {"players": 8}),
}

Runner = Callable[[int], int]  # calls -> decisions


def ours(world: DoomWorld) -> Runner:
    """Plays the world."""
    choices = len(ACTION_SETS[world.settings.actions])
    pool = np.random.default_rng(2).integers(0, choices, (POOL, world.num_worlds, len(world.agents)))

    def run(calls: int) -> int:
        for call in range(calls):
            # A trainer's actions come checked, as these do.
            if world.step_unchecked(pool[call % POOL]).over.any():
                world.reset(world.timestep.over)
        return calls * world.num_worlds * len(world.agents)

    return run


def bare(world: DoomWorld) -> Runner:
    """Plays the world's engines without it."""
    settings = world.settings
    matches = [[player.game for player in match.players] for match in world._matches]
    choices = press_table(ACTION_SETS[settings.actions], buttons_of(settings))
    pool = [choices[one] for one in np.random.default_rng(3).integers(0, len(choices), POOL)]
    threads, barrier = ThreadPoolExecutor(settings.players), Barrier(settings.players)

    def play(w: int, player: int, calls: int) -> None:
        game = matches[w][player]
        for call in range(calls):
            game.make_action(pool[(call + player) % POOL], settings.frames)
            if settings.players > 1:
                barrier.wait()  # an engine that runs ahead of another takes more tics, and the other waits for ever
            elif late(game):
                game.new_episode()
            game.get_state().screen_buffer  # noqa: B018

    def late(game: Any) -> bool:
        return bool(game.is_episode_finished() or game.get_episode_time() >= settings.start + settings.tics)

    def run(calls: int) -> int:
        for w in range(world.num_worlds):
            if settings.players > 1:
                list(threads.map(lambda player, w=w: play(w, player, calls), range(settings.players)))
            else:
                play(w, 0, calls)
        return calls * world.num_worlds * settings.players

    return run


def calls_for(run: Runner) -> int:
    """Calls that take about `BLOCK_SECONDS`, after warming up."""
    run(20)
    begun = time.perf_counter()
    run(50)
    return max(int(50 * BLOCK_SECONDS / (time.perf_counter() - begun)), 1)


def measure(runners: dict[str, Runner]) -> dict[str, list[float]]:
    """Rates of each runner's blocks."""
    calls = {name: calls_for(run) for name, run in runners.items()}
    rates: dict[str, list[float]] = {name: [] for name in runners}
    for _ in range(BLOCKS):
        for name, run in runners.items():
            begun = time.perf_counter()
            played = run(calls[name])
            rates[name].append(played / (time.perf_counter() - begun))
    return rates


def main() -> None:
    """Prints a line for each row."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--worlds", type=int, default=1)
    parser.add_argument("--rows", default="")
    given = parser.parse_args()
    print(f"{given.worlds} copies, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    for name, (world_id, options) in ROWS.items():
        if given.rows not in name:
            continue
        world = make_world(world_id, given.worlds, seed=1, **options)
        assert isinstance(world, DoomWorld)
        world.reset()
        rates = measure({"ours": ours(world), "bare": bare(world)})
        world.close()
        ratios = sorted(a / b for a, b in zip(rates["ours"], rates["bare"], strict=True))
        low, _, high = statistics.quantiles(ratios, n=4)
        print(
            f"{name}: ours {statistics.median(rates['ours']):,.0f}, bare {statistics.median(rates['bare']):,.0f} decisions/s; "
            f"ratio {statistics.median(ratios):.2f}, half of the blocks in {low:.2f} to {high:.2f} (bar {BAR})",
            flush=True,
        )


if __name__ == "__main__":
    main()
