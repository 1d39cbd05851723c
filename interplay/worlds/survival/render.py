"""State -> drawing primitives."""

from __future__ import annotations

from typing import Any

from interplay.core.scene import Canvas


def draw(canvas: Canvas, world: Any, w: int) -> None:
    """Draws one room."""
    bodies, agents = world.state.bodies, world.settings.agents
    canvas.circles(
        "agents", bodies.position[w, :agents, 0], bodies.position[w, :agents, 1], radius=world.settings.agent_radius
    )
