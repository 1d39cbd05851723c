"""A matrix game as a table: cue, choice and number of right choices of each agent."""

from __future__ import annotations

from collections.abc import Sequence

from interplay.core.scene import Canvas
from interplay.core.world import Outputs
from interplay.worlds.matrix.state import NONE, MatrixState


def draw_game(
    canvas: Canvas,
    state: MatrixState,
    outputs: Outputs,
    agents: Sequence[str],
    choices: Sequence[str],
    world: int,
    with_cues: bool,
) -> None:
    """One row for each agent. Transcripts omit the titles, so each cell names its value."""
    rows = []
    for a, name in enumerate(agents):
        last = state.last[world, a]
        chose = "no choice yet" if last == NONE else f"chose {choices[last]}"
        cue = f"cue {state.cue[world, a]}" if with_cues else ""
        rows.append([name, cue, chose, f"{state.hits[world, a]} right", float(outputs.reward[world, a])])
    canvas.table("game", ["agent", "cue", "choice", "right", "reward"], rows)
