"""A walker among buildings and fences, simulated by a separate program (manual 4.2): continuous navigation on 2100 x 2100 units.

`program` is the external simulator, `simulation` drives it, `proxy` is the same map as a grid of 20 x 20 cells and
`proxy_simulation` plays on it.
"""

from typing import Any

from interplay.core.spec import WorldSpec
from interplay.worlds.navigation.config import PROXIES, TOWNS

_SUMMARIES = {
    "proxy-regional": "find a path on a grid, seeing the cells around; invalid moves are fined",
    "proxy-position": "find a path on a grid, knowing only row and column; invalid moves are fined",
    "proxy-soft": "find a path on a grid, knowing only row and column; paid only for the target",
    "town": "find a path among buildings and fences; each copy is a separate program",
}

# Rewards are sparse: a random walk from the start takes some 7,500 steps to the target. So training begins at random places and
# episodes are short; `world.options.random_start=false` trains from the start as the manual did.
_SURROUNDINGS: dict[str, Any] = {
    "num_worlds": 64,
    "train": {"shards": 1},
    "world": {"options": {"random_start": True, "time_limit": 100}},
    "ppo": {
        "rollout": 16,
        "minibatch": 256,
        "epochs": 8,
        "target_kl": None,
        "learning_rate": 2e-3,
        "gamma": 0.97,
        "entropy_coefficient": 0.005,
    },
    "network": {"kind": "mlp", "input_scale": True, "hidden": (128, 128), "activation": "relu"},
}
# Two numbers reveal little about walls, so the network is wider, the horizon longer and the batch larger.
_POSITION: dict[str, Any] = {
    "num_worlds": 64,
    "train": {"shards": 1},
    "world": {"options": {"random_start": True, "time_limit": 250}},
    "ppo": {
        "rollout": 32,
        "minibatch": 512,
        "epochs": 8,
        "target_kl": None,
        "learning_rate": 2e-3,
        "gamma": 0.97,
        "gae_lambda": 0.98,
        "entropy_coefficient": 0.01,
    },
    "network": {"kind": "mlp", "input_scale": True, "hidden": (256, 256), "activation": "relu"},
}
_TRAINING: dict[str, dict[str, Any]] = {
    "proxy-regional": _SURROUNDINGS,
    # Fines teach standing still before the path; more entropy keeps the navigator moving.
    "proxy-position": {**_POSITION, "ppo": {**_POSITION["ppo"], "entropy_coefficient": 0.03}},
    "proxy-soft": _POSITION,
}

_PLAYERS = {
    "proxy-regional": "REGIONAL",
    "proxy-position": "POSITION",
    "proxy-soft": "POSITION",
    "town": "TOWN",
}

_HOME = "interplay.worlds.navigation"

SPECS = tuple(
    WorldSpec(
        id=f"navigation/{name}",
        summary=_SUMMARIES[name],
        make=f"{_HOME}.{make}",
        settings=f"{_HOME}.settings:{kind.capitalize()}Settings",
        options=options,
        policies=f"{_HOME}.policies:{_PLAYERS[name]}",
        training=_TRAINING.get(name, {}),
    )
    for kind, make, variants in (
        ("proxy", "proxy_simulation:proxy_manager", PROXIES),
        ("town", "simulation:make_town", TOWNS),
    )
    for name, options in variants.items()
)
