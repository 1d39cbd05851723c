"""The persistent world of many agents of Suarez et al. (2019): forage, fight, die, be replaced."""

from interplay.core.spec import WorldSpec
from interplay.worlds.mmo.config import VARIANTS

_SUMMARIES = {
    "forage": "agents of 8 populations forage in a world that never ends; no combat",
    "combat": "agents of 8 populations forage and fight in a world that never ends",
    "code2019": "as mmo/combat, with what the code of 2019 does otherwise than its paper says",
}


def _summary(name: str) -> str:
    if name in _SUMMARIES:
        return _SUMMARIES[name]
    game, _, slots = name.partition("-")
    return f"mmo/{game} for {int(slots):,} agents, born anywhere on a map that grows with their number"


SPECS = tuple(
    WorldSpec(
        id=f"mmo/{name}",
        summary=_summary(name),
        make="interplay.worlds.mmo.world:make",
        settings="interplay.worlds.mmo.config:MmoSettings",
        options=options,
        policies="interplay.worlds.mmo.policies:POLICIES",
    )
    for name, options in VARIANTS.items()
)
