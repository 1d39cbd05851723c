"""The README's moving picture: worlds at play, side by side.

    .venv/bin/python website/moving_picture.py docs/images/worlds.gif

Scripted players play, so the picture is reproducible. Needs the extras ``render`` and ``plot`` (Pillow comes with it).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
from PIL import Image

from interplay.core.scene import scene_of
from interplay.registry import make_policy, make_world
from interplay.view.crop import Crop
from interplay.view.picture import render

SIDE, FRAMES, RATE, COLOURS = 300, 90, 12, 160
# (world, player, seed, steps that are left out first, steps per frame, part that is shown)
SHOWN = (
    ("survival/2v2-all-low", "hunter", 4, 40, 4, Crop()),
    ("pommerman/team", "simple", 3, 12, 1, Crop()),
    ("mmo/combat", "fighter", 2, 150, 1, Crop((15.0, 40.0), 24)),
)


def frames(
    world_id: str, player: str, seed: int, skipped: int, stride: int, crop: Crop
) -> Iterator[np.ndarray]:
    """(SIDE, SIDE, 3) uint8 pictures; episodes follow each other."""
    world = make_world(world_id, num_worlds=1, seed=seed)
    policy = make_policy(world_id, player)
    step = world.reset()
    policy.start(world, seed)
    for number in range(skipped + stride * FRAMES):
        if number >= skipped and (number - skipped) % stride == 0:
            yield render(crop(scene_of(world, 0)), (SIDE, SIDE), within=True)
        step = world.step(policy.act(step))
        if step.over.any():
            policy.forget(step.over)
            step = world.reset(step.over)


def main(out: Path) -> None:
    rows = zip(*(islice(frames(*shown), FRAMES) for shown in SHOWN), strict=True)
    gap = np.full((SIDE, 6, 3), 255, np.uint8)
    pictures = [Image.fromarray(np.hstack([part for one in row for part in (one, gap)][:-1])) for row in rows]
    several = Image.fromarray(np.vstack([np.asarray(picture) for picture in pictures[::15]]))
    palette = several.quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    small = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    small[0].save(out, save_all=True, append_images=small[1:], duration=1000 // RATE, loop=0, optimize=True)
    print(f"written: {out}, {out.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
