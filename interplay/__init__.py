"""interplay: many worlds where agents compete, cooperate and talk.

The names most users need; each is imported when it is first used, so that ``import interplay`` stays light:

- `train(world, **settings)`: trains on a world or on an environment of yours, and gives a `Run`
- `sweep(world, out, parameters)`: trains every combination of settings and seeds, and gives a `Sweep`
- `Run(folder)`, `Sweep(folder)`: a run: its metrics, policy, curves and videos; all runs of a folder as one data frame
- `evaluate(player)`, `record(player)`, `tournament(players)`: measure, watch and compare players
- `load_policy(run)`: a trained policy, which acts, explains itself and can be exported
- `make(id)`: one world as a PettingZoo `ParallelEnv`
- `make_world(id, num_worlds=...)`: a batch of worlds, stepped together
- `make_policy(id, name)`: a scripted player, or a trained one by its run folder
- `list_worlds()`, `register(spec)`, `WorldSpec`: the registry
- `UserError`: what a mistake in your input raises, always one line
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from interplay.connect.pettingzoo import make
    from interplay.core.errors import UserError
    from interplay.core.spec import WorldSpec
    from interplay.registry import list_worlds, make_policy, make_world, register
    from interplay.verbs.players import load_policy
    from interplay.verbs.playing import evaluate, record
    from interplay.verbs.run import Run
    from interplay.verbs.sweeping import Sweep, sweep
    from interplay.verbs.tournaments import tournament
    from interplay.verbs.training import train

__version__ = "0.1.0"

__all__ = [
    "Run",
    "Sweep",
    "UserError",
    "WorldSpec",
    "__version__",
    "evaluate",
    "list_worlds",
    "load_policy",
    "make",
    "make_policy",
    "make_world",
    "record",
    "register",
    "sweep",
    "tournament",
    "train",
]

_LAZY = {
    "Run": "interplay.verbs.run",
    "Sweep": "interplay.verbs.sweeping",
    "UserError": "interplay.core.errors",
    "WorldSpec": "interplay.core.spec",
    "list_worlds": "interplay.registry",
    "load_policy": "interplay.verbs.players",
    "make": "interplay.connect.pettingzoo",
    "make_policy": "interplay.registry",
    "make_world": "interplay.registry",
    "record": "interplay.verbs.playing",
    "register": "interplay.registry",
    "sweep": "interplay.verbs.sweeping",
    "tournament": "interplay.verbs.tournaments",
}
_ROOMS = ("evaluate", "train")  # packages that can be called (`core.callable_module`)


def __getattr__(name: str) -> Any:
    # By name, not by import statements: the parts below import `__version__` from here, and must not depend on
    # the names above.
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    if name in _ROOMS:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
