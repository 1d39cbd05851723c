"""Records play: a video, an animation, one picture, or a recording that becomes those later, as the file's suffix says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from interplay.core.errors import UserError
from interplay.core.policy import Policy
from interplay.core.replay import ReplayReader
from interplay.core.replay.layout import SUFFIX
from interplay.core.scene import Scene, scene_of
from interplay.core.world import World
from interplay.view.encode import write_video
from interplay.view.extras import load, load_pygame
from interplay.view.output import check_output, writing
from interplay.view.picture import fitting_size, picture_size, render, save_png
from interplay.view.replays import keep, refuse_looks, replayed_scenes
from interplay.view.stepping import check_play, stands

T = TypeVar("T")

SUFFIXES = (".mp4", ".gif", ".png")  # of what is drawn
HOLD = 20  # frames for which the end of an episode stays in view
SHARPNESS = 2  # of frames, see `render`: in motion nobody sees the difference
SCENES_KEPT = 256  # at most, while looking for the middle of an episode


def record(
    world: World,
    policy: Policy,
    path: str | Path,
    episodes: int = 1,
    max_steps: int | None = None,
    size: int | Sequence[int] | None = None,
    every: int = 1,
    seed: int = 0,
    index: int = 0,
    progress: Callable[[int], None] | None = None,
    frames: int | None = None,
    step: int | None = None,
    options: Mapping[str, Any] | None = None,
) -> Path:
    """Plays episodes with `policy` and records one world of the batch: at 30 frames a second, or exactly.

    Args:
        world: is reset with `seed`; afterwards it stands where the recording ended.
        policy: acts for every slot.
        path: ``.mp4`` (H.264), ``.gif``, or ``.png``: a picture from the middle of the last episode; ``.replay``: a recording that
            keeps every scene, action and some states (`interplay.core.replay`), to be drawn or played on later.
        episodes: how many, one after another.
        max_steps: an episode is left after so many steps; needed for worlds that never end.
        size: pixels, one number or (width, height); None = 512 for the shorter side, in the proportions of the scene.
        every: records each `every`-th step, so the playback is that much faster.
        seed: of the worlds and of the policy's own stream: the same seed, the same recording.
        index: which world of the batch.
        progress: called with the number of steps recorded so far.
        frames: for which a step stays in view; None = as the world wishes (`World.frames_per_step`).
        step: of a ``.png``: the picture shows the last episode after so many steps, whatever `every`, instead of its middle.
        options: what the world was made with; a ``.replay`` keeps them, to make it again.

    Returns:
        The path that was written; the file appears when it is complete.

    Raises:
        UserError: for another suffix, a folder that cannot be written to, numbers out of range, a world that
            never ends without `max_steps`, a package that is missing, or looks (`size`, `every`, `frames`, `step`) of a ``.replay``, which
            has none.
    """
    target = check_output(path, (*SUFFIXES, SUFFIX))
    check_play(world, episodes, max_steps, every, index)
    if target.suffix.lower() == SUFFIX:
        refuse_looks(size=size, every=None if every == 1 else every, frames=frames, step=step)
        kept = stands(world, policy, episodes, max_steps, seed, index)
        keep(world, index, target, _told(kept, progress), seed, policy.name, options)
        return target
    size = check_looks(target, size, frames)
    if step is not None:
        every = 1  # of a single picture there is no playback
    scenes = _told(play(world, policy, episodes, max_steps, every, seed, index), progress)
    return draw(scenes, target, size, frames or world.frames_per_step, step)


def draw_replay(
    replay: str | Path,
    path: str | Path,
    size: int | Sequence[int] | None = None,
    every: int = 1,
    frames: int | None = None,
    step: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> tuple[Path, list[str]]:
    """Draws a recording as a video, an animation or a picture; its world is not stepped, and need not be installed.

    Args:
        replay: the recording.
        path: ``.mp4``, ``.gif`` or ``.png``.
        size, every, frames, step, progress: as for `record`.

    Returns:
        The path that was written, and a line for each part of the recording that could not be read and was left out.

    Raises:
        UserError: as `record`, for what is no recording, or one without a whole frame.
    """
    target = check_output(path, SUFFIXES)
    if every < 1:
        raise UserError(f"every = {every}; show at least every step")
    size = check_looks(target, size, frames)
    with ReplayReader(replay) as reader:
        scenes = _told(replayed_scenes(reader, 1 if step is not None else every), progress)
        first = next(scenes, None)
        if first is None:
            raise UserError(
                "; ".join([f"{replay}: it holds no whole frame; record it again", *reader.troubles])
            )
        shown = chain([first], scenes)
        draw(shown, target, size, frames or reader.header.frames_per_step, step)
        return target, reader.troubles


def check_looks(target: Path, size: int | Sequence[int] | None, frames: int | None) -> tuple[int, int] | None:
    """Refuses what cannot be drawn before anything is played: what is missing is told before hours of play, not after.

    Returns:
        (width, height), or None if that follows from the scene.

    Raises:
        UserError: for sizes or frames out of range, or a package that is missing.
    """
    if frames is not None and frames < 1:
        raise UserError(f"frames = {frames}; a step stays in view for at least one")
    sides = None if size is None else picture_size(size)
    load_pygame()
    if target.suffix.lower() != ".png":
        load("av", "video", "videos")
    return sides


def draw(
    scenes: Iterable[tuple[Scene, int, bool]],
    target: Path,
    size: tuple[int, int] | None,
    frames: int,
    step: int | None,
) -> Path:
    """Draws scenes, see `play`, as a video, an animation or a picture; arguments as for `record`."""
    if target.suffix.lower() == ".png":
        scene = middle(scenes) if step is None else shown_at(scenes, step)
        return save_png(render(scene, size or fitting_size(scene)), target)
    with writing(target, SUFFIXES) as temporary:
        write_video(temporary, held(scenes, size, frames))
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
    for stand in stands(world, policy, episodes, max_steps, seed, index):
        if stand.last or stand.step % every == 0:
            yield scene_of(world, index), stand.episode, stand.last


def held(
    scenes: Iterable[tuple[Scene, int, bool]], size: tuple[int, int] | None, frames: int = 1
) -> Iterator[np.ndarray]:
    """Draws the scenes, each for so many frames; the end of each episode stays in view for a moment longer."""
    for scene, _, last in scenes:
        size = size or fitting_size(scene)
        yield from repeat(render(scene, size, SHARPNESS), frames + (HOLD - 1) * last)


def shown_at(scenes: Iterable[tuple[Scene, int, bool]], step: int) -> Scene:
    """The scene of the last episode after `step` steps; `scenes` are those of all steps.

    Raises:
        UserError: if the episode is shorter.
    """
    current, seen, found = -1, 0, None
    for scene, episode, _ in scenes:
        if episode != current:
            current, seen, found = episode, 0, None
        if seen == step:
            found = scene
        seen += 1
    if found is None:
        raise UserError(
            f"step = {step}: the episode has {seen - 1} steps; choose one of them, or another seed"
        )
    return found


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


def _told(played: Iterable[T], progress: Callable[[int], None] | None) -> Iterator[T]:
    for count, one in enumerate(played, 1):
        yield one
        if progress is not None:
            progress(count)
