"""What keeping to what can be survived is worth by itself: random play behind `EscapeMaskItf` against two SimpleAgents.

    .venv/bin/python -m bench.pommerman_escapes [--games 1000]

Whole games, so that short ones do not count more than long ones: each copy plays one.
"""

from __future__ import annotations

import argparse

import numpy as np

from interplay.interfaces.world import InterfacedWorld
from interplay.registry import make_policy, make_world

WORLD = "pommerman/team-fog"
LAY = 5


def outcomes(games: int, masked: bool, bombs: bool, seed: int = 1) -> np.ndarray:
    """(games,) -1, 0 or 1 for the side that draws its actions."""
    raw = make_world(WORLD, num_worlds=games, seed=seed)
    # Behind the interface what is illegal is not played; without it everything is.
    world = InterfacedWorld(raw, {"agent": ["EscapeMaskItf" if masked else "Interface"]})
    step, simple, rng = world.reset(), make_policy(WORLD, "simple"), np.random.default_rng(seed)
    simple.start(raw, seed)
    theirs = np.broadcast_to(np.arange(4) % 2 == 1, (games, 4))
    while not step.over.all():
        legal = step.action_mask["action"] if masked else np.ones((games, 4, 6), bool)  # type: ignore[index]
        if not bombs:
            legal = legal & (np.arange(6) != LAY)
        action = (rng.random(legal.shape) * legal).argmax(axis=-1)
        world.override(simple.act(raw.timestep), theirs)
        step = world.step(action)
    return np.asarray(world.metrics["outcome"])[:, 0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--games", type=int, default=1000)
    games = parser.parse_args().games
    for name, masked, bombs in (
        ("random, everything", False, True),
        ("random, no bombs", False, False),
        ("random, what can be survived", True, True),
        ("the same without bombs", True, False),
    ):
        found = outcomes(games, masked, bombs)
        won, drawn = (found > 0).mean(), (found == 0).mean()
        print(
            f"{name:30s} won {won:.3f}  drawn {drawn:.3f}  lost {1 - won - drawn:.3f}  ({games:,} games)",
            flush=True,
        )


if __name__ == "__main__":
    main()
