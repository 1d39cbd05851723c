"""`interplay record`: an episode as a video, an animation or a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLE = (
    "interplay record runs/first --out episode.mp4\n"
    "interplay record random --world survival/2v2-all-low --out episode.gif"
)


def record(
    player: Annotated[
        str, typer.Argument(metavar="RUN|POLICY", help="A run folder, or a scripted policy's name.")
    ],
    out: Annotated[Path, typer.Option(help="What to write: .mp4, .gif or .png.")],
    options: Annotated[
        list[str] | None, typer.Argument(metavar="[OPTION=VALUE]...", help="Options of the world.")
    ] = None,
    world: Annotated[str, typer.Option(help="The world's id; a run brings its own.")] = "",
    episodes: Annotated[int, typer.Option(help="Episodes to show.", min=1)] = 1,
    max_steps: Annotated[
        int | None, typer.Option(help="Leave an episode there; for worlds that may never end.", min=1)
    ] = None,
    every: Annotated[int, typer.Option(help="Show each so many-th step: faster playback.", min=1)] = 1,
    size: Annotated[int, typer.Option(help="Width and height in pixels.", min=64)] = 512,
    greedy: Annotated[
        bool, typer.Option("--greedy", help="A trained policy takes its likeliest action.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Of the world and of the players.", min=0)] = 0,
) -> None:
    """Plays episodes and records them; the suffix of --out chooses video, animation or picture."""
    from interplay.cli.players import find_player
    from interplay.core.settings import parse_overrides
    from interplay.view.video import record as record_video

    found = find_player(player, world, parse_overrides(options or []), greedy)
    batch = found.make_world(num_worlds=1, seed=seed)
    written = record_video(
        batch, found.policy, out, episodes=episodes, max_steps=max_steps, size=size, every=every, seed=seed
    )
    typer.echo(f"written: {written}")
