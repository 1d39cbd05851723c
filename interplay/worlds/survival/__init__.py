"""The survival world of Fanti (2022): agents outlive a shrinking safe zone and each other."""

from interplay.core.spec import WorldSpec
from interplay.worlds.survival.config import VARIANTS

_REWARDS = {"low": "alive +1", "mid": "alive +1, dead -1", "high": "alive +1, dead -1, kill +100, death -100"}

# Returns of a few dozen: at full scale the value loss would dominate the policy's. These settings meet the bars of
# docs/results/survival.md, beside the author's own settings.
_TRAINING = {"num_worlds": 256, "ppo": {"rollout": 64, "reward_scale": 0.2}}


def _summary(name: str) -> str:
    sides, items, rewards = name.split("-")
    things = "15 heals" if items == "heals" else "15 heals and 8 boxes"
    return f"{sides} survival in a shrinking zone with {things}; {_REWARDS[rewards]}"


SPECS = tuple(
    WorldSpec(
        id=f"survival/{name}",
        summary=_summary(name),
        make="interplay.worlds.survival.world:SurvivalWorld",
        settings="interplay.worlds.survival.config:SurvivalSettings",
        options=options,
        policies="interplay.worlds.survival.policies:POLICIES",
        training=_TRAINING,
    )
    for name, options in VARIANTS.items()
)
