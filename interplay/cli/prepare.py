"""`interplay prepare`: compiles worlds' kernels ahead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from interplay.cli.declared import declared
from interplay.core.errors import UserError


@declared(worlds="[WORLD...]")
def prepare(
    worlds: Sequence[str] = (),
    *,
    every: Annotated[
        bool, typer.Option("--all", help="Every registered world without an engine of others.")
    ] = False,
    processes: int = 2,
) -> None:
    """Compiles the kernels of worlds, their players' included, so that their first use does not wait.

    Kernels are kept: worlds that are ready already take a second. An installed wheel brings them compiled.

    Args:
        worlds: worlds' ids, or module:Class; a=3 sets an option.
        processes: worlds of different families at once.

    Example:
        interplay prepare survival/1v1-heals-low
        interplay prepare --all
    """
    from interplay.cli.options import split_options
    from interplay.evaluate.prepare import prepare_worlds
    from interplay.registry import list_worlds

    if every == bool(worlds):
        raise UserError("prepare: name worlds, or --all for every registered one")
    names, options = split_options(worlds or [spec.id for spec in list_worlds() if not spec.missing])
    for name, seconds in prepare_worlds(names, processes, options):
        typer.echo(f"{name}: ready after {seconds:.1f} s")
