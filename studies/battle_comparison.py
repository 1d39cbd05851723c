"""Four ways to learn battles against a scripted side: IPPO, MAPPO, VDN and QMIX, by equal agent-steps (docs/results/battle.md).

Run from the repository root::

    .venv/bin/python -m studies.battle_comparison train --out runs/battles      # runs that are done are skipped, cut ones go on
    .venv/bin/python -m studies.battle_comparison report runs/battles --pictures docs/results/images > table.md

Everybody learns against `attack_move` on drawn places, by SMAC's reward, and sees its own place and the time, since it must find the enemy. The report
plays the last checkpoint of each run with its likeliest actions against `attack_move` and `hit_and_run`, which it never met, on
battles that no run was trained on. A cell is the mean over seeds, with the interval of `interplay compare`, of the share of
battles won; then each seed's. Curves are those of the run's own ratings, the share of battles won by likeliest actions. What was played is kept in ``OUT/measured.jsonl``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from interplay.core.errors import UserError
from interplay.core.trust import read_settings
from interplay.evaluate import statistics
from interplay.evaluate.tournaments.results_log import ResultsLog
from interplay.train.sweep import PlannedRun, SweepSettings, plan, sweep
from interplay.view.comparison import compare
from interplay.view.comparison import interval_text as in_words
from interplay.view.comparison_picture import plot_comparison
from interplay.view.output import check_output
from studies.battle_matches import AGAINST, measure

SCENARIOS = ("3m", "2s3z", "5i", "3i2z")
ARMS: dict[str, dict[str, Any]] = {
    "IPPO": {"algorithm": "ppo", "network.critic": "own"},
    "MAPPO": {"algorithm": "ppo", "network.critic": "world"},
    "VDN": {"algorithm": "vdn", "network.critic": "own"},
    "QMIX": {"algorithm": "qmix", "network.critic": "own"},
}
GAMES, SEED = 500, 20_000  # of the report; the runs' own seeds are 0, 1, 2


def asked(scenario: str, steps: int, seeds: int) -> SweepSettings:
    """The runs of one scenario: every arm with every seed."""
    sight = {"randomize": "positions", "reward": "smac", "see_position": True, "see_time": True}
    settings = {
        "world": {"id": f"battle/{scenario}", "options": sight},
        "num_worlds": 128,
        "steps": steps,
        "sides": {"by": "team"},
        "opponents": {"team1": "attack_move"},
        "train": {"shards": 1, "evaluate_against": list(AGAINST), "evaluate_episodes": 64},
    }
    return SweepSettings(
        settings=settings, points=[{"name": arm, **point} for arm, point in ARMS.items()], seeds=seeds
    )


def arm_of(settings: Mapping[str, Any]) -> str:
    """Which of `ARMS` a run with these settings, by key, belongs to."""
    return next(arm for arm, point in ARMS.items() if point.items() <= settings.items())


def shares(
    folder: Path, scenario: str, runs: list[PlannedRun], games: int
) -> dict[str, dict[str, list[float]]]:
    """Opponent -> arm -> the share of battles that each of its runs won; played once and kept."""
    found: dict[str, dict[str, list[float]]] = {who: {arm: [] for arm in ARMS} for who in AGAINST}
    with ResultsLog(folder / "measured.jsonl") as log:
        for run in runs:
            key = f"{scenario}/{run.name}/{games}"
            if key not in log.results:
                won = measure(folder / scenario / run.name, AGAINST, games, seed=SEED)
                log.append({key: {who: result.wins / games for who, result in won.items()}})
            for who in AGAINST:
                found[who][arm_of(run.varied)].append(log.results[key][who])
    return found


def told(values: list[float]) -> str:
    """A cell of the table: the mean with its interval, then each run's."""
    each = ", ".join(f"{value:.2f}" for value in values)
    return f"{in_words(statistics.mean_interval(np.array(values)), 2)} ({each})"


def report(folder: Path, scenarios: list[str], games: int, pictures: Path | None) -> None:
    """Prints the table of the scenarios whose sweeps are there, and draws their curves."""
    if pictures is not None:
        check_output(pictures / "battle.png", (".png",))  # before hours of games
    print(f"| scenario | against | {' | '.join(ARMS)} |")
    print("|---" * (2 + len(ARMS)) + "|")
    for scenario in scenarios:
        place = folder / scenario
        runs = plan(read_settings(place / "sweep.toml", SweepSettings))
        for who, found in shares(folder, scenario, runs, games).items():
            print(f"| `{scenario}` | `{who}` | {' | '.join(told(found[arm]) for arm in ARMS)} |", flush=True)
        if pictures is not None:
            for who in AGAINST:
                plot_comparison(
                    compare([place], metric=f"win_rate[{who}]"),
                    pictures / f"battle-{scenario}-{who.replace('_', '-')}.png",
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    training = verbs.add_parser("train", help="train the runs that are missing")
    training.add_argument("--out", type=Path, required=True)
    training.add_argument("--scenarios", nargs="+", choices=SCENARIOS, default=list(SCENARIOS))
    training.add_argument("--steps", type=int, default=4_000_000)
    training.add_argument("--seeds", type=int, default=3)
    training.add_argument("--workers", type=int, help="runs at a time  [default: the cores]")
    reporting = verbs.add_parser("report", help="play the runs and print the table in Markdown")
    reporting.add_argument("runs", type=Path)
    reporting.add_argument("--scenarios", nargs="+", choices=SCENARIOS, default=list(SCENARIOS))
    reporting.add_argument("--games", type=int, default=GAMES)
    reporting.add_argument("--pictures", type=Path, help="also draw the curves into this folder")
    given = parser.parse_args()
    if given.verb == "report":
        try:
            report(given.runs, given.scenarios, given.games, given.pictures)
        except UserError as error:
            sys.exit(f"battle_comparison: {error}")
        return
    for scenario in given.scenarios:
        done = sweep(asked(scenario, given.steps, given.seeds), given.out / scenario, given.workers)
        if not done.complete:
            sys.exit(f"battle_comparison: {scenario} is not complete; the same command goes on")


if __name__ == "__main__":
    main()
