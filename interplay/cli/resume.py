"""`interplay resume`: go on with a run, bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from interplay.cli.options import PrecisionOption, ThreadsOption, Trust, agent_steps
from interplay.cli.stopping import told_by_exit_code

EXAMPLE = "interplay resume runs/first"


def resume(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    workers: Annotated[int | None, typer.Option(help="Processes; they change no bit.", min=1)] = None,
    steps: Annotated[
        int | None,
        typer.Option(parser=agent_steps, metavar="INTEGER", help="A new total of agent-steps, to train on."),
    ] = None,
    device: Annotated[
        str | None,
        typer.Option(
            metavar="cpu|gpu|gpu:N|auto",
            help="Compute the networks elsewhere than so far; the bits are others from here on.",
        ),
    ] = None,
    precision: PrecisionOption = None,
    threads: ThreadsOption = None,
    accept_settings: Annotated[
        bool,
        typer.Option(
            "--accept-settings", help="Go on with what settings.toml says now, though it was changed."
        ),
    ] = False,
    trust: Trust = False,
) -> None:
    """Goes on from a run's newest sound checkpoint, as if it had never stopped."""
    from interplay.verbs.trainer import load_trainer

    with told_by_exit_code():
        done = load_trainer().resume(
            run,
            workers,
            steps,
            accept_settings=accept_settings,
            trust=trust,
            device=device,
            precision=precision,
            threads=threads,
        )
        typer.echo(f"run folder: {done}")
