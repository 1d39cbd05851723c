"""`interplay diagnose`: why a run does not learn."""

from __future__ import annotations

import json as json_text
from pathlib import Path

import typer

from interplay.cli.declared import declared


@declared()
def diagnose(run: Path, *, json: bool = False) -> None:
    """Finds out from a run's log why it does not learn: number, setting and cure.

    The rules are those of training's warnings; docs/why-it-does-not-learn.md explains each.

    Args:
        run: a run folder, also of a run that goes on.
        json: print JSON instead of lines.

    Example:
        interplay diagnose runs/first
        interplay diagnose runs/first --json
    """
    from interplay.verbs.run import Run

    found = Run(run).diagnose()
    if json:
        typer.echo(json_text.dumps(found.as_json(), indent=1))
    else:
        typer.echo(str(found))
