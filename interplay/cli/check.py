"""`interplay check`: whether a world keeps the protocol's laws."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import typer

from interplay.cli.declared import declared


@declared(options="[OPTION=VALUE]...")
def check(world: str, options: Mapping[str, Any] | None = None, *, steps: int = 300, seed: int = 0) -> None:
    """Plays a world at random and reports every law it breaks, each with the cure.

    Args:
        world: a world's id, or module:Class of a world of your own.
        options: options of the world.
        steps: steps of each of the checker's games.
        seed: of the worlds and of the random players.

    Example:
        interplay check survival/1v1-heals-low
        interplay check mypackage.worlds:Ponds
    """
    from interplay.checker import check_world
    from interplay.registry import make_world
    from interplay.verbs.opening import open_world

    given = options or {}

    def make(num_worlds: int, seed: int) -> Any:
        return make_world(world, num_worlds=num_worlds, seed=seed, **given)

    open_world(world, seed=seed, **given).close()  # an unknown option is the caller's mistake, not a finding
    report = check_world(make, steps=steps, seed=seed)
    typer.echo(str(report))
    if report.masks:
        typer.echo(report.masks)
    if not report.ok:
        raise typer.Exit(1)
