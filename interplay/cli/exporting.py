"""`interplay export`: a trained policy's network as a file that needs nothing of this package."""

from __future__ import annotations

from pathlib import Path

import typer

from interplay.cli.declared import declared


@declared()
def export(run: str, *, out: Path, agent: str | None = None, trust: bool = False) -> None:
    """Writes a trained policy's network as ONNX, or for plain NumPy.

    Args:
        run: a run folder, a checkpoint's, or RUN@PLAYER.
        out: what to write: .onnx or .npz (NumPy).
        agent: agent of the written network, where agents have different ones.

    Example:
        interplay export runs/first --out policy.onnx
        interplay export runs/first --agent agent0 --out policy.npz
    """
    from interplay.verbs.players import load_policy

    typer.echo(f"written: {load_policy(run, trust=trust).export(out, agent)}")
