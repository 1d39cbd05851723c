"""`interplay bench`: steps per second of worlds."""

from __future__ import annotations

import json as json_text
from collections.abc import Sequence
from functools import partial
from typing import Annotated

import typer

from interplay.cli.declared import declared


@declared(worlds="WORLD...")
def bench(
    worlds: Sequence[str],
    *,
    num_worlds: int = 256,
    threads: int = 1,
    seconds: Annotated[float, typer.Option(help="Measured time per world.", min=0.1)] = 5.0,
    json: bool = False,
) -> None:
    """Measures steps per second under random actions, observations, rewards, metrics and resets included.

    Median of at least 5 windows; spread is (largest - smallest) / median. Random actions are drawn beforehand, or
    inside the measured time where the world masks choices; where an illegal choice does nothing, as in mmo, from all
    choices beforehand. compile_s is the time from making the batch to the end of its first step: compilation at first
    use, loading the compiled kernels afterwards.

    Args:
        worlds: worlds' ids, or module:Class; a=3 sets an option.
        num_worlds: different worlds in the batch.
        threads: compute threads; the process keeps to as many cores.

    Example:
        interplay bench survival/1v1-heals-low --num-worlds 256 --json
    """
    from interplay.cli.measure import measure, pin
    from interplay.cli.options import split_options
    from interplay.verbs.opening import open_world

    names, options = split_options(worlds)
    pin(threads)
    rows = []
    for name in names:
        make = partial(open_world, name, num_worlds=num_worlds, threads=threads, **options)
        speed = measure(make, threads, seconds, name)
        rows.append(speed._asdict())
        if not json:
            typer.echo(
                f"{name}: {speed.world_steps_per_s:,.0f} world steps/s, {speed.agent_steps_per_s:,.0f} agent steps/s, "
                f"{num_worlds} worlds, {threads} thread{'s' if threads > 1 else ''}, spread {speed.spread:.1%}, "
                f"first step after {speed.compile_s:.2f} s"
            )
    if json:
        typer.echo(json_text.dumps(rows, indent=2))
