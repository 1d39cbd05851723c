"""`interplay debug` and `interplay visualize`: an experiment's simulation at random, and what its policies have learned."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from interplay.cli.declared import declared
from interplay.core.files import short_path
from interplay.core.loading import load


@declared(config="CONFIG.py", short={"episodes": "-n", "steps_per_episode": "-s"})
def debug(config: Path, *, episodes: int = 1, steps_per_episode: int = 200, render: bool = False) -> None:
    """Plays an experiment at random and writes each episode into two text files.

    Args:
        config: an experiment's Python file.
        episodes: how many.
        steps_per_episode: most steps of one.
        render: draw every step.

    Example:
        interplay debug examples/multi_corridor_experiment.py -n 2 -s 20
    """
    folder = load("interplay.experiment.commands:debug")(config, episodes, steps_per_episode, render)
    typer.echo(f"written: {short_path(folder)}")


@declared(short={"checkpoint": "-c", "episodes": "-n", "steps_per_episode": "-s"})
def visualize(
    run: Path,
    *,
    checkpoint: int | None = None,
    episodes: int = 1,
    steps_per_episode: int = 200,
    record: bool = False,
    record_only: bool = False,
    frame_delay: Annotated[int, typer.Option(help="Milliseconds between pictures.", min=10)] = 200,
    explore: bool = False,
    seed: int | None = None,
    trust: bool = False,
) -> None:
    """Shows or records what an experiment's trained policies do.

    Args:
        run: the run folder of an experiment.
        checkpoint: number of a checkpoint. None: the last.
        episodes: how many.
        steps_per_episode: most steps of one.
        record: save Episode_<i>.gif in RUN, and show it where one can.
        record_only: save and open no window.
        explore: draw actions instead of taking the likeliest.
        seed: of the first episode.

    Example:
        interplay visualize ~/interplay_results/MultiCorridor_2025-03-01_09-05 -n 5 --record-only
    """
    written = load("interplay.experiment.commands:visualize")(
        run,
        trust,
        checkpoint=checkpoint,
        episodes=episodes,
        steps_per_episode=steps_per_episode,
        record=record,
        record_only=record_only,
        frame_delay=frame_delay,
        explore=explore,
        seed=seed,
    )
    for path in written:
        typer.echo(f"written: {short_path(path)}")
