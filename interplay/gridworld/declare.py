"""Makes components from their declarations: a class, a name, with parameters, with a wrapper, or a function (specification 7)."""

from __future__ import annotations

from typing import Any

from interplay.gridworld.component import GridWorldBaseComponent
from interplay.gridworld.registry import family_of, registry
from interplay.gridworld.wrappers import ComponentWrapper
from interplay.sim.checks import require


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
