"""Pictures by an environment's own `render` with ``render_mode="rgb_array"``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from interplay.core.errors import UserError

PIXELS = "rgb_array"


def own_picture(env: Any) -> np.ndarray | None:
    """(height, width, 3) uint8 of an environment made with ``render_mode="rgb_array"``; else None.

    Raises:
        UserError: if `render` returns no picture.
    """
    if getattr(env, "render_mode", None) != PIXELS or not callable(getattr(env, "render", None)):
        return None
    given = env.render()
    picture = np.asarray(given)
    if picture.ndim != 3 or picture.shape[2] not in (3, 4) or picture.dtype != np.uint8 or not picture.size:
        raise UserError(
            f"render() of {type(env).__name__} gave {picture.dtype}{picture.shape}; {PIXELS} is (height, width, 3) uint8, mend it"
        )
    return np.ascontiguousarray(picture[..., :3])


def draws_unasked(env: Any) -> bool:
    """Whether an environment can draw itself but was made without a render mode."""
    modes = (getattr(env, "metadata", None) or {}).get("render_modes") or ()
    return PIXELS in modes and getattr(env, "render_mode", None) is None


def asked_for_pixels(make: Callable[..., Any], made: Any, options: Mapping[str, Any]) -> bool:
    """Whether to make an environment again with ``render_mode="rgb_array"``, which its options leave open.

    Args:
        make: the function that made it.
        made: the environment.
        options: that `make` was called with.
    """
    if "render_mode" in options or not draws_unasked(made):
        return False
    try:
        parameters = inspect.signature(make).parameters
        takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
        return "render_mode" in parameters or (takes_all and _hands_on(make))
    except (TypeError, ValueError):  # no signature to read
        return False


def _hands_on(make: Any) -> bool:
    """Whether a function is PettingZoo's or Gymnasium's, which pass all keywords to the environment."""
    while isinstance(make, partial):
        make = make.func
    packages = ("gymnasium", "pettingzoo")
    return str(getattr(make, "__module__", "")).partition(".")[0] in packages
