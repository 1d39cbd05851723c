"""Worlds by name: ``make_world("survival/1v1-heals-low", num_worlds=256)``.

Worlds of other packages join by the entry point group ``interplay.worlds``, whose entries load an iterable of
`WorldSpec`::

    [project.entry-points."interplay.worlds"]
    mine = "my_package:SPECS"

A world that is not registered is named by its class, ``make_world("my_package.tag:Tag")``; a simulation by a function that makes
its manager, ``make_world("examples.corridor:together")``; and so is anybody's PettingZoo parallel environment:
``make_world("pettingzoo.classic.rps_v2:parallel_env", num_worlds=8)``.
"""

from __future__ import annotations

import copy
import inspect
import logging
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import metadata
from typing import TYPE_CHECKING, Any

from interplay.core.errors import UserError
from interplay.core.loading import did_you_mean, load
from interplay.core.spec import WorldSpec

if TYPE_CHECKING:
    from interplay.core.policy import Policy
    from interplay.core.world import World

ENTRY_POINTS = "interplay.worlds"

_BUILT_IN = (
    "interplay.worlds.survival:SPECS",
    "interplay.worlds.corridor:SPECS",
    "interplay.worlds.broadcast:SPECS",
    "interplay.worlds.foragers:SPECS",
    "interplay.worlds.team_battle:SPECS",
    "interplay.worlds.maze_navigation:SPECS",
    "interplay.worlds.reach_the_target:SPECS",
    "interplay.worlds.traffic_corridor:SPECS",
    "interplay.worlds.pacman:SPECS",
    "interplay.worlds.navigation:SPECS",
    "interplay.worlds.mmo:SPECS",
    "interplay.worlds.werewolf:SPECS",
)
# By name: one stands above the registry, and neither is needed to list worlds.
_ENVIRONMENTS = "interplay.connect.parallel_world:ParallelEnvWorld"
_SIMULATIONS = "interplay.sim.adapt:SimulationWorld"
_log = logging.getLogger("interplay")
_registered: dict[str, WorldSpec] = {}


def register(spec: WorldSpec) -> None:
    """Adds a world for this process.

    Raises:
        UserError: if the id is empty or taken by another spec.
    """
    if not spec.id or not spec.make:
        raise UserError(f"{spec!r}: a world needs an id and a make function; fill in both")
    known = _specs().get(spec.id)
    if known is not None and known != spec:
        raise UserError(f"world id {spec.id!r} is taken by {known.make}; choose another id")
    _registered[spec.id] = spec


def list_worlds() -> tuple[WorldSpec, ...]:
    """Every registered world, by id; imports no world."""
    return tuple(spec for _, spec in sorted(_specs().items()))


def find_world(world_id: str) -> WorldSpec:
    """The spec of a registered id.

    Raises:
        UserError: for an unknown id, naming the near miss.
    """
    specs = _specs()
    if world_id in specs:
        return specs[world_id]
    raise UserError(
        f"unknown world {world_id!r}; {did_you_mean(world_id, specs, '`interplay worlds` lists all')}"
    )


def make_world(
    world_id: str,
    num_worlds: int = 1,
    seed: int = 0,
    threads: int = 1,
    first_world: int = 0,
    **options: Any,
) -> World:
    """Makes a batch of worlds.

    Args:
        world_id: a registered id, ``"module:Class"`` of a `World` of your own, or ``"module:function"`` of a simulation's
            manager or of anybody's PettingZoo parallel environment (both with the extra option ``processes``, see
            `interplay.sim.adapt` and `interplay.connect.parallel_world`).
        num_worlds: W, worlds in the batch.
        seed: names the worlds' random streams.
        threads: compute threads of this batch; they change no bit.
        first_world: index of the batch's first world among all worlds of `seed`.
        **options: the world's settings, on top of the variant's.

    Raises:
        UserError: for an unknown id, or an option that is unknown or out of range.
    """
    if ":" in world_id:
        return _make_from_path(world_id, num_worlds, seed, threads, first_world, options)
    spec = find_world(world_id)
    settings = _settings(spec, options)
    world: World = load(spec.make)(
        settings, num_worlds=num_worlds, seed=seed, threads=threads, first_world=first_world
    )
    world.id = spec.id
    return world


def training_settings(world_id: str) -> dict[str, Any]:
    """What training of a world should begin with, for `interplay.core.settings.build` and a user's values on top.

    Raises:
        UserError: for an unknown id.
    """
    return {} if ":" in world_id else copy.deepcopy(dict(find_world(world_id).training))


def list_policies(world_id: str) -> tuple[str, ...]:
    """Names of the scripted policies of a world; ``"random"`` plays every world."""
    return tuple(sorted({"random", *_policies(world_id)}))


def make_policy(world_id: str, name: str) -> Policy:
    """Makes a scripted policy of a world, ``"random"``, or a class of your own named ``"module:Class"``.

    Raises:
        UserError: for an unknown name, naming the near miss.
    """
    policies = _policies(world_id)
    if name in policies:
        made: Policy = policies[name]()
        return made
    if name == "random":
        from interplay.core.policy import RandomPolicy

        return RandomPolicy()
    if ":" in name:
        own: Policy = load(name, users=True)()
        return own
    known = list_policies(world_id)
    raise UserError(
        f"{world_id}: unknown policy {name!r}; {did_you_mean(name, known, 'known: ' + ', '.join(known))}"
    )


def _specs() -> dict[str, WorldSpec]:
    return {**_installed(), **_registered}


@cache
def _installed() -> Mapping[str, WorldSpec]:
    """Built-in worlds and those of entry points; the first to name an id keeps it."""
    found: dict[str, WorldSpec] = {}
    for path in _BUILT_IN:
        _add(found, path, load(path))
    for entry in metadata.entry_points(group=ENTRY_POINTS):
        try:
            _add(found, f"{entry.name} = {entry.value}", entry.load())
        except Exception as error:  # a broken neighbour must not take the other worlds with it
            _log.warning(
                "entry point %s = %s gives no worlds (%s: %s); mend or uninstall its package",
                entry.name,
                entry.value,
                type(error).__name__,
                str(error).partition("\n")[0],
            )
    return found


def _add(found: dict[str, WorldSpec], source: str, specs: Iterable[WorldSpec]) -> None:
    given = tuple(specs)
    for spec in given:
        if not isinstance(spec, WorldSpec):
            raise TypeError(f"expected WorldSpec, got {type(spec).__name__}")
    for spec in given:
        if spec.id in found:
            _log.warning("%s: world id %s is taken by %s; ignored", source, spec.id, found[spec.id].make)
        else:
            found[spec.id] = spec


def _settings(spec: WorldSpec, options: Mapping[str, Any]) -> Any:
    if not spec.settings:
        if options:
            raise UserError(f"{spec.id}: unknown option {next(iter(options))!r}; this world has no options")
        return None
    from interplay.core.settings import build

    return build(load(spec.settings), {**spec.options, **options}, spec.id)


def _make_from_path(
    path: str, num_worlds: int, seed: int, threads: int, first_world: int, options: Mapping[str, Any]
) -> World:
    """What a user's function or class makes: a World if it takes `num_worlds`, else a manager or a PettingZoo environment."""
    make = load(path, users=True)
    if not callable(make):
        raise UserError(
            f"{path!r}: a {type(make).__name__} is no world; name a class or a function that makes one"
        )
    parameters = inspect.signature(make).parameters
    if not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        for name in options.keys() - parameters.keys() - {"processes"}:
            near = did_you_mean(name, parameters, "its options: " + (", ".join(parameters) or "none"))
            raise UserError(f"{path}: unknown option {name!r}; {near}")
    if "num_worlds" in parameters:
        return _make_own(make, path, num_worlds, seed, threads, first_world, options)
    rest = dict(options)
    processes = rest.pop("processes", 0)
    kind = _SIMULATIONS if _makes_simulations(make, rest) else _ENVIRONMENTS
    batch: World = load(kind)(
        path, num_worlds, seed=seed, first_world=first_world, processes=processes, kwargs=rest
    )
    return batch


def _makes_simulations(make: Any, options: Mapping[str, Any]) -> bool:
    """Whether it is simulations that a function makes; a look at one, which is thrown away."""
    try:
        made = make(**options)
    except Exception:
        return False  # whoever makes the batch meets the same error and names it
    from interplay.sim.managers import SimulationManager
    from interplay.sim.simulation import AgentBasedSimulation

    getattr(made, "close", bool)()
    return isinstance(made, SimulationManager | AgentBasedSimulation)


def _make_own(
    make: Any,
    path: str,
    num_worlds: int,
    seed: int,
    threads: int,
    first_world: int,
    options: Mapping[str, Any],
) -> World:
    from interplay.core import seeding
    from interplay.core.world import World

    parameters = inspect.signature(make).parameters
    extra = {"seed": seed, "threads": threads, "first_world": first_world}
    extra = {name: value for name, value in extra.items() if name in parameters}
    world = make(num_worlds=num_worlds, **extra, **options)
    if not isinstance(world, World):
        raise UserError(f"{path!r} made a {type(world).__name__}; it must make an interplay World")
    # For those whose constructor does not take them.
    world._seeds, world.first_world = seeding.world_seeds(seed, num_worlds, first_world), first_world
    world.id = path
    return world


def _policies(world_id: str) -> Mapping[str, Any]:
    if ":" in world_id:
        return {}
    spec = find_world(world_id)
    policies: Mapping[str, Any] = load(spec.policies) if spec.policies else {}
    return policies
