"""`interplay train`: learn to play a world."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from interplay.cli.options import PrecisionOption, ThreadsOption, Trust, named_path, whole_number
from interplay.cli.stopping import told_by_exit_code
from interplay.core.errors import UserError

EXAMPLE = (
    "interplay train survival/1v1-heals-low --steps 300000 --out runs/first\n"
    "interplay train survival/2v2-all-low ppo.learning_rate=1e-4 world.options.health_cap=100\n"
    "interplay train settings.toml seed=3\n"
    "interplay train survival/1v1-heals-low --league pfsp --out runs/league\n"
    "interplay train --preset fanti2022 --out runs/published\n"
    "interplay train survival/1v1-heals-mid --start-from runs/first\n"
    "interplay train examples/multi_corridor_experiment.py"
)


def train(
    world: Annotated[
        str,
        typer.Argument(
            metavar="[WORLD|SETTINGS.toml|CONFIG.py]",
            help="A world's id, a settings file, or an experiment's Python file, which says everything else; a preset brings its own.",
        ),
    ] = "",
    overrides: Annotated[
        list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="Settings, e.g. ppo.clip=0.1.")
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(parser=whole_number, metavar="INTEGER", help="Agent-steps in total, e.g. 1e6."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Names every random stream of the run.")] = None,
    num_worlds: Annotated[int | None, typer.Option(help="Worlds stepped together.")] = None,
    workers: Annotated[
        int | None, typer.Option(help="Processes; they change no bit.  [default: cores]")
    ] = None,
    device: Annotated[
        str | None,
        typer.Option(
            metavar="cpu|gpu|gpu:N|auto", help="Where the networks are computed: docs/gpu.md.  [default: cpu]"
        ),
    ] = None,
    precision: PrecisionOption = None,
    threads: ThreadsOption = None,
    start_from: Annotated[
        Path | None,
        typer.Option(metavar="RUN", help="Begin with the weights of this run, or of one of RUN/checkpoints."),
    ] = None,
    league: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE.toml",
            help="Self-play in a league: latest, history, pfsp, psro, exploiters, or a file with the keys of [league].",
        ),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Published settings, below yours: fanti2022 (survival), suarez2019 (mmo), werewolf-record; or gpu: batches for a card.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            parser=named_path, metavar="PATH", help="The run's folder.  [default: runs/WORLD-DATE-N]"
        ),
    ] = None,
    bank: Annotated[
        Path | None,
        typer.Option(
            parser=named_path,
            metavar="FOLDER",
            help="Instead of --out: a folder of runs named by what they are made of; a run that is there is not trained again.",
        ),
    ] = None,
    trust: Trust = False,
) -> None:
    """Trains agents with PPO and writes a run folder: settings, metrics, checkpoints.

    Stop it with Ctrl-C and go on with `interplay resume`.
    """
    flags: dict[str, Any] = {"steps": steps, "seed": seed, "num_worlds": num_worlds, "train.workers": workers}
    flags |= {"train.device": device, "train.precision": precision, "train.threads": threads}
    flags |= {"train.start_from": None if start_from is None else str(start_from)}
    if preset is not None and "=" in world:  # the preset's own world, and a setting
        world, overrides = "", [world, *(overrides or [])]
    if world.endswith(".py"):
        _refuse_more(
            world, overrides, {**flags, "out": out, "league": league, "preset": preset, "bank": bank}
        )
    if bank is not None and out is not None:
        raise UserError(f"--out {out} --bank {bank}: a bank names its runs itself; leave one out")
    with told_by_exit_code():
        typer.echo(f"run folder: {_run(world, overrides or [], flags, out, trust, league, preset, bank)}")


def _run(
    world: str,
    overrides: list[str],
    flags: dict[str, Any],
    out: Path | None,
    trust: bool,
    league: str | None,
    preset: str | None,
    bank: Path | None,
) -> Path:
    """Trains and gives the run folder."""
    from interplay.verbs.settings import (
        build_settings,
        fit_to_world,
        names_worlds,
        tell_departures,
    )
    from interplay.verbs.trainer import load_trainer

    trainer = load_trainer()
    if world.endswith(".py"):
        return _train_experiment(Path(world))
    given = {key: value for key, value in flags.items() if value is not None}
    settings = build_settings(world, overrides, given, trust, league, preset=preset)
    settings = fit_to_world(settings, names_worlds(world, overrides, given, preset))
    tell_departures(settings, preset)
    if bank is not None:
        from interplay.train.bank import train_in_bank

        return train_in_bank(settings, bank, trust)
    path: Path = trainer.train(settings, out)
    return path


def _train_experiment(config: Path) -> Path:
    from interplay.core.loading import load

    path: Path = load("interplay.experiment.commands:train")(config)
    return path


def _refuse_more(config: str, overrides: list[str] | None, flags: dict[str, Any]) -> None:
    options = [f"--{key.rpartition('.')[2]}" for key, value in flags.items() if value is not None]
    for given in [*(overrides or []), *(option.replace("_", "-") for option in options)]:
        raise UserError(f"{given}: the experiment {config} says all of its run; set it there")
