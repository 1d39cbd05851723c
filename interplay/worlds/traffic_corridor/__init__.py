"""Traffic corridor: two teams swap sides through a corridor in which they cannot pass each other (specification 9.4).

Import its `TargetAgent` and `WallAgent` from here: other worlds have classes of those names too.
"""

from typing import Any

from interplay.core.loading import load
from interplay.core.spec import WorldSpec

_NAMES = ("TargetAgent", "TrafficAgent", "TrafficCorridorSimulation", "WallAgent")

# Bumps are frequent at first and arrivals are not: a high entropy keeps teams from learning to stand still.
_PPO = {"learning_rate": 1e-3, "gamma": 0.98, "entropy_coefficient": 0.15, "rollout": 32, "target_kl": 0.03}

SPECS = (
    WorldSpec(
        id="gridworld/traffic-corridor",
        summary="two teams of two swap sides through a corridor one cell wide, one team at a time",
        make="interplay.worlds.traffic_corridor.simulation:manager",
        settings="interplay.worlds.traffic_corridor.config:TrafficCorridorSettings",
        policies="interplay.worlds.traffic_corridor.policies:POLICIES",
        training={
            "num_worlds": 32,
            "ppo": _PPO,
            "network": {"kind": "mlp", "input_scale": True, "activation": "relu"},
        },
    ),
)


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return load(f"{__name__}.simulation:{name}")
