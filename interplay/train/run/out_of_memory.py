"""Memory that ends while a run trains: one line instead of a traceback."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import jax

from interplay.core.errors import UserError

_CURE = "lower num_worlds, the rollout, the minibatch or the network"


@contextlib.contextmanager
def out_of_memory_in_one_line(doing: str = "training") -> Iterator[None]:
    """Turns the errors of NumPy, Python and XLA for memory that is not there into one line.

    Raises:
        UserError: for them.
    """
    try:
        yield
    except MemoryError as error:
        raise UserError(_short(doing, error)) from error
    except jax.errors.JaxRuntimeError as error:
        if "RESOURCE_EXHAUSTED" not in str(error):
            raise
        raise UserError(_short(doing, error)) from error


def _short(doing: str, error: BaseException) -> str:
    detail = " ".join(str(error).split())
    return f"{doing}: not enough memory{f' ({detail[:200]})' if detail else ''}; {_CURE}"
