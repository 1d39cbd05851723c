"""Worlds by name: ``make_world("survival/1v1-heals-low", num_worlds=256)``.

Worlds of other packages join by the entry point group ``interplay.worlds``, whose entries load an iterable of
`WorldSpec`::

    [project.entry-points."interplay.worlds"]
    mine = "my_package:SPECS"

A world that is not registered is named by its class, ``make_world("my_package.tag:Tag")``. A simulation is named by a function that makes
its manager, ``make_world("examples.corridor:together")``, a PettingZoo environment (in turns or parallel) by
``make_world("pettingzoo.classic.rps_v2:parallel_env", num_worlds=8)``, and a Gymnasium environment by
``make_world("gymnasium:CartPole-v1")``. A function's annotation has its return type;
none is called to find out (`interplay.core.targets`).
"""

from __future__ import annotations

import copy
import inspect
import logging
from collections.abc import Iterable, Mapping
from importlib import metadata
from numbers import Integral
from typing import TYPE_CHECKING, Any

from interplay.core import targets
from interplay.core.errors import UserError
from interplay.core.loading import is_folder, load
from interplay.core.registry import Registry, unknown
from interplay.core.spec import WorldSpec
from interplay.core.waiting import WAITING, thing_of

if TYPE_CHECKING:
    from interplay.core.policy import Policy
    from interplay.core.world import World

ENTRY_POINTS = "interplay.worlds"
MOST = {"num_worlds": 1_000_000, "threads": 1_024}  # of a batch

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
    "interplay.worlds.dilemma:SPECS",
    "interplay.worlds.matrix:SPECS",
    "interplay.worlds.pong:SPECS",
    "interplay.worlds.sc2:SPECS",
    "interplay.worlds.mmo:SPECS",
    "interplay.worlds.werewolf:SPECS",
    "interplay.worlds.battle:SPECS",
    "interplay.worlds.pommerman:SPECS",
    "interplay.worlds.soccer:SPECS",
    "interplay.worlds.doom:SPECS",
)
# By name: some import the registry, and none is needed to list worlds.
_TRAINED = "interplay.verbs.players:load_policy"
_ENVIRONMENTS = "interplay.connect.parallel_world:ParallelEnvWorld"
_SIMULATIONS = "interplay.sim.adapt:SimulationWorld"
_log = logging.getLogger("interplay")


def register(spec: WorldSpec) -> None:
    """Adds a world for this process."""
    if not spec.id or not spec.make:
        raise UserError(f"{spec!r}: a world needs an id and a make function; fill in both")
    _WORLDS.add(spec.id, spec)


def list_worlds() -> tuple[WorldSpec, ...]:
    """Every registered world, by id; imports no world."""
    return tuple(spec for _, spec in sorted(_WORLDS.all().items()))


def installed_ids() -> list[str]:
    """Ids of the registered worlds that need no engine, or one that is installed."""
    return [spec.id for spec in list_worlds() if not (spec.missing and load(spec.missing)())]


def find_world(world_id: str) -> WorldSpec:
    """The spec of a registered id."""
    if world_id.startswith(targets.GIVEN):
        raise UserError(
            f"{world_id}: it was passed as a Python object, which only Python can make again; pass it again, "
            "interplay.Run(folder, world=env), or evaluate(player, world=env)"
        )
    return _WORLDS.find(world_id)


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
        world_id: a registered id; or ``"module:name"`` of a `World` class, a `WorldSpec`, or a function
            annotated to return a world, a simulation's manager or a PettingZoo or Gymnasium environment
            (the last two with the extra option ``processes``, see `interplay.sim.adapt` and
            `interplay.connect.parallel_world`).
        num_worlds: W, worlds in the batch.
        seed: names the worlds' random streams.
        threads: compute threads of this batch; they change no bit.
        first_world: index of the batch's first world among all worlds of `seed`.
        **options: the world's settings, on top of the variant's; those of a group as a mapping or by their names with dots,
            ``**{"obs.history": 2}``.
    """
    for name, value in (("num_worlds", num_worlds), ("threads", threads)):
        if isinstance(value, bool) or not isinstance(value, Integral):
            raise UserError(f"{name} = {value!r} is not allowed; pass a whole number")
        if not 1 <= value <= MOST[name]:
            raise UserError(f"{name} = {value} is not allowed; pass a whole number from 1 to {MOST[name]}")
    batch = {"num_worlds": num_worlds, "seed": seed, "threads": threads, "first_world": first_world}
    if ":" in world_id:
        return _make_from_path(world_id, batch, options)
    spec = find_world(world_id)
    try:
        return _make_from_spec(spec, spec.id, batch, options)
    except MemoryError as error:
        raise UserError(
            f"{world_id}: num_worlds = {num_worlds} of these options need more memory than there is ({error}); use fewer or smaller worlds"
        ) from None


def training_settings(world_id: str) -> dict[str, Any]:
    """Suggested settings for training on a world, for `interplay.core.settings.build`; a user's values override them."""
    spec = _spec_of(world_id)
    return {} if spec is None else copy.deepcopy(dict(spec.training))


def options_of(world_id: str) -> tuple[str, ...]:
    """Names of a world's options; empty for an unknown id and for the name of a program, which is not imported."""
    spec = _WORLDS.all().get(world_id)
    return tuple(load(spec.settings).model_fields) if spec is not None and spec.settings else ()


def check_options(world_id: str, options: Mapping[str, Any]) -> None:
    """Refuses unknown options of a world without making it; those of user functions are only checked in the call."""
    spec = _spec_of(world_id)
    if spec is not None:
        _settings(spec, options)


def lay_options(world_id: str, below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Options of a world with others on top, by `interplay.core.settings.lay_over`; a program is not imported."""
    from interplay.core.settings import Settings, lay_over

    spec = _WORLDS.all().get(world_id)
    model = load(spec.settings) if spec is not None and spec.settings else Settings
    return lay_over(model, below, above)


def list_policies(world_id: str) -> tuple[str, ...]:
    """Names of the scripted policies of a world; ``"random"`` plays every world."""
    return tuple(sorted({"random", *_policies(world_id)}))


def make_policy(world_id: str | World, name: str) -> Policy:
    """Makes a scripted policy of a world, ``"random"``, a run's trained policy, or a user-defined ``"module:Class"``.

    Args:
        world_id: of the world, or the world itself.
        name: of a policy; or a run folder, a checkpoint's, or RUN@PLAYER of a league.
    """
    if is_folder(name):
        trained: Policy = load(_TRAINED)(name)
        return trained
    return make_scripted(world_id if isinstance(world_id, str) else world_id.id, name)


def make_scripted(world_id: str, name: str) -> Policy:
    """As `make_policy`, but a name is never that of a run folder."""
    policies = _policies(world_id)
    if name in policies:
        made: Policy = policies[name]()
        return made
    if name == "random":
        from interplay.core.policy import RandomPolicy

        return RandomPolicy()
    if ":" in name:
        make = load(name, users=True)
        if targets.kind_made(make) != targets.POLICY:
            raise UserError(
                f"{name!r}: a {type(make).__name__} that is no policy; name a subclass of Policy, or a function annotated "
                "-> Policy"
            )
        own: Policy = make()
        return own
    raise UserError(f"{world_id}: {unknown('policy', name, list_policies(world_id))}")


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
                "entry point %s = %s gives no worlds (%s: %s); fix or uninstall its package",
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


_WORLDS = Registry("world", _installed, "`interplay worlds` lists all")


def _settings(spec: WorldSpec, options: Mapping[str, Any]) -> Any:
    if not spec.settings:
        if options:
            raise UserError(f"{spec.id}: unknown option {next(iter(options))!r}; this world has no options")
        return None
    from interplay.core.settings import build, lay_over, nest

    model = load(spec.settings)
    try:
        given = nest(options)
    except UserError as error:
        raise UserError(f"{spec.id}: {error}") from None
    return build(model, lay_over(model, spec.options, given), spec.id)


def _make_from_path(path: str, batch: Mapping[str, int], options: Mapping[str, Any]) -> World:
    """The result of a user's class, function or spec; nothing is called to find out its kind."""
    make = load(path, users=True)
    WAITING.world = thing_of(path)
    if isinstance(make, WorldSpec):
        return _make_from_spec(make, path, batch, options)
    kind = targets.kind_made(make)
    if kind not in (targets.WORLD, targets.SIMULATION, targets.ENVIRONMENT):
        raise UserError(
            f"{path!r}: no world; name a class of World, PettingZoo or Gymnasium, or a function with a return annotation: "
            "-> World, -> SimulationManager or -> ParallelEnv"
        )
    parameters = inspect.signature(make).parameters
    rest = dict(options)
    processes = 0 if kind == targets.WORLD else rest.pop("processes", 0)
    if not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        for name in rest.keys() - parameters.keys():
            raise UserError(f"{path}: {unknown('option', name, parameters)}")
    if kind == targets.WORLD:
        return _make_own(make, path, batch, options)
    if kind == targets.SIMULATION and not processes:
        special = _special(make(**rest), batch)
        if special is not None:
            special.id = path
            return special
    copies = {name: value for name, value in batch.items() if name != "threads"}
    world: World = load(_SIMULATIONS if kind == targets.SIMULATION else _ENVIRONMENTS)(
        path, **copies, processes=processes, kwargs=rest
    )
    return world


def _special(manager: Any, batch: Mapping[str, int]) -> World | None:
    """A simulation's own batched world, as declared grid worlds have; None if its copies are stepped one by one."""
    found: World | None = None
    if hasattr(manager, "sim"):
        found = manager.sim.as_batch(manager, **batch)
        if found is None:
            manager.close()
    return found


def _make_from_spec(
    spec: WorldSpec, name: str, batch: Mapping[str, int], options: Mapping[str, Any]
) -> World:
    settings = _settings(spec, options)
    WAITING.world = thing_of(spec.make)
    make = load(spec.make)
    if targets.kind_made(make) == targets.SIMULATION:
        world: World = make(settings).vectorize(**batch)
    else:
        if isinstance(make, type) and "threads" not in inspect.signature(make).parameters:
            batch = {key: value for key, value in batch.items() if key != "threads"}  # rules in NumPy
        world = make(settings, **batch)
    world.id = name
    return world


def _make_own(make: Any, path: str, batch: Mapping[str, int], options: Mapping[str, Any]) -> World:
    from interplay.core import seeding
    from interplay.core.world import World

    parameters = inspect.signature(make).parameters
    if "num_worlds" not in parameters and not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        raise UserError(f"{path!r}: it takes no num_worlds, so it makes no batch; add that argument")
    accepted = {name: value for name, value in batch.items() if name in parameters or name == "num_worlds"}
    world = make(**accepted, **options)
    if not isinstance(world, World):
        raise UserError(f"{path!r} made a {type(world).__name__}; it must make an interplay World")
    # Not every constructor takes them.
    first_world = batch["first_world"]
    world._seeds = seeding.world_seeds(batch["seed"], batch["num_worlds"], first_world)
    world.first_world = first_world
    world.id = path
    return world


def _policies(world_id: str) -> Mapping[str, Any]:
    spec = _spec_of(world_id)
    policies: Mapping[str, Any] = load(spec.policies) if spec is not None and spec.policies else {}
    return policies


def _spec_of(world_id: str) -> WorldSpec | None:
    """The spec of a registered id or of ``"module:SPEC"``; None for user classes and functions."""
    if ":" not in world_id:
        return find_world(world_id)
    named = load(world_id, users=True)
    return named if isinstance(named, WorldSpec) else None
