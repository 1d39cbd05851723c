"""What recording costs: time to encode a frame, and bytes of a recording, for random walkers on tiles.

Run from the repository root::

    .venv/bin/python -m bench.recordings --ticks 10000

Every agent moves, eats and drinks; a few fight; 1 in 200 dies and another is born. Prints a line for each number of agents; exit
status 1 if a recording of 128 agents takes more than 400 bytes a tick (docs/specs/viewer.md 5).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from interplay.core.frames import Encoder
from interplay.core.replay import ReplayWriter
from interplay.core.scene import Canvas, Scene

SIDES = {128: 118, 1024: 301, 8192: 818}  # agents -> tiles of a side
MOST = 400  # bytes per tick of 128 agents
WAYS = np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]])


def walkers(agents: int, ticks: int, seed: int = 0) -> Iterator[Scene]:
    """Scenes of so many walkers, four bars and a flag each."""
    rng, side = np.random.default_rng(seed), SIDES[agents]
    ground = rng.choice([2, 2, 2, 3, 4, 5], (side, side)).astype(np.uint8)
    place = rng.integers(0, side, (agents, 2))
    bars = {name: np.full(agents, most) for name, most in (("health", 10), ("food", 32), ("water", 32))}
    life, colour = np.zeros(agents, int), rng.integers(0, 7, agents)
    for _ in range(ticks):
        place = np.clip(place + WAYS[rng.integers(0, 5, agents)], 0, side - 1)
        born, fights = rng.random(agents) < 1 / 200, rng.random(agents) < 1 / 50
        on = ground[place[:, 1], place[:, 0]]
        for name, source in (("food", 4), ("water", 5)):
            bars[name] = np.where(on == source, np.minimum(bars[name] + 5, 32), np.maximum(bars[name] - 1, 0))
        bars["health"] = np.where(born, 10, np.maximum(bars["health"] - fights, 1))
        life = np.where(born, 0, life + 1)
        eaten = place[on == 4][rng.random(int((on == 4).sum())) < 0.3]
        ground[eaten[:, 1], eaten[:, 0]] = 3
        back = rng.integers(0, side, (len(eaten), 2))
        ground[back[:, 1], back[:, 0]] = 4
        canvas = Canvas((0, 0, side, side))
        canvas.tiles("ground", ground)
        full = {"health": 10, "food": 32, "water": 32}
        canvas.circles(
            "agents",
            place[:, 0] + 0.5,
            place[:, 1] + 0.5,
            0.45,
            colour=colour,
            absent=np.zeros(agents, bool),
            jump=born,
            bars={name: (values, full[name]) for name, values in bars.items()} | {"life": (life, 1000)},
        )
        who = np.flatnonzero(fights)
        start, end = place[who] + 0.5, place[np.minimum(who + 1, agents - 1)] + 0.5
        canvas.segments("attacks", start[:, 0], start[:, 1], end[:, 0], end[:, 1], 2)
        yield canvas.scene()


def encode_seconds(agents: int, ticks: int, recording: bool) -> tuple[float, int]:
    """Median processor seconds to encode a frame that is not a key frame, and its mean bytes."""
    scenes = list(walkers(agents, ticks))
    encoder = Encoder(scenes[0], recording)
    encoder.encode(scenes[0], 0)
    seconds, size = [], 0
    for tick, scene in enumerate(scenes[1:], 1):
        start = time.process_time()
        size += len(encoder.encode(scene, tick))
        seconds.append(time.process_time() - start)
    return float(np.median(seconds)), size // (ticks - 1)


def record(agents: int, ticks: int, folder: Path) -> int:
    """Bytes of a recording."""
    scenes = walkers(agents, ticks)
    first = next(scenes)
    path = folder / f"{agents}.replay"
    with ReplayWriter(path, first, {"world": "walkers"}) as writer:
        writer.add_scene(first, 0, first=True)
        for tick, scene in enumerate(scenes, 1):
            writer.add_scene(scene, tick)
    return path.stat().st_size


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--ticks", type=int, default=10_000, help="of the recording of 128 agents")
    options = parser.parse_args()
    for agents in SIDES:
        for name, recording in (("live", False), ("recording", True)):
            seconds, size = encode_seconds(agents, 100, recording)
            print(
                f"{agents:5} agents, {name:9}: encode {seconds * 1e6:6.0f} us, {size:7,} bytes a tick",
                flush=True,
            )
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        size = record(128, options.ticks, Path(folder))
        took = (time.process_time() - start) / options.ticks
    print(
        f"recording of {options.ticks:,} ticks of 128 agents: {size:,} bytes, {took * 1e6:.0f} us a tick in all"
    )
    return int(size > MOST * options.ticks)


if __name__ == "__main__":
    sys.exit(main())
