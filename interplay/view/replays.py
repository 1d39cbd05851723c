"""Writes recordings during play, and reads them back as scenes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

from interplay import __version__
from interplay.core.errors import UserError
from interplay.core.policy import Policy
from interplay.core.replay import ReplayReader, WorldRecorder
from interplay.core.replay.layout import SUFFIX
from interplay.core.scene import Scene
from interplay.core.world import World
from interplay.evaluate.lineup import Lineup, line_of, players_of, words_of
from interplay.view.stepping import Stand


def keep(
    world: World,
    index: int,
    target: Path,
    played: Iterator[Stand],
    seed: int,
    policy: Policy,
    options: Mapping[str, Any] | None,
    episodes: int = 1,
) -> None:
    """Records world `index` of a batch while it is played.

    Args:
        target: the file, which appears when it is complete.
        played: from `interplay.view.stepping.stands`, which alone steps the world.
        seed, options, policy: for the header.
    """
    first = next(played)  # which draws the players
    players = _players(world, index, policy, episodes)
    header = begin_header(options, seed, checkpoint=getattr(policy, "checkpoint", ""), **players)
    with WorldRecorder(target, world, index, header=header) as recorder:
        for stand in chain([first], played):
            if stand.step == 0:
                recorder.begin()
            else:
                recorder.step(stand.action, stand.last)


def begin_header(options: Mapping[str, Any] | None, seed: int, **fields: Any) -> dict[str, Any]:
    """The header of a recording that begins now: the world's options and seed, and further fields."""
    started = datetime.now(UTC).isoformat(timespec="seconds")
    return {
        "options": dict(options or {}),
        "seed": seed,
        "started": started,
        "interplay": __version__,
        **fields,
    }


def _players(world: World, index: int, policy: Policy, episodes: int) -> dict[str, Any]:
    """The header's fields on the players; one player per slot if it is the same in all episodes."""
    lineup = players_of(policy, world)
    if not isinstance(policy, Lineup):
        return {"policy": policy.name, "lineup": lineup, "learner": words_of(policy)}
    stays = episodes == 1 or policy.stays
    slots = [words_of(policy.seated(slot, index)) for slot in range(len(world.agents))] if stays else []
    return {
        "policy": line_of(lineup),
        "lineup": lineup,
        "learner": words_of(policy.first),
        "players": tuple(slots),
    }


def refuse_looks(**looks: object) -> None:
    """Refuses options of pictures for a recording."""
    for name, value in looks.items():
        if value is not None:
            raise UserError(
                f"{name} = {value}: a {SUFFIX} keeps every step and no pixels; leave it out, and draw the recording with it later"
            )


def replayed_scenes(reader: ReplayReader, every: int) -> Iterator[tuple[Scene, int, bool]]:
    """Yields (scene, episode, whether it is the episode's last one) of a recording, as `play` does."""
    episode, begun = 0, 0
    for frame in reader.frames():
        if frame.first and frame.tick:
            episode, begun = episode + 1, frame.tick
        if frame.last or (frame.tick - begun) % every == 0:
            yield frame.scene, episode, frame.last
