"""`interplay view` and `interplay play`: the page in the browser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from interplay.cli.declared import declared
from interplay.cli.stopping import leave
from interplay.core.errors import UserError

WORKERS = ("session", "overlay", "AnyIO worker")  # threads of the server that may be inside compiled code
INCOMPLETE = 2  # exit code after a recording that was cut short, as of other errors that the user can mend
Port = Annotated[int, typer.Option(help="Of the address; 0 is any free one.", min=0, max=65535)]


@declared(what="[RUN|FILE|FOLDER|WORLD]", policy="RUN|POLICY", overlay="MODULE:NAME")
def view(
    what: str = "",
    *,
    policy: str = "random",
    option: Mapping[str, Any] | None = None,
    port: Port = 0,
    host: str = "127.0.0.1",
    no_browser: bool = False,
    read_only: bool = False,
    overlay: Sequence[str] = (),
    compress: bool = False,
    trust: bool = False,
    seed: int = 0,
) -> None:
    """Shows runs, recordings and worlds in the browser; prints the address and serves it until Ctrl-C.

    Args:
        what: a run, a player of its league (RUN@PLAYER), a tournament's folder, a .replay file, a folder of these, or a world's id.
            None: this folder, and all worlds.
        policy: player of worlds without a run, and of recordings without their checkpoint.
        read_only: recordings, curves and ratings alone: nothing is played.
        overlay: an overlay of your own, beside those that there are.
        seed: of the world and of the players.

    Example:
        interplay view runs/first
        interplay view match.replay
        interplay view survival/2v2-all-low --policy hunter
        interplay view runs --no-browser --port 8000
    """
    from interplay.verbs.viewing import Players, find_opened, serve_page

    own = tuple(overlay)
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
    players = None if read_only else Players(policy, option or {}, seed, trust, own)
    serve_page(find_opened(what), players, host, port, not no_browser, typer.echo, _warn, compress)
    leave(WORKERS)


@declared(world="WORLD", opponent="RUN|POLICY", out="FILE.replay")
def play(
    world: str,
    *,
    opponent: str = "random",
    option: Mapping[str, Any] | None = None,
    out: Path | None = None,
    see_all: bool = False,
    port: Port = 0,
    host: str = "127.0.0.1",
    no_browser: bool = False,
    compress: bool = False,
    trust: bool = False,
    seed: int = 0,
) -> None:
    """Lets you play in a world: take over an agent on the page that opens, and give it back when you like.

    Args:
        world: a world's id, or module:name.
        opponent: player of the slots that no person has taken.
        out: record there what people play; Ctrl-C completes it.
        see_all: show the whole world to a person who plays, not only what the agent observes.
        seed: of the world and of the players.

    Example:
        interplay play survival/1v1-heals-low --opponent hunter
        interplay play pong/2p --opponent runs/pong
    """
    from interplay.verbs.viewing import Players, find_world_to_play, serve_page

    players = Players(opponent, option or {}, seed, trust, fog=not see_all, out=out, for_people=True)
    opened = find_world_to_play(world)
    whole = serve_page(opened, players, host, port, not no_browser, typer.echo, _warn, compress)
    status = 0 if whole else INCOMPLETE
    leave(WORKERS, status=status)
    raise typer.Exit(status)


def _check_unread(given: Mapping[str, object]) -> None:
    """Refuses options that only worlds in play would read. Raises: UserError: for one that is given."""
    if unread := [name for name, value in given.items() if value]:
        raise UserError(
            f"{', '.join(unread)}: --read-only plays nothing and does not read that; leave one of them out"
        )


def _warn(line: str) -> None:
    typer.echo(f"interplay: {line}", err=True)
