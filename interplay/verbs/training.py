"""Training from Python, with the settings of the command line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, Unpack

from interplay.core.errors import UserError
from interplay.core.loading import did_you_mean
from interplay.verbs.keywords import Option, UnknownKeyword, keywords, takes
from interplay.verbs.run import OnUpdate, Run, with_run

Group = Mapping[str, Any]


class TrainOptions(TypedDict, total=False):
    """Options of `train` that are settings, by the last part of their keys."""

    steps: Annotated[int | None, Option(None, "agent-steps in total, e.g. 1e6.")]
    seed: Annotated[int | None, Option(None, "of every random stream of the run.")]
    num_worlds: Annotated[int | None, Option(None, "worlds that are stepped together.")]
    workers: Annotated[
        int | None,
        Option(
            None,
            "processes; they change no bit. None: cores, or 1 where only this process can make the world.",
        ),
    ]
    device: Annotated[
        str | None, Option(None, "where the networks are computed, see docs/gpu.md. None: cpu.")
    ]
    precision: Annotated[str | None, Option(None, "of products of matrices on a card, see docs/gpu.md.")]
    threads: Annotated[
        int | str | None,
        Option(None, "threads that step worlds, in each process; they change no bit."),
    ]
    start_from: Annotated[
        str | Path | None,
        Option(None, "a run, or one of ``RUN/checkpoints``; the run begins with its weights."),
    ]


if TYPE_CHECKING:
    from interplay.train.settings.train import SettingsKeywords

    class TrainKeywords(TrainOptions, SettingsKeywords, total=False):
        """All keyword settings of `train`."""


@takes(TrainOptions)
def train(
    world: object,
    /,
    out: str | Path | None = None,
    *,
    league: str | Group | None = None,
    preset: str | None = None,
    on_update: OnUpdate | None = None,
    trust: bool = False,
    nodes: int | None = None,
    node: int | None = None,
    coordinator: str | None = None,
    ray: str | None = None,
    **settings: Unpack[TrainKeywords],
) -> Run:
    """Trains agents and writes a run folder: settings, metrics, checkpoints.

    The first Ctrl-C lets the update end, saves and gives the run, which `Run.resume` goes on with.

    Args:
        world: a world's id, ``"module:name"`` or a settings file; or a `World`, a PettingZoo environment (parallel or in turns), a
            Gymnasium environment or a vector of them, a simulation's manager, or a function that makes one of these.
        out: the run's folder. None: ``runs/WORLD-DATE-N``.
        league: self-play in a league: latest, history, pfsp, psro, exploiters, or a file with the keys of ``[league]``; in Python also these keys.
        preset: published settings, below yours: fanti2022 (survival), suarez2019 (mmo), werewolf-record; or gpu: batches for a card.
        on_update: called after every update with the run and its numbers; where it returns True the run saves and stops;
            a mapping that it returns are options with which the worlds are made anew.
        trust: as for `evaluate`.
        nodes: machines that train together; each starts the same command with its own `node`. They change no bit. None: this one alone.
        node: the number of this machine, from 0 on. Machine 0 writes the run folder, which all machines must see.
        coordinator: HOST:PORT of machine 0, which the others reach.
        ray: train on the machines of a Ray cluster: HOST:PORT of its head, or auto for the one of this machine; `nodes` of them, or
            as many as there are and the shards allow.
        **settings: every other setting, by groups (``ppo={"clip": 0.1}``), or by dotted names (``**{"ppo.clip": 0.1}``), which type
            checkers cannot check.

    Returns:
        The run.

    Raises:
        UserError: for an unknown world, setting or value, a folder in use, or settings that do not fit the world or memory.

    Example:
        >>> import tempfile
        >>> run = train("dilemma/fixed", tempfile.mkdtemp() + "/run", steps=512, num_worlds=4, workers=1,
        ...             network={"kind": "mlp"}, train={"quiet": True})
        >>> int(run.metrics["agent_steps"][-1]) >= 512
        True
    """
    from interplay.connect.resolved import resolve_world
    from interplay.core.settings import merge
    from interplay.verbs.trainer import load_trainer, machines_of, refuse_beside_ray, train_on_ray

    out = None if out is None else Path(out).absolute()
    trainer = load_trainer()
    from interplay.verbs.settings import run_settings  # needs the trainer's packages

    if isinstance(world, Path):
        world = str(world)
    if isinstance(world, str) and world.endswith(".py"):
        raise UserError(
            f"{world}: an experiment holds all settings of its run; use interplay.experiment, or `interplay train {world}`"
        )
    resolved = resolve_world(world)
    grouped: dict[str, Any] = dict(settings)
    typed = flags({name: grouped.pop(name) for name in TrainOptions.__annotations__})
    given = nested(grouped)
    _refuse_misspelt(grouped)
    if isinstance(league, Mapping):
        given, league = merge({"league": nested(league)}, given), None
    own = resolved if resolved.make is not None else None
    if own is not None:
        _keep_in_process(given, typed)
    chosen = run_settings(resolved.id, given, typed, trust, league, preset, own)
    if ray is not None:
        refuse_beside_ray(on_update=on_update, node=node, coordinator=coordinator)
        if own is not None:
            raise UserError(
                f"ray = {ray}: other machines cannot make an environment that was handed over; write it into a module"
            )
        return Run(train_on_ray(chosen, out, ray, nodes), trust=trust)
    machines = machines_of(nodes, node, coordinator)
    path = trainer.train(chosen, out, resolved.make, with_run(resolved, trust, on_update), machines)
    return Run(path, own, trust=trust)


def flags(given: Mapping[str, Any]) -> dict[str, Any]:
    """Values of `TrainOptions` by the settings' keys; None: not given.

    Example:
        >>> flags({"steps": 512, "workers": None, "device": "gpu"})
        {'steps': 512, 'train.device': 'gpu'}
    """
    return {
        name if name in ("steps", "seed", "num_worlds") else f"train.{name}": plain_path(value)
        for name, value in given.items()
        if value is not None
    }


def plain_path(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value


def nested(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by groups or dotted names as one nested mapping; later ones win.

    Example:
        >>> nested({"ppo": {"clip": 0.1}, "ppo.rollout": 64})
        {'ppo': {'clip': 0.1, 'rollout': 64}}
    """
    from interplay.core.settings import merge

    values: dict[str, Any] = {}
    for key, value in settings.items():
        one: Any = nested(value) if isinstance(value, Mapping) else plain_path(value)
        for part in reversed(key.split(".")):
            one = {part: one}
        values = merge(values, one)
    return values


def _refuse_misspelt(settings: Mapping[str, Any]) -> None:
    """Names the argument that is meant by what is no setting; `build_settings` names the setting."""
    from interplay.core.settings import key_called
    from interplay.train.settings import TrainSettings

    known = keywords(train)
    for name in settings:
        if name.partition(".")[0] in TrainSettings.model_fields or key_called(TrainSettings, name):
            continue
        if near := did_you_mean(name, known, ""):
            raise UnknownKeyword(f"train: unknown argument {name!r}; {near}")


def _keep_in_process(given: dict[str, Any], flags: dict[str, Any]) -> None:
    """Sets one worker, since only this process can make the world."""
    group = given.get("train", {})
    workers = flags.get("train.workers", group.get("workers", 1) if isinstance(group, Mapping) else 1)
    if workers != 1:
        raise UserError(
            f"workers = {workers}: other processes cannot make an environment that was handed over; write the function that makes it "
            "into a module, with its return annotation (-> ParallelEnv), or leave workers out"
        )
    flags["train.workers"] = 1
