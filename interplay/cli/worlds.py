"""`interplay worlds`: what can be made here."""

from __future__ import annotations

import json as json_text
from typing import Annotated

import typer

EXAMPLE = "interplay worlds"


def worlds(
    json: Annotated[bool, typer.Option("--json", help="Print a JSON list instead of a table.")] = False,
) -> None:
    """Lists the worlds, built in and installed."""
    from interplay.registry import list_worlds

    specs = list_worlds()
    if json:
        typer.echo(json_text.dumps([{"id": s.id, "summary": s.summary} for s in specs], indent=2))
        return
    width = max((len(s.id) for s in specs), default=0)
    for spec in specs:
        typer.echo(f"{spec.id:<{width}}  {spec.summary}")
