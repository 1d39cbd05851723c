"""`interplay diagnose`: why a run does not learn."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Annotated

import typer

EXAMPLE = "interplay diagnose runs/first\ninterplay diagnose runs/first --json"


def diagnose(
    run: Annotated[Path, typer.Argument(help="A run folder, also of a run that goes on.")],
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of lines.")] = False,
) -> None:
    """Finds out from a run's log why it does not learn: number, setting and cure.

    The rules are those of training's warnings; docs/why-it-does-not-learn.md explains each.
    """
    from interplay.verbs.run import Run

    found = Run(run).diagnose()
    if json:
        typer.echo(json_text.dumps(found.as_json(), indent=1))
    else:
        typer.echo(str(found))
