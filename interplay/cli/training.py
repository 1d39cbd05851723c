"""`interplay train` and `interplay resume`: learn to play a world, and go on bit for bit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from interplay.cli.declared import declared
from interplay.cli.stopping import signals_as_exit_codes
from interplay.core.errors import UserError
from interplay.core.files import short_path
from interplay.core.loading import load
from interplay.verbs import playing, training
from interplay.verbs.run import Run

_WIDE = 100_000  # agent-steps of an update (docs/machines.md)


@declared(
    training.train,
    playing.evaluate,
    without=("world", "on_update"),
    world="[WORLD|SETTINGS.toml|CONFIG.py]",
    overrides="[KEY=VALUE]...",
    bank="FOLDER",
    start_from="RUN",
    league="NAME|FILE.toml",
    preset="NAME",
)
def train(
    world: str = "",
    overrides: Sequence[str] = (),
    *,
    bank: Path | None = None,
    dry_run: bool = False,
    **given: Any,
) -> None:
    """Trains agents, with PPO unless the settings choose another algorithm, and writes a run folder: settings, metrics, checkpoints.

    Stop it with Ctrl-C and go on with `interplay resume`.

    Args:
        world: a world's id, a settings file, or an experiment's Python file, which holds all settings; a preset has its own world.
        overrides: settings, e.g. ppo.clip=0.1.
        bank: instead of --out: a folder of runs named by their settings; a run that is there is not trained again.
        dry_run: train for ten seconds, keep nothing, and print what the whole run would take; with --nodes on so many machines.

    Example:
        interplay train survival/1v1-heals-low --steps 300000 --out runs/first
        interplay train survival/2v2-all-low ppo.learning_rate=1e-4 world.options.health_cap=100
        interplay train settings.toml seed=3
        interplay train survival/1v1-heals-low --league pfsp --out runs/league
        interplay train --preset fanti2022 --out runs/published
        interplay train survival/1v1-heals-mid --start-from runs/first
        interplay train settings.toml --out /shared/run --nodes 2 --node 0 --coordinator 10.0.0.1:7777
        interplay train settings.toml --workers 8 --nodes 4 --dry-run
        interplay train examples/multi_corridor_experiment.py
    """
    if given["preset"] is not None and "=" in world:  # the preset's own world, and a setting
        world, overrides = "", [world, *overrides]
    if world.endswith(".py"):
        _refuse_more(world, overrides, {**given, "bank": bank, "dry_run": dry_run})
    if bank is not None and (out := given["out"]) is not None:
        raise UserError(f"--out {out} --bank {bank}: a bank names its runs itself; leave one out")
    with signals_as_exit_codes():
        if dry_run:
            _forecast(world, overrides, bank=bank, **given)
        else:
            typer.echo(f"run folder: {short_path(_run(world, overrides, bank, **given))}")


@declared(Run.resume, without=("self", "on_update"))
def resume(run: str, *, trust: bool = False, **given: Any) -> None:
    """Goes on from a run's newest sound checkpoint, as if it had never stopped.

    Args:
        run: a run folder, or the address of its copy (`train.copy_to`), which is fetched into ``runs/``.

    Example:
        interplay resume runs/first
        interplay resume s3://bucket/runs/first
    """
    from interplay.verbs.trainer import load_trainer, machines_of, refuse_beside_ray, resume_on_ray

    with signals_as_exit_codes():
        folder = _here(run)
        nodes, node, coordinator, ray = (given.pop(name) for name in ("nodes", "node", "coordinator", "ray"))
        if ray is not None:
            refuse_beside_ray(node=node, coordinator=coordinator)
            typer.echo(f"run folder: {short_path(resume_on_ray(folder, ray, nodes, trust=trust, **given))}")
            return
        machines = machines_of(nodes, node, coordinator)
        typer.echo(
            f"run folder: {short_path(load_trainer().resume(folder, trust=trust, machines=machines, **given))}"
        )


def _here(run: str) -> Path:
    """The run folder; a run at an address is fetched first."""
    if "://" not in run:
        return Path(run)
    from interplay.train.run.copies import fetch

    typer.echo(f"fetching {run}", err=True)
    return fetch(run)


def _run(
    world: str,
    overrides: Sequence[str],
    bank: Path | None,
    out: Path | None,
    trust: bool,
    league: str | None,
    preset: str | None,
    nodes: int | None,
    node: int | None,
    coordinator: str | None,
    ray: str | None,
    **given: Any,
) -> Path:
    """Trains and gives the run folder."""
    from interplay.verbs.trainer import load_trainer, machines_of, refuse_beside_ray, train_on_ray

    trainer = load_trainer()
    if world.endswith(".py"):
        return _train_experiment(Path(world))
    from interplay.verbs.settings import run_settings  # needs the trainer's packages

    settings = run_settings(world, overrides, training.flags(given), trust, league, preset)
    if ray is not None and bank is None:
        refuse_beside_ray(node=node, coordinator=coordinator)
        return train_on_ray(settings, out, ray, nodes)
    machines = machines_of(nodes, node, coordinator)
    if bank is not None and (machines is not None or ray is not None):
        raise UserError(f"--bank {bank}: a run over machines takes --out")
    if bank is not None:
        from interplay.train.bank import train_in_bank

        return train_in_bank(settings, bank, trust)
    path: Path = trainer.train(settings, out, machines=machines)
    return path


def _forecast(
    world: str,
    overrides: Sequence[str],
    trust: bool,
    league: str | None,
    preset: str | None,
    nodes: int | None,
    **given: Any,
) -> None:
    """Prints what a run would take."""
    from interplay.verbs.trainer import load_trainer

    load_trainer()
    from interplay.train.forecast import SECONDS, WARM, measure
    from interplay.train.run.progress import duration
    from interplay.verbs.settings import run_settings

    for name in ("bank", "out", "node", "coordinator", "ray"):
        if (value := given.pop(name)) is not None:
            raise UserError(
                f"--{name} {value}: --dry-run trains on this machine and keeps nothing; leave it out"
            )
    settings = run_settings(world, overrides, training.flags(given), trust, league, preset)
    workers, shards = settings.train.workers, settings.train.shards
    machines = 1 if nodes is None else nodes
    if not 1 <= workers * machines <= shards or machines & (machines - 1):
        raise UserError(
            f"{machines} machines of {workers} workers cannot share train.shards = {shards}; "
            "machines are 2, 4, 8 ..., and machines times workers at most the shards"
        )
    typer.echo(
        f"training for {SECONDS:.0f} s after the first {WARM} updates that learn, which compile", err=True
    )
    costs = measure(settings)
    typer.echo(
        f"this machine, {workers} worker{'s' * (workers > 1)}, {costs.updates} updates after the first: "
        f"{costs.update:.3g} s an update of {costs.agent_steps:,.0f} agent-steps and {costs.gradient_steps:.0f} gradient steps"
    )
    if costs.agent_steps > _WIDE:
        typer.echo(
            f"beyond {_WIDE:,} agent-steps an update more learn less from each; compare with fewer num_worlds"
        )
    most_updates, most_seconds = settings.train.max_updates, settings.train.max_seconds
    for count in dict.fromkeys((1, machines)):
        each = costs.on(count)
        limits = [settings.steps]
        limits += [] if most_updates is None else [round(most_updates * each.agent_steps)]
        limits += [] if most_seconds is None else [round(most_seconds * each.rate)]
        seconds = min(limits) / each.rate
        where = "" if count == 1 else f"{count} such machines at 10 Gb/s, an estimate: "
        traffic = "" if count == 1 else f"; each receives {costs.received(count) / 1e6:,.1f} MB/s"
        typer.echo(
            f"{where}{each.rate:,.0f} agent-steps/s; {min(limits):,} take {duration(seconds)}, "
            f"{seconds * workers * count / 3600:.3g} core-hours{traffic}"
        )
    replay = ", more when the replay is full" if settings.factored is not None else ""
    typer.echo(
        f"a checkpoint: {costs.checkpoint / 1e6:,.1f} MB{replay}; ratings, compilation and train.max_episodes are not counted"
    )


def _train_experiment(config: Path) -> Path:
    path: Path = load("interplay.experiment.commands:train")(config)
    return path


def _refuse_more(config: str, overrides: Sequence[str], options: dict[str, Any]) -> None:
    given = [name for name, value in options.items() if value is not None and value is not False]
    typed = [f"--{name.replace('_', '-')}" for name in given]
    for word in [*overrides, *typed]:
        raise UserError(f"{word}: the experiment {config} holds all settings of its run; set it there")
