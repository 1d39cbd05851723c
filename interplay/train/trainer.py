"""`train`, `resume` and `load_policy`: a run from its settings to its last checkpoint.

`supervision.py` replaces lost workers, `update_loop.py` is the loop of updates, `update.py` a single update.
"""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from interplay.core.settings import changed
from interplay.core.stopping import Stop, finishing
from interplay.train.curriculum import admit_options
from interplay.train.devices import ON_CPU, auto_is_card, describe, open_device, with_device
from interplay.train.interfaced import through_interfaces
from interplay.train.learner import Learner
from interplay.train.making import make_learner, registry_factory
from interplay.train.over_machines import check_machines, follow_lead, values, versions, with_workers
from interplay.train.parallel.exchange import SingleProcess
from interplay.train.parallel.machines import Machines, Network, network_of
from interplay.train.parallel.workers import check_main
from interplay.train.play.policy import load_policy, load_population
from interplay.train.run.checkpoint import Checkpoint
from interplay.train.run.folder import RunFolder, default_run_path
from interplay.train.run.pins import pin_players
from interplay.train.run.progress import tell
from interplay.train.run.writers import check_writers
from interplay.train.settings import TrainGroup, TrainSettings
from interplay.train.settings.unread import check_read
from interplay.train.shard import MakeWorld
from interplay.train.supervision import newest, supervise
from interplay.train.update import Worker, share_of
from interplay.train.update_loop import OnUpdate

__all__ = ["load_policy", "load_population", "resume", "train"]

FIRST_UPDATES = 200  # most updates before a replay algorithm takes its first gradient step


def train(
    settings: TrainSettings,
    out: Path | str | None = None,
    make_world: MakeWorld | None = None,
    on_update: OnUpdate | None = None,
    machines: Machines | None = None,
) -> Path:
    """Trains from the beginning and returns the run folder.

    Args:
        settings: of the run.
        out: the run's folder; None makes one under ``runs/``.
        make_world: ``make_world(num_worlds=, seed=, first_world=) -> World``, importable by the workers; None takes
            ``settings.world`` from the registry.
        on_update: ``on_update(run folder, numbers)``, called after every update with the logged numbers. If it returns True the
            run saves and stops; if it returns a mapping, the worlds are made anew with these options.
        machines: of a run over several machines, as this process is started; each calls `train` with the same arguments.

    Raises:
        UserError: for settings that do not fit the world or memory, a folder in use, numbers that are not finite, three
            lost workers without an update in between, and if the weights of ``train.start_from`` do not fit.
    """
    check_main()
    check_read(settings)
    check_writers(settings)
    settings = with_device(with_checkpoints(settings))
    if machines is not None:
        check_machines(machines.nodes, settings.train.shards)
    with finishing() as stop, network_of(machines, stop) as network:
        if network is not None:
            network.compare(versions() | values(settings))
            if network.node:
                return follow_lead(network, make_world, stop)
            settings = with_workers(network, settings)
        return _begin(settings, out, make_world, stop, on_update, network)


def _begin(
    settings: TrainSettings,
    out: Path | str | None,
    make_world: MakeWorld | None,
    stop: Stop,
    on_update: OnUpdate | None,
    network: Network | None,
) -> Path:
    """Leads a run from its beginning."""
    make = through_interfaces(settings, make_world or registry_factory(settings))
    learner = make_learner(settings, make, begins=True)
    path = Path(out) if out is not None else default_run_path(settings.world.id, datetime.date.today())
    with RunFolder.create(path, settings) as run:
        try:
            supervise(run, make, learner, None, stop, on_update, network)
        except BaseException:
            run.take_back()  # an empty folder would block the corrected command
            raise
    return path


def first_weights(settings: TrainSettings) -> dict[str, bytes]:
    """Kind name -> the bytes of its weights after the first update with gradient steps; writes nothing to disk."""
    check_read(settings)
    settings = with_checkpoints(settings)
    make = through_interfaces(settings, registry_factory(settings))
    learner = make_learner(settings, make, begins=True, say=str)
    with contextlib.closing(Worker(settings, make, learner, SingleProcess())) as worker:
        for _ in range(FIRST_UPDATES):
            if worker.update()["gradient_steps"]:
                break
    return {kind: np.asarray(vectors).tobytes() for kind, vectors in learner.vectors.items()}


def with_checkpoints(settings: TrainSettings) -> TrainSettings:
    """The settings of a run that begins, with a pin for every player; relative paths are from the working folder."""
    here = changed(settings, {"pins": {"folder": ""}}, "train")
    return pin_players(here, typed=True, begins=True, cure="leave out pins.players")


def resume(
    run: Path | str,
    workers: int | None = None,
    steps: int | None = None,
    make_world: MakeWorld | None = None,
    accept_settings: bool = False,
    trust: bool = False,
    on_update: OnUpdate | None = None,
    device: str | None = None,
    precision: str | None = None,
    threads: int | str | None = None,
    machines: Machines | None = None,
) -> Path:
    """Continues from a run's newest sound checkpoint, bit for bit as without the stop; returns the run folder.

    Args:
        run: the run folder.
        workers: another number of processes; None keeps it.
        steps: another total of agent-steps; None keeps it.
        make_world: as given to `train`.
        accept_settings: use the present ``settings.toml``, though the checkpoint was made with other values.
        trust: allow programs that the settings name; needed once, for a run from elsewhere.
        on_update: as given to `train`.
        device: another value of ``train.device``; None keeps it. The bits differ from here on.
        precision: the same of ``train.precision``.
        threads: another value of ``train.threads``; None keeps it.
        machines: as given to `train`; their number changes no bit.

    Raises:
        UserError: as `train`, and if no checkpoint is sound, its settings were others, or they name programs and are not trusted.
    """
    check_main()
    with finishing() as stop, network_of(machines, stop) as network:
        if network is not None and network.node:
            network.compare(versions())
            return follow_lead(network, make_world, stop)
        change = partial(
            _changed,
            owner=str(run),
            device=device,
            steps=steps,
            workers=workers,
            precision=precision,
            threads=threads,
        )
        with RunFolder.open(run) as folder:
            _go_on(folder, change, make_world, accept_settings, trust, stop, on_update, network)
    return Path(run)


def _go_on(
    folder: RunFolder,
    change: Callable[[TrainSettings], TrainSettings],
    make_world: MakeWorld | None,
    accept_settings: bool,
    trust: bool,
    stop: Stop,
    on_update: OnUpdate | None,
    network: Network | None,
) -> None:
    """Leads a run from its newest checkpoint on; `change` makes the settings that it goes on with."""
    checkpoint = newest(folder)
    folder.admit(checkpoint, accept_settings, trust)
    if checkpoint is not None:
        admit_options(folder.settings, checkpoint.record, folder.path, trust)
    settings = pin_players(change(folder.settings), tell, begins=checkpoint is None, accept=accept_settings)
    settings = with_device(settings)
    if network is not None:
        network.compare(versions())
        settings = with_workers(network, settings)
    open_device(settings.train)  # before the folder is marked as used
    if checkpoint is not None:
        _tell_other_device(checkpoint, settings.train)
    before = folder.settings
    folder.change(settings)
    folder.rewind(checkpoint.agent_steps if checkpoint else 0)
    make = through_interfaces(folder.settings, make_world or registry_factory(folder.settings))
    learner = make_learner(folder.settings, make, begins=checkpoint is None)
    if checkpoint is not None and settings.steps != before.steps:
        _tell_of_schedules(learner, checkpoint, before, settings)
    supervise(folder, make, learner, checkpoint, stop, on_update, network)


def _tell_other_device(checkpoint: Checkpoint, train: TrainGroup) -> None:
    """Prints a line if a run continues on another device than its checkpoint's."""
    compute = checkpoint.record.get("compute")
    was = compute.get("device", "cpu") if isinstance(compute, Mapping) else "cpu"
    if was == (now := describe(train)):
        return
    products = "bfloat16" in was and train.precision == "float32"
    tell(f"this run was made on {was}; from here on, on {now}{' in float32' * products}, it has other bits")


def _tell_of_schedules(
    learner: Learner, checkpoint: Checkpoint, before: TrainSettings, settings: TrainSettings
) -> None:
    """Prints which rates another number of steps moves."""
    done = checkpoint.agent_steps, int(checkpoint.record["updates"]), int(checkpoint.record["episodes"])
    own = learner.populations.names[0]
    old, new = (learner.algorithm.rates(share_of(one, *done), own) for one in (before, settings))
    if moved := [f"{name} {rate:.3g} -> {new[name]:.3g}" for name, rate in old.items() if rate != new[name]]:
        tell(
            f"steps = {settings.steps:,}, not {before.steps:,}, stretches schedules: {', '.join(moved)}; "
            "a run that began with so many has another result"
        )


def _changed(
    settings: TrainSettings,
    owner: str,
    device: str | None,
    steps: int | None,
    **given: int | str | None,
) -> TrainSettings:
    """The settings with those of `resume` that are not None."""
    train: dict[str, Any] = {}
    if device is not None:
        alone = auto_is_card() if device == "auto" else device != "cpu"  # one process feeds a GPU
        train = {"device": device} | ({"workers": 1} if alone else {})
        if not device.startswith(("gpu", "auto")):
            train |= ON_CPU
    train |= {key: value for key, value in given.items() if value is not None}
    return changed(settings, {"train": train} | ({} if steps is None else {"steps": steps}), owner)
