"""Playthroughs: one episode as readable text that is re-played line by line (after OpenSpiel, Lanctot et al. 2019).

A playthrough is kept beside the tests. After a change of the rules its difference shows what changed, step by step.

The text has a head (world, version, seed, options), then for every step one line with the actions, as JSON, and
the rewards. Some moments (the first, every so many steps, ends of lives, changed counters) follow in full,
indented: acting agents, metrics, each agent's observation, and at a few of them the scene drawn in characters.

Numbers are rounded to four decimals and compared with a tolerance, because the last bits of floating-point numbers
may differ between processors. `World.hash` and the checker test exactness on one machine.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.core.policy import Policy
from interplay.core.reading import parse_json
from interplay.core.scene import Canvas
from interplay.core.scene_text import scene_lines
from interplay.core.world import Array, TimeStep, World

_TITLE = "interplay playthrough"
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.])")
_SMALL = 12  # fields with at most so many numbers are printed in full
_DECIMALS = 4
_TOLERANCE = 5e-4  # absolute, of printed numbers


class Head(NamedTuple):
    """The head of a playthrough.

    Attributes:
        world: registry id or class name.
        version: the world's version.
        seed: of the first reset.
        every: moments in full, at least every so many steps.
        options: of the world.
    """

    world: str
    version: int
    seed: int
    every: int
    options: Mapping[str, Any]


class Mismatch(NamedTuple):
    """The first line in which a re-play differs.

    Attributes:
        line: its number, from 1.
        written: the line of the playthrough; "" after its end.
        seen: the line of the re-play; "" after its end.
    """

    line: int
    written: str
    seen: str

    def __str__(self) -> str:
        return f"line {self.line} says\n  {self.written}\nthe world says now\n  {self.seen}"


def record_playthrough(
    world: World,
    policy: Policy,
    steps: int,
    *,
    seed: int = 0,
    every: int = 25,
    options: Mapping[str, Any] | None = None,
) -> str:
    """Plays one world and returns its playthrough.

    Args:
        world: a batch of one.
        policy: plays every agent; it is started with `seed`.
        steps: the maximum; the playthrough ends earlier when the world is over.
        every: moments in full, at least every so many steps.

    Returns:
        The text, ending with a newline.
    """
    if world.num_worlds != 1:
        raise UserError(f"{world.id}: num_worlds = {world.num_worlds}; a playthrough is of one world")
    head = Head(world.id, world.version, seed, every, dict(options or {}))
    policy.start(world, seed)
    return "\n".join(_lines(world, head, lambda t: policy.act(world.timestep) if t <= steps else None)) + "\n"


def replay_playthrough(text: str, make: Callable[[Head], World]) -> Mismatch | None:
    """Plays the actions of a playthrough again and compares the results, line by line.

    Args:
        make: builds the world (a batch of one) of the head.

    Returns:
        None if every line is as written; otherwise the first that is not.
    """
    written = text.splitlines()
    head = read_head(text)
    world = make(head)
    actions = [_decode(line.split(" -> ")[0].split(" ", 1)[1]) for line in written if re.match(r"\d+ ", line)]
    lines = _lines(world, head, lambda t: actions[t - 1] if t <= len(actions) else None)
    count = 0
    for count, seen in enumerate(_refusing(lines), start=1):
        line = written[count - 1] if count <= len(written) else ""
        if not _agree(line, seen):
            return Mismatch(count, line, seen)
    return Mismatch(count + 1, written[count], "") if count < len(written) else None


def read_head(text: str) -> Head:
    """The head of a playthrough."""
    lines = text.splitlines()
    try:
        if lines[0] != _TITLE:
            raise ValueError
        values = dict(line.split(": ", 1) for line in lines[1:6])
        version, seed, every = (int(values[name]) for name in ("version", "seed", "every"))
        options = parse_json(values["options"])
        if not (version >= 0 and 0 <= seed < 2**63 and 1 <= every < 2**63 and isinstance(options, dict)):
            raise ValueError
        return Head(values["world"], version, seed, every, options)
    except (IndexError, KeyError, ValueError):
        raise UserError(f"playthrough: it does not begin with '{_TITLE}' and a head; record again") from None


def _lines(world: World, head: Head, act: Callable[[int], Any]) -> Iterator[str]:
    """The lines of a playthrough; `act` returns the actions of step t, or None to end."""
    yield _TITLE
    yield f"world: {head.world}"
    yield f"version: {world.version}"
    yield f"seed: {head.seed}"
    yield f"every: {head.every}"
    yield f"options: {json.dumps(dict(head.options), sort_keys=True)}"
    yield f"agents: {', '.join(world.agents)}"
    step = world.reset(seeds=head.seed)
    yield from _moment(world, step, picture=True)
    watch = _Watch(world)
    t = 0
    while not step.over[0]:
        t += 1
        action = act(t)
        if action is None:
            return
        coded = _encode(action)
        step = world.step(action)
        yield f"{t} {coded} -> {_numbers(step.reward[0])}"
        notable = watch.notable(step)
        if notable or t % head.every == 0:
            yield from _moment(world, step, picture=notable and watch.ended(step))


class _Watch:
    """Selects moments to write in full: an end, another number of acting agents, a counter that begins to change."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.acting = int(world.timestep.acting.sum())
        self.metrics = self._counters()
        self.moved: set[str] = set()

    def notable(self, step: TimeStep) -> bool:
        counters = self._counters()
        both = counters.keys() & self.metrics.keys()  # a mean may be whole now and then
        moved = {name for name in both if not np.array_equal(counters[name], self.metrics[name])}
        fresh = moved - self.moved
        acting = int(step.acting.sum())
        changed = (
            acting != self.acting
        )  # the number only: in a world of turns the agents change in every step
        self.acting, self.metrics, self.moved = acting, counters, moved
        return changed or bool(fresh) or self.ended(step)

    def ended(self, step: TimeStep) -> bool:
        return bool((step.terminated | step.truncated).any() or step.over.any())

    def _counters(self) -> dict[str, Array]:
        return {
            name: np.array(value) for name, value in self.world.metrics.items() if _whole(np.asarray(value))
        }


def _whole(values: Array) -> bool:
    return values.dtype.kind in "iub" or bool((values == np.round(values)).all())


def _moment(world: World, step: TimeStep, picture: bool) -> Iterator[str]:
    """One time step in full, indented."""
    for name in ("acting", "terminated", "truncated"):
        agents = [agent for a, agent in enumerate(world.agents) if getattr(step, name)[0, a]]
        if agents or name == "acting":
            yield f"    {name}: {', '.join(agents) or 'nobody'}"
    if step.over[0]:
        yield "    over"
    for name, values in world.metrics.items():
        yield f"    {name}: {_numbers(np.atleast_1d(np.asarray(values)[0]))}"
    observations, masks = world.by_kind(step.observation), world.by_kind(step.action_mask)
    for kind in world.kinds:
        for column, slot in enumerate(kind.slots):
            yield f"    {world.agents[slot]} sees"
            for title, tree in (("", observations[kind.name]), ("legal ", masks[kind.name])):
                for name, array in (tree or {}).items():
                    yield f"        {title}{name}: {_summary(np.asarray(array)[0, column])}"
    if picture:
        canvas = Canvas()
        world.draw(canvas, 0)
        yield from (f"    {line}" for line in scene_lines(canvas.scene()))


def _summary(array: Array) -> str:
    if array.size <= _SMALL:
        return _numbers(array.reshape(-1))
    return f"{array.size} numbers, mean {_number(array.mean())}, not zero {np.count_nonzero(array)}"


def _numbers(values: Array) -> str:
    return " ".join(_number(value) for value in values)


def _number(value: Any) -> str:
    rounded = round(float(value), _DECIMALS) + 0.0  # + 0.0 turns -0.0 into 0.0
    return f"{rounded:.{_DECIMALS}f}".rstrip("0").rstrip(".")


def _encode(action: Any) -> str:
    """The first world's actions as JSON; floats are written so that they are read back exactly."""
    return json.dumps(_listed(action), separators=(",", ":"))


def _listed(tree: Any) -> Any:
    if isinstance(tree, Mapping):
        return {name: _listed(part) for name, part in tree.items()}
    return np.asarray(tree)[0].tolist()


def _decode(text: str) -> Any:
    try:
        return _batched(parse_json(text))
    except ValueError as error:
        raise UserError(f"playthrough: {text[:60]!r} are no actions ({error}); record it again") from None


def _batched(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {name: _batched(part) for name, part in tree.items()}
    array = np.asarray(tree)[None]
    if array.dtype.kind not in "biuf":
        raise ValueError("not numbers")
    return array


def _refusing(lines: Iterator[str]) -> Iterator[str]:
    """The lines of a re-play; an action that the world refuses ends it with one line."""
    try:
        yield from lines
    except UserError:
        raise
    except (ValueError, TypeError, LookupError, OverflowError, AssertionError) as error:
        raise UserError(f"playthrough: its world refuses its actions ({error}); record again") from error


def _agree(written: str, seen: str) -> bool:
    """Whether two lines are the same text with numbers that differ by the tolerance at most."""
    if written == seen:
        return True
    if _NUMBER.sub("#", written) != _NUMBER.sub("#", seen):
        return False
    pairs = zip(_NUMBER.findall(written), _NUMBER.findall(seen), strict=True)
    return all(abs(float(a) - float(b)) <= _TOLERANCE for a, b in pairs)
