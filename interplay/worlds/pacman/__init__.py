"""Pacman on a grid: eat all food, avoid the baddies, which are scripted or learn (specification 9.4).

Import its classes from here; other worlds have a `WallAgent` too.
"""

from typing import Any

from interplay.core.loading import load
from interplay.core.spec import WorldSpec
from interplay.worlds.pacman.config import VARIANTS

_NAMES = {
    **dict.fromkeys(("BaddieAgent", "FoodAgent", "PacmanAgent", "WallAgent"), "components"),
    **dict.fromkeys(("PacmanSim", "PacmanSimSimple"), "simulation"),
}

_SUMMARIES = {
    "pacman": "pacman eats, five baddies learn to catch it",
    "pacman-simple": "pacman eats, five baddies walk their rounds",
}

_TRAINING = {
    "num_worlds": 64,
    "ppo": {"minibatch": 2048, "learning_rate": 1e-3, "entropy_coefficient": 0.01},
    "network": {"kind": "mlp"},
}

SPECS = tuple(
    WorldSpec(
        id=f"gridworld/{name}",
        summary=_SUMMARIES[name],
        make="interplay.worlds.pacman.simulation:manager",
        settings="interplay.worlds.pacman.config:PacmanSettings",
        options=options,
        policies="interplay.worlds.pacman.policies:POLICIES",
        training=_TRAINING,
    )
    for name, options in VARIANTS.items()
)


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return load(f"{__name__}.{_NAMES[name]}:{name}")
