"""Foragers and hunters: foragers collect resources that they see only from near, hunters chase foragers (manual 4.1)."""

from interplay.core.spec import WorldSpec
from interplay.worlds.foragers.config import VARIANTS

_SUMMARIES = {
    "foraging": "one forager finds and collects resources on a map of which it sees a window",
    "foragers": "five foragers with one policy cover the map and collect its resources",
    "hunters-foragers": "two hunters chase five foragers, which collect resources meanwhile",
}

_TRAINING = {
    "num_worlds": 64,
    "ppo": {
        "rollout": 128,
        "minibatch": 2048,
        "gamma": 0.97,
        "learning_rate": 1e-3,
        "entropy_coefficient": 0.01,
    },
    "network": {"kind": "mlp"},
}

SPECS = tuple(
    WorldSpec(
        id=f"gridworld/{name}",
        summary=_SUMMARIES[name],
        make="interplay.worlds.foragers.simulation:manager",
        settings="interplay.worlds.foragers.config:ForagersSettings",
        options=options,
        policies="interplay.worlds.foragers.policies:POLICIES",
        training=_TRAINING,
    )
    for name, options in VARIANTS.items()
)
