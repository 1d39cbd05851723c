"""Recordings: played into a file, and read back as scenes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from interplay import __version__
from interplay.core.errors import UserError
from interplay.core.replay import ReplayReader, WorldRecorder
from interplay.core.replay.layout import SUFFIX
from interplay.core.scene import Scene
from interplay.core.world import World
from interplay.view.stepping import Stand


def keep(
    world: World,
    index: int,
    target: Path,
    played: Iterable[Stand],
    seed: int,
    player: str,
    options: Mapping[str, Any] | None,
    checkpoint: str = "",
) -> None:
    """Records one world of a batch while it is played.

    Args:
        world, index: the batch, and which of its worlds.
        target: the file, which appears when it is complete.
        played: what `interplay.view.stepping.stands` yields; nobody else steps the world.
        seed, player, options: of the play; the file says them.
        checkpoint: of the player's networks, see `interplay.core.replay.layout.Header`.
    """
    started = datetime.now(UTC).isoformat(timespec="seconds")
    header = {
        "seed": seed,
        "policy": player,
        "checkpoint": checkpoint,
        "options": dict(options or {}),
        "started": started,
        "interplay": __version__,
    }
    with WorldRecorder(target, world, index, header=header) as recorder:
        for stand in played:
            if stand.step == 0:
                recorder.begin()
            else:
                recorder.step(stand.action, stand.last)


def refuse_looks(**looks: object) -> None:
    """Refuses wishes for a picture where a recording is written.

    Raises:
        UserError: for the first that is not None.
    """
    for name, value in looks.items():
        if value is not None:
            raise UserError(
                f"{name} = {value}: a {SUFFIX} keeps every step and no pixels; leave it out, and draw the recording with it later"
            )


def replayed_scenes(reader: ReplayReader, every: int) -> Iterator[tuple[Scene, int, bool]]:
    """Scene, episode and whether it is the episode's last one, as `play` gives them."""
    episode, begun = 0, 0
    for frame in reader.frames():
        if frame.first and frame.tick:
            episode, begun = episode + 1, frame.tick
        if frame.last or (frame.tick - begun) % every == 0:
            yield frame.scene, episode, frame.last
