"""`interplay resume`: go on with a run, bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from interplay.cli.declared import declared
from interplay.cli.options import Trust
from interplay.cli.stopping import told_by_exit_code
from interplay.verbs.run import Run

EXAMPLE = "interplay resume runs/first"


@declared(
    Run.resume, without=("self", "on_update"), device="cpu|gpu|gpu:N|auto", precision="float32|tf32|bfloat16"
)
def resume(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    trust: Trust = False,
    **given: Any,
) -> None:
    """Goes on from a run's newest sound checkpoint, as if it had never stopped."""
    from interplay.verbs.trainer import load_trainer

    with told_by_exit_code():
        typer.echo(f"run folder: {load_trainer().resume(run, trust=trust, **given)}")
