"""Steps per second of simulations written agent by agent, through their managers: ours, and the Abmarl release's if a Python has it.

    python -m bench.simulations
    python -m bench.simulations --peer /path/to/venv/bin/python     # one with abmarl installed

MultiCorridor with 10 cells and 5 agents, actions drawn before, resets included, median of `RUNS` runs of `SECONDS` of processor
time each; observation, reward, done and info of everybody whom the manager reports. Runs of the peer alternate with ours. With
``--batch`` also 64 copies as one world (`SimulationWorld`), random actions drawn before.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

RUNS, SECONDS, POOL = 3, 2.0, 4096
CASES = ("AllStepManager", "TurnBasedManager")


def measure(manager: Any) -> dict[str, float]:
    """Environment steps and agent steps per second of processor time."""
    pool = random.Random(1).choices(range(3), k=POOL)
    steps = acted = at = 0
    observations = manager.reset()
    waiting = list(observations)
    began = time.process_time()
    while (spent := time.process_time() - began) < SECONDS:
        for _ in range(200):
            actions = {}
            for name in waiting:
                actions[name] = pool[at % POOL]
                at += 1
            observations, _, dones, _ = manager.step(actions)
            steps += 1
            acted += len(actions)
            if dones["__all__"]:
                waiting = list(manager.reset())
            else:
                waiting = [name for name in observations if not dones[name]]
    return {"env_steps": steps / spent, "agent_steps": acted / spent}


def ours(case: str) -> dict[str, float]:
    """One run of this package."""
    from interplay.sim import managers
    from interplay.worlds import MultiCorridor

    return measure(getattr(managers, case)(MultiCorridor()))


def theirs(case: str) -> dict[str, float]:
    """One run of the release, in a Python that has it."""
    from abmarl import managers
    from abmarl.examples import MultiCorridor

    return measure(getattr(managers, case)(MultiCorridor()))


def batched(case: str) -> dict[str, float]:
    """One run of 64 copies as a world."""
    import numpy as np

    from interplay.sim import managers
    from interplay.worlds import MultiCorridor

    world = getattr(managers, case)(MultiCorridor()).vectorize(64)
    actions = np.random.default_rng(1).integers(0, 3, (64, 64, 5))
    timestep, steps, acted, at = world.reset(), 0, 0, 0
    began = time.process_time()
    while (spent := time.process_time() - began) < SECONDS:
        if timestep.over.any():
            timestep = world.reset(timestep.over)
        steps += world.num_worlds
        acted += int(timestep.acting.sum())
        timestep = world.step(actions[at % 64])
        at += 1
    return {"env_steps": steps / spent, "agent_steps": acted / spent}


def _elsewhere(python: str, case: str) -> dict[str, float]:
    done = subprocess.run([python, __file__, "--one", case], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    """Prints one line per case and side."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peer", help="a Python with abmarl")
    parser.add_argument("--batch", action="store_true", help="64 copies as one world too")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(theirs(options.one)))
        return
    sides: dict[str, Callable[[str], dict[str, float]]] = {"interplay": ours}
    if options.peer:
        sides["abmarl"] = lambda case: _elsewhere(options.peer, case)
    if options.batch:
        sides["batch of 64"] = batched
    print(f"MultiCorridor, 5 agents, Python {sys.version.split()[0]}, median of {RUNS} runs of {SECONDS:g} s")
    for case in CASES:
        runs: dict[str, list[dict[str, float]]] = {side: [] for side in sides}
        for _ in range(RUNS):
            for side, run in sides.items():
                runs[side].append(run(case))
        for side, found in runs.items():
            env, agent = (
                statistics.median(run[key] for run in found) for key in ("env_steps", "agent_steps")
            )
            print(f"{case:17} {side:12} {env:10,.0f} env steps/s {agent:10,.0f} agent steps/s")


if __name__ == "__main__":
    main()
