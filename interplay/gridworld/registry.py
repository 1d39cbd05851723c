"""Components by name, for simulations that are declared (manual 3.1.5; specification Y1)."""

from __future__ import annotations

from typing import Any

from interplay.gridworld import actors, dones, observers, rewards, senses, states
from interplay.gridworld.component import GridWorldBaseComponent

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
    for module in (actors, states, observers, senses, dones, rewards):
        for name, thing in vars(module).items():
            is_component = isinstance(thing, type) and issubclass(thing, GridWorldBaseComponent)
            if is_component and not name.startswith("_") and not _is_base(thing):
                register(thing)


def _is_base(component: type) -> bool:
    return bool(getattr(component, "__abstractmethods__", False)) or component.__module__.endswith(
        ".component"
    )


_register_built_in()
