"""A game as a table. Worlds with geometry draw circles, boxes and tiles (`interplay.core.scene.Canvas`)."""

from __future__ import annotations

from interplay.core.scene import Canvas
from interplay.core.world import Outputs
from interplay.worlds.dilemma.state import DilemmaState

_WORDS = {-1: "has not moved", 0: "cooperated", 1: "defected"}


def draw_game(
    canvas: Canvas, state: DilemmaState, outputs: Outputs, agents: tuple[str, ...], world: int
) -> None:
    """One row for each agent. Transcripts omit the titles, so each cell names its value."""
    rows = [
        [name, _WORDS[int(state.last[world, a])], f"{float(outputs.reward[world, a]):g} earned"]
        for a, name in enumerate(agents)
    ]
    canvas.table("game", ["agent", "last move", "reward"], rows)
