"""Goes on from a recording: the world as it stood at a tick."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from interplay.core.errors import UserError, one_line
from interplay.core.loading import load
from interplay.core.replay.exact import check_fields, check_hash, load_snapshot, read_actions
from interplay.core.replay.layout import ACTIONS, SNAPSHOT, Chunk
from interplay.core.world import World

if TYPE_CHECKING:
    from interplay.core.replay.reader import ReplayReader


_TRIED = 8  # states, from the last one back, where the time that it may take is bounded: damaged ones may claim 64 MiB each at no cost
_NO_OPTIONS = {"world_id", "num_worlds", "seed", "threads", "first_world"}  # what else `make_world` takes


def world_at(
    reader: ReplayReader, tick: int, world: World | None, start: int | None, most: int | None
) -> World:
    """See `ReplayReader.world_at`."""
    states = [chunk for chunk in reader.of(SNAPSHOT) if chunk.first <= tick]
    if not reader.header.exact or not states or not 0 <= tick < reader.ticks:
        why = f"it has ticks 0..{reader.ticks - 1}" if states else "it holds scenes alone"
        raise UserError(f"{reader.path}: tick {tick} cannot be played on, {why}; watching works")
    if world is not None:
        return _played(reader, tick, world, start, states, most)
    with _failing(reader):
        made = _make(reader)
        try:
            return _played(reader, tick, made, start, states, most)
        except BaseException:
            made.close()
            raise


@contextmanager
def _failing(reader: ReplayReader) -> Iterator[None]:
    """Turns any error of a world that is made of a header into one line: numbers there may be beyond what its arrays hold."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        raise UserError(
            f"{reader.path}: {reader.header.world} with its options raised {type(error).__name__} ({one_line(error)[:120]}); watching works"
        ) from error


def _played(
    reader: ReplayReader, tick: int, world: World, start: int | None, states: list[Chunk], most: int | None
) -> World:
    """The world, brought to a tick from one of these states."""
    _check(reader, world)
    limit = tick if start is None else min(start, tick)
    before = [chunk for chunk in states if chunk.first <= limit] or states[:1]
    with _as_refusal(reader, world):
        now = _load_last(reader, world, before if most is None else before[-_TRIED:])
        if most is not None and tick - now > most:
            raise ValueError(f"the last whole state is {tick - now:,} ticks ago; {most:,} are played at most")
        deque(_steps(reader, world, now, tick, {chunk.first: chunk for chunk in states}, most), maxlen=0)
    return world


@contextmanager
def _as_refusal(reader: ReplayReader, world: World) -> Iterator[None]:
    """Turns errors of damaged states and actions, or of a world that differs, into one line."""
    try:
        yield
    except ValueError as error:
        raise UserError(
            f"{reader.path}: it cannot be played on ({error}): another version of {world.id} made it, or it is damaged; watching works"
        ) from None


def _load_last(reader: ReplayReader, world: World, states: list[Chunk]) -> int:
    """Brings the world into the last of these states that is whole; its tick."""
    for chunk in reversed(states):
        data = reader.inflated(chunk)
        if data is not None:
            check_fields(world, data)  # first: a world as large as a header likes takes long to begin
            world.reset()
            load_snapshot(world, data)
            return chunk.first
    raise ValueError("its states are damaged")


def play_on(reader: ReplayReader, world: World, now: int, most: int) -> Iterator[tuple[int, bool]]:
    """See `ReplayReader.play_on`."""
    states = {chunk.first: chunk for chunk in reader.of(SNAPSHOT)}
    with _as_refusal(reader, world):
        yield from _steps(reader, world, now, reader.ticks - 1, states, most)


def _steps(
    reader: ReplayReader, world: World, now: int, tick: int, states: dict[int, Chunk], most: int | None
) -> Iterator[tuple[int, bool]]:
    """Plays actions between two ticks, checks the world against recorded states, and yields each tick and whether it is a reset."""
    for chunk in reader.of(ACTIONS):
        if chunk.first + chunk.ticks <= now + 1 or now == tick:
            continue
        if most is not None and chunk.ticks > most:
            raise ValueError(f"actions of {chunk.ticks:,} ticks in a chunk; {most:,} are read at most")
        data = reader.inflated(chunk)
        actions = [] if data is None else read_actions(world, data, chunk.ticks)
        if chunk.first > now + 1 or len(actions) != chunk.ticks:
            break
        for action in actions[now + 1 - chunk.first : tick + 1 - chunk.first]:
            world.reset() if action is None else world.step(action)
            now += 1
            state = reader.inflated(states[now]) if now in states else None
            if state is not None:
                check_hash(world, state)
            yield now, action is None
    if now < tick:
        raise ValueError(f"actions of tick {now + 1} are missing")


def _make(reader: ReplayReader) -> World:
    header = reader.header
    named = next((text for text in _texts([header.world, header.options]) if ":" in text), None)
    if named is not None:
        raise UserError(
            f"{reader.path}: it names {named!r}, which may be a program, and a file starts none; watching works, and in Python world_at(tick, world) takes a world that you made"
        )
    if taken := sorted(_NO_OPTIONS & header.options.keys()):
        raise UserError(f"{reader.path}: {taken[0]} is no option of a world; record it again")
    world: World = load("interplay.registry:make_world")(header.world, seed=0, **header.options)
    return world


def _check(reader: ReplayReader, world: World) -> None:
    if len(reader.header.agents) != len(world.agents):
        raise UserError(
            f"{reader.path}: it names {len(reader.header.agents):,} agents, and {world.id} has {len(world.agents):,} with its options; watching works"
        )
    was, now = (
        (reader.header.world, reader.header.world_version, 1),
        (world.id, world.version, world.num_worlds),
    )
    if was != now:
        raise UserError(
            f"{reader.path}: made with {was[0]}, version {was[1]}; this is {now[2]} of {now[0]}, version {now[1]}, "
            "which cannot play it on; watching works"
        )


def _texts(value: Any) -> Iterator[str]:
    """The texts inside a value of JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)
