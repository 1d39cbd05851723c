"""`interplay prepare`: compiles worlds' kernels ahead."""

from __future__ import annotations

from typing import Annotated

import typer

from interplay.core.errors import UserError

EXAMPLE = "interplay prepare survival/1v1-heals-low\ninterplay prepare --all"


def prepare(
    worlds: Annotated[
        list[str] | None,
        typer.Argument(metavar="[WORLD...]", help="Worlds' ids, or module:Class; a=3 sets an option."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Every registered world.")] = False,
    processes: Annotated[int, typer.Option(help="Worlds of different families at once.", min=1)] = 2,
) -> None:
    """Compiles the kernels of worlds, their players' included, so that their first use does not wait.

    Kernels are kept: worlds that are ready already take a second. An installed wheel brings them compiled.
    """
    from interplay.cli.options import split_options
    from interplay.evaluate.prepare import prepare_worlds
    from interplay.registry import list_worlds

    if every == bool(worlds):
        raise UserError("prepare: name worlds, or --all for every registered one")
    names, options = split_options(worlds or [spec.id for spec in list_worlds()])
    for name, seconds in prepare_worlds(names, processes, options):
        typer.echo(f"{name}: ready after {seconds:.1f} s")
