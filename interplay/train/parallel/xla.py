"""Sets XLA to one thread per process and one instruction set, so that bits do not depend on free cores.

Two compute threads give other bits than one, and older instruction sets others than AVX2 (specification scale 3.1). Workers are
processes, so one thread each loses nothing. XLA reads the environment variables when jax starts its backend, so import this module
before that.
"""

from __future__ import annotations

import contextlib
import os
import platform
from pathlib import Path

import jax

from interplay.core.kernel_cache import cache_root, private_folder
from interplay.train.parallel.flags import known


def _trim(folder: Path, limit: int) -> None:
    """Removes the oldest files beyond `limit` bytes."""
    found = []
    for file in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):  # another process trims too
            found.append((file.stat().st_mtime_ns, file.stat().st_size, file))
    kept = 0
    for _, size, file in sorted(found, reverse=True):
        kept += size
        if kept > limit:
            file.unlink(missing_ok=True)


_FLAGS = ["--xla_cpu_multi_thread_eigen=false"]
if platform.machine() in ("x86_64", "AMD64"):
    _FLAGS.append("--xla_cpu_max_isa=AVX2")

# A user's own flags come last and win.
_given = os.environ.get("XLA_FLAGS", "")
_ours = known([flag for flag in _FLAGS if flag.split("=")[0] not in _given])
os.environ["XLA_FLAGS"] = " ".join([*_ours, _given]).strip()
os.environ["NPROC"] = "1"  # the size of XLA's own pool of compute threads
# jax read JAX_PLATFORMS at its import, so its config counts here; the variable is for child processes.
if not jax.config.jax_platforms:  # type: ignore[attr-defined]
    os.environ["JAX_PLATFORMS"] = "cpu"
    jax.config.update("jax_platforms", "cpu")

# With one thread, asynchronous dispatch would only cost.
jax.config.update("jax_cpu_enable_async_dispatch", False)

# Compiled programs are cached: the first run compiles for seconds, later ones and other workers load. jax's own limit reads the
# whole folder for each new program, under a lock: 76 ms with 4,400 programs.
_OURS = cache_root() / "xla"
_IS_FREE = jax.config.jax_compilation_cache_dir is None  # type: ignore[attr-defined]
if _IS_FREE and private_folder(cache_root()) and private_folder(_OURS):
    jax.config.update("jax_compilation_cache_dir", str(_OURS))
    _trim(_OURS, 256 * 2**20)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)


def describe() -> dict[str, str]:
    """What a run's bits depend on besides its settings; stored in every checkpoint."""
    import numpy as np

    return {
        "jax": jax.__version__,
        "numpy": np.__version__,
        "machine": platform.machine(),
        "xla_flags": os.environ["XLA_FLAGS"],
    }
