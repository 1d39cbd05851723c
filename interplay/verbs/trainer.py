"""Import of the trainer; its packages are an extra."""

from __future__ import annotations

import datetime
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from interplay.core.errors import UserError

if TYPE_CHECKING:
    from interplay.core.processes import Place
    from interplay.train.parallel.machines import Machines
    from interplay.train.settings import TrainSettings

EXTRA = ("jax", "jaxlib", "optax", "equinox")


def load_trainer() -> ModuleType:
    """Imports the trainer."""
    try:
        from interplay.train import trainer
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in EXTRA:
            raise
        raise UserError(
            f'training and trained policies need {error.name}; install it with pip install "interplay[train]"'
        ) from error
    return trainer


def machines_of(nodes: int | None, node: int | None, coordinator: str | None) -> Machines | None:
    """The machines of a run; None: this one alone.

    Raises:
        UserError: if only some of the three are given.
    """
    if nodes is None and node is None and coordinator is None:
        return None
    if nodes is None or node is None or coordinator is None:
        raise UserError("a run over machines: give --nodes 2 --node 0 --coordinator HOST:PORT")
    from interplay.train.parallel.machines import Machines

    return Machines(nodes, node, coordinator)


def place_of(ray: str | None) -> Place:
    """Where processes are started: on this machine, or on a Ray cluster."""
    from interplay.core.processes import HERE

    if ray is None:
        return HERE
    from interplay.connect.cluster import Cluster

    return Cluster(ray)


def train_on_ray(settings: TrainSettings, out: str | Path | None, address: str, nodes: int | None) -> Path:
    """Trains on the machines of a Ray cluster."""
    from interplay.connect.cluster import Cluster
    from interplay.train.places import train_on
    from interplay.train.run.folder import default_run_path
    from interplay.train.trainer import with_checkpoints

    run = Path(out) if out is not None else default_run_path(settings.world.id, datetime.date.today())
    train = settings.train
    return train_on(Cluster(address), run, with_checkpoints(settings), nodes, train.workers, train.shards)


def resume_on_ray(run: Path, address: str, nodes: int | None, workers: int | None, **changes: Any) -> Path:
    """Resumes a run on the machines of a Ray cluster; `changes` are further arguments of `resume`."""
    from interplay.connect.cluster import Cluster
    from interplay.core.settings import from_toml
    from interplay.train.places import train_on
    from interplay.train.run.settings_file import NAME
    from interplay.train.settings import TrainSettings

    train = from_toml(run / NAME, TrainSettings).train
    return train_on(Cluster(address), run, None, nodes, workers or train.workers, train.shards, **changes)


def refuse_beside_ray(**given: object) -> None:
    """Refuses arguments that a run on a Ray cluster does not read."""
    for name, value in given.items():
        if value is not None:
            raise UserError(f"{name} = {value}: a run with ray does not read it; leave it out")
