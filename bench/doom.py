"""Speed of Doom beside the bare engine in the same run. From the repository root::

    python -m bench.doom                 # every row
    python -m bench.doom --cores 1       # keeps both sides to one core
    python -m bench.doom --worlds 4      # four copies, beside four bare engines in one loop

A decision is two tics of one player; rates are decisions a second by the wall clock, of all copies, best and median of `BLOCKS` blocks in
turn, so that a neighbour slows both sides. The bare side is vizdoom's `make_action` and `get_state` with the same settings in this
process, and for two players a thread each that does not wait for the other. Actions are drawn beforehand; finished episodes begin anew
inside the measured time. The bar is 0.9 (specification 7.7).
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from interplay.core.settings import build
from interplay.registry import make_world
from interplay.worlds.doom.buttons import ACTION_SETS, buttons_of, press_table
from interplay.worlds.doom.config import VARIANTS, DoomSettings
from interplay.worlds.doom.engine import find_map, make_game
from interplay.worlds.doom.host import free_port

BLOCKS, BLOCK_SECONDS, BAR = 6, 0.3, 0.9
POOL = 512  # actions drawn beforehand
EXTRAS: dict[str, Any] = {"labels": True, "depth": True, "automap": True}
ROWS: dict[str, tuple[str, dict[str, Any]]] = {
    "basic, screen": ("doom/basic", {}),
    "basic, all pictures": ("doom/basic", EXTRAS),
    "duel, screen": ("doom/duel", {"tics": 1_000_000, "respawn_delay": 0}),
}

Runner = Callable[[int], int]  # calls -> decisions


def ours(world_id: str, options: dict[str, Any], worlds: int) -> Runner:
    """Plays a batch of ours."""
    world = make_world(world_id, worlds, seed=1, **options)
    world.reset()
    shape = (POOL, worlds, len(world.agents))
    pool = np.random.default_rng(2).integers(0, world.action_space.n, shape)  # type: ignore[attr-defined]
    # A trainer's actions come checked, as these do.

    def run(calls: int) -> int:
        for call in range(calls):
            if world.step_unchecked(pool[call % POOL]).over.any():
                world.reset(world.timestep.over)
        return calls * worlds * len(world.agents)

    return run


def bare(world_id: str, options: dict[str, Any], worlds: int) -> Runner:
    """Plays as many bare engines."""
    given = VARIANTS[world_id.partition("/")[2]] | options
    settings = build(DoomSettings, given, world_id)
    matches = [start(settings) for _ in range(worlds)]
    actions = press_table(ACTION_SETS[settings.actions], buttons_of(settings))
    pool = actions[np.random.default_rng(3).integers(0, len(actions), POOL)].tolist()
    threads = ThreadPoolExecutor(settings.players)

    def play(w: int, player: int, calls: int) -> None:
        game = matches[w][player]
        for call in range(calls):
            game.make_action(pool[(call + player) % POOL], settings.frames)
            if not settings.together and late(game, w):
                game.new_episode()
            game.get_state().screen_buffer  # noqa: B018

    def late(game: Any, w: int) -> bool:
        return bool(game.is_episode_finished() or game.get_episode_time() >= settings.start + settings.tics)

    def run(calls: int) -> int:
        for w in range(worlds):
            if settings.together:
                list(threads.map(lambda player, w=w: play(w, player, calls), range(settings.players)))
            else:
                play(w, 0, calls)
        return calls * worlds * settings.players

    return run


def start(settings: DoomSettings) -> list[Any]:
    """The games of one match, started."""
    port, path = free_port(), find_map(settings)
    games = [make_game(settings, path, player, port, seed=1) for player in range(settings.players)]
    with ThreadPoolExecutor(settings.players) as threads:
        list(threads.map(lambda game: game.init(), games))
    return games


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
    parser.add_argument("--cores", type=int, default=2)
    given = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: given.cores])
    print(f"{given.worlds} copies, {given.cores} cores, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # the engine writes there
        for name, (world_id, options) in ROWS.items():
            sides = {"ours": ours, "bare": bare}
            rates = measure({side: make(world_id, options, given.worlds) for side, make in sides.items()})
            best = {side: max(found) for side, found in rates.items()}
            middle = statistics.median(a / b for a, b in zip(rates["ours"], rates["bare"], strict=True))
            print(
                f"{name}: ours {best['ours']:,.0f}, bare {best['bare']:,.0f} decisions/s; "
                f"ratio of the best {best['ours'] / best['bare']:.2f}, median ratio {middle:.2f} (bar {BAR})",
                flush=True,
            )


if __name__ == "__main__":
    main()
