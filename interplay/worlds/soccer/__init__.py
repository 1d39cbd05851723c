"""Soccer on MuJoCo: two teams of 1 to 11, the first goal wins (specification 8)."""

from interplay.core.spec import WorldSpec
from interplay.worlds.soccer.config import VARIANTS

# Accelerometers and positions differ by orders of magnitude: observations are normalised.
_TRAINING = {"num_worlds": 32, "network": {"kind": "mlp", "hidden": (128, 128), "normalise": True}}

SPECS = tuple(
    WorldSpec(
        id=f"soccer/{name}",
        summary=f"soccer on MuJoCo, {name.replace('v', ' against ')}, 45 s or the first goal of +1 and -1",
        make="interplay.worlds.soccer.world:SoccerWorld",
        settings="interplay.worlds.soccer.config:SoccerSettings",
        options=options,
        policies="interplay.worlds.soccer.policies:POLICIES",
        training=_TRAINING,
        missing="interplay.worlds.soccer.engine:missing",
    )
    for name, options in VARIANTS.items()
)
