"""Components by name, and made from their declarations (manual 3.1.5; specification 7 and Y1).

A declaration is a class, a name, one of those with parameters, with a wrapper, or a function.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterable
from typing import Any

from interplay.gridworld import actors, dones, observers, rewards, states
from interplay.gridworld.component import GridWorldBaseComponent
from interplay.gridworld.wrappers import ComponentWrapper
from interplay.sim.checks import require

_FAMILIES: dict[str, type] = {
    "actor": actors.ActorBaseComponent,
    "state": states.StateBaseComponent,
    "observer": observers.ObserverBaseComponent,
    "done": dones.DoneBaseComponent,
    "reward": rewards.RewardBaseComponent,
}

registry: dict[str, dict[str, type]] = {family: {} for family in _FAMILIES}
"""Family -> class name -> class."""


def register(component: Any) -> None:
    """Registers a component class under its name."""
    if isinstance(component, type):
        for family, base in _FAMILIES.items():
            if issubclass(component, base):
                registry[family][component.__name__] = component
                return
    raise TypeError(
        f"{component!r} is no actor, state, observer, done or reward component; register a class that derives from one"
    )


def family_of(component: type) -> str | None:
    """The family of a class; None if it has none."""
    return next((family for family, base in _FAMILIES.items() if issubclass(component, base)), None)


def _register_built_in() -> None:
    for module in (actors, states, observers, dones, rewards):
        for name, thing in vars(module).items():
            is_component = isinstance(thing, type) and issubclass(thing, GridWorldBaseComponent)
            if is_component and not name.startswith("_") and not _is_base(thing):
                register(thing)


def _is_base(component: type) -> bool:
    return bool(getattr(component, "__abstractmethods__", False)) or component.__module__.endswith(
        ".component"
    )


_register_built_in()


def make_components(family: str, entries: Any, kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Makes the components of one family: lists keep their order, sets are sorted by name.

    Args:
        family: ``"state"``, ``"actor"``, ``"observer"``, ``"done"`` or ``"reward"``.
        entries: see `interplay.gridworld.smart.SmartGridWorldSimulation`; None = none.
        kwargs: for all of them, agents and grid among them.
    """
    if entries is None:
        return ()
    listed = _sorted(family, entries) if isinstance(entries, set | frozenset) else list(entries)
    return tuple(make_component(family, entry, kwargs) for entry in listed)


def make_component(family: str, entry: Any, kwargs: dict[str, Any]) -> Any:
    """Makes a component from its declaration; see `SmartGridWorldSimulation`."""
    made = _make(family, entry, kwargs)
    require(
        family_of(type(made)) == family,
        f"{family} {entry!r} is no {family} component; give a class, a registered name, or a function of (agents, grid)",
    )
    return made


def _make(family: str, entry: Any, kwargs: dict[str, Any]) -> Any:
    own: dict[str, Any] = {}
    if isinstance(entry, tuple | list) and len(entry) == 2:
        first, second = entry
        if isinstance(first, type) and issubclass(first, ComponentWrapper):
            return first(make_component(family, second, kwargs))
        entry, own = first, second
    if isinstance(entry, str):
        known = registry[family]
        require(
            entry in known,
            f"unknown {family} {entry!r}; known are {', '.join(sorted(known))}; register your own",
        )
        entry = known[entry]
    if isinstance(entry, type) and issubclass(entry, GridWorldBaseComponent):
        return entry(**{**kwargs, **own})
    return entry(kwargs["agents"], kwargs["grid"], **own) if callable(entry) else entry


def _sorted(family: str, entries: Any) -> list[Any]:
    """The components of a set, by name."""
    names = sorted(map(_name_of, entries))
    require(
        len(set(names)) == len(names), f"{family}s {names}: equal names in a set have no order; use a list"
    )
    return sorted(entries, key=_name_of)


def _name_of(entry: Any) -> str:
    """Sort key of sets of components; a wrapper's name is followed by that of the wrapped component."""
    if isinstance(entry, tuple):
        return " ".join(_name_of(part) for part in entry)
    return entry if isinstance(entry, str) else str(getattr(entry, "__name__", type(entry).__name__))


def refuse_misspelt(owner: str, given: Iterable[str], readers: Iterable[type]) -> None:
    """Refuses keywords that closely resemble a reader's; other unknown ones may be a subclass's own.

    Args:
        owner: name in the error.
        given: the keywords.
        readers: classes with constructors that may read them.

    Example:
        >>> class Sized:
        ...     def __init__(self, size=1, **kwargs): ...
        >>> refuse_misspelt("box", ["size", "colour"], [Sized])
    """
    known = {name for reader in readers for base in reader.__mro__ for name in _parameters(base)}
    for name in given:
        near = [] if name in known else difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.85)
        require(not near, f"{owner}: unknown keyword {name!r}; did you mean {(near or [''])[0]!r}?")


def _parameters(base: type) -> list[str]:
    """Names that a class's own constructor reads."""
    init = base.__dict__.get("__init__")
    if init is None or base is object:
        return []
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [
        name for name, p in inspect.signature(init).parameters.items() if p.kind in named and name != "self"
    ]
