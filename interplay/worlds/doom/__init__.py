"""Doom on the ViZDoom engine: one player against the basic map, a duel, and a death match of eight (specification 7)."""

from interplay.core.spec import WorldSpec
from interplay.worlds.doom.config import VARIANTS

_SUMMARIES = {
    "basic": "Doom (ViZDoom): a player has 300 tics to shoot a monster; the screen is observed",
    "duel": "Doom (ViZDoom): two players, two minutes, ranked by frags; the screen is observed",
    "deathmatch": "Doom (ViZDoom): eight players, ten minutes, ranked by frags; the screen is observed",
}

# A row of screens has 57,600 bytes: few worlds and short rollouts keep a rollout within 30 MB.
_PPO = {"rollout": 32, "minibatch": 128, "epochs": 2, "learning_rate": 5e-4, "entropy_coefficient": 0.01}
_TRAINING = {
    "basic": {"num_worlds": 8, "ppo": {**_PPO, "reward_scale": 0.02}},
    "duel": {"num_worlds": 4, "ppo": _PPO},
    "deathmatch": {
        "num_worlds": 1,
        "train": {"shards": 1},
        "ppo": _PPO,
    },  # eight engines are enough for a machine
}
# A quarter of the usual channels: a screen is three times as large as the usual picture, and a core has minutes.
_NETWORK = {"kind": "pictures", "channels": (8, 16, 16), "hidden": (128,), "activation": "relu"}

SPECS = tuple(
    WorldSpec(
        id=f"doom/{name}",
        summary=_SUMMARIES[name],
        make="interplay.worlds.doom.world:DoomWorld",
        settings="interplay.worlds.doom.config:DoomSettings",
        options=options,
        policies="interplay.worlds.doom.policies:POLICIES",
        training={**_TRAINING[name], "network": _NETWORK},
        missing="interplay.worlds.doom.engine:missing",
    )
    for name, options in VARIANTS.items()
)
