"""Imports optional packages; a missing one raises one line that names the extra to install."""

from __future__ import annotations

import importlib
import os
import sys
from importlib.util import find_spec
from typing import Any

from interplay.core.errors import UserError

# Extra -> modules that it installs; pyproject.toml has the versions.
EXTRAS = {
    "train": ("jax", "optax", "equinox", "filelock"),
    "cuda12": ("jax", "jax_cuda12_plugin"),
    "cuda13": ("jax", "jax_cuda13_plugin"),
    "video": ("av",),
    "render": ("pygame",),
    "plot": ("matplotlib",),
    "frames": ("pandas",),
    "onnx": ("onnx",),
    "tournament": ("openskill",),
    "tensorboard": ("tensorboard",),
    "wandb": ("wandb",),
    "mlflow": ("mlflow",),
    "sb3": ("stable_baselines3",),
    "ray": ("ray",),
    "rllib": ("ray", "torch"),
    "remote": ("fsspec",),
    "openspiel": ("pyspiel",),
    "soccer": ("mujoco",),
    "vizdoom": ("vizdoom",),
    "sc2": ("s2clientprotocol",),
}


def present_extras() -> list[str]:
    """The installed extras; none of their modules is imported.

    Example:
        >>> set(present_extras()) <= set(EXTRAS)
        True
    """
    return [extra for extra, modules in EXTRAS.items() if all(map(_is_there, modules))]


def _is_there(module: str) -> bool:
    if module in sys.modules:  # `find_spec` fails for a module that was put there by hand
        return sys.modules[module] is not None
    return find_spec(module) is not None


def load(module: str, extra: str, purpose: str) -> Any:
    """Imports `module`.

    Raises:
        UserError: if it is missing: ``pictures need pygame; install it with pip install "interplay[render]"``.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        name = module.partition(".")[0]
        raise UserError(f'{purpose} need {name}; install it with pip install "interplay[{extra}]"') from error


def load_pygame(purpose: str = "pictures") -> Any:
    """pygame-ce without its greeting; drawing on surfaces needs no display."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    return load("pygame", "render", purpose)
