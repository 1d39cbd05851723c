"""`interplay analyze`: a script over an experiment's simulation, or overlays of a world that is played."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from interplay.cli.options import Trust, named_path

EXAMPLE = (
    "interplay analyze ~/interplay_results/MultiCorridor_2025-03-01_09-05 my_analysis.py\n"
    "interplay analyze runs/first --overlay values --overlay dependence --out pictures\n"
    "interplay analyze runs/small --beside runs/large --overlay blows --out pictures\n"
    "interplay analyze forager --world mmo/forage --overlay coverage --ticks 2000 --out pictures npop=4"
)


def analyze(
    run: Annotated[
        str, typer.Argument(metavar="RUN|POLICY", help="A run folder; for overlays also a scripted policy.")
    ],
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SCRIPT.py | OPTION=VALUE...]",
            help="A Python file with run(sim, trainer), or with --overlay options of the world.",
        ),
    ] = None,
    checkpoint: Annotated[
        int | None, typer.Option("-c", "--checkpoint", help="Number of a checkpoint.  [default: the last]")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Of simulation and policies.", min=0)] = None,
    overlay: Annotated[
        list[str] | None,
        typer.Option(
            help="mmo: values, exploration, dependence, combat, blows, niches, lives, coverage; survival: strikes, items, deaths, zone; "
            "or module:name. Repeat for more."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(parser=named_path, metavar="PATH", help="Folder for an overlay's .npz, .json and .png."),
    ] = None,
    world: Annotated[str, typer.Option(help="The overlays' world; a run brings its own.")] = "",
    population: Annotated[int | None, typer.Option(help="Look at this one only.", min=0)] = None,
    ticks: Annotated[int, typer.Option(help="Ticks to record.", min=1)] = 1_000,
    burn_in: Annotated[int, typer.Option(help="Ticks played before.", min=0)] = 0,
    num_worlds: Annotated[int, typer.Option(help="Worlds side by side, on one map.", min=1)] = 1,
    world_seed: Annotated[int | None, typer.Option(help="Of the map.", min=0)] = None,
    beside: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RUN|POLICY",
            help="Another one in the overlays' pictures, in its own world; repeat for more.",
        ),
    ] = None,
    trust: Trust = False,
) -> None:
    """Calls a script's run(sim, trainer) with the trained policies, or measures a world in play (--overlay)."""
    if overlay:
        from interplay.cli.overlays import analyse_overlays

        analyse_overlays(
            _player(run, checkpoint),
            overlay,
            words or [],
            out,
            world=world,
            population=population,
            ticks=ticks,
            burn_in=burn_in,
            num_worlds=num_worlds,
            seed=seed or 0,
            world_seed=world_seed,
            beside=beside or [],
            trust=trust,
        )
        return
    if beside:
        from interplay.core.errors import UserError

        raise UserError(f"--beside {beside[0]}: only overlays stand beside each other; add --overlay NAME")
    from interplay.core.loading import load

    command = load("interplay.experiment.commands:analyze")
    command(Path(run), _script(words), trust, checkpoint=checkpoint, seed=seed)


def _player(run: str, checkpoint: int | None) -> str:
    """The run, or one of its checkpoints."""
    if checkpoint is None:
        return run
    from interplay.core.errors import UserError
    from interplay.train.run.checkpoint import checkpoint_path, list_checkpoints

    path = checkpoint_path(run, checkpoint)
    there = ", ".join(str(int(one.name)) for one in list_checkpoints(run))
    if there and not path.is_dir():
        raise UserError(f"-c {checkpoint}: {run} has no such checkpoint; it has {there}")
    return str(path)


def _script(words: list[str] | None) -> str:
    from interplay.core.errors import UserError

    if not words or len(words) > 1:
        given = " ".join(words) if words else "nothing"
        raise UserError(
            f"analyze: one SCRIPT.py or an --overlay is needed, there is {given}; see `interplay analyze --help`"
        )
    return words[0]
