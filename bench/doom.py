"""Speed of Doom beside the bare engine in the same run (specification 7.7). From the repository root::

    python -m bench.doom                 # every row
    python -m bench.doom --rows duel     # rows with a word in their name
    python -m bench.doom --worlds 4      # four copies, beside four bare engines in one loop

A decision is two tics of one player; rates are decisions a second by the wall clock, of all copies. The bare side is vizdoom's `make_action` and
`get_state` on the same engines, in this process, with a thread for each of several players. Both sides play 100 calls by turns, so that
a neighbour or a costly place of the map slows both. Their actions are equal and drawn beforehand; an episode that the map ends begins anew inside the
measured time. The bar is a ratio of 0.9.
"""

from __future__ import annotations

import argparse
import itertools
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

BLOCKS, BLOCK_SECONDS, BAR = 11, 1.0, 0.9  # a block holds both sides
CALLS = 100  # of a side until the other's turn
POOL = 512  # actions drawn beforehand
PICTURES: dict[str, Any] = {"labels": True, "depth": True, "automap": True}
LONG: dict[str, Any] = {"tics": 1_000_000}
ALONE = LONG | {"players": 1}
DUEL = LONG | {"respawn_delay": 0}
ROWS: dict[str, tuple[str, dict[str, Any]]] = {
    "basic, screen": ("doom/basic", LONG),
    "basic, all pictures": ("doom/basic", LONG | PICTURES),
    "death match map, one player, screen": ("doom/deathmatch", ALONE),
    "death match map, one player, all pictures": ("doom/deathmatch", ALONE | PICTURES),
    "duel, screen": ("doom/duel", DUEL),
    "4 players, screen": ("doom/deathmatch", DUEL | {"players": 4}),
    "8 players, screen": ("doom/deathmatch", DUEL | {"players": 8}),
}

Runner = Callable[[int], int]  # calls -> decisions


def ours(world: DoomWorld) -> Runner:
    """Plays the world."""
    drawn, players = draw_choices(world), len(world.agents)
    shifts = np.arange(players)
    pool = [np.tile(drawn[(call + shifts) % POOL], (world.num_worlds, 1)) for call in range(POOL)]
    actions = itertools.cycle(pool)

    def run(calls: int) -> int:
        for _ in range(calls):
            # A trainer's actions come checked, as these do.
            if world.step_unchecked(next(actions)).over.any():
                world.reset(world.timestep.over)
        return calls * world.num_worlds * players

    return run


def bare(world: DoomWorld) -> Runner:
    """Plays the world's engines without it."""
    settings = world.settings
    matches = [[player.game for player in match.players] for match in world._matches]
    choices = press_table(ACTION_SETS[settings.actions], buttons_of(settings))
    pool = [choices[one] for one in draw_choices(world)]
    begun = [0]  # calls before this turn
    threads, barrier = ThreadPoolExecutor(settings.players), Barrier(settings.players)

    def play(w: int, player: int, calls: int) -> None:
        game = matches[w][player]
        for call in range(calls):
            game.make_action(pool[(begun[0] + call + player) % POOL], settings.frames)
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
        begun[0] += calls
        return calls * world.num_worlds * settings.players

    return run


def draw_choices(world: DoomWorld) -> np.ndarray:
    """Numbers of actions, (POOL,)."""
    return np.random.default_rng(2).integers(0, len(ACTION_SETS[world.settings.actions]), POOL)


def measure(runners: dict[str, Runner]) -> dict[str, list[float]]:
    """Rates of each runner in every block; the first, which warms up, is left out."""
    rates: dict[str, list[float]] = {name: [] for name in runners}
    for _ in range(BLOCKS + 1):
        until, seconds, played = time.perf_counter() + BLOCK_SECONDS, dict.fromkeys(runners, 0.0), 0
        while time.perf_counter() < until:
            for name, run in runners.items():
                begun = time.perf_counter()
                played += run(CALLS)
                seconds[name] += time.perf_counter() - begun
        for name, own in seconds.items():
            rates[name].append(played / len(runners) / own)
    return {name: own[1:] for name, own in rates.items()}


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
