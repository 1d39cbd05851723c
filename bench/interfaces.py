"""What interfaces cost: a world's step behind a stack, against the same step without one, in one run.

    python -m bench.interfaces [--world survival/1v1-heals-low] [--num-worlds 256] [--steps 300] [--repeats 5]

Times are process CPU time; both worlds are played with the same random actions, and reset as their worlds end. Below stands what
copying alone takes in NumPy, without anything of ours around it: no stack that moves these numbers is faster.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np

from interplay.core.policy import RandomPolicy
from interplay.core.world import World
from interplay.interfaces.world import InterfacedWorld
from interplay.registry import make_world

STACKS = {
    "nothing": ["Interface"],
    "FrameStack": [{"name": "FrameStack", "k": 4}],
    "PrevActObs": ["PrevActObs"],
    "ConcatVec": ["ConcatVec"],
    "FrameStack + PrevActObs + ConcatVec": [{"name": "FrameStack", "k": 4}, "PrevActObs", "ConcatVec"],
    "ConcatVec + PrevActObs + FrameStack": [
        "ConcatVec",
        {"name": "PrevActObs", "mode": "append"},
        {"name": "FrameStack", "k": 4},
    ],
}


def seconds(world: World, steps: int) -> float:
    """CPU seconds of a step, without the player's."""
    player = RandomPolicy()
    player.start(world)
    step, spent = world.reset(seeds=1), 0.0
    for _ in range(steps):
        action = player.act(step)
        began = time.process_time()
        step = world.step(action)
        if step.over.any():
            step = world.reset(step.over)
        spent += time.process_time() - began
    return spent / steps


def copies(world: World, k: int) -> Iterator[tuple[str, Callable[[], object]]]:
    """What FrameStack(k) and ConcatVec move in a step, as (what, the copy)."""
    rows = world.num_worlds * len(world.agents)
    leaves = [array.reshape(rows, -1) for array in world.reset().observation.values()]
    ends = np.cumsum([0, *(leaf.shape[1] for leaf in leaves)]).tolist()
    frames = np.zeros((rows, k, ends[-1]), np.float32)
    one, vector = np.zeros((rows, ends[-1]), np.float32), np.zeros((rows, k * ends[-1]), np.float32)

    def flatten() -> None:
        for leaf, (start, end) in zip(leaves, pairwise(ends), strict=True):
            one[:, start:end] = leaf

    def shift() -> None:
        frames[:, :-1] = frames[:, 1:]

    def flatten_all() -> None:
        for start, end in pairwise(ends):
            vector[:, k * start : k * end].reshape(rows, k, -1)[...] = frames[:, :, start:end]

    yield f"{k} observations copied in one piece", frames.copy
    yield "one observation, leaf by leaf", flatten
    yield f"{k} observations moved on by one", shift
    yield f"{k} observations, leaf by leaf", flatten_all


def least(deed: Callable[[], object], times: int = 300, repeats: int = 7) -> float:
    """CPU seconds of a deed, the quickest of the repeats."""
    found = []
    for _ in range(repeats):
        began = time.process_time()
        for _ in range(times):
            deed()
        found.append((time.process_time() - began) / times)
    return min(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--world", default="survival/1v1-heals-low")
    parser.add_argument("--num-worlds", type=int, default=256)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    plain = make_world(args.world, num_worlds=args.num_worlds)
    name = plain.kinds[0].name
    seconds(plain, 50)
    print(f"{args.world}, {args.num_worlds} worlds")
    for title, stack in STACKS.items():
        ratios, costs = [], []
        for _ in range(args.repeats):
            world = InterfacedWorld(make_world(args.world, num_worlds=args.num_worlds), {name: stack})
            bare = seconds(plain, args.steps)
            behind = seconds(world, args.steps)
            ratios.append(behind / bare)
            costs.append((behind - bare) * 1e6)
        print(
            f"{title:40s} step {bare * 1e6:7.0f} us, + {np.median(costs):6.0f} us, {100 * (np.median(ratios) - 1):5.1f} %"
        )
    for what, deed in copies(plain, 4):
        print(f"{what:40s} {least(deed) * 1e6:32.0f} us")


if __name__ == "__main__":
    main()
