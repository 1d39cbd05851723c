"""`interplay analyze RUN --overlay NAME`: measures a world in play, as arrays and pictures."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import typer

from interplay.core.errors import UserError

ALIKE = {"maps": 1, "cap_draw": "fixed"}  # worlds of a batch that are measured together


def analyse_overlays(
    player: str,
    names: Sequence[str],
    options: Sequence[str],
    out: Path | None,
    *,
    world: str,
    population: int | None,
    ticks: int,
    burn_in: int,
    num_worlds: int,
    seed: int,
    world_seed: int | None,
    trust: bool = False,
) -> None:
    """Plays a world once, computes overlays and writes ``NAME.npz``, ``NAME.json`` and ``NAME.png`` of each.

    Args:
        player: a run folder or a scripted policy's name.
        names: of overlays.
        options: ``key=value`` of the world.
        out: folder for the files.
        world: id; empty = the run's own.
        population: to look at; None = all.
        ticks: to be recorded.
        burn_in: ticks played before.
        num_worlds: worlds side by side, all on one map.
        seed: of the play.
        world_seed: of the map; None = the world's own setting.
        trust: see `interplay.verbs.players.find_player`.

    Raises:
        UserError: for an unknown overlay, player, world or option, or a folder that cannot be made.
    """
    from interplay.cli.progress import ProgressLines
    from interplay.core.files import told_plainly
    from interplay.core.settings import parse_overrides
    from interplay.evaluate.lifetimes.overlays import compute_overlays, find_overlay
    from interplay.verbs.players import find_player

    chosen = [find_overlay(name) for name in names]
    if out is None:
        raise UserError(f"--overlay {names[0]}: nowhere to write to; add --out FOLDER")
    check_folder(out)
    words = [word for word in options if "=" not in word]
    if words:
        raise UserError(
            f"{words[0]}: with --overlay only options of the world stand here; write OPTION=VALUE"
        )
    found = find_player(player, world, parse_overrides(list(options)), example="mmo/forage", trust=trust)
    found = found._replace(options=on_one_map(found.world, found.options, options, world_seed))
    batch = found.make_world(num_worlds, seed)
    value = _values(found.policy, batch)
    progress = ProgressLines()
    results = compute_overlays(
        chosen, batch, found.policy, ticks, value=value, population=population, seed=seed, burn_in=burn_in, progress=progress
    )  # fmt: skip
    batch.close()
    with told_plainly("making the folder", out):
        out.mkdir(parents=True, exist_ok=True)
    typer.echo(f"{player} on {found.world}, {num_worlds} world{'s' * (num_worlds > 1)}, {ticks:,} ticks")
    for data in results.values():
        show(data)
        for path in write(data, out):
            typer.echo(f"  written: {path}")


def check_folder(out: Path) -> None:
    """Refuses a folder that cannot be made or written to, before anything is played.

    Raises:
        UserError: naming it.
    """
    there = next(path for path in (out.absolute(), *out.absolute().parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise UserError(f"--out {out}: {there} is no folder that you may write to; choose another one")


def on_one_map(
    world: str, options: Mapping[str, Any], typed: Sequence[str], world_seed: int | None
) -> dict[str, Any]:
    """The options with which all worlds lie on one map, as a picture of a map needs it, and have one cap.

    What was typed wins over both.
    """
    if not world.startswith("mmo/"):
        return dict(options)
    given = {word.partition("=")[0] for word in typed}
    one = {**options, **{key: value for key, value in ALIKE.items() if key not in given}}
    return one if world_seed is None else {**one, "map_seed": world_seed}


def write(data: Any, folder: Path) -> list[Path]:
    """An overlay's arrays, what they mean, and the picture."""
    from interplay.core.files import replace_file, told_plainly
    from interplay.view.overlay import plot_overlay

    arrays, described, picture = (folder / f"{data.name}.{suffix}" for suffix in ("npz", "json", "png"))
    memory = io.BytesIO()
    np.savez_compressed(memory, **data.all_arrays())
    with told_plainly("writing", arrays):
        replace_file(arrays, memory.getvalue())
        replace_file(described, json.dumps(data.describe(), indent=1, default=_plain) + "\n")
    plot_overlay(data, picture)
    return [arrays, described, picture]


def show(data: Any) -> None:
    """The short table of an overlay."""
    typer.echo(f"{data.name}: {data.title}")
    cells = [list(data.columns), *([_shown(cell) for cell in row] for row in data.rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(data.columns))]
    for row in cells:
        typer.echo(
            "  " + "  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        )


def _values(policy: Any, world: Any) -> Any:
    """Values of a trained policy's networks, None of a scripted policy."""
    if not hasattr(policy, "settings"):
        return None
    from interplay.train.play.values import values_of

    return values_of(policy, world)


def _shown(cell: Any) -> str:
    if isinstance(cell, float | np.floating):
        return "-" if np.isnan(cell) else f"{cell:.4g}"
    return f"{cell:,}" if isinstance(cell, int | np.integer) else str(cell)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    return str(value)
