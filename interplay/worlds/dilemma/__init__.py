"""The iterated prisoner's dilemma: the example to copy for a new world (CONTRIBUTING.md, nine steps)."""

from interplay.core.spec import WorldSpec
from interplay.worlds.dilemma.config import VARIANTS

_SUMMARIES = {
    "fixed": "the iterated prisoner's dilemma, 50 rounds; Axelrod's payoffs",
    "open-ended": "the iterated prisoner's dilemma, ending by chance after 50 rounds on average",
}

# Payoffs of up to 5 a round over dozens of rounds: scaled down, or the value loss would dominate the policy's.
_TRAINING = {"num_worlds": 64, "ppo": {"reward_scale": 0.2}, "network": {"kind": "mlp"}}

SPECS = tuple(
    WorldSpec(
        id=f"dilemma/{name}",
        summary=_SUMMARIES[name],
        make="interplay.worlds.dilemma.world:DilemmaWorld",
        settings="interplay.worlds.dilemma.config:DilemmaSettings",
        options=options,
        policies="interplay.worlds.dilemma.policies:POLICIES",
        training=_TRAINING,
    )
    for name, options in VARIANTS.items()
)
