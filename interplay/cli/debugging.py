"""`interplay debug`: play an experiment's simulation at random and write down what happens."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLE = "interplay debug examples/multi_corridor_experiment.py -n 2 -s 20"


def debug(
    config: Annotated[Path, typer.Argument(metavar="CONFIG.py", help="An experiment's Python file.")],
    episodes: Annotated[int, typer.Option("-n", "--episodes", help="How many.", min=1)] = 1,
    steps_per_episode: Annotated[
        int, typer.Option("-s", "--steps-per-episode", help="Most steps of one.", min=1)
    ] = 200,
    render: Annotated[bool, typer.Option("--render", help="Draw every step.")] = False,
) -> None:
    """Plays an experiment at random and writes each episode into two text files."""
    from interplay.core.loading import load

    folder = load("interplay.experiment.commands:debug")(config, episodes, steps_per_episode, render)
    typer.echo(f"written: {folder}")
