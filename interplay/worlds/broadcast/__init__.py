"""Communication blocking: broadcasters seek consensus, blockers interrupt their messages (manual 6.2.3)."""

from interplay.core.spec import WorldSpec
from interplay.worlds.broadcast.config import VARIANTS

_TRAINING = {
    "num_worlds": 64,
    "ppo": {"minibatch": 2048, "gamma": 0.97, "learning_rate": 1e-3, "entropy_coefficient": 0.01},
    "network": {"kind": "mlp"},
}

SPECS = tuple(
    WorldSpec(
        id=f"gridworld/{name}",
        summary="broadcasters average their messages until all agree, while blockers stand in the way",
        make="interplay.worlds.broadcast.simulation:manager",
        settings="interplay.worlds.broadcast.config:BroadcastSettings",
        options=options,
        policies="interplay.worlds.broadcast.policies:POLICIES",
        training=_TRAINING,
    )
    for name, options in VARIANTS.items()
)
