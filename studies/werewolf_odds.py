"""Random play of werewolf against exact odds (specification 14.3 to 14.5), a million games for each row.

Run from the repository root::

    .venv/bin/python -m studies.werewolf_odds                      # every table
    .venv/bin/python -m studies.werewolf_odds --games 200000 --tables odds roles

Each row shows the mean over games, what is exact, and how many standard errors lie between them; chains and closed sums of the
exact figures are in ``tests/worlds/werewolf``. The last line is the largest distance of all.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from math import isqrt
from typing import Any

import numpy as np

from tests.worlds.werewolf import chains
from tests.worlds.werewolf.random_games import play, score
from tests.worlds.werewolf.role_chains import (
    wolves_win_with_guard,
    wolves_win_with_hunter,
    wolves_win_with_witch,
)

SIZES = (5, 6, 7, 9, 10, 11)
CHAINS = {"guard": wolves_win_with_guard, "hunter": wolves_win_with_hunter, "witch": wolves_win_with_witch}
SILENT: dict[str, Any] = {
    "talk_rounds_night": 0,
    "talk_rounds_day": 0,
}  # talk changes no odds, and half the steps are saved
Row = tuple[str, np.ndarray, float]  # what it is, a value for each game, its exact mean


def odds(games: int) -> Iterator[Row]:
    """Who wins, days, returns and metrics of players who choose at random."""
    for n in SIZES:
        crew = isqrt(n), n - isqrt(n)
        played = play(games, n_players=n)
        yield f"n={n} P(wolves)", played.wolves_win(), float(chains.wolves_win(*crew))
        yield f"n={n} days", played.metrics["tot_days"], float(chains.expected_days(*crew))
        wolf, villager = chains.mean_returns(*crew)
        yield f"n={n} return of a wolf", played.wolf_return, float(wolf)
        yield f"n={n} return of a villager", played.villager_return, float(villager)
        for name, expected in chains.metrics(*crew).items():
            yield f"n={n} {name}", np.nan_to_num(played.metrics[name]), float(expected)


def packs(games: int) -> Iterator[Row]:
    """Packs that keep off their own by day, together or each wolf on its own."""
    for n in SIZES:
        for policy, hit in (("unite", chains.shared), ("avoid_wolves", chains.independent)):
            played = play(games, policy, n_players=n, **SILENT)
            expected = float(chains.wolves_win(isqrt(n), n - isqrt(n), hit))
            yield f"n={n} {policy}", played.wolves_win(), expected


def roles(games: int) -> Iterator[Row]:
    """One guard, hunter or witch in place of a villager."""
    for n in SIZES[2:]:
        for role, chain in CHAINS.items():
            played = play(games, n_players=n, roles={role: 1}, **SILENT)
            yield f"n={n} {role}", played.wolves_win(), float(chain(isqrt(n), n - isqrt(n) - 1))


TABLES = {"odds": odds, "packs": packs, "roles": roles}


def main() -> None:
    parser = argparse.ArgumentParser(description="Random play of werewolf against exact odds.")
    parser.add_argument("--games", type=int, default=1_000_000)
    parser.add_argument("--tables", nargs="*", choices=list(TABLES), default=list(TABLES))
    args = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)  # five players lose in the first night
    print(f"{args.games:,} games a row\n{'':28} {'played':>11} {'exact':>11} {'z':>6}")
    start, worst = time.perf_counter(), 0.0
    for table in args.tables:
        for name, values, expected in TABLES[table](args.games):
            z = score(values, expected)
            worst = max(worst, abs(z))
            print(f"{name:28} {values.mean():11.6f} {expected:11.6f} {z:6.2f}", flush=True)
    print(f"largest |z| {worst:.2f}, {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
