"""`interplay check`: whether a world keeps the protocol's laws."""

from __future__ import annotations

from typing import Annotated, Any

import typer

EXAMPLE = "interplay check survival/1v1-heals-low\ninterplay check mypackage.worlds:Ponds"


def check(
    world: Annotated[str, typer.Argument(help="A world's id, or module:Class of a world of your own.")],
    options: Annotated[
        list[str] | None, typer.Argument(metavar="[OPTION=VALUE]...", help="Options of the world.")
    ] = None,
    steps: Annotated[int, typer.Option(help="Steps of each of the checker's games.", min=1)] = 300,
    seed: Annotated[int, typer.Option(help="Of the worlds and of the random players.", min=0)] = 0,
) -> None:
    """Plays a world at random and reports every law it breaks, each with the cure."""
    from interplay.checker import check_world
    from interplay.core.settings import parse_overrides
    from interplay.registry import make_world
    from interplay.verbs.opening import open_world

    given = parse_overrides(options or [])

    def make(num_worlds: int, seed: int) -> Any:
        return make_world(world, num_worlds=num_worlds, seed=seed, **given)

    open_world(world, seed=seed, **given).close()  # an unknown option is the caller's mistake, not a finding
    report = check_world(make, steps=steps, seed=seed)
    typer.echo(str(report))
    if report.masks:
        typer.echo(report.masks)
    if not report.ok:
        raise typer.Exit(1)
