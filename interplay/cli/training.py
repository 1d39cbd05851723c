"""`interplay train`: learn to play a world."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from interplay.cli.declared import declared
from interplay.cli.options import named_path
from interplay.cli.stopping import told_by_exit_code
from interplay.core.errors import UserError
from interplay.verbs import playing, training

EXAMPLE = (
    "interplay train survival/1v1-heals-low --steps 300000 --out runs/first\n"
    "interplay train survival/2v2-all-low ppo.learning_rate=1e-4 world.options.health_cap=100\n"
    "interplay train settings.toml seed=3\n"
    "interplay train survival/1v1-heals-low --league pfsp --out runs/league\n"
    "interplay train --preset fanti2022 --out runs/published\n"
    "interplay train survival/1v1-heals-mid --start-from runs/first\n"
    "interplay train examples/multi_corridor_experiment.py"
)


@declared(
    training.train,
    playing.evaluate,
    without=("world", "on_update", "settings"),
    device="cpu|gpu|gpu:N|auto",
    precision="float32|tf32|bfloat16",
    start_from="RUN",
    league="NAME|FILE.toml",
    preset="NAME",
)
def train(
    world: Annotated[
        str,
        typer.Argument(
            metavar="[WORLD|SETTINGS.toml|CONFIG.py]",
            help="A world's id, a settings file, or an experiment's Python file, which holds all settings; a preset has its own world.",
        ),
    ] = "",
    overrides: Annotated[
        list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="Settings, e.g. ppo.clip=0.1.")
    ] = None,
    bank: Annotated[
        Path | None,
        typer.Option(
            parser=named_path,
            metavar="FOLDER",
            help="Instead of --out: a folder of runs named by their settings; a run that is there is not trained again.",
        ),
    ] = None,
    **given: Any,
) -> None:
    """Trains agents, with PPO unless the settings choose another algorithm, and writes a run folder: settings, metrics, checkpoints.

    Stop it with Ctrl-C and go on with `interplay resume`.
    """
    if given["preset"] is not None and "=" in world:  # the preset's own world, and a setting
        world, overrides = "", [world, *(overrides or [])]
    if world.endswith(".py"):
        _refuse_more(world, overrides, {**given, "bank": bank})
    if bank is not None and (out := given["out"]) is not None:
        raise UserError(f"--out {out} --bank {bank}: a bank names its runs itself; leave one out")
    with told_by_exit_code():
        typer.echo(f"run folder: {_run(world, overrides or [], bank, **given)}")


def _run(
    world: str,
    overrides: list[str],
    bank: Path | None,
    out: Path | None,
    trust: bool,
    league: str | None,
    preset: str | None,
    **given: Any,
) -> Path:
    """Trains and gives the run folder."""
    from interplay.verbs.settings import build_settings, fit_to_world, names_worlds, tell_departures
    from interplay.verbs.trainer import load_trainer

    trainer = load_trainer()
    if world.endswith(".py"):
        return _train_experiment(Path(world))
    flags = training.flags(**given)
    settings = build_settings(world, overrides, flags, trust, league, preset=preset)
    settings = fit_to_world(settings, names_worlds(world, overrides, flags, preset))
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


def _refuse_more(config: str, overrides: list[str] | None, options: dict[str, Any]) -> None:
    given = [name for name, value in options.items() if value is not None and value is not False]
    typed = [f"--{name.replace('_', '-')}" for name in given]
    for word in [*(overrides or []), *typed]:
        raise UserError(f"{word}: the experiment {config} holds all settings of its run; set it there")
