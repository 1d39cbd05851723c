"""What survival costs before it runs: memory of a batch, first-use compilation, a start with a warm cache.

Run from the repository root::

    .venv/bin/python -m bench.footprint

Memory: the bytes of every array of 1,024 worlds of survival/2v2-all-low, state and observations. Starts: a new process that imports
the package, makes 256 worlds of survival/1v1-heals-low, resets them and steps once; wall time of the whole process, first with an empty
kernel cache, then with a warm one.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

from interplay.registry import make_world

START = """
from interplay.registry import make_world, make_policy
world = make_world("survival/1v1-heals-low", num_worlds=256)
policy = make_policy("survival/1v1-heals-low", "random")
policy.start(world)
world.step(policy.act(world.reset()))
"""


def start_seconds(cache: str) -> float:
    """Wall seconds of a new process up to and including the first step."""
    began = time.monotonic()
    subprocess.run([sys.executable, "-c", START], env={**os.environ, "INTERPLAY_CACHE": cache}, check=True)
    return time.monotonic() - began


def main() -> None:
    world = make_world("survival/2v2-all-low", num_worlds=1024)
    size = sum(array.nbytes for array in world.save().values())
    print(f"1,024 worlds of survival/2v2-all-low, state and observations: {size / 1e6:.1f} MB")
    with tempfile.TemporaryDirectory() as cache:
        print(f"first use, empty kernel cache: {start_seconds(cache):.1f} s")
        warm = sorted(start_seconds(cache) for _ in range(5))
        print(f"warm cache: median {warm[2]:.2f} s, {warm[0]:.2f} to {warm[-1]:.2f} s over 5 starts")


if __name__ == "__main__":
    main()
