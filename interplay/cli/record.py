"""`interplay record`: an episode as a video, an animation, a picture or a recording."""

from __future__ import annotations

from typing import Any

import typer

from interplay.cli.declared import declared
from interplay.verbs import playing

EXAMPLE = (
    "interplay record runs/first --out episode.mp4\n"
    "interplay record random --world survival/2v2-all-low --out episode.gif\n"
    "interplay record runs/first --out match.replay\n"
    "interplay record match.replay --out match.mp4\n"
    "interplay record runs/marines --greedy --out battle.mp4"
)


@declared(playing.record, playing.evaluate, arguments=("player", "options"), player="RUN|POLICY|REPLAY")
def record(**given: Any) -> None:
    """Plays episodes and records them; the suffix of --out chooses video, animation, picture or recording.

    A recording, match.replay, is drawn as it was played.
    """
    from interplay.evaluate.lineup import line_of

    written = playing.record(**given)
    if written.players:
        typer.echo(line_of(written.players))
    typer.echo(f"written: {written}")
