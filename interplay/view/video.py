"""Records play as a video, an animation, a picture, or a recording, by the file's suffix."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise, repeat
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from interplay.core.errors import UserError
from interplay.core.policy import Policy
from interplay.core.replay import ReplayReader
from interplay.core.replay.layout import SUFFIX
from interplay.core.scene import Scene, scene_of
from interplay.core.world import World
from interplay.evaluate.lineup import line_of, players_of
from interplay.view.crop import Crop
from interplay.view.encode import write_video
from interplay.view.extras import load, load_pygame
from interplay.view.gliding import glide, moves
from interplay.view.legend import strip_of
from interplay.view.output import check_output, writing
from interplay.view.picture import LARGEST, fitting_size, picture_size, render, save_png
from interplay.view.replays import keep, refuse_looks, replayed_scenes
from interplay.view.run_log import one_line
from interplay.view.stepping import check_play, stands

T = TypeVar("T")

SUFFIXES = (".mp4", ".gif", ".png")
HOLD = 20  # frames for which the end of an episode stays in view
SHARPNESS = 2  # of frames, see `render`; higher values make no visible difference in motion
SCENES_KEPT = 256  # at most, in search of the middle of an episode


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
    focus: int | Sequence[float] | None = None,
    zoom: float | None = None,
    legend: bool = True,
) -> Path:
    """Plays episodes with `policy` and records one world of the batch, at 30 frames a second.

    Args:
        world: is reset with `seed`, and left in its last state.
        policy: acts for all slots.
        path: ``.mp4`` (H.264), ``.gif``, or ``.png``: a picture from the middle of the last episode; ``.replay``: a recording of
            all scenes and actions and some states (`interplay.core.replay`), to be drawn or played on later. The file appears
            when it is complete.
        episodes: to be played.
        max_steps: of an episode, which is then left; needed for worlds that never end.
        size: pixels, one number or (width, height); None = 512 for the shorter side, in the proportions of the scene.
        every: records each `every`-th step, so the playback is faster by that factor.
        seed: of the worlds and of the policy; equal seeds give equal recordings.
        index: of the world in the batch.
        progress: called with the number of steps recorded so far.
        frames: per step, with interpolated places; None = `World.frames_per_step`.
        step: of a ``.png``: the picture shows the last episode after so many steps, whatever `every`, instead of its middle.
        options: of the world; a ``.replay`` keeps them, to make it again.
        focus: the number of an agent to follow, or a place (x, y), to show only its surroundings; None = all.
        zoom: tiles or metres of the shorter side to show; None = all, or 24 around a focus.
        legend: draws a legend.

    Raises:
        UserError: for an unwritable file, numbers out of range, a missing package, a world that never ends without
            `max_steps`, an invalid focus, or `size`, `every`, `frames`, `step`, `focus`, `zoom` or `legend` with a ``.replay``.
    """
    target = check_output(path, (*SUFFIXES, SUFFIX))
    check_play(world, episodes, max_steps, every, index)
    if target.suffix.lower() == SUFFIX:
        plain = {"every": None if every == 1 else every, "legend": None if legend else legend}
        refuse_looks(size=size, frames=frames, step=step, focus=focus, zoom=zoom, **plain)
        kept = stands(world, policy, episodes, max_steps, seed, index)
        keep(world, index, target, _counted(kept, progress), seed, policy, options, episodes)
        return target
    look = _check_looks(target, size, frames, focus, zoom, legend)
    look = look._replace(players=line_of(players_of(policy, world)) if legend else "")
    if step is not None:
        every = 1  # of a single picture there is no playback
    scenes = _counted(play(world, policy, episodes, max_steps, every, seed, index), progress)
    return draw(scenes, target, look, frames or world.frames_per_step, step)


def draw_replay(
    replay: str | Path,
    path: str | Path,
    size: int | Sequence[int] | None = None,
    every: int = 1,
    frames: int | None = None,
    step: int | None = None,
    progress: Callable[[int], None] | None = None,
    focus: int | Sequence[float] | None = None,
    zoom: float | None = None,
    legend: bool = True,
) -> tuple[Path, list[str]]:
    """Draws a recording as ``.mp4``, ``.gif`` or ``.png``, without stepping its world; other arguments as for `record`.

    Returns:
        The path, and a line for each unreadable part of the recording, which is left out.

    Raises:
        UserError: as for `record`, and for a file that is no recording or has no complete frame.
    """
    target = check_output(path, SUFFIXES)
    if every < 1:
        raise UserError(f"every = {every}; show at least every step")
    look = _check_looks(target, size, frames, focus, zoom, legend)
    with ReplayReader(replay) as reader:
        look = look._replace(players=one_line(line_of(reader.header.lineup)) if legend else "")
        scenes = _counted(replayed_scenes(reader, 1 if step is not None else every), progress)
        first = next(scenes, None)
        if first is None:
            raise UserError("; ".join([f"{replay}: no complete frame; record it again", *reader.troubles]))
        shown = chain([first], scenes)
        draw(shown, target, look, frames or reader.header.frames_per_step, step)
        return target, reader.troubles


class Look(NamedTuple):
    """How scenes are drawn.

    Attributes:
        size: pixels; None = to fit the first scene.
        players: line of the strip below.
    """

    size: tuple[int, int] | None
    crop: Crop
    legend: bool
    players: str = ""

    def sized(self, part: Scene) -> Look:
        """The look with a fixed size."""
        if self.size is not None:
            return self
        width, height = fitting_size(part, self.legend)
        return self._replace(size=(width, min(height + len(strip_of(self.players, width, height)), LARGEST)))

    def picture(self, part: Scene, sharpness: int | None = None) -> np.ndarray:
        """Draws a cropped scene; see `render`."""
        width, height = self.size or (512, 512)
        strip = strip_of(self.players, width, height)
        drawn = render(part, (width, height - len(strip)), sharpness, self.legend, within=self.crop.cuts)
        return np.concatenate([drawn, strip]) if len(strip) else drawn


def _check_looks(
    target: Path,
    size: int | Sequence[int] | None,
    frames: int | None,
    focus: int | Sequence[float] | None = None,
    zoom: float | None = None,
    legend: bool = True,
) -> Look:
    """Checks the options of drawing before anything is played."""
    if frames is not None and frames < 1:
        raise UserError(f"frames = {frames}; a step stays in view for at least one")
    look = Look(None if size is None else picture_size(size), Crop(focus, zoom), legend)
    load_pygame()
    if target.suffix.lower() != ".png":
        load("av", "video", "videos")
    return look


def draw(
    scenes: Iterable[tuple[Scene, int, bool]], target: Path, look: Look, frames: int, step: int | None
) -> Path:
    """Draws scenes from `play` as a video, an animation or a picture; arguments as for `record`.

    Warns on stderr if the agent to follow was in none of the scenes.
    """
    if target.suffix.lower() == ".png":
        # All scenes are cropped, since a gone agent is shown at its last place.
        parts = (((look.crop(scene), look.crop.missed), episode, last) for scene, episode, last in scenes)
        part, missed = middle(parts) if step is None else shown_at(parts, step)
        save_png(look.sized(part).picture(part), target)
    else:
        with writing(target, SUFFIXES) as temporary:
            write_video(temporary, held(scenes, look, frames))
        missed = look.crop.missed
    if missed:
        print(missed, file=sys.stderr)
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
    scenes: Iterable[tuple[Scene, int, bool]], look: Look | None = None, frames: int = 1
) -> Iterator[np.ndarray]:
    """Draws each scene for `frames` frames, with interpolated places; the end of an episode stays `HOLD` frames longer."""
    for one, after in pairwise(chain(scenes, [None])):
        assert one is not None
        (scene, _, last), following = one, None if after is None else after[0]
        look = look or Look(None, Crop(), True)
        part = look.crop(scene)
        look = look.sized(part)
        yield (picture := look.picture(part, SHARPNESS))
        if not last and following is not None and frames > 1 and moves(scene, following):
            for frame in range(1, frames):
                yield look.picture(look.crop(glide(scene, following, frame / frames)), SHARPNESS)
        else:
            yield from repeat(picture, frames - 1 + (HOLD - 1) * last)


def shown_at(scenes: Iterable[tuple[T, int, bool]], step: int) -> T:
    """The scene of the last episode after `step` steps."""
    found: T | None = None
    current, seen = -1, 0
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


def middle(scenes: Iterable[tuple[T, int, bool]]) -> T:
    """A scene near the middle of the last episode; at most `SCENES_KEPT` are held."""
    kept: list[T] = []
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


def _counted(played: Iterable[T], progress: Callable[[int], None] | None) -> Iterator[T]:
    for count, one in enumerate(played, 1):
        yield one
        if progress is not None:
            progress(count)
