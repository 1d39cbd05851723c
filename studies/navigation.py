"""The navigation study: train on the proxy grid, play there and in the town, draw the direction field (manual 4.2.4).

Run from the repository root, for example::

    .venv/bin/python -m studies.navigation --configuration soft --seeds 0 1 2 --town 100 --picture docs/results/images/navigation.png

Training has the settings that the worlds name: episodes begin in any open cell and are cut after 100 (regional) or 250 steps. With
``--fixed-start`` they begin at the start and last until the target is reached. Evaluation episodes always begin at the start
and last at most 400 steps. *Solved* is a checkpoint, of 16 evenly spread ones, with which at least 95
of 100 evaluation episodes arrive; actions are sampled as in training.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from interplay import make_world
from interplay.core.policy import Policy, RandomPolicy
from interplay.evaluate import EpisodeTable, play
from interplay.view.output import check_output

STEPS = {"regional": 132_000, "position": 2_500_000, "soft": 300_000}  # manual 4.2.4, table 1
EPISODES, SOLVED, LIMIT = 100, 0.95, 400
CHECKPOINTS = 16  # that are evaluated


class Outcome(NamedTuple):
    """What came of one run.

    Attributes:
        seconds: wall time of the training command, imports and compilation included.
        first: agent-steps of the first checkpoint that is solved; None: none is.
        lasting: of the first from which on all are.
        last: (share of episodes that arrive, mean steps) of the last checkpoint.
    """

    seconds: float
    first: int | None
    lasting: int | None
    last: tuple[float, float]


def train(configuration: str, seed: int, steps: int, fixed_start: bool, out: Path, extra: list[str]) -> float:
    """Trains by the command line; returns seconds."""
    options = ["world.options.random_start=false", "world.options.time_limit=off"] if fixed_start else []
    command = [
        *(sys.executable, "-m", "interplay.cli", "train", f"navigation/proxy-{configuration}"),
        *("--out", str(out), "--steps", str(steps), "--seed", str(seed)),
        *("train.checkpoint_seconds=0", "train.keep_checkpoints=100000", *options, *extra),
    ]
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - began


def evaluate(
    configuration: str, policy: Policy, town: bool = False, episodes: int = EPISODES
) -> EpisodeTable:
    """Plays from the manual's start, on the proxy or in the town."""
    if not town:
        return play(make_world(f"navigation/proxy-{configuration}", num_worlds=episodes), policy, episodes)
    world = make_world("navigation/town", num_worlds=min(8, episodes), as_proxy=True)
    table = play(world, policy, episodes)
    world.close()
    return table


def arrivals(table: EpisodeTable) -> tuple[float, float]:
    """Share of episodes that arrive, and mean steps of all."""
    return float((table["steps"] < LIMIT).mean()), float(table["steps"].mean())


def judge(configuration: str, run: Path, seconds: float) -> Outcome:
    """Evaluates checkpoints of a run, evenly spread."""
    from interplay.train.play.policy import load_policy

    folders = sorted((run / "checkpoints").iterdir())
    chosen = [
        folders[i] for i in np.unique(np.linspace(0, len(folders) - 1, CHECKPOINTS).round().astype(int))
    ]
    found = [(int(folder.name), arrivals(evaluate(configuration, load_policy(folder)))) for folder in chosen]
    solved = [share >= SOLVED for _, (share, _) in found]
    first = next((steps for (steps, _), good in zip(found, solved, strict=True) if good), None)
    lasting = None
    for (steps, _), good in zip(reversed(found), reversed(solved), strict=True):
        if not good:
            break
        lasting = steps
    return Outcome(seconds, first, lasting, found[-1][1])


def draw(configuration: str, run: Path, out: Path, title: str) -> None:
    """The direction field of a run's last checkpoint."""
    from interplay.train.play.policy import load_policy
    from interplay.worlds.navigation.proxy import START, TARGET, WALL, proxy_map
    from interplay.worlds.navigation.settings import ProxySettings
    from studies.direction_field import direction_field
    from studies.field_picture import plot_field

    grid = proxy_map()
    field = direction_field(load_policy(run), ProxySettings.model_validate({"configuration": configuration}))
    places = {"start": START, "waypoint": TARGET}
    marks: dict[str, Any] = {
        name: tuple(np.argwhere(grid == mark)[0].tolist()) for name, mark in places.items()
    }
    plot_field(field, grid == WALL, out, marks, title)


def compare_in_town(configuration: str, run: Path, episodes: int) -> list[str]:
    """The policy in the simulator, unchanged, beside random play."""
    from interplay.train.play.policy import load_policy

    players = {
        "trained": load_policy(run),
        "trained, greedy": load_policy(run, greedy=True),
        "random": RandomPolicy(),
    }
    lines = []
    for name, policy in players.items():
        table = evaluate(configuration, policy, town=True, episodes=episodes)
        share, steps = arrivals(table)
        lines.append(f"| town | {name} | {episodes} | {100 * share:.0f} % | {steps:.1f} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--configuration", choices=STEPS, default="soft")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--steps", type=int, help="agent-steps (default: those of table 1)")
    parser.add_argument("--fixed-start", action="store_true", help="training begins at the start, too")
    parser.add_argument(
        "--town", type=int, default=0, help="episodes in the simulator, with the last seed's policy"
    )
    parser.add_argument("--picture", type=Path, help="a .png of the last seed's direction field")
    parser.add_argument("--out", type=Path, help="keeps the runs in this folder")
    parser.add_argument("settings", nargs="*", help="of training, KEY=VALUE")
    given = parser.parse_intermixed_args()
    if given.picture:
        check_output(given.picture, (".png",))  # before hours of training
    steps = given.steps or STEPS[given.configuration]
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.out or Path(scratch)
        print(f"{given.configuration}, {steps:,} agent-steps, load {os.getloadavg()[0]:.1f}\n")
        print(
            "| seed | first solved at | for good at | arrive at the end | steps | wall, s |\n|---|---|---|---|---|---|"
        )
        for seed in given.seeds:
            run = folder / f"{given.configuration}-{seed}"
            seconds = train(given.configuration, seed, steps, given.fixed_start, run, given.settings)
            outcome = judge(given.configuration, run, seconds)
            when = " | ".join("never" if at is None else f"{at:,}" for at in (outcome.first, outcome.lasting))
            share, taken = outcome.last
            print(f"| {seed} | {when} | {100 * share:.0f} % | {taken:.1f} | {seconds:.0f} |", flush=True)
        if given.town:
            print("\n| where | who | episodes | arrive | steps |\n|---|---|---|---|---|")
            print("\n".join(compare_in_town(given.configuration, run, given.town)))
        if given.picture:
            draw(
                given.configuration, run, given.picture, f"proxy-{given.configuration}, {steps:,} agent-steps"
            )


if __name__ == "__main__":
    main()
