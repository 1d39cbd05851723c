"""Laws of one time step: shapes, dtypes, finite numbers, observations inside their spaces, layout of masks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.checker.bench import Bench, Broken
from interplay.checker.outputs import Field, flatten, is_metric, read_fields
from interplay.core.spaces import action_choices
from interplay.core.world import Array, Kind, TimeStep, World

OUTCOME = "metrics/outcome"  # by agent, it is read as won, drawn and lost

_LEAVES = (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)


def check_identity(bench: Bench, world: World) -> None:
    """Checks the world's name, version, agents and kinds, and that its spaces are of supported types."""
    if not world.id or not isinstance(world.id, str):
        bench.add("identity", "the id is empty", field="id", value=world.id)
    if not isinstance(world.version, int) or world.version < 1:
        bench.add("identity", "not a whole number from 1", field="version", value=world.version)
    if len(set(world.agents)) < len(world.agents) or not all(isinstance(a, str) for a in world.agents):
        bench.add("identity", "agent names are not unique strings", field="agents", value=world.agents)
    if sorted(s for kind in world.kinds for s in kind.slots) != list(range(len(world.agents))):
        bench.add("identity", "the kinds do not cover every slot once", field="kinds")
        raise Broken
    for kind in world.kinds:
        leaves = list(flatten(kind.name, _space_tree(kind.observation_space)))
        leaves += flatten(f"{kind.name}/action", _space_tree(kind.action_space))
        for path, leaf in leaves:
            if not isinstance(leaf, _LEAVES):
                bench.add("spaces", f"{type(leaf).__name__} is no space of arrays", field=path)
                raise Broken
        if not isinstance(kind.observation_space, spaces.Dict):
            bench.add("spaces", "the observation space is no spaces.Dict", field=kind.name)
            raise Broken


def _space_tree(space: spaces.Space) -> Any:
    if isinstance(space, spaces.Dict):
        return {name: _space_tree(part) for name, part in space.spaces.items()}
    return space


def check_layout(bench: Bench, world: World, step: TimeStep, t: int) -> None:
    """Checks a single time step.

    Raises:
        Broken: if arrays do not have the declared names, shapes or dtypes, so that nothing else can be read.
    """
    sound = True
    for name, array, shape, dtype in expected_arrays(world, step):
        if not isinstance(array, np.ndarray):
            seen = "no array" if array is None else f"a {type(array).__name__}, not a NumPy array"
            bench.add("shape", f"{seen}; expected shape {shape}", step=t, field=name)
            sound = False
        elif array.shape != shape:
            bench.add("shape", f"expected {shape}", step=t, field=name, value=array.shape)
            sound = False
        elif array.dtype != dtype:
            law = "mask" if name.startswith("action_mask") else "dtype"
            bench.add(law, f"expected {dtype}", step=t, field=name, value=array.dtype)
            sound = False
    if not sound:
        raise Broken
    fields = read_fields(world, step, metrics=False)
    check_finite(bench, world, fields, t)
    for kind in world.kinds:
        _check_in_space(bench, world, kind, step, t)
        _check_legal_choices(bench, world, kind, step, t)
    _check_metrics(bench, world, t)


def expected_arrays(world: World, step: TimeStep) -> Iterator[tuple[str, Any, tuple[int, ...], np.dtype]]:
    """(name, the world's array, expected shape, expected dtype) of every array of a time step."""
    many, w = len(world.kinds) > 1, world.num_worlds
    for title, tree in (("observation", step.observation), ("action_mask", step.action_mask)):
        if title == "action_mask" and tree is None:
            continue
        by_kind = tree if many else {world.kinds[0].name: tree}
        for kind in world.kinds:
            path = f"{title}/{kind.name}" if many else title
            given = by_kind.get(kind.name) if isinstance(by_kind, Mapping) else None
            if title == "observation":
                wanted = dict(flatten(path, _space_tree(kind.observation_space)))
                layout = {name: (leaf.shape, np.dtype(leaf.dtype)) for name, leaf in wanted.items()}
            elif given is None:
                continue
            else:
                masked = mask_sizes(kind.action_space)
                keys = [key for key in masked if key in given]
                layout = {f"{path}/{key}": ((masked[key],), np.dtype(bool)) for key in keys}
            arrays = dict(flatten(path, given))
            for name, (shape, dtype) in layout.items():
                yield name, arrays.pop(name, None), (w, len(kind.slots), *shape), dtype
            for name, array in arrays.items():  # names that no space declares
                yield name, array, (), np.dtype(object)
    slots = (w, len(world.agents))
    yield "reward", step.reward, slots, np.dtype(np.float32)
    for name in ("acting", "terminated", "truncated"):
        yield name, getattr(step, name), slots, np.dtype(bool)
    yield "over", step.over, (w,), np.dtype(bool)


def mask_sizes(space: spaces.Space, key: str = "action") -> dict[str, int]:
    """Length of the mask of each integer part of an action space, by the mask's key."""
    if isinstance(space, spaces.Dict):
        return {k: n for name, part in space.spaces.items() for k, n in mask_sizes(part, name).items()}
    return {} if isinstance(space, spaces.Box) else {key: sum(action_choices(space))}


def check_finite(bench: Bench, world: World, fields: Mapping[str, Field], t: int) -> None:
    """No NaN and no infinity in any row; a metric may be NaN if an episode has no case of it."""
    for name, (array, slots) in fields.items():
        if array.dtype.kind != "f":
            continue
        law = "metrics" if name.startswith("metrics/") else "finite"
        sound = ~np.isinf(array) if law == "metrics" else np.isfinite(array)
        if not sound.all():
            at = tuple(int(i) for i in np.argwhere(~sound)[0])
            agent = world.agents[slots[at[1]]] if slots is not None else None
            bench.add(law, "not finite", world=at[0], agent=agent, step=t, field=name, value=float(array[at]))


def _check_in_space(bench: Bench, world: World, kind: Kind, step: TimeStep, t: int) -> None:
    """Observations of agents that act now, or whose life ends now, lie in their space."""
    slots = list(kind.slots)
    read = (step.acting | step.terminated | step.truncated)[:, slots]
    tree = world.by_kind(step.observation)[kind.name]
    path = "observation" if len(world.kinds) == 1 else f"observation/{kind.name}"
    arrays = dict(flatten(path, tree))
    for name, space in flatten(path, _space_tree(kind.observation_space)):
        outside = _outside(space, arrays[name])
        outside &= read.reshape(*read.shape, *[1] * (outside.ndim - 2))
        if outside.any():
            at = tuple(int(i) for i in np.argwhere(outside)[0])
            bench.add(
                "in-space",
                f"outside {space}",
                world=at[0],
                agent=world.agents[slots[at[1]]],
                step=t,
                field=name,
                value=arrays[name][at].item(),
            )


def _outside(space: spaces.Space, array: Array) -> Array:
    if isinstance(space, spaces.Box):
        return (array < space.low) | (array > space.high)  # NaN has a law of its own
    if isinstance(space, spaces.MultiBinary):
        return (array < 0) | (array > 1)
    low = np.asarray(space.start)  # type: ignore[attr-defined]
    count = np.asarray(space.n if isinstance(space, spaces.Discrete) else space.nvec)  # type: ignore[attr-defined]
    return (array < low) | (array >= low + count)


def _check_legal_choices(bench: Bench, world: World, kind: Kind, step: TimeStep, t: int) -> None:
    """Every head of every acting agent has at least one legal choice."""
    mask = world.by_kind(step.action_mask)[kind.name]
    if mask is None:
        return
    acting = step.acting[:, list(kind.slots)]
    for key, start, count in heads(kind.action_space):
        if key not in mask:
            continue
        stuck = acting & ~mask[key][..., start : start + count].any(axis=-1)
        if stuck.any():
            w, a = (int(i) for i in np.argwhere(stuck)[0])
            agent = world.agents[kind.slots[a]]
            path = f"action_mask/{key}" if len(world.kinds) == 1 else f"action_mask/{kind.name}/{key}"
            bench.add("mask", "an acting agent has no legal choice", world=w, agent=agent, step=t, field=path)


def heads(space: spaces.Space, key: str = "action") -> list[tuple[str, int, int]]:
    """(mask key, first column, number of choices) of every head of the integer parts of an action space."""
    if isinstance(space, spaces.Dict):
        return [head for name, part in space.spaces.items() for head in heads(part, name)]
    if isinstance(space, spaces.Box):
        return []
    counts = action_choices(space)
    return [(key, sum(counts[:i]), count) for i, count in enumerate(counts)]


def _check_metrics(bench: Bench, world: World, t: int) -> None:
    fields = {}
    for name, values in world.metrics.items():
        array = np.asarray(values)
        if not is_metric(world, array):
            bench.add(
                "metrics",
                f"{array.dtype}{array.shape} is neither numbers per world nor per agent",
                step=t,
                field=f"metrics/{name}",
            )
        else:
            slots = tuple(range(len(world.agents))) if array.ndim == 2 else None
            fields[f"metrics/{name}"] = Field(array, slots)
    check_finite(bench, world, fields, t)
    array = fields[OUTCOME].array if OUTCOME in fields else np.zeros(0)
    odd = np.argwhere(~np.isnan(array) & ~np.isin(array, (-1.0, 0.0, 1.0))) if array.ndim == 2 else ()
    for w, a in odd[:1]:
        given = {"world": int(w), "agent": world.agents[a], "value": float(array[w, a])}
        bench.add("metrics", "neither +1, 0, -1 nor NaN", step=t, field=OUTCOME, **given)


def check_memory(bench: Bench, world: World, step: TimeStep) -> None:
    """No two rows and no two fields that a caller may write share memory."""
    fields = {n: p.array for n, p in read_fields(world, step, metrics=False).items()}
    writable = {n: a for n, a in fields.items() if a.flags.writeable and a.size}
    for name, array in writable.items():
        if any(stride == 0 and n > 1 for stride, n in zip(array.strides, array.shape, strict=True)):
            bench.add("shared-buffers", "rows of one array are the same memory", step=0, field=name)
    for (one, a), (two, b) in combinations(writable.items(), 2):
        if overlap(a, b):
            bench.add("shared-buffers", f"the same memory as {two}", step=0, field=one)


def overlap(a: Array, b: Array) -> bool:
    """Whether two arrays share memory; False if that is too hard to decide."""
    try:
        return np.may_share_memory(a, b) and np.shares_memory(a, b, max_work=100_000)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return False
