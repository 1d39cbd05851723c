"""The worlds that every test run can make."""

from __future__ import annotations

from interplay.core.spec import WorldSpec
from interplay.registry import list_worlds


def worlds_to_test() -> tuple[WorldSpec, ...]:
    """All but those of StarCraft II, which `tests/worlds/sc2` plays against a stand-in."""
    return tuple(spec for spec in list_worlds() if not spec.id.startswith("sc2/"))
