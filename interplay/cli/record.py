"""`interplay record`: an episode as a video, an animation, a picture or a recording."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from interplay.cli.options import Roles, Trust, named_path

EXAMPLE = (
    "interplay record runs/first --out episode.mp4\n"
    "interplay record random --world survival/2v2-all-low --out episode.gif\n"
    "interplay record runs/first --out match.replay\n"
    "interplay record match.replay --out match.mp4\n"
    "interplay record runs/marines --greedy --out battle.mp4"
)


def record(
    player: Annotated[
        str,
        typer.Argument(
            metavar="RUN|POLICY|REPLAY",
            help="A run folder, a scripted policy's name, or a .replay, which is drawn.",
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            parser=named_path,
            metavar="PATH",
            help="What to write: .mp4, .gif, .png, or .replay, a recording.",
        ),
    ],
    options: Annotated[
        list[str] | None, typer.Argument(metavar="[OPTION=VALUE]...", help="Options of the world.")
    ] = None,
    world: Annotated[str, typer.Option(help="The world's id; a run brings its own.")] = "",
    episodes: Annotated[int, typer.Option(help="Episodes to show.", min=1)] = 1,
    max_steps: Annotated[
        int | None, typer.Option(help="Leave an episode there; for worlds that may never end.", min=1)
    ] = None,
    every: Annotated[int, typer.Option(help="Show each so many-th step: faster playback.", min=1)] = 1,
    size: Annotated[
        str,
        typer.Option(
            metavar="SIDE|WIDTHxHEIGHT", help="Pixels.  [default: 512, or wider where the scene is wider]"
        ),
    ] = "",
    frames: Annotated[
        int | None,
        typer.Option(
            help="Frames for which a step stays in view, 30 a second.  [default: the world's own]", min=1
        ),
    ] = None,
    step: Annotated[
        int | None, typer.Option(help="For .png: after so many steps.  [default: the middle]", min=0)
    ] = None,
    focus: Annotated[
        str,
        typer.Option(
            metavar="AGENT|X,Y",
            help="Show only what is around: the number of an agent, which is followed, or a place.",
        ),
    ] = "",
    zoom: Annotated[
        float | None,
        typer.Option(
            help="Tiles or metres of the shorter side to show.  [default: all, or 24 around --focus]"
        ),
    ] = None,
    no_legend: Annotated[
        bool, typer.Option("--no-legend", help="Leave out what says what the things are.")
    ] = False,
    reveal: Annotated[
        bool, typer.Option("--reveal", help="Show what the public may not know: hidden roles.")
    ] = False,
    roles: Roles = None,
    trust: Trust = False,
    greedy: Annotated[
        bool, typer.Option("--greedy", help="A trained policy takes its likeliest action.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Of the world and of the players.", min=0)] = 0,
) -> None:
    """Plays episodes and records them; the suffix of --out chooses video, animation, picture or recording."""
    from interplay.core.settings import parse_overrides
    from interplay.evaluate.lineup import line_of
    from interplay.verbs.playing import record as record_play

    written = record_play(
        player,
        out,
        world,
        parse_overrides(options or []),
        episodes=episodes,
        max_steps=max_steps,
        size=read_size(size),
        every=every,
        frames=frames,
        step=step,
        focus=read_focus(focus),
        zoom=zoom,
        legend=not no_legend,
        reveal=reveal,
        roles=roles or (),
        greedy=greedy,
        seed=seed,
        trust=trust,
    )
    if written.players:
        typer.echo(line_of(written.players))
    typer.echo(f"written: {written}")


def read_size(words: str) -> int | tuple[int, int] | None:
    """Pixels from ``"512"`` or ``"900x600"``; None from "".

    Raises:
        UserError: for anything else.
    """
    from interplay.core.errors import UserError

    if not words:
        return None
    sides = words.split("x")
    if len(sides) > 2 or not all(side.isdecimal() for side in sides):
        raise UserError(f"--size {words}: no size; write pixels as 512 or 900x600")
    pixels = [int(side) for side in sides]
    return pixels[0] if len(pixels) == 1 else (pixels[0], pixels[1])


def read_focus(words: str) -> int | tuple[float, float] | None:
    """An agent from ``"17"``, a place from ``"12,30.5"``; None from "".

    Raises:
        UserError: for anything else.
    """
    from interplay.core.errors import UserError

    if not words:
        return None
    if words.isdecimal():
        return int(words)
    try:
        x, y = (float(part) for part in words.split(","))
    except ValueError:
        raise UserError(
            f"--focus {words}: no agent and no place; write an agent's number, 17, or a place, 12,30.5"
        ) from None
    return x, y
