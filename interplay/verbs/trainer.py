"""Import of the trainer; its packages are an extra."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

from interplay.core.errors import UserError

if TYPE_CHECKING:
    from interplay.train.parallel.machines import Machines

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
        raise UserError("a run over machines needs all three of nodes, node and coordinator")
    from interplay.train.parallel.machines import Machines

    return Machines(nodes, node, coordinator)
