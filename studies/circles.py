"""Rock, paper, scissors: learning against oneself runs in circles, leagues find the equilibrium.

    python -m studies.circles --seeds 5 --picture docs/results/images/league-circles.png

Three leagues learn with the same network, rates and agent-steps. A copy of the learner is frozen every `PERIOD` agent-steps, and what each
copy plays is known exactly, since the game has one observation. *Exploitability* is what the best answer earns from a mixture of the three
choices: 1 for always the same, 0 for one third each.

- ``latest``: against itself alone.
- ``pfsp``: against copies of itself, those more often that it beats less often.
- ``psro``: every period begins anew and answers the Nash mixture of the copies before.

Printed are the exploitability of the newest copy, which is what self-play hands over, and of the Nash mixture of all copies by the matches
that were played, which is what a league hands over.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from interplay.core.settings import build, merge
from interplay.evaluate.tournaments.payoff import Payoff
from interplay.evaluate.tournaments.ratings.league_table import exploitability, mix_league
from interplay.registry import make_world, training_settings
from interplay.train.play.policy import load_policy
from interplay.train.selfplay.league.reading import read_league
from interplay.train.settings import TrainSettings
from interplay.train.settings.league import LEAGUES
from interplay.train.trainer import train
from interplay.view.output import check_output
from interplay.worlds.matrix.config import ROCK_PAPER_SCISSORS

WORLD, STEPS, PERIOD = "matrix/rock-paper-scissors", 600_000, 10_000
LEAGUES = {
    "latest": LEAGUES["latest"],
    "pfsp": {"learners": {"main": {"meets": [{"by": "pfsp"}]}}},
    "psro": LEAGUES["psro"],
}
BAR = 0.05


class Found(NamedTuple):
    """One run.

    Attributes:
        steps: (n,) agent-steps of the copies.
        played: (n, 3) how likely each copy plays rock, paper and scissors.
        newest: (n,) exploitability of each copy.
        mixture: (n,) exploitability of the Nash mixture of the first copies.
    """

    steps: np.ndarray
    played: np.ndarray
    newest: np.ndarray
    mixture: np.ndarray


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--picture", type=Path, help="a .png of all runs")
    arguments = parser.parse_args()
    if arguments.picture:
        check_output(arguments.picture, (".png",))  # before hours of training
    found: dict[str, list[Found]] = {}
    for name in LEAGUES:
        with tempfile.TemporaryDirectory() as folder:
            found[name] = [measure(name, seed, Path(folder) / str(seed)) for seed in range(arguments.seeds)]
        for what in ("newest", "mixture"):
            over_time = [getattr(run, what) for run in found[name]]
            each = " ".join(f"{values[-1]:.3f}" for values in over_time)
            later = np.concatenate([values[len(values) // 2 :] for values in over_time])
            print(
                f"{name:7s} {what:7s} at the end {each}; over the second half least {np.min(later):.3f}, "
                f"median {np.median(later):.3f}, most {np.max(later):.3f}",
                flush=True,
            )
    if arguments.picture:
        draw(found, arguments.picture)


def measure(name: str, seed: int, out: Path) -> Found:
    """Trains one league and asks what came of it."""
    values = merge(
        training_settings(WORLD),
        {
            "world": {"id": WORLD},
            "seed": seed,
            "steps": STEPS,
            "network": {"hidden": [16]},
            "ppo": {
                "minibatch": 512,
                "epochs": 4,
                "learning_rate": 3e-3,
                "target_kl": None,
                "entropy_coefficient": 0.15,
            },
            "population": {"block": 16},
            "league": {**LEAGUES[name], "period": PERIOD, "keep": 64},
            "train": {"shards": 1, "quiet": True},
        },
    )
    train(build(TrainSettings, values, "circles"), out)
    table = read_league(out)
    copies = sorted(
        (i for i, one in enumerate(table.names) if one != "main"), key=lambda i: int(table.since[i])
    )
    played = np.array([chances_of(out, table.names[i]) for i in copies])
    payoff = np.array(ROCK_PAPER_SCISSORS)
    newest = [exploitability(one, payoff) for one in played]
    mixtures = [first_copies(table.payoff, copies[:n]) @ played[:n] for n in range(1, len(copies) + 1)]
    mixture = [exploitability(one, payoff) for one in mixtures]
    return Found(table.since[copies], played, np.array(newest), np.array(mixture))


def first_copies(payoff: Payoff, copies: list[int]) -> np.ndarray:
    """How an equilibrium mixes some copies, by their matches."""
    return mix_league(payoff.among(np.array(copies)))


def chances_of(run: Path, player: str) -> np.ndarray:
    """(3,) how likely a player chooses rock, paper and scissors."""
    world = make_world(WORLD, 1)
    timestep = world.reset()
    policy: Any = load_policy(f"{run}@{player}")
    policy.start(world)
    observation = {key: leaf[0, :1] for key, leaf in timestep.observation.items()}
    chances: np.ndarray = policy.probabilities(observation)[0]
    return chances


def draw(found: dict[str, list[Found]], out: Path) -> None:
    """The way of the copies in the triangle of mixtures for the first seed, and the exploitability of all seeds."""
    from matplotlib.figure import Figure

    from interplay.view.palette import FAINT, INK, POPULATIONS

    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])
    figure = Figure(figsize=(15, 4.4), dpi=110, layout="constrained")
    axes = figure.subplots(1, 4, width_ratios=(1, 1, 1, 1.5))
    for number, (name, runs) in enumerate(found.items()):
        colour = POPULATIONS[(0, 2, 5)[number]]
        way = runs[0].played @ corners
        axes[number].plot(*corners[[0, 1, 2, 0]].T, color=FAINT, linewidth=1)
        axes[number].plot(*way.T, color=colour, linewidth=0.8, alpha=0.6)
        axes[number].scatter(*way.T, c=[colour], s=14)
        axes[number].plot(*corners.mean(axis=0), "+", color=INK, markersize=11)
        for corner, text in zip(corners, ("rock", "paper", "scissors"), strict=True):
            axes[number].text(
                *(corner + 0.10 * (corner - corners.mean(axis=0))), text, ha="center", va="center", fontsize=9
            )
        axes[number].set_title(f"{name}: what its copies play", fontsize=10, pad=16)
        axes[number].set_aspect("equal")
        axes[number].set_axis_off()
        for run in runs:
            shown = run.newest if name == "latest" else run.mixture
            axes[3].plot(run.steps, shown, color=colour, linewidth=1.0, alpha=0.7)
        axes[3].plot(
            [],
            [],
            color=colour,
            label="latest: newest copy" if name == "latest" else f"{name}: mixture of copies",
        )
    axes[3].axhline(BAR, color=FAINT, linestyle="--", linewidth=1)
    axes[3].set_ylim(0, 1.02)
    axes[3].set_xlabel("agent-steps")
    axes[3].set_title(f"exploitability, {len(next(iter(found.values())))} seeds; dashed: {BAR}", fontsize=10)
    axes[3].spines[["top", "right"]].set_visible(False)
    axes[3].legend(frameon=False, fontsize=9)
    figure.savefig(out)


if __name__ == "__main__":
    main()
