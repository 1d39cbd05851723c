"""Optional neighbours of the viewer: a missing one answers with one sentence that says what to install."""

from __future__ import annotations

import importlib
import os
from typing import Any

from interplay.core.errors import UserError


def load(module: str, extra: str, purpose: str) -> Any:
    """Imports `module`, or says how to get it.

    Raises:
        UserError: if it is not installed: ``pictures need pygame; install it with pip install "interplay[render]"``.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        name = module.partition(".")[0]
        raise UserError(f'{purpose} need {name}; install it with pip install "interplay[{extra}]"') from error


def load_pygame(purpose: str = "pictures") -> Any:
    """pygame-ce without its greeting; drawing on surfaces needs neither a display nor an environment variable."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    return load("pygame", "render", purpose)
