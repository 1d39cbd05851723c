"""Labels of an agent's observation (specification 6)."""

from __future__ import annotations

from interplay.core.guides import Guide
from interplay.worlds.survival.config import SurvivalSettings

_CORNERS = tuple(f"{axis} of corner {corner}" for corner in range(1, 5) for axis in "xy")
_PLACE = ("x", "y")
_CIRCLE = ("x", "y", "radius")


def guides_of(settings: SurvivalSettings, agent: int) -> dict[str, tuple[Guide]]:
    """Names of the numbers of one agent's fields, the rows it sees, and the agent of each row."""
    body = ("id", *(("team",) if settings.teams else ()), "health", *_PLACE, "angle", "vx", "vy", "spin")
    others = [other for other in range(settings.agents) if other != agent]
    zone = (*_CIRCLE, *(f"next {name}" for name in _CIRCLE))
    return {
        "agent": (Guide(names=body),),
        "zone": (Guide(names=zone),),
        "others": (Guide("rows", names=body, slots=others, hidden="others_mask"),),
        "heals": (Guide("rows", names=_PLACE, hidden="heals_mask"),),
        "boxes": (Guide("rows", names=(*_CORNERS, *_PLACE, "angle"), hidden="boxes_mask"),),
        "box_items": (Guide("rows", names=(*_CORNERS, *_PLACE), hidden="box_items_mask"),),
        "heal_slot": (Guide("rows", names=("amount",), hidden="heal_slot_mask"),),
        "box_slot": (Guide("rows", names=_CORNERS, hidden="box_slot_mask"),),
    }
