"""The start of a run over several machines: equal versions and settings, and the loop of the machines that follow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from interplay.core import versions as core_versions
from interplay.core.errors import UserError
from interplay.core.overdue import OVERDUE
from interplay.core.settings import changed
from interplay.core.settings_text import show
from interplay.core.stopping import Stop
from interplay.train.devices import CPU
from interplay.train.interfaced import through_interfaces
from interplay.train.making import make_learner, registry_factory
from interplay.train.parallel import xla
from interplay.train.parallel.machines import Network
from interplay.train.parallel.workers import worker_pool
from interplay.train.run.progress import tell
from interplay.train.settings import TrainSettings
from interplay.train.shard import MakeWorld
from interplay.train.update_loop import follow


def versions() -> dict[str, Any]:
    """Versions and flags in which the machines of a run must be equal."""
    return core_versions.versions() | xla.describe()


def values(settings: TrainSettings) -> dict[str, str]:
    """Settings in which the machines of a run must be equal, as TOML, by their dotted names."""
    found = {name: show(value) for name, value in _leaves(settings.model_dump(mode="json"))}
    del found["train.workers"], found["pins.folder"]
    return found


def check_machines(nodes: int, shards: int) -> None:
    """Refuses more machines than shards."""
    if nodes > shards:
        raise UserError(f"{nodes} machines cannot share train.shards = {shards}; start at most {shards}")


def with_workers(network: Network, settings: TrainSettings) -> TrainSettings:
    """Fewer workers per machine if the machines have too few shards for them.

    Raises:
        UserError: for more machines than shards, or networks on another device than the processor.
    """
    shards, workers = settings.train.shards, settings.train.workers
    check_machines(network.nodes, shards)
    if settings.train.device != CPU:
        raise UserError(
            f"train.device = {settings.train.device}: several machines train on processors; leave it out"
        )
    if workers * network.nodes <= shards:
        return settings
    fit = shards // network.nodes
    tell(f"train.workers = {fit}, not {workers}: {network.nodes} machines share train.shards = {shards}")
    return changed(settings, {"train": {"workers": fit}}, "train")


def follow_lead(network: Network, make_world: MakeWorld | None, stop: Stop) -> Path:
    """Trains this machine's shards until machine 0 ends the run; returns the run folder.

    Args:
        make_world: as for `interplay.train.trainer.train`.
        stop: requests a save and a stop from machine 0.
    """
    text, folder, source = network.share(None)
    run = Path(folder)
    if not run.is_dir():
        raise UserError(
            f"machine {network.node} has no {run}, which machine 0 writes; put the run on storage that all machines share"
        )
    settings = TrainSettings.model_validate_json(text)
    make = through_interfaces(settings, make_world or registry_factory(settings))
    learner = make_learner(settings, make, source is None, say=str, first=False)
    job = (text, make, run, None if source is None else Path(source))
    with (
        OVERDUE.limited(settings.train.step_limit),
        worker_pool(settings.train.workers, learner.size, follow, job, network) as exchange,
    ):
        follow(exchange, *job, stop)
    return run


def _leaves(tree: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in tree.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", value
