"""The persistent world of many agents of Suarez et al. (2019): forage, fight, die, be replaced."""

from typing import Any

from interplay.core.spec import WorldSpec
from interplay.worlds.mmo.config import VARIANTS

_SUMMARIES = {
    "forage": "agents of 8 populations forage in a world that never ends; no combat",
    "combat": "agents of 8 populations forage and fight in a world that never ends",
    "code2019": "as mmo/combat, where the code of 2019 differs from its paper",
}


def _summary(name: str) -> str:
    if name in _SUMMARIES:
        return _SUMMARIES[name]
    game, _, slots = name.partition("-")
    return f"mmo/{game} for {int(slots):,} agents, born anywhere on a map that grows with their number"


def _training(name: str) -> dict[str, Any]:
    """The paper's policy gradient and network, in short steps (docs/train.md); large worlds in few copies."""
    slots = VARIANTS[name].get("slots", 128)
    worlds = max(1, 8_192 // slots)
    few: dict[str, Any] = {"world": {"options": {"compact": True}}} if slots > 1_024 else {}
    return few | {
        "algorithm": "policy_gradient",
        "num_worlds": worlds,
        "train": {"shards": min(2, worlds), "best_by": "life"},
        "policy_gradient": {"rollout": 8, "reward_scale": 0.1},
        "network": {"kind": "tiles", "activation": "none", "probability_floor": 0.001},
    }


SPECS = tuple(
    WorldSpec(
        id=f"mmo/{name}",
        summary=_summary(name),
        make="interplay.worlds.mmo.world:MmoWorld",
        settings="interplay.worlds.mmo.config:MmoSettings",
        options=options,
        policies="interplay.worlds.mmo.policies:POLICIES",
        training=_training(name),
    )
    for name, options in VARIANTS.items()
)
