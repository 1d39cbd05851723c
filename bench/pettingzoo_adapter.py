"""Steps per second of one world through PettingZoo, everything included, on one core.

Run from the repository root::

    .venv/bin/python -m bench.pettingzoo_adapter survival/1v1-heals-low

Actions are drawn beforehand. Counted: the agents' dictionaries in and out, checks of actions, the step, fresh observation arrays,
and the resets of finished episodes. CPU time of one pinned core, median of the windows, so that a busy
machine does not matter much. The bar for 1v1-heals-low is 18,000 (five times the author's environment).
"""

from __future__ import annotations

import argparse
import os
import time

import numpy as np

import interplay

WINDOWS = 9
STEPS = 4000
KEPT = 1024  # joint actions drawn beforehand


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("world", nargs="?", default="survival/1v1-heals-low")
    given = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    env = interplay.make(given.world)
    env.reset(seed=0)
    for slot, agent in enumerate(env.possible_agents):
        env.action_space(agent).seed(slot)
    actions = [{agent: env.action_space(agent).sample() for agent in env.agents} for _ in range(KEPT)]
    measure(env, actions, STEPS)  # warm
    rates = [measure(env, actions, STEPS) for _ in range(WINDOWS)]
    middle = float(np.median(rates))
    print(f"{given.world}: {middle:,.0f} steps/s, spread {(max(rates) - min(rates)) / middle:.0%}")


def measure(env: interplay.connect.pettingzoo.WorldEnv, actions: list[dict], steps: int) -> float:
    """Steps per CPU second."""
    began = time.process_time()
    for t in range(steps):
        env.step(actions[t % KEPT])
        if not env.agents:
            env.reset()
    return steps / (time.process_time() - began)


if __name__ == "__main__":
    main()
