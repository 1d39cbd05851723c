"""Pong for two: the simplest of the zero-sum games, as eleven numbers or as pictures (specification 2)."""

from interplay.core.spec import WorldSpec
from interplay.worlds.pong.config import VARIANTS

_SUMMARIES = {
    "2p": "Pong for two, 20 rounds of +1 and -1; each sees 11 numbers, itself on the left",
    "2p-pictures": "Pong for two, 20 rounds of +1 and -1; each sees the last four pictures, 84 x 84 and grey, itself on the left",
}

_TRAINING = {"num_worlds": 64, "network": {"kind": "mlp"}}

SPECS = tuple(
    WorldSpec(
        id=f"pong/{name}",
        summary=_SUMMARIES[name],
        make="interplay.worlds.pong.world:PongWorld",
        settings="interplay.worlds.pong.config:PongSettings",
        options=options,
        policies=f"interplay.worlds.pong.policies:{'PICTURE_POLICIES' if options else 'POLICIES'}",
        training=_TRAINING,
    )
    for name, options in VARIANTS.items()
)
