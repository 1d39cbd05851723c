"""Laws of masks: an illegal choice is refused, or has the effect of some legal choice.

A world may treat illegal choices in any way (as a no-op, as the nearest legal one, by refusing them), but
an illegal choice may never have an effect of its own. The checker plays one from a snapshot, then every legal
choice from the same snapshot, and searches one with the same outputs for some steps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

from interplay.checker.bench import Bench, Players, described, map_tree
from interplay.checker.layout import heads
from interplay.checker.outputs import digest, read_fields
from interplay.core.hashing import hash_rows
from interplay.core.world import Kind, World

COUNTED = "metrics/illegal"  # a world may count illegal choices in the metric of that name
_PROBES = 48  # illegal choices that are tried in all
_EACH = 2  # of one head and choice
_STEPS = 200  # of play in which masks are looked for
_FOLLOWED = 6  # steps after which a probe's consequences must have shown
_JOINT = 64  # joint legal choices of all heads that are tried; above it the heads one by one


class Choice(NamedTuple):
    """One element of one agent's action."""

    kind: Kind
    key: str
    head: int
    value: int
    row: int
    column: int


def check_masks(bench: Bench) -> None:
    """Looks for illegal choices in play and tries them."""
    world = bench.begun()
    players = Players(world, bench.seed, range(world.num_worlds))
    tried: Counter[tuple[str, str, int, int]] = Counter()
    for t in range(1, min(bench.steps, _STEPS) + 1):
        if world.timestep.action_mask is None and t > 1:
            return
        for choice in list(illegal_choices(world)):
            name = (choice.kind.name, choice.key, choice.head, choice.value)
            if tried[name] < _EACH and tried.total() < _PROBES:
                tried[name] += 1
                _probe(bench, world, players, choice, t)
        action = players.act(world.timestep)
        bench.attempt(lambda action=action: world.step(action), "step", t)  # type: ignore[misc]
        if world.timestep.over.any():
            over = world.timestep.over.copy()
            bench.attempt(lambda over=over: world.reset(which=over), "reset", t)  # type: ignore[misc]


def illegal_choices(world: World) -> Iterator[Choice]:
    """For each head and choice one acting agent for which it is illegal now, and that has a legal choice to compare with."""
    step = world.timestep
    masks = world.by_kind(step.action_mask)
    for kind in world.kinds:
        acting = step.acting[:, list(kind.slots)]
        for index, (key, start, count) in enumerate(heads(kind.action_space)):
            mask = (masks[kind.name] or {}).get(key)
            if mask is None:
                continue
            legal = mask[..., start : start + count]
            askable = acting & legal.any(axis=-1)
            if world.ignores_illegal:
                askable &= (~legal).sum(axis=-1) > 1
            for value in range(count):
                at = np.argwhere(askable & ~legal[..., value])
                if len(at):
                    yield Choice(kind, key, index, value, int(at[0, 0]), int(at[0, 1]))


def _probe(bench: Bench, world: World, players: Players, choice: Choice, t: int) -> None:
    base = players.act(world.timestep)
    snapshot = {name: array.copy() for name, array in world.save().items()}
    candidates = list(_legal_actions(world, base, choice))
    illegal = _with(world, base, choice, {choice.head: choice.value})
    agent = world.agents[choice.kind.slots[choice.column]]
    place: dict[str, Any] = {"world": choice.row, "agent": agent, "step": t}
    place |= {"field": f"action/{choice.key}", "value": choice.value}
    try:
        world.step(map_tree(np.copy, illegal))
    except ValueError:
        if not np.array_equal(hash_rows(world.save()), hash_rows(snapshot)):
            bench.add("mask-honoured", "an illegal choice was refused after state had changed", **place)
    except Exception as error:
        bench.add("mask-honoured", f"an illegal choice raised {described(error)}", **place)
    else:
        outputs = list(_consequences(bench, world, snapshot, illegal, choice.row))
        if not any(_same(outputs, _consequences(bench, world, snapshot, c, choice.row)) for c in candidates):
            bench.add("mask-honoured", "an illegal choice did what no legal choice does", **place)
    world.load(snapshot)


def _consequences(bench: Bench, world: World, snapshot: Any, action: Any, row: int) -> Iterator[int]:
    """One world's outputs after an action and in the following steps, as digests."""
    world.load(snapshot)
    players = Players(world, bench.seed + 2, range(world.num_worlds))
    for _ in range(_FOLLOWED):
        step = bench.attempt(lambda: world.step(map_tree(np.copy, action)), "step")  # noqa: B023
        outputs = read_fields(world, step)
        outputs.pop(COUNTED, None)
        yield int(digest(outputs)[row])
        if step.over[row]:
            return
        action = players.act(step)


def _same(outputs: list[int], other: Iterator[int]) -> bool:
    """Compares step by step, so that most candidates are played for one step only."""
    count = 0
    for expected, seen in zip(outputs, other, strict=False):
        if expected != seen:
            return False
        count += 1
    return count == len(outputs)


def _legal_actions(world: World, base: Any, choice: Choice) -> Iterator[Any]:
    """The agent's legal choices: the head alone first, then, if they are few, all heads together."""
    mask = world.by_kind(world.timestep.action_mask)[choice.kind.name]
    legal: dict[int, list[int]] = {}
    choices = 0
    for index, (key, start, count) in enumerate(heads(choice.kind.action_space)):
        choices = count if index == choice.head else choices
        row = mask[key][choice.row, choice.column, start : start + count] if key in mask else np.ones(count)
        legal[index] = [int(v) for v in np.flatnonzero(row)]
    for value in legal[choice.head]:
        yield _with(world, base, choice, {choice.head: value})
    if world.ignores_illegal:  # whatever is illegal does the same, that is nothing
        for value in sorted(set(range(choices)) - set(legal[choice.head]) - {choice.value}):
            yield _with(world, base, choice, {choice.head: value})
    if (
        len(legal) > 1 and prod(len(values) for values in legal.values()) <= _JOINT
    ):  # of Python: 42 heads pass 64 bits
        for values in product(*legal.values()):
            yield _with(world, base, choice, dict(zip(legal, values, strict=True)))


def _with(world: World, base: Any, choice: Choice, values: dict[int, int]) -> Any:
    """A copy of the batch's actions with other values in one agent's heads (counted over all keys)."""
    action = map_tree(np.copy, base)
    part = action[choice.kind.name] if len(world.kinds) > 1 else action
    offset = 0
    for key, space in integer_parts(choice.kind.action_space):
        array = part if not isinstance(part, dict) else _find(part, key)
        cell = array[choice.row, choice.column, ...].reshape(-1)
        for head, value in values.items():
            if offset <= head < offset + cell.size:
                first = np.broadcast_to(getattr(space, "start", 0), space.shape or ()).reshape(-1)
                cell[head - offset] = value + first[head - offset]
        array[choice.row, choice.column] = cell.reshape(array.shape[2:])
        offset += cell.size
    return action


def integer_parts(space: spaces.Space, key: str = "action") -> list[tuple[str, spaces.Space]]:
    """The integer leaves of an action space with their mask keys, in the order of `heads`."""
    if isinstance(space, spaces.Dict):
        return [part for name, leaf in space.spaces.items() for part in integer_parts(leaf, name)]
    return [] if isinstance(space, spaces.Box) else [(key, space)]


def _find(tree: dict[str, Any], key: str) -> Any:
    for name, part in tree.items():
        if name == key:
            return part
        if isinstance(part, dict):
            return _find(part, key)
    raise KeyError(key)
