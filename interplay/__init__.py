"""interplay: many worlds where agents compete, cooperate and talk.

The names most users need; each is imported when it is first used, so that ``import interplay`` stays light:

- `make(id)`: one world as a PettingZoo `ParallelEnv`
- `make_world(id, num_worlds=...)`: a batch of worlds, stepped together
- `make_policy(id, name)`: a scripted player
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

__version__ = "0.1.0"

__all__ = [
    "UserError",
    "WorldSpec",
    "__version__",
    "list_worlds",
    "make",
    "make_policy",
    "make_world",
    "register",
]

_LAZY = {
    "UserError": "interplay.core.errors",
    "WorldSpec": "interplay.core.spec",
    "list_worlds": "interplay.registry",
    "make": "interplay.connect.pettingzoo",
    "make_policy": "interplay.registry",
    "make_world": "interplay.registry",
    "register": "interplay.registry",
}


def __getattr__(name: str) -> Any:
    # By name, not by import statements: the parts below import `__version__` from here, and must not depend on
    # the names above.
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
