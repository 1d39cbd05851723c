"""`interplay export`: a trained policy's network as a file that needs nothing of this package."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from interplay.cli.options import Trust, named_path

EXAMPLE = (
    "interplay export runs/first --out policy.onnx\n"
    "interplay export runs/first --agent agent0 --out policy.npz"
)


def export(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run folder, a checkpoint's, or RUN@PLAYER.")],
    out: Annotated[
        Path, typer.Option(parser=named_path, metavar="PATH", help="What to write: .onnx or .npz (NumPy).")
    ],
    agent: Annotated[
        str | None, typer.Option(help="Agent of the written network, where agents have different ones.")
    ] = None,
    trust: Trust = False,
) -> None:
    """Writes a trained policy's network as ONNX, or for plain NumPy."""
    from interplay.verbs.players import load_policy

    typer.echo(f"written: {load_policy(run, trust=trust).export(out, agent)}")
