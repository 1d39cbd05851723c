"""`interplay train`: learn to play a world."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from interplay.cli.stopping import told_by_exit_code

EXAMPLE = (
    "interplay train survival/1v1-heals-low --steps 300000 --out runs/first\n"
    "interplay train survival/2v2-all-low ppo.learning_rate=1e-4 world.options.health_cap=100\n"
    "interplay train settings.toml seed=3\n"
    "interplay train survival/1v1-heals-mid --start-from runs/first\n"
    "interplay train examples/multi_corridor_experiment.py"
)


def train(
    world: Annotated[
        str,
        typer.Argument(
            metavar="WORLD|SETTINGS.toml|CONFIG.py",
            help="A world's id, a settings file, or an experiment's Python file, which says everything else.",
        ),
    ],
    overrides: Annotated[
        list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="Settings, e.g. ppo.clip=0.1.")
    ] = None,
    steps: Annotated[int | None, typer.Option(help="Agent-steps in total.")] = None,
    seed: Annotated[int | None, typer.Option(help="Names every random stream of the run.")] = None,
    num_worlds: Annotated[int | None, typer.Option(help="Worlds stepped together.")] = None,
    workers: Annotated[
        int | None, typer.Option(help="Processes; they change no bit.  [default: cores]")
    ] = None,
    start_from: Annotated[
        Path | None,
        typer.Option(metavar="RUN", help="Begin with the weights of this run, or of one of RUN/checkpoints."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The run's folder.  [default: runs/WORLD-DATE-N]")] = None,
) -> None:
    """Trains agents with PPO and writes a run folder: settings, metrics, checkpoints.

    Stop it with Ctrl-C and go on with `interplay resume`.
    """
    flags: dict[str, Any] = {"steps": steps, "seed": seed, "num_worlds": num_worlds, "train.workers": workers}
    flags["train.start_from"] = None if start_from is None else str(start_from)
    if world.endswith(".py"):
        _refuse_more(world, overrides, {**flags, "out": out})
    with told_by_exit_code():
        typer.echo(f"run folder: {_run(world, overrides or [], flags, out)}")


def _run(world: str, overrides: list[str], flags: dict[str, Any], out: Path | None) -> Path:
    """Trains and gives the run folder."""
    from interplay.cli.trainer import load_trainer

    trainer = load_trainer()
    if world.endswith(".py"):
        return _train_experiment(Path(world))
    settings = build_settings(
        world, overrides, {key: value for key, value in flags.items() if value is not None}
    )
    _check_world(settings)
    path: Path = trainer.train(settings, out)
    return path


def build_settings(world: str, overrides: list[str], flags: dict[str, Any]) -> Any:
    """The run's settings: defaults, those of the world, the file, KEY=VALUE, options such as --steps; the last one wins.

    Raises:
        UserError: for an unknown world, key or value, in one line.
    """
    from interplay.core.settings import build, merge, parse_overrides, read_toml
    from interplay.registry import training_settings
    from interplay.train.settings import TrainSettings

    is_file = world.endswith(".toml")
    values: dict[str, Any] = read_toml(world) if is_file else {"world": {"id": world}}
    given = parse_overrides(overrides)
    workers_given = "workers" in values.get("train", {}) or "workers" in given.get("train", {})
    values = merge(values, given)
    chosen = values.get("world")
    if isinstance(chosen, dict) and isinstance(chosen.get("id"), str):
        values = merge(training_settings(chosen["id"]), values)
    for key, value in flags.items():
        group, _, name = key.rpartition(".")
        values = merge(values, {group: {name: value}} if group else {name: value})
    if not workers_given and "train.workers" not in flags:
        shards = values.get("train", {}).get("shards", 4)
        values = merge(values, {"train": {"workers": workers_for(shards)}})
    return build(TrainSettings, values, world if is_file else "train")


def _train_experiment(config: Path) -> Path:
    from interplay.experiment.files import load_experiment
    from interplay.experiment.verbs import train_experiment

    return train_experiment(load_experiment(config), config)


def _refuse_more(config: str, overrides: list[str] | None, flags: dict[str, Any]) -> None:
    from interplay.core.errors import UserError

    options = [f"--{key.rpartition('.')[2]}" for key, value in flags.items() if value is not None]
    for given in [*(overrides or []), *(option.replace("_", "-") for option in options)]:
        raise UserError(f"{given}: the experiment {config} says all of its run; set it there")


def workers_for(shards: Any) -> int:
    """The most worker processes that this machine's cores and the shards allow, a power of two."""
    import os

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    most = min(cores, shards) if isinstance(shards, int) and shards > 0 else 1
    return 1 << (most.bit_length() - 1)


def _check_world(settings: Any) -> None:
    """Refuses an unknown world or option, and compiles, before a run folder exists."""
    from interplay.cli.opening import open_world

    open_world(settings.world.id, **settings.world.options).close()
