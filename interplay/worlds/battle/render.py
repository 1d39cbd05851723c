"""State -> drawing primitives."""

from __future__ import annotations

import numpy as np

from interplay.core.scene import Canvas
from interplay.worlds.battle.config import BattleSettings
from interplay.worlds.battle.state import BattleState


def draw(canvas: Canvas, state: BattleState, body: np.ndarray, settings: BattleSettings, w: int) -> None:
    """Draws world `w`; row i of the layer ``agents`` is slot i."""
    canvas.show(
        -settings.width / 2, -settings.height / 2, settings.width / 2, settings.height / 2, up="north"
    )
    unit = state.unit[w]
    canvas.circles(
        "agents", unit["x"], unit["y"], body["radius"], absent=~unit["present"], dimmed=~unit["alive"]
    )
