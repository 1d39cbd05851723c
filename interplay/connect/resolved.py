"""Environments, worlds and functions given in Python, resolved to factories of worlds."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, cast

import gymnasium
from pettingzoo.utils.env import AECEnv, ParallelEnv

from interplay.connect.parallel_world import ParallelEnvWorld
from interplay.connect.turns import name_of
from interplay.connect.world_env import WorldEnv
from interplay.core import targets
from interplay.core.errors import UserError
from interplay.core.loading import load
from interplay.core.world import World
from interplay.sim.adapt import SimulationWorld
from interplay.sim.managers import SimulationManager

OURS = (
    "num_worlds",
    "seed",
    "first_world",
    "threads",
    "processes",
)  # arguments of batches; others are options
WORLDS = (targets.WORLD, targets.SIMULATION, targets.ENVIRONMENT)


class ResolvedWorld(NamedTuple):
    """A resolved world.

    Attributes:
        id: its name in settings: an id, ``module:name``, or ``given/NAME`` for one that only this process can make.
        make: ``make(num_worlds=, seed=, first_world=) -> World``; None: the registry makes it by its id.
        like: the registered id that provides its training settings; empty: none.
    """

    id: str
    make: Callable[..., World] | None = None
    like: str = ""


def resolve_world(thing: Any) -> ResolvedWorld:
    """Resolves a world given in Python.

    Args:
        thing: a world's id or ``"module:name"``; a `World`; a PettingZoo environment (parallel or in turns), a Gymnasium
            environment, a vector of them, a simulation's manager; or a function or class that makes one of these. An importable
            function with a return annotation is known by its name; any other is called once.

    Raises:
        UserError: for anything else, or for what cannot be copied.

    Example:
        >>> resolve_world("dilemma/fixed").id, resolve_world(gymnasium.make("CartPole-v1")).id
        ('dilemma/fixed', 'given/CartPole-v1')
    """
    if isinstance(thing, str):
        return ResolvedWorld(thing, like=thing)
    if isinstance(thing, gymnasium.vector.VectorEnv):
        return resolve_world(_first_of(thing))
    if isinstance(thing, World):
        return _world(thing)
    if callable(thing) and not _is_environment(thing):
        path = _importable(thing)
        if path and targets.kind_made(thing) in WORLDS:
            return ResolvedWorld(path, like=path)
        return _made_by(thing)
    return _environment(thing, partial(_copy_of, thing))


def _is_environment(thing: Any) -> bool:
    return isinstance(thing, gymnasium.Env | AECEnv | ParallelEnv | SimulationManager)


def _first_of(vector: gymnasium.vector.VectorEnv[Any, Any, Any]) -> Any:
    """The function that makes one environment of a vector, or one of its environments."""
    makers = getattr(vector, "env_fns", None)
    if not isinstance(makers, list | tuple):  # `gymnasium.make_vec` gives functions that can be had only once
        makers = getattr(vector, "envs", None)
    if not makers:
        raise UserError(
            f"{name_of(vector)}: no way to make one environment of a {type(vector).__name__}; "
            "hand over a function that makes one, e.g. lambda: gymnasium.make(...)"
        )
    return makers[0]


def _made_by(make: Callable[..., Any]) -> ResolvedWorld:
    """Calls a function that cannot be imported by name, and resolves its result."""
    try:
        parameters = inspect.signature(make).parameters
    except (TypeError, ValueError):
        parameters = {}  # type: ignore[assignment]
    many = {name: value for name, value in (("num_worlds", 1), ("seed", 0)) if name in parameters}
    made = make(**many) if "num_worlds" in parameters else make()
    if isinstance(made, World):
        if "num_worlds" not in parameters:
            return _world(made)
        found = ResolvedWorld(_given(made.id), partial(_batch, make, tuple(parameters)), _registered(made.id))
        made.close()
        return found
    found = _environment(made, make)
    made.close()
    return found


def _batch(make: Callable[..., World], parameters: tuple[str, ...], **given: Any) -> World:
    """A batch, without those of `OURS` that the function does not take."""
    return make(**{name: value for name, value in given.items() if name in parameters or name not in OURS})


def _environment(thing: Any, make: Callable[[], Any]) -> ResolvedWorld:
    """Resolves an environment; `make` makes further ones."""
    if isinstance(thing, WorldEnv) and not (
        thing.flat or thing.mask_in_observation or thing.on_death or thing.slots or thing.renames
    ):
        return _world(thing.world)
    if isinstance(thing, SimulationManager):
        return ResolvedWorld(
            _given(type(thing.sim.unwrapped).__name__), partial(_batch_of, SimulationWorld, make)
        )
    if not (_is_environment(thing) or (hasattr(thing, "possible_agents") and hasattr(thing, "step"))):
        raise UserError(
            f"a {type(thing).__name__} is no world; hand over an id, a World, a PettingZoo or Gymnasium environment, "
            "a manager of a simulation, or a function that makes one of these"
        )
    return ResolvedWorld(_given(name_of(thing)), partial(_batch_of, ParallelEnvWorld, make))


def _batch_of(kind: Callable[..., World], make: Callable[[], Any], **given: Any) -> World:
    """A batch of a function's environments; keywords beyond `OURS` are the function's."""
    ours = {name: value for name, value in given.items() if name in OURS}
    options = {name: value for name, value in given.items() if name not in OURS}
    world: Any = kind(make, **{"num_worlds": 1, **ours}, kwargs=options)
    world.copied = getattr(make, "func", None) is _copy_of
    return cast("World", world)


def _copy_of(env: Any) -> Any:
    try:
        return copy.deepcopy(env)
    except Exception as error:
        raise UserError(
            f"{name_of(env)}: no copy can be made of it ({type(error).__name__}: {error}); hand over a function that makes one"
        ) from error


def _world(world: World) -> ResolvedWorld:
    """Batches like the given one, of other sizes and seeds."""
    recipe = world._recipe
    if recipe is None or recipe.trouble:
        why = recipe.trouble if recipe else "its constructor was not recorded"
        raise UserError(f"{world.id}: no others can be made as it is, {why}; hand over its id or a function")
    if "num_worlds" not in inspect.signature(type(world)).parameters:
        raise UserError(
            f"{world.id}: a {type(world).__name__} is made around another batch; hand over a function with the arguments "
            "num_worlds, seed and first_world that makes it"
        )
    bound = inspect.signature(type(world)).bind(*recipe.args, **recipe.kwargs)
    make = partial(_remade, type(world), world.id, dict(bound.arguments))
    return ResolvedWorld(_given(world.id), make, _registered(world.id))


def _remade(kind: type[World], name: str, arguments: dict[str, Any], **given: Any) -> World:
    parameters = inspect.signature(kind).parameters
    for key in given.keys() - parameters.keys() - {*OURS}:
        raise UserError(f"{name}: option {key!r} of a world that was handed over as it is; hand over its id")
    rest = {**arguments, **{key: value for key, value in given.items() if key in parameters}}
    for key, parameter in parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            rest |= rest.pop(key, {})
    world = kind(**rest)
    world.id = name
    return world


def _given(name: str) -> str:
    return name if name.startswith(targets.GIVEN) else targets.GIVEN + name


def _registered(name: str) -> str:
    """The id if it is registered, else empty."""
    from interplay.registry import list_worlds

    return name if any(spec.id == name for spec in list_worlds()) else ""


def _importable(thing: Any) -> str:
    """``module:name`` of a function or class that another process finds under it; else empty."""
    module, name = getattr(thing, "__module__", ""), getattr(thing, "__qualname__", "")
    if not module or module == "__main__" or not name.isidentifier():
        return ""
    try:
        return f"{module}:{name}" if load(f"{module}:{name}", users=True) is thing else ""
    except UserError:
        return ""
