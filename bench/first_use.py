"""What somebody waits for who has just installed the package: the first reset and step of every registered world.

Run from the repository root, after ``make wheel``::

    .venv/bin/python -m bench.first_use                 # the wheel of dist/, in an empty environment
    .venv/bin/python -m bench.first_use --checkout      # this checkout, an empty kernel cache for each world

Each world is played in a process of its own with an empty cache: import, make, reset, one step at random; then as a
PettingZoo environment, and sixty steps of three copies in two threads. `wall` and `cpu` are seconds from the start of
Python to the end of the first step; `compiled` counts the kernels that were compiled until the end of all this: a wheel
brings all of them, so it should say 0. Ends with 1 if it does not, or where each of three first steps took more than `--bar`
seconds of CPU: on a shared machine a single one may take three times as long as the next.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TRIES = 3
ROOT = Path(__file__).resolve().parents[1]
FIRST = """
import json, sys, time
from interplay.registry import make_policy, make_world
world = make_world(sys.argv[1])
policy = make_policy(sys.argv[1], "random")
policy.start(world)
world.step(policy.act(world.reset()))
print(json.dumps({"monotonic": time.monotonic(), "cpu": time.process_time()}), flush=True)
import interplay
interplay.make(sys.argv[1]).reset(seed=1)
world = make_world(sys.argv[1], num_worlds=3, threads=2, seed=1)
policy.start(world)
timestep = world.reset()
for _ in range(60 if len(world.agents) <= 256 else 2):
    timestep = world.step(policy.act(timestep))
    if timestep.over.any():
        timestep = world.reset(timestep.over)
"""


def first_step(python: str, world_id: str, folder: Path, path: str) -> dict[str, float]:
    """Seconds of a new process up to its first step, and what it compiled; `folder` is empty."""
    cache = folder / "cache"
    environment = {**os.environ, "INTERPLAY_CACHE": str(cache), "PYTHONPATH": path}
    began = time.monotonic()
    command = [python, "-c", FIRST, world_id]
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{world_id}: {done.stderr}")
    said = json.loads(done.stdout)
    compiled = len(list(cache.rglob("*.kernel")))
    return {"wall": said["monotonic"] - began, "cpu": said["cpu"], "compiled": compiled}


def install(wheel: Path, folder: Path) -> str:
    """An environment with nothing but the wheel and what it needs; its Python."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = str(folder / "bin" / "python")
    pins = ["--constraint", str(ROOT / "constraints.txt")]
    quiet = ["--quiet", "--disable-pip-version-check"]
    subprocess.run([python, "-m", "pip", "install", *quiet, *pins, str(wheel)], check=True)
    subprocess.run([python, "-m", "compileall", "-q", str(folder / "lib")], check=False)
    return python


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("worlds", nargs="*", help="ids; all of them if none is named")
    parser.add_argument("--checkout", action="store_true", help="this checkout instead of a wheel")
    parser.add_argument("--bar", type=float, help="seconds of CPU: 2 for a wheel, 10 for a checkout")
    arguments = parser.parse_args()
    bar = arguments.bar or (10.0 if arguments.checkout else 2.0)
    slow = []
    with tempfile.TemporaryDirectory() as scratch:
        if arguments.checkout:
            python = sys.executable
        else:
            (wheel,) = (ROOT / "dist").glob("*.whl")
            print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB")
            python = install(wheel, Path(scratch) / "venv")
        from interplay.registry import list_worlds

        print(f"{'world':40} {'wall s':>7} {'cpu s':>7} {'compiled':>9}")
        for number, world_id in enumerate(
            arguments.worlds or [spec.id for spec in list_worlds() if not spec.missing]
        ):
            for attempt in range(TRIES):
                folder = Path(scratch) / f"{number}-{attempt}"
                folder.mkdir()
                took = first_step(python, world_id, folder, str(ROOT) if arguments.checkout else "")
                print(
                    f"{world_id:40} {took['wall']:7.2f} {took['cpu']:7.2f} {took['compiled']:9.0f}",
                    flush=True,
                )
                if took["cpu"] <= bar or took["compiled"]:
                    break
            if took["cpu"] > bar or (took["compiled"] and not arguments.checkout):
                slow.append(world_id)
    print(f"over the bar of {bar:g} s, or compiled: {', '.join(slow) or 'none'}")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
