"""`interplay sweep`: many runs that differ in some settings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from interplay.cli.declared import declared
from interplay.cli.options import agent_steps
from interplay.cli.stopping import signals_as_exit_codes
from interplay.core.errors import UserError
from interplay.core.files import short_path


@declared(
    world="[WORLD|SETTINGS.toml]",
    overrides="[KEY=VALUE]...",
    parameter="KEY=VALUES",
    short={"parameter": "-p"},
)
def sweep(
    world: str = "",
    overrides: Sequence[str] = (),
    *,
    parameter: Sequence[str] = (),
    draws: Annotated[
        int | None, typer.Option(help="Points that are drawn, where something is.", min=1)
    ] = None,
    steps: Annotated[
        int | None, typer.Option(parser=agent_steps, metavar="INTEGER", help="Agent-steps of each run.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Runs at a time.  [default: cores]", min=1, max=1024)
    ] = None,
    ray: str | None = None,
    out: Path | None = None,
    resume: bool = False,
    dry_run: bool = False,
    trust: bool = False,
) -> None:
    """Trains every combination of settings and seeds, each run in a folder of its own, and goes on where it was stopped.

    Args:
        world: a world's id, or a settings file, which may have a group [sweep].
        overrides: settings of every run.
        parameter: what varies: 1,2 or 0..4, or drawn from log:1e-5..1e-3 or linear:0..1.
        ray: train the runs on a Ray cluster, from a folder that its machines share.
        out: the sweep's folder.
        resume: go on with the sweep in --out.
        dry_run: name the runs and train none.

    Example:
        interplay sweep survival/1v1-heals-low -p ppo.learning_rate=1e-4,3e-4 -p seed=0..4 --out sweeps/rates
        interplay sweep settings.toml -p ppo.learning_rate=log:1e-5..1e-3 --draws 20 --out sweeps/search
        interplay sweep sweep.toml --out sweeps/rates --workers 4
        interplay sweep --resume --out sweeps/rates
    """
    from interplay.verbs.trainer import load_trainer, place_of

    load_trainer()
    from interplay.train import sweep as training

    if out is None and (resume or not dry_run):
        raise UserError("a sweep needs a folder; add for example --out sweeps/first")
    if resume:
        _refuse_more(
            {"world": world, "-p": parameter, "--draws": draws, "--steps": steps, "KEY=VALUE": overrides}
        )
        assert out is not None
        with signals_as_exit_codes():
            _tell(training.resume_sweep(out, workers, trust, place=place_of(ray)))
        return
    if not world:
        raise UserError("no world; name one, or a settings file, or go on with --resume --out FOLDER")
    wanted = read_sweep(world, overrides, parameter, draws, steps, trust)
    if dry_run:
        _list(wanted)
        return
    assert out is not None
    _check_worlds(wanted)
    with signals_as_exit_codes():
        _tell(training.sweep(wanted, out, workers, place=place_of(ray)))


def read_sweep(
    world: str,
    overrides: Sequence[str],
    parameters: Sequence[str],
    draws: int | None = None,
    steps: int | None = None,
    trust: bool = False,
) -> Any:
    """The sweep's settings, from what was typed and the file that it names; what was typed wins."""
    from interplay.core.settings import merge, parse_overrides
    from interplay.train.sweep.axes import read_axis
    from interplay.verbs.sweeping import sweep_group, sweep_settings

    typed = merge(parse_overrides(overrides), {} if steps is None else {"steps": steps})
    words: dict[str, str] = {}
    varied: dict[str, Any] = {}
    for text in parameters:
        key, values = read_axis(text)
        if key in words:
            raise UserError(f"-p {key} is given twice, {words[key]} and {text}; write all values into one")
        words[key], varied[key] = text, values
    group = sweep_group(varied)
    if draws is not None:
        group["draws"] = draws
    return sweep_settings(world, typed, group, trust, words)


def _refuse_more(given: dict[str, Any]) -> None:
    for name, value in given.items():
        if value:
            raise UserError(
                f"{name}: --resume goes on with the folder's settings; leave it out, or leave out --resume"
            )


def _check_worlds(wanted: Any) -> None:
    """Refuses unknown worlds and options, and compiles their kernels once, before any run begins."""
    from interplay.train.sweep import plan
    from interplay.verbs.opening import open_world

    seen = []
    for run in plan(wanted):
        if (choice := run.settings.world) not in seen:
            seen.append(choice)
            open_world(choice.id, **choice.options).close()


def _list(wanted: Any) -> None:
    from interplay.train.sweep import plan
    from interplay.train.sweep.plan import duplicates_note

    runs = plan(wanted)
    for run in runs:
        typer.echo(run.name)
    if equal := duplicates_note(wanted):
        typer.echo(equal)
    typer.echo(f"{len(runs):,} runs, {sum(run.settings.steps for run in runs):,} agent-steps")


def _tell(result: Any) -> None:
    """Prints the results.

    Raises:
        typer.Exit: with 1 if a run failed.
    """
    for name, error in result.failed.items():
        typer.echo(f"failed: {name}: {error}")
    if not result.stopped:  # its line was printed already
        typer.echo(f"{len(result.done):,} of {len(result.runs):,} runs are done in {short_path(result.folder)}; see `interplay runs {short_path(result.folder)}`")  # fmt: skip
    if result.failed:
        raise typer.Exit(1)
