"""The study of werewolf (docs/results/werewolf.md): trains its runs, and prints its tables from them.

Run from the repository root::

    .venv/bin/python -m studies.werewolf_study train --out runs/werewolf             # finished runs are skipped, cut ones go on
    .venv/bin/python -m studies.werewolf_study report runs/werewolf > tables.md
    .venv/bin/python -m studies.werewolf_study report runs/werewolf --only wins --games 500 --picture docs/images/werewolf-study.png

A run lies in ``OUT/STUDY/VARIANT-SEED``. Studies: ``random``, villagers learn against scripted `random_target` wolves; ``both``,
villagers and wolves learn, a policy each; ``shuffled``, as ``random``, but the words that are shown were dealt out anew among
those who spoke (``arm=signals_shuffled``), a control that leaves words their number and takes away their authors; ``listening``, as ``both``, with a head that guesses who is
who; ``speaking``, as ``listening``, and a reward for what others guess better.

The report plays the newest checkpoint of each run, actions drawn, on games that no run was trained on. What was measured is kept
in ``--kept`` (a line of JSON each), so that a report that was cut, or that has more runs to tell of, does not play it again.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from interplay.core.errors import UserError
from studies.werewolf_measures import Measures, Run, find_runs, last_line, random_wins

LEARNING = (
    "train.shards=1",
)  # one process each; all else that learnt is the world's own (`interplay train werewolf/...`)
TABLES = ("wins", "wolves", "arms", "talk", "beliefs", "crossplay")
MOST_WINDOWS = 40  # points of a curve


class Study(NamedTuple):
    """What is trained.

    Attributes:
        steps: agent-steps of each run.
        variants: of the world.
        overrides: what differs from the world's own training settings.
    """

    steps: int
    variants: tuple[str, ...]
    overrides: tuple[str, ...] = ()


AGAINST_RANDOM = "opponents.werewolf=random_target"
GUESSING = "belief.about=werewolf"
EVERY = ("9", "9-l1s9", "9-l3s9")
STUDIES = {
    "random": Study(400_000, EVERY, (AGAINST_RANDOM,)),
    "both": Study(1_000_000, EVERY),
    "shuffled": Study(400_000, ("9-l1s9",), (AGAINST_RANDOM, "world.options.arm=signals_shuffled")),
    "listening": Study(1_000_000, ("9", "9-l1s9"), (GUESSING,)),
    "speaking": Study(1_000_000, ("9-l1s9",), (GUESSING, "belief.speaking=5")),
}


def train_all(out: Path, studies: list[str], seeds: int) -> None:
    """Trains what is missing, one run after another."""
    wanted = [
        Run(out / name / f"{variant}-{seed}", name, variant, seed)
        for name in studies
        for variant in STUDIES[name].variants
        for seed in range(1, seeds + 1)
    ]
    for number, run in enumerate(wanted, 1):
        print(f"run {number} of {len(wanted)}: {run.path}", file=sys.stderr, flush=True)
        train_one(run, STUDIES[run.study])


def train_one(run: Run, study: Study) -> None:
    """Trains a run, goes on with one that was cut, or leaves a finished one as it is."""
    from interplay.train import trainer
    from interplay.verbs.settings import build_settings

    if (run.path / "settings.toml").exists():
        if last_line(run).get("agent_steps", 0) < study.steps:
            trainer.resume(run.path)
        return
    flags: dict[str, Any] = {"steps": study.steps, "seed": run.seed}
    overrides = [*LEARNING, *study.overrides]
    run.path.parent.mkdir(parents=True, exist_ok=True)
    trainer.train(build_settings(f"werewolf/{run.variant}", overrides, flags), run.path)


def report(runs: list[Run], given: argparse.Namespace) -> None:
    """Prints the tables that were asked for, each as soon as it is measured."""
    from studies import werewolf_tables as tables

    kept = given.kept or given.runs / "measured.jsonl"
    measures = Measures(given.games, given.permutations, kept)
    pages = {
        "wins": tables.wins,
        "wolves": tables.other_wolves,
        "arms": tables.arms,
        "talk": tables.talk,
        "beliefs": tables.beliefs,
        "crossplay": tables.crossplay,
    }
    for name in given.only:
        for line in pages[name](runs, measures):
            print(line, flush=True)
        print(flush=True)


def draw(runs: list[Run], out: Path) -> None:
    """The villagers' win rate against agent-steps: a panel for each study, a colour for each variant, a line for each seed."""
    from interplay.view.extras import load
    from interplay.view.palette import FAINT

    studies = list(dict.fromkeys(run.study for run in runs))
    variants = list(dict.fromkeys(run.variant for run in runs))
    columns = min(len(studies), 3)
    rows = -(-len(studies) // columns)
    size = (4.8 * columns, 3.6 * rows)
    figure = load("matplotlib.figure", "plot", "learning curves").Figure(size, dpi=120, layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False, sharey=True).ravel()
    for panel in panels[len(studies) :]:
        panel.set_axis_off()
    for panel, study in zip(panels, studies, strict=False):
        for run in (run for run in runs if run.study == study):
            _draw_run(panel, run, variants.index(run.variant))
        panel.axhline(random_wins(), color=FAINT, linewidth=1, linestyle="--", label="random play")
        panel.set(title=study, xlabel="agent-steps, thousands", ylim=(0, 1))
        named = dict(zip(*reversed(panel.get_legend_handles_labels()), strict=True))  # a variant once
        panel.legend(named.values(), named.keys(), loc="best", fontsize=8, frameon=False)
    for panel in panels[::columns]:
        panel.set_ylabel("games won by villagers")
    figure.savefig(out)


def _draw_run(panel: Any, run: Run, colour: int) -> None:
    """One run's curve: means over windows of updates."""
    from interplay.view.palette import POPULATIONS
    from interplay.view.run_log import read_run

    log = read_run(run.path)
    known = np.flatnonzero(~np.isnan(log.column("win_vil")))
    windows = np.array_split(known, min(MOST_WINDOWS, len(known))) if len(known) else []
    at, won = ([column[w].mean() for w in windows] for column in (log.steps / 1000, log.column("win_vil")))
    panel.plot(at, won, color=POPULATIONS[colour], linewidth=1, label=f"werewolf/{run.variant}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    training = verbs.add_parser("train", help="train the runs that are missing")
    training.add_argument("--out", type=Path, required=True)
    training.add_argument("--seeds", type=int, default=5)
    training.add_argument("--studies", nargs="+", choices=STUDIES, default=list(STUDIES))
    reporting = verbs.add_parser("report", help="play the runs and print tables in Markdown")
    reporting.add_argument("runs", type=Path)
    reporting.add_argument("--games", type=int, default=2000, help="of each cell")
    reporting.add_argument("--permutations", type=int, default=1000, help="of every null")
    reporting.add_argument("--only", nargs="+", choices=TABLES, default=list(TABLES), metavar="TABLE")
    reporting.add_argument("--seeds", type=int, nargs="+", default=[], help="only runs of these seeds")
    reporting.add_argument("--variants", nargs="+", choices=EVERY, default=list(EVERY), help="only these")
    reporting.add_argument("--studies", nargs="+", choices=STUDIES, default=list(STUDIES), help="only these")
    reporting.add_argument("--kept", type=Path, help="what was measured  [default: RUNS/measured.jsonl]")
    reporting.add_argument("--picture", type=Path, help="also draw the learning curves there")
    given = parser.parse_args()
    if given.verb == "train":
        train_all(given.out, given.studies, given.seeds)
        return
    try:
        runs = find_runs(given.runs, given.studies, given.variants, given.seeds)
    except UserError as error:
        sys.exit(f"werewolf_study: {error}")
    if given.picture is not None:
        draw(runs, given.picture)
    report(runs, given)


if __name__ == "__main__":
    main()
