"""MultiCorridor: agents learn to walk to a corridor's right end without bumping into each other (manual 6.1)."""

from interplay.core.spec import WorldSpec
from interplay.worlds.corridor.config import VARIANTS

_SUMMARIES = {
    "multi-corridor": "walk to the end of a corridor without bumping into each other, all at once",
    "multi-corridor-turns": "walk to the end of a corridor without bumping into each other, one after another",
}

# Arriving pays end**2, a step costs 1: scaled down, or the value loss would dominate the policy's. Episodes are short, so is the horizon.
_TRAINING = {
    "num_worlds": 64,
    "ppo": {"reward_scale": 0.02, "gamma": 0.95, "entropy_coefficient": 0.01},
    "network": {"kind": "mlp", "input_scale": True},
}

SPECS = tuple(
    WorldSpec(
        id=f"simulation/{name}",
        summary=_SUMMARIES[name],
        make="interplay.worlds.corridor.simulation:manager",
        settings="interplay.worlds.corridor.config:CorridorSettings",
        options=options,
        policies="interplay.worlds.corridor.policies:POLICIES",
        training=_TRAINING,
    )
    for name, options in VARIANTS.items()
)
