"""How a world looks."""

from __future__ import annotations

from typing import Any

from interplay.core.scene import Canvas


def draw(canvas: Canvas, world: Any, w: int) -> None:
    """Replaced below."""
