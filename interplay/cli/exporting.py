"""`interplay export`: a trained policy's network as a file that needs nothing of this package, or RLlib's as a run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from interplay.cli.declared import declared
from interplay.core.errors import UserError
from interplay.core.files import short_path

PICKLE = "This checkpoint can run any program as you. Load it only if you or someone you trust made it."


@declared()
def export(
    run: str,
    options: Mapping[str, Any] | None = None,
    *,
    out: Path,
    agent: str | None = None,
    world: str = "",
    trust: bool = False,
    trust_pickle: bool = False,
) -> None:
    """Writes a trained policy's network as ONNX, or for plain NumPy; or a module of an RLlib checkpoint as a run.

    Args:
        run: a run folder, a checkpoint's, or RUN@PLAYER; or the folder that RLlib's Algorithm.save wrote.
        options: options of the world of an RLlib checkpoint.
        out: what to write: .onnx or .npz (NumPy); of an RLlib checkpoint the folder of a run.
        agent: agent of the written network, where agents have different ones; of an RLlib checkpoint the module.
        world: the world of an RLlib checkpoint.
        trust_pickle: unpickle an RLlib checkpoint, which can run any program as you.

    Example:
        interplay export runs/first --out policy.onnx
        interplay export runs/first --agent agent0 --out policy.npz
        interplay export checkpoint --trust-pickle --world simulation/multi-corridor --out runs/from-rllib
    """
    if _is_rllib(run):
        if not trust_pickle:
            raise UserError(f"{run}: {PICKLE} Then add --trust-pickle.")
        if not world:
            raise UserError(f"{run}: the checkpoint does not name its world; add --world ID")
        from interplay.connect.rllib.checkpoint import convert

        typer.echo(f"written: {short_path(convert(run, out, world, options or {}, agent))}")
        return
    from interplay.verbs.players import load_policy

    typer.echo(f"written: {short_path(load_policy(run, trust=trust).export(out, agent))}")


def _is_rllib(run: str) -> bool:
    """Whether RLlib's ``Algorithm.save`` wrote a folder."""
    return (Path(run) / "rllib_checkpoint.json").is_file()
