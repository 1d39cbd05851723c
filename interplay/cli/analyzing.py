"""`interplay analyze`: hand an experiment's simulation and trained policies to a script."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLE = "interplay analyze ~/interplay_results/MultiCorridor_2025-03-01_09-05 my_analysis.py"


def analyze(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run folder of an experiment.")],
    script: Annotated[
        Path, typer.Argument(metavar="SCRIPT.py", help="A Python file with run(sim, trainer).")
    ],
    checkpoint: Annotated[
        int | None, typer.Option("-c", "--checkpoint", help="Number of a checkpoint.  [default: the last]")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Of simulation and policies.", min=0)] = None,
) -> None:
    """Calls a script's run(sim, trainer) with the manager and the trained policies."""
    from interplay.experiment.files import config_of, load_experiment, load_script
    from interplay.experiment.verbs import analyze as hand_over

    experiment = load_experiment(config_of(run))
    hand_over(experiment.params, run, load_script(script), checkpoint=checkpoint, seed=seed)
