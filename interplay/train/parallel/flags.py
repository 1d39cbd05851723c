"""Tries XLA's flags in a subprocess, because XLA ends the process at an unknown one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from interplay.core.files import replace_file
from interplay.core.kernel_cache import cache_root, private_folder
from interplay.core.reading import parse_json, read_text

_UNKNOWN = "in XLA_FLAGS:"  # in XLA's last line; the unknown flags follow it
_BEGIN = "import jax; jax.devices('cpu')"
_SECONDS = 60.0


def known(flags: Sequence[str]) -> list[str]:
    """The flags that the installed XLA accepts; all of them if the trial fails.

    A subprocess tries them once for each version of jaxlib.

    Args:
        flags: e.g. ``--xla_cpu_max_isa=AVX2``.
    """
    found = _found()
    if found is None:
        return list(flags)
    learnt = _read(found)
    if not all(flag in learnt for flag in flags):
        unknown = _unknown(flags)
        if unknown is None:
            return list(flags)
        learnt |= {flag: flag not in unknown for flag in flags}
        _write(found, learnt)
    return [flag for flag in flags if learnt[flag]]


def _found() -> Path | None:
    """The file with the results for this jaxlib; None without a cache."""
    try:
        own = version("jaxlib")
    except PackageNotFoundError:
        return None
    folder = private_folder(cache_root())
    return None if folder is None or not sys.executable else folder / f"xla-flags-{own}.json"


def _unknown(flags: Sequence[str]) -> list[str] | None:
    """The flags that XLA does not know; None if it stops for another reason."""
    variables = {"XLA_FLAGS": " ".join(flags), "JAX_PLATFORMS": "cpu", "TF_CPP_MIN_LOG_LEVEL": "0"}
    try:
        tried = subprocess.run(
            [sys.executable, "-c", _BEGIN],
            env=os.environ | variables,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    if tried.returncode == 0:
        return []
    named = tried.stderr.rpartition(_UNKNOWN)[2].split() if _UNKNOWN in tried.stderr else []
    return [flag for flag in flags if flag in named] or None


def _read(path: Path) -> dict[str, bool]:
    try:
        learnt = parse_json(read_text(path, 2**16, links=False))
    except (OSError, ValueError):
        return {}
    return (
        {flag: accepted for flag, accepted in learnt.items() if isinstance(accepted, bool)}
        if isinstance(learnt, dict)
        else {}
    )


def _write(path: Path, learnt: dict[str, bool]) -> None:
    with suppress(OSError):  # without the file the next process tries again
        replace_file(path, json.dumps(learnt, indent=1) + "\n")
