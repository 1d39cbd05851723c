"""`interplay cluster`: whether the machines of a Ray cluster can train together."""

from __future__ import annotations

from pathlib import Path

import typer

from interplay.cli.declared import declared


@declared()
def cluster(address: str = "auto", *, out: Path = Path("runs"), json: bool = False) -> None:
    """Checks the machines of a Ray cluster before a run: versions, processors, the shared folder, the time of an exchange.

    Ends with 1 if a run could not start.

    Args:
        address: HOST:PORT of its head; auto is the cluster of RAY_ADDRESS or of this machine.
        out: the folder of runs, which all machines must see.

    Example:
        interplay cluster auto --out /shared/runs
        interplay cluster 10.0.0.1:6379 --json
    """
    import json as json_text

    from interplay.connect.cluster import Cluster
    from interplay.verbs.trainer import load_trainer

    load_trainer()
    from interplay.train.cluster_report import report_on

    report = report_on(Cluster(address), out)
    if json:
        typer.echo(json_text.dumps({**report._asdict(), "is_sound": report.is_sound}, indent=1))
    else:
        for number, one in enumerate(report.machines):
            seen = f"sees {out}" if one["sees_folder"] else f"DOES NOT SEE {out}"
            typer.echo(
                f"machine {number}: {one['name']} ({one['address']}), {one['cores']} cores for Ray, {one['processor']}, {seen}"
            )
        for name, values in report.differences.items():
            here = f"; this command has {report.versions[name]}" if name in report.versions else ""
            typer.echo(f"{name} differs: {', '.join(map(str, values))}{here}")
        for size, milliseconds in report.exchange.items():
            typer.echo(f"a gradient of {size:,} numbers: {milliseconds:.2f} ms to gather")
    if not report.is_sound:
        raise typer.Exit(1)
