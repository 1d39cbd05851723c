"""Records play: a video, an animation or one picture, as the file's suffix says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import repeat
from pathlib import Path

import numpy as np

from interplay.core.errors import UserError
from interplay.core.policy import Policy
from interplay.core.scene import Scene, scene_of
from interplay.core.world import World
from interplay.view.encode import write_video
from interplay.view.extras import load, load_pygame
from interplay.view.output import check_output, writing
from interplay.view.picture import picture_size, render, save_png

SUFFIXES = (".mp4", ".gif", ".png")
HOLD = 20  # frames for which the end of an episode stays in view
SHARPNESS = 2  # of frames, see `render`: in motion nobody sees the difference
SCENES_KEPT = 256  # at most, while looking for the middle of an episode


def record(
    world: World,
    policy: Policy,
    path: str | Path,
    episodes: int = 1,
    max_steps: int | None = None,
    size: int | Sequence[int] = 512,
    every: int = 1,
    seed: int = 0,
    index: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Path:
    """Plays episodes with `policy` and records one world of the batch at 30 frames a second.

    Args:
        world: is reset with `seed`; afterwards it stands where the recording ended.
        policy: acts for every slot.
        path: ``.mp4`` (H.264), ``.gif``, or ``.png``: a picture from the middle of the last episode.
        episodes: how many, one after another.
        max_steps: an episode is left after so many steps; needed for worlds that never end.
        size: pixels, one number or (width, height).
        every: records each `every`-th step, so the playback is that much faster.
        seed: of the worlds and of the policy's own stream: the same seed, the same recording.
        index: which world of the batch.
        progress: called with the number of frames recorded so far.

    Returns:
        The path that was written; the file appears when it is complete.

    Raises:
        UserError: for another suffix, a folder that cannot be written to, numbers out of range, a world that
            never ends without `max_steps`, or a package that is missing.
    """
    target = check_output(path, SUFFIXES)
    video = target.suffix.lower() != ".png"
    _check(world, episodes, max_steps, every, index)
    width, height = picture_size(size)
    # What is missing is told before hours of play, not after.
    load_pygame()
    if video:
        load("av", "video", "videos")
    scenes = _told(play(world, policy, episodes, max_steps, every, seed, index), progress)
    if not video:
        return save_png(render(middle(scenes), (width, height)), target)
    with writing(target, SUFFIXES) as temporary:
        write_video(temporary, held(scenes, (width, height)))
    return target


def play(
    world: World,
    policy: Policy,
    episodes: int = 1,
    max_steps: int | None = None,
    every: int = 1,
    seed: int = 0,
    index: int = 0,
) -> Iterator[tuple[Scene, int, bool]]:
    """Plays and yields (scene, episode, whether it is the episode's last one); arguments as for `record`."""
    world.reset(seeds=seed)
    policy.start(world, seed)
    for episode in range(episodes):
        if episode:
            world.reset()
        step, over = 0, False
        while not over:
            if step % every == 0:
                yield scene_of(world, index), episode, False
            world.step(policy.act(world.timestep))
            step += 1
            over = bool(world.timestep.over[index]) or step == max_steps
        yield scene_of(world, index), episode, True


def held(scenes: Iterable[tuple[Scene, int, bool]], size: tuple[int, int]) -> Iterator[np.ndarray]:
    """Draws the scenes; the end of each episode stays in view for a moment."""
    for scene, _, last in scenes:
        yield from repeat(render(scene, size, SHARPNESS), HOLD if last else 1)


def middle(scenes: Iterable[tuple[Scene, int, bool]]) -> Scene:
    """About the middle scene of the last episode, without keeping more than a few hundred of them."""
    kept: list[Scene] = []
    current, seen, stride = -1, 0, 1
    for scene, episode, _ in scenes:
        if episode != current:
            kept, current, seen, stride = [], episode, 0, 1
        if seen % stride == 0:
            kept.append(scene)
        if len(kept) == SCENES_KEPT:
            kept, stride = kept[::2], stride * 2
        seen += 1
    return kept[len(kept) // 2]


def _told(
    scenes: Iterator[tuple[Scene, int, bool]], progress: Callable[[int], None] | None
) -> Iterator[tuple[Scene, int, bool]]:
    for count, scene in enumerate(scenes, 1):
        yield scene
        if progress is not None:
            progress(count)


def _check(world: World, episodes: int, max_steps: int | None, every: int, index: int) -> None:
    for name, value in (("episodes", episodes), ("max_steps", max_steps), ("every", every)):
        if value is not None and value < 1:
            raise UserError(f"{name} = {value}; record at least one")
    if world.persistent and max_steps is None:
        raise UserError(f"{world.id}: this world may never end; say with max_steps how long to record")
    if not 0 <= index < world.num_worlds:
        raise UserError(
            f"{world.id}: world {index} of a batch of {world.num_worlds}; name one of 0..{world.num_worlds - 1}"
        )
