"""Micro-battles after StarCraft II: two armies on an open field, every unit an agent (specification 4 and 5)."""

from interplay.core.spec import WorldSpec
from interplay.worlds.battle.config import VARIANTS

_SUMMARIES = {
    "5i": "5 Immortals a side on a field of 16 x 16",
    "3i2z": "3 Immortals and 2 Zealots a side on a field of 16 x 16",
    "mab": "1 to 5 each of Mutalisks, Hydralisks, Roaches, Zerglings and Banelings, the same on both sides",
    "3m": "3 Marines a side, as in SMAC",
    "8m": "8 Marines a side, as in SMAC",
    "10m_vs_11m": "10 Marines against 11, as in SMAC",
    "2s3z": "2 Stalkers and 3 Zealots a side, as in SMAC",
    "3s5z": "3 Stalkers and 5 Zealots a side, as in SMAC",
    "bane_vs_bane": "20 Zerglings and 4 Banelings a side, as in SMAC",
}

# Rewards come during battles of tens of decisions, up to 20 in all (docs/results/battle.md).
_TRAINING = {
    "num_worlds": 128,
    "ppo": {"rollout": 64, "gamma": 0.99, "reward_scale": 0.2, "entropy_coefficient": 0.003},
    "network": {"kind": "mlp", "hidden": [128, 128]},
}

SPECS = tuple(
    WorldSpec(
        id=f"battle/{name}",
        summary=_SUMMARIES[name],
        make="interplay.worlds.battle.world:BattleWorld",
        settings="interplay.worlds.battle.config:BattleSettings",
        options=options,
        policies="interplay.worlds.battle.policies:POLICIES",
        training=_TRAINING,
    )
    for name, options in VARIANTS.items()
)
