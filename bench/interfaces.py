"""What interfaces cost: a world's step behind a stack, against the same step without one, in one run.

    python -m bench.interfaces [--world survival/1v1-heals-low] [--num-worlds 256] [--steps 300] [--repeats 5]

Times are process CPU time; both worlds are played with the same random actions, and reset as their worlds end.
"""

from __future__ import annotations

import argparse
import time

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


if __name__ == "__main__":
    main()
