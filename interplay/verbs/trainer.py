"""Import of the trainer; its packages are an extra."""

from __future__ import annotations

from types import ModuleType

from interplay.core.errors import UserError

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
