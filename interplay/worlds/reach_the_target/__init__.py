"""Reach the target: runners move to its cell, the target shoots at them (specification 9.4).

Import its `TargetAgent` from here: another world has a class of that name too.
"""

from typing import Any

from interplay.core.loading import load
from interplay.core.spec import WorldSpec

_NAMES = (
    "BarrierAgent",
    "OnlyAgentLeftDone",
    "ReachTheTargetSim",
    "RunningAgent",
    "TargetAgent",
    "TargetDone",
)

SPECS = (
    WorldSpec(
        id="gridworld/reach-the-target",
        summary="four runners head for the middle of a 7 x 7 grid, where a target shoots at them",
        make="interplay.worlds.reach_the_target.simulation:manager",
        settings="interplay.worlds.reach_the_target.config:ReachTheTargetSettings",
        policies="interplay.worlds.reach_the_target.policies:POLICIES",
        training={
            "num_worlds": 64,
            "ppo": {
                "learning_rate": 1e-3,
                "gamma": 0.95,
                "entropy_coefficient": 0.01,
                "rollout": 32,
                "minibatch": 1024,
            },
            "network": {"kind": "mlp", "input_scale": True},
        },
    ),
)


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return load(f"{__name__}.simulation:{name}")
