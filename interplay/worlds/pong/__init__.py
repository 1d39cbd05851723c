"""Pong for two players, a zero-sum game observed as eleven numbers or as pictures (specification 2)."""

from interplay.core.spec import WorldSpec
from interplay.worlds.pong.config import VARIANTS

_SUMMARIES = {
    "2p": "Pong for two, 20 rounds of +1 and -1; 11 numbers are observed, mirrored for the right player",
    "2p-pictures": "Pong for two, 20 rounds of +1 and -1; four grey pictures of 84 x 84 are observed, mirrored for the right player",
}

# These beat the published opponent after two minutes of self-play (docs/results/pong.md).
_PPO = {
    "minibatch": 2048,
    "epochs": 4,
    "learning_rate": "linear 1e-3 1e-4",
    "entropy_coefficient": 0.01,
    "target_kl": 0.03,
}
# A row of pictures has 28,224 bytes: few worlds and short rollouts keep a rollout within 30 MB.
_TRAINING = {
    "2p": {"num_worlds": 64, "ppo": _PPO, "network": {"kind": "mlp"}},
    "2p-pictures": {
        "num_worlds": 16,
        "ppo": {**_PPO, "rollout": 32, "minibatch": 256},
        "network": {"kind": "pictures", "hidden": (128,), "activation": "relu"},
    },
}

SPECS = tuple(
    WorldSpec(
        id=f"pong/{name}",
        summary=_SUMMARIES[name],
        make="interplay.worlds.pong.world:PongWorld",
        settings="interplay.worlds.pong.config:PongSettings",
        options=options,
        policies=f"interplay.worlds.pong.policies:{'PICTURE_POLICIES' if options else 'POLICIES'}",
        training=_TRAINING[name],
    )
    for name, options in VARIANTS.items()
)
