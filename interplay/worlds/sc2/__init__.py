"""Matches of the real StarCraft II, which is installed separately (specification 6)."""

from interplay.core.spec import WorldSpec
from interplay.worlds.sc2.config import BATTLE_VARIANTS

_SUMMARIES = {
    "battle-5i": "battle/5i in the real game",
    "battle-3i2z": "battle/3i2z in the real game",
    "battle-mab": "battle/mab in the real game",
}
_TRAINING = {
    "num_worlds": 4,
    "ppo": {"rollout": 64, "gamma": 0.99, "reward_scale": 0.2, "entropy_coefficient": 0.003},
    "network": {"kind": "mlp", "hidden": [128, 128]},
}

SPECS = tuple(
    WorldSpec(
        id=f"sc2/{name}",
        summary=_SUMMARIES[name],
        make="interplay.worlds.sc2.battle:GameBattleWorld",
        settings="interplay.worlds.sc2.config:GameBattleSettings",
        options=options,
        policies="interplay.worlds.battle.policies:POLICIES",
        training=_TRAINING,
        missing="interplay.worlds.sc2.engine:missing",
    )
    for name, options in BATTLE_VARIANTS.items()
)
