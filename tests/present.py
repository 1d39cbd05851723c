"""The worlds with their state in arrays, not in an engine."""

from __future__ import annotations

from interplay.core.spec import WorldSpec
from interplay.registry import list_worlds


def worlds_to_test() -> tuple[WorldSpec, ...]:
    """All but Doom and StarCraft II, which have tests of their own."""
    return tuple(spec for spec in list_worlds() if not spec.id.startswith(("doom/", "sc2/")))
