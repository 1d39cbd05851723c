"""Settings that hold for the whole suite: examples of Hypothesis are the same ones in every run, and keys are kept apart.

A test that draws other examples each time fails on sound code now and then, in somebody else's change. To look for new
counterexamples: ``make test ARGS="--hypothesis-profile=searching"``; what it finds becomes a test of its own.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import Phase, settings

from interplay.core.waiting import WAITING
from interplay.train.parallel.flags import known

# No deadline: the first example compiles kernels, and the machine has other work too.
settings.register_profile("same", derandomize=True, database=None, deadline=None)
settings.register_profile("searching", deadline=None, print_blob=True)
# Planted slips are noticed, not explained: nobody reads the smallest example (`tests/mutants`).
settings.register_profile("noticing", settings.get_profile("same"), phases=(Phase.explicit, Phase.generate))
settings.load_profile("same")

# The user's own key is left alone; the folder is removed when the process ends.
_data = tempfile.TemporaryDirectory(prefix="interplay-data-")
os.environ["XDG_DATA_HOME"] = _data.name

# The suite compiles hundreds of programs of XLA and runs each for an instant: without LLVM's passes and MLIR's that is much sooner done.
# `make test-long` and who sets XLA_FLAGS have them as users do.
_QUICK = ["--xla_backend_optimization_level=0", "--xla_cpu_use_fusion_emitters=false"]
if "XLA_FLAGS" not in os.environ:
    os.environ["XLA_FLAGS"] = " ".join(known(_QUICK))
gc.set_threshold(50_000, 20, 100)  # compilers make millions of objects that stay


_MANY = 500  # programs of XLA
_lowered: list[str] = []  # since the last clearing


def _count(event: str, *_: object, **__: object) -> None:
    if event.endswith("jaxpr_to_mlir_module_duration"):
        _lowered.append(event)


@pytest.fixture(scope="module", autouse=True)
def _forget() -> None:
    """Programs that stay make lowering another one slower: beside thousands it took up to 17 s instead of one."""
    if (jax := sys.modules.get("jax")) is None:
        return
    if not _lowered:
        jax.monitoring.register_event_duration_secs_listener(_count)
        _lowered.append("counts")
    if len(_lowered) > _MANY:
        jax.clear_caches()
        gc.collect()
        del _lowered[1:]


# Nobody waits for the suite: who compiles first would say so among what a test reads.
WAITING.quiet = True

# Shells start what runs in the background deaf to Ctrl-C, and programs that are started inherit that: tests of Ctrl-C would fail.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


_LONG = Path(__file__).with_name("long.txt")
_WHOLE = 5_000  # tests that are collected only where all of them are


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests that ``long.txt`` names, a name that no test has is a mistake; several workers get the long modules first.

    They take whole modules in this order, and one that is left with a long one at the end keeps the others waiting.
    """
    named = {line for line in _LONG.read_text().splitlines() if not line.startswith("#")}
    for item in items:
        if item.nodeid in named:
            item.add_marker(pytest.mark.long)
    left_out = tuple(items[0].config.option.ignore or ()) if items else ()
    unknown = [
        name for name in sorted(named - {item.nodeid for item in items}) if not name.startswith(left_out)
    ]
    if len(items) > _WHOLE and unknown:
        raise pytest.UsageError(f"{_LONG.name} names {unknown[0]}, which is no test; mend the list")
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return
    tests = Counter(item.path for item in items)
    items.sort(
        key=lambda item: (
            item.get_closest_marker("slow") is None,
            -tests[item.path],
            item.path,
        )
    )
