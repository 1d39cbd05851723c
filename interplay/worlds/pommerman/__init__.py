"""Pommerman (Resnick et al., 2018): bombs, walls and items on a small board, for two or four players."""

from interplay.core.spec import WorldSpec
from interplay.worlds.pommerman.config import VARIANTS

_SUMMARIES = {
    "ffa": "four with bombs on a board of 11 x 11, each for itself",
    "ffa-collapse": "as pommerman/ffa, and from step 500 on the board's rings close",
    "team": "two against two with bombs; all see the whole board",
    "team-fog": "two against two with bombs; all see 4 cells far",
    "team-fog-collapse": "as pommerman/team-fog, and from step 500 on the board's rings close",
    "radio": "as pommerman/team-fog, and team-mates exchange two words of eight in every step",
    "1v1": "two with bombs on a board of 8 x 8",
}

# Games of hundreds of steps with a reward at the end: long rollouts and a far horizon.
_TRAINING = {
    "num_worlds": 128,
    "ppo": {"rollout": 64, "gamma": 0.995},
    "network": {"kind": "mlp", "input_scale": True},
}

SPECS = tuple(
    WorldSpec(
        id=f"pommerman/{name}",
        summary=_SUMMARIES[name],
        make="interplay.worlds.pommerman.world:PommermanWorld",
        settings="interplay.worlds.pommerman.config:PommermanSettings",
        options=options,
        policies="interplay.worlds.pommerman.policies:POLICIES",
        training=_TRAINING,
    )
    for name, options in VARIANTS.items()
)
