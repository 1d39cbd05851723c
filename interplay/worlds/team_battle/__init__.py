"""Team battle: teams on a grid fight until one is left (manual 6.2.1)."""

from interplay.core.spec import WorldSpec
from interplay.worlds.team_battle.config import VARIANTS

_SUMMARIES = {
    "team-battle": "four teams of six on an 8 x 8 grid fight until one is left",
    "team-battle-50": "four teams of fifty, spread over a 50 x 50 grid, fight until one is left",
}

_TRAINING = {
    "num_worlds": 32,
    "ppo": {"gamma": 0.95, "entropy_coefficient": 0.01, "rollout": 32, "minibatch": 2048},
    "network": {"kind": "mlp", "input_scale": True},
}

SPECS = tuple(
    WorldSpec(
        id=f"gridworld/{name}",
        summary=_SUMMARIES[name],
        make="interplay.worlds.team_battle.world:make",
        settings="interplay.worlds.team_battle.config:TeamBattleSettings",
        options=options,
        policies="interplay.worlds.team_battle.policies:POLICIES",
        training=_TRAINING,
    )
    for name, options in VARIANTS.items()
)
