"""The kind of thing that a named program makes, found without calling it: from its class or its return annotation.

A typed name may lead anywhere, to ``os.system`` too. So nothing is called to find out: without a class or annotation it
is refused. Classes are compared by name, since those of PettingZoo may not be imported here.
"""

from __future__ import annotations

import functools
import inspect
import typing
from types import SimpleNamespace
from typing import Any

GIVEN = "given/"  # prefix of the names of worlds that were passed as Python objects and are in no registry
WORLD, SIMULATION, ENVIRONMENT, POLICY = "world", "simulation", "environment", "policy"
_KINDS = {
    "interplay.core.world.World": WORLD,
    "interplay.sim.managers.SimulationManager": SIMULATION,
    "interplay.sim.simulation.AgentBasedSimulation": SIMULATION,
    "pettingzoo.utils.env.ParallelEnv": ENVIRONMENT,
    "pettingzoo.utils.env.AECEnv": ENVIRONMENT,
    "gymnasium.core.Env": ENVIRONMENT,
    "interplay.core.policy.Policy": POLICY,
}
_BY_WORD = {name.rpartition(".")[2]: kind for name, kind in _KINDS.items()}
# What PettingZoo's own `parallel_wrapper_fn` gives; it annotates nothing.
_PARALLEL = ("pettingzoo.utils.conversions", "parallel_wrapper_fn.<locals>.par_fn")
_MAY_STAND = {
    ENVIRONMENT: ("reset", "step", "observation_space", "action_space"),
    POLICY: ("start", "act"),
}


def kind_made(target: Any) -> str | None:
    """`WORLD`, `SIMULATION`, `ENVIRONMENT` or `POLICY` for a class or a function that is annotated to return one; else None.

    Example:
        >>> import os
        >>> from interplay.core.policy import Policy, RandomPolicy
        >>> def shy() -> Policy: ...
        >>> kind_made(RandomPolicy), kind_made(shy), kind_made(os.system)
        ('policy', 'policy', None)
    """
    while isinstance(target, functools.partial):
        target = target.func
    if isinstance(target, type):
        return _kind_of_class(target)
    if not inspect.isroutine(target):
        return None
    if (target.__module__, target.__qualname__) == _PARALLEL:
        return ENVIRONMENT
    raw = getattr(target, "__globals__", {}).get("raw_env")
    # PettingZoo's custom: `env` makes `raw_env` in wrappers.
    if target.__name__ == "env" and isinstance(raw, type):
        return _kind_of_class(raw)
    made = _returned(target)
    if isinstance(made, str):
        return _BY_WORD.get(made.rpartition(".")[2])
    made = typing.get_origin(made) or made
    return _kind_of_class(made) if isinstance(made, type) else None


def _kind_of_class(cls: type) -> str | None:
    for base in cls.__mro__:
        if kind := _KINDS.get(f"{base.__module__}.{base.__qualname__}"):
            return kind
    # A foreign class with the same methods, without being a subclass.
    for kind, methods in _MAY_STAND.items():
        if all(callable(getattr(cls, method, None)) for method in methods):
            return kind
    return None


def _returned(function: Any) -> Any:
    """A function's return annotation, evaluated if its names can be found, else its text; None without one."""
    try:
        written = inspect.signature(function).return_annotation
    except (TypeError, ValueError, NameError):  # a builtin without a signature; a name that is not there
        return None
    if not isinstance(written, str):
        return written
    space = getattr(inspect.unwrap(function), "__globals__", {})
    alone = SimpleNamespace(__annotations__={"return": written})
    try:
        return typing.get_type_hints(alone, space)["return"]
    except Exception:  # imported for type checkers only
        return written.partition("[")[0]
