"""Numbers beyond every machine as options of worlds: each is refused in one line, or the world has it and plays.

`bench.trust_configurations --worlds` tries them all, the tests some.
"""

from __future__ import annotations

import math
import typing
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.core.loading import load
from interplay.core.settings import Settings
from interplay.core.settings_text import _rules, union_members
from interplay.registry import make_policy, make_world
from tests.present import worlds_to_test

VALUES = (
    2**31 - 1,
    2**31,
    2**63 - 1,
    2**63,
    10**30,
    -1,
    -(2**31) - 1,
    -(2**63),
    -(2**63) - 1,
    1e39,
    1e308,
    math.inf,
    math.nan,
)
BATCH = ("num_worlds", "threads", "seed", "first_world")  # arguments of `make_world`
STEPS = 4


class Wild(NamedTuple):
    """One option of a world, with a number that it may not be able to have."""

    world: str
    option: str
    value: Any


def wild_options() -> list[Wild]:
    """Every numeric option with each of `VALUES` and its own ends; of worlds with the same options only the first."""
    found, known = [], set()
    for spec in worlds_to_test():
        if not spec.settings or spec.settings in known:
            continue
        known.add(spec.settings)
        for option, shape in numeric(load(spec.settings)):
            found += [Wild(spec.id, option, shape(value)) for value in (*VALUES, *shape.ends)]
        found += [Wild(spec.id, name, value) for name in BATCH for value in (*VALUES, 2**64)]
    return found


class Form(NamedTuple):
    """How a number is put into an option, and the ends of the option's own range."""

    put: Callable[[Any], Any]
    ends: tuple[Any, ...] = ()

    def __call__(self, value: Any) -> Any:
        return self.put(value)


def numeric(model: type[Settings], prefix: str = "") -> Iterator[tuple[str, Form]]:
    """Name of each numeric option, once for each place where a number stands in it."""
    for name, field in model.model_fields.items():
        for kind in union_members(field.annotation):
            rules = [*field.metadata, *_rules(kind)]
            ends = tuple(getattr(rule, end) for rule in rules for end in ("ge", "le") if hasattr(rule, end))
            for option, put in _forms(prefix + name, kind, field.get_default(call_default_factory=True)):
                yield option, put if isinstance(put, Form) else Form(put, ends)


def _forms(name: str, kind: Any, default: Any) -> Iterator[tuple[str, Any]]:
    if typing.get_origin(kind) is typing.Annotated:
        kind = typing.get_args(kind)[0]
    inside = typing.get_args(kind)
    if kind in (int, float):
        yield name, lambda value: value
    elif isinstance(kind, type) and issubclass(kind, Settings):
        yield from numeric(kind, f"{name}.")
    elif (
        typing.get_origin(kind) is tuple
        and isinstance(default, tuple)
        and default
        and isinstance(default[0], int | float)
    ):
        yield name, lambda value: [value, *default[1:]]
        yield name, lambda value: [*default[:-1], value]
    elif typing.get_origin(kind) is tuple and inside[0] is not tuple:
        yield name, lambda value: [1, value]
        yield name, lambda value: [value, value]
    elif typing.get_origin(kind) is dict:
        yield name, lambda value: {"villager": value}


def fault(wild: Wild) -> str:
    """What is wrong with the answer of a world; empty if it plays with that number, or refuses it in one line."""
    try:
        with warnings.catch_warnings(), np.errstate(over="raise", invalid="raise"):
            warnings.simplefilter("error", RuntimeWarning)
            return _played(wild)
    except UserError as error:
        return "" if "\n" not in str(error) else f"{len(str(error).splitlines())} lines: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error).strip().splitlines()[:1]}"


def _played(wild: Wild) -> str:
    world = make_world(wild.world, **{"num_worlds": 2, "seed": 1, wild.option: wild.value})
    try:
        policy = make_policy(wild.world, "random")
        timestep = world.reset()
        policy.start(world, 1)
        for _ in range(STEPS):
            for name, values in {"reward": timestep.reward, **_arrays(timestep.observation)}.items():
                if not np.isfinite(values).all():
                    return f"{name} {values[~np.isfinite(values)][0]}"
            timestep = world.step(policy.act(timestep.read_only()))
        return _kept(world, wild)
    finally:
        world.close()


def _arrays(observation: Any) -> dict[str, np.ndarray]:
    if not isinstance(observation, dict):
        return {"observation": np.asarray(observation)}
    parts = [_arrays(part) if isinstance(part, dict) else {name: part} for name, part in observation.items()]
    return {name: values for part in parts for name, values in part.items()}


def _kept(world: Any, wild: Wild) -> str:
    """Whether the table that the kernels read holds the number."""
    table = getattr(world, "table", getattr(world, "_table", None))
    if table is None or wild.option not in (table.dtype.names or ()):
        return ""
    held = table[wild.option].ravel()[:1]
    return "" if np.allclose(held.astype(float), float(wild.value), rtol=1e-6) else f"holds {held[0]}"
