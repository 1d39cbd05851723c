"""`interplay view` and `interplay play`: the page in the browser."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from interplay.cli.options import Trust
from interplay.cli.stopping import leave

WORKERS = ("session", "overlay", "AnyIO worker")  # threads of the server that may be inside compiled code
VIEW_EXAMPLE = (
    "interplay view runs/first\n"
    "interplay view match.replay\n"
    "interplay view survival/2v2-all-low --policy hunter\n"
    "interplay view runs --no-browser --port 8000"
)
PLAY_EXAMPLE = (
    "interplay play survival/1v1-heals-low --opponent hunter\ninterplay play pong/2p --opponent runs/pong"
)

Port = Annotated[int, typer.Option(help="Of the address; 0 is any free one.", min=0, max=65535)]
Host = Annotated[
    str, typer.Option(help="Of the address; that under which this machine is reached lets other machines in.")
]
NoBrowser = Annotated[bool, typer.Option("--no-browser", help="Print the address and open nothing.")]
Option = Annotated[
    list[str] | None, typer.Option(metavar="KEY=VALUE", help="An option of the world; may be repeated.")
]
Compress = Annotated[
    bool,
    typer.Option("--compress", help="Deflate what worlds in play send, for a slow line to another machine."),
]
Seed = Annotated[int, typer.Option(help="Of the world and of the players.", min=0)]


def view(
    what: Annotated[
        str,
        typer.Argument(
            metavar="[RUN|FILE|FOLDER|WORLD]",
            help="A run, a player of its league (RUN@PLAYER), a tournament's folder, a .replay file, a folder of these, or a world's id.  [default: this folder, and all worlds]",
        ),
    ] = "",
    policy: Annotated[
        str,
        typer.Option(
            metavar="RUN|POLICY",
            help="Player of worlds without a run, and of recordings without their checkpoint.",
        ),
    ] = "random",
    option: Option = None,
    port: Port = 0,
    host: Host = "127.0.0.1",
    no_browser: NoBrowser = False,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Recordings, curves and ratings alone: nothing is played.")
    ] = False,
    overlay: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODULE:NAME",
            help="An overlay of your own, beside those that there are; may be repeated.",
        ),
    ] = None,
    compress: Compress = False,
    trust: Trust = False,
    seed: Seed = 0,
) -> None:
    """Shows runs, recordings and worlds in the browser; prints the address and serves it until Ctrl-C."""
    from interplay.core.settings import parse_overrides
    from interplay.verbs.viewing import Players, find_opened, serve_page

    own = tuple(overlay or ())
    if read_only:
        _check_unread(
            {
                "--policy": policy != "random",
                "--option": option,
                "--overlay": own,
                "--trust": trust,
                "--seed": seed,
            }
        )
    players = None if read_only else Players(policy, parse_overrides(option or []), seed, trust, own)
    serve_page(find_opened(what), players, host, port, not no_browser, typer.echo, _warn, compress)
    leave(WORKERS)


def play(
    world: Annotated[str, typer.Argument(metavar="WORLD", help="A world's id, or module:name.")],
    opponent: Annotated[
        str, typer.Option(metavar="RUN|POLICY", help="Player of the slots that no person has taken.")
    ] = "random",
    option: Option = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE.replay", help="Record there what people play; Ctrl-C completes it."),
    ] = None,
    see_all: Annotated[
        bool,
        typer.Option(
            "--see-all", help="Show the whole world to a person who plays, not only what the agent observes."
        ),
    ] = False,
    port: Port = 0,
    host: Host = "127.0.0.1",
    no_browser: NoBrowser = False,
    compress: Compress = False,
    trust: Trust = False,
    seed: Seed = 0,
) -> None:
    """Lets you play in a world: take over an agent on the page that opens, and give it back when you like."""
    from interplay.core.settings import parse_overrides
    from interplay.verbs.viewing import Players, find_world_to_play, serve_page

    players = Players(
        opponent, parse_overrides(option or []), seed, trust, fog=not see_all, out=out, for_people=True
    )
    serve_page(find_world_to_play(world), players, host, port, not no_browser, typer.echo, _warn, compress)
    leave(WORKERS)


def _check_unread(given: Mapping[str, object]) -> None:
    """Refuses options that only worlds in play would read. Raises: UserError: for one that is given."""
    from interplay.core.errors import UserError

    if unread := [name for name, value in given.items() if value]:
        raise UserError(
            f"{', '.join(unread)}: --read-only plays nothing and does not read that; leave one of them out"
        )


def _warn(line: str) -> None:
    typer.echo(f"interplay: {line}", err=True)
