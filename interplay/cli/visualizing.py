"""`interplay visualize`: watch what an experiment's policies have learned."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from interplay.cli.options import Trust

EXAMPLE = "interplay visualize ~/interplay_results/MultiCorridor_2025-03-01_09-05 -n 5 --record-only"


def visualize(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run folder of an experiment.")],
    checkpoint: Annotated[
        int | None, typer.Option("-c", "--checkpoint", help="Number of a checkpoint.  [default: the last]")
    ] = None,
    episodes: Annotated[int, typer.Option("-n", "--episodes", help="How many.", min=1)] = 1,
    steps_per_episode: Annotated[
        int, typer.Option("-s", "--steps-per-episode", help="Most steps of one.", min=1)
    ] = 200,
    record: Annotated[
        bool, typer.Option("--record", help="Save Episode_<i>.gif in RUN, and show it where one can.")
    ] = False,
    record_only: Annotated[bool, typer.Option("--record-only", help="Save and open no window.")] = False,
    frame_delay: Annotated[int, typer.Option(help="Milliseconds between pictures.", min=10)] = 200,
    explore: Annotated[
        bool, typer.Option("--explore", help="Draw actions instead of taking the likeliest.")
    ] = False,
    seed: Annotated[int | None, typer.Option(help="Of the first episode.", min=0)] = None,
    trust: Trust = False,
) -> None:
    """Shows or records what an experiment's trained policies do."""
    from interplay.core.loading import load

    written = load("interplay.experiment.commands:visualize")(
        run,
        trust,
        checkpoint=checkpoint,
        episodes=episodes,
        steps_per_episode=steps_per_episode,
        record=record,
        record_only=record_only,
        frame_delay=frame_delay,
        explore=explore,
        seed=seed,
    )
    for path in written:
        typer.echo(f"written: {path}")
