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

_ENGINE = "interplay.worlds.sc2.engine:missing"

SPECS = (
    WorldSpec(
        id="sc2/zvz",
        summary="Zerg against Zerg in the real game, by macro actions",
        make="interplay.worlds.sc2.zvz:ZvzWorld",
        settings="interplay.worlds.sc2.config:MatchSettings",
        policies="interplay.worlds.sc2.policies:POLICIES",
        training={"num_worlds": 4, "ppo": {"rollout": 64}, "network": {"kind": "mlp"}},
        missing=_ENGINE,
    ),
    *(
        WorldSpec(
            id=f"sc2/{name}",
            summary=_SUMMARIES[name],
            make="interplay.worlds.sc2.battle:GameBattleWorld",
            settings="interplay.worlds.sc2.config:GameBattleSettings",
            options=options,
            policies="interplay.worlds.battle.policies:POLICIES",
            training=_TRAINING,
            missing=_ENGINE,
        )
        for name, options in BATTLE_VARIANTS.items()
    ),
)
