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

from interplay.cli.printing import ProgressLines, print_aligned
from interplay.core.errors import UserError
from interplay.core.files import short_path

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
    beside: Sequence[str] = (),
    trust: bool = False,
) -> None:
    """Plays a world once for each player, computes overlays and writes ``NAME.npz``, ``NAME.json`` and ``NAME.png`` of each; see `interplay analyze`."""
    from interplay.core.files import os_errors_as_user_errors
    from interplay.evaluate.lifetimes.overlays import find_overlay, side_by_side

    chosen = [find_overlay(name) for name in names]
    if out is None:
        raise UserError(f"--overlay {names[0]}: nowhere to write to; add --out FOLDER")
    check_folder(out)
    words = [word for word in options if "=" not in word]
    if words:
        raise UserError(
            f"{words[0]}: with --overlay only options of the world stand here; write OPTION=VALUE"
        )
    homes = homes_of([player, *beside])
    measured = {}
    for home, one in homes.items():
        arguments = {"population": population, "seed": seed, "burn_in": burn_in}
        played, where = _play(one, chosen, options, world, world_seed, num_worlds, ticks, trust, arguments)
        measured[home] = played
        typer.echo(f"{one} on {where}, {num_worlds} world{'s' * (num_worlds > 1)}, up to {ticks:,} ticks")
    with os_errors_as_user_errors("making the folder", out):
        out.mkdir(parents=True, exist_ok=True)
    for overlay in chosen:
        found = {home: results[overlay.name] for home, results in measured.items()}
        data = side_by_side(found) if beside else found[next(iter(found))]
        show(data)
        for path in write(data, out):
            typer.echo(f"  written: {short_path(path)}")


def homes_of(players: Sequence[str]) -> dict[str, str]:
    """Label in pictures -> player: the last part of a path, or all of it where two labels would be equal.

    Example:
        >>> homes_of(["runs/a", "runs/b", "forager"])
        {'a': 'runs/a', 'b': 'runs/b', 'forager': 'forager'}
        >>> homes_of(["one/a", "two/a"])
        {'one/a': 'one/a', 'two/a': 'two/a'}
    """
    twice = next((player for i, player in enumerate(players) if player in players[:i]), None)
    if twice is not None:
        raise UserError(f"--beside {twice}: it stands there already; name each player once")
    short = [_short(Path(player)) for player in players]
    return {
        name if short.count(name) == 1 else player: player
        for name, player in zip(short, players, strict=True)
    }


def _short(path: Path) -> str:
    """A checkpoint's run and number, or the last part of a path."""
    return f"{path.parent.parent.name}@{path.name}" if path.parent.name == "checkpoints" else path.name


def _play(
    player: str,
    chosen: Sequence[Any],
    options: Sequence[str],
    world: str,
    world_seed: int | None,
    num_worlds: int,
    ticks: int,
    trust: bool,
    arguments: Mapping[str, Any],
) -> tuple[dict[str, Any], str]:
    """Overlay -> what it found of one player, and the world in which it did."""
    from interplay.core.settings import parse_overrides
    from interplay.evaluate.lifetimes.overlays import compute_overlays
    from interplay.evaluate.lineup import learner_of, line_of, players_of
    from interplay.verbs.players import find_player

    found = find_player(player, world, parse_overrides(list(options)), example="mmo/forage", trust=trust)
    found = found._replace(options=on_one_map(found.world, found.options, options, world_seed))
    batch = found.make_world(num_worlds, arguments["seed"])
    value = _values(learner_of(found.policy), batch)
    typer.echo(line_of(players_of(found.policy, batch)))
    results = compute_overlays(
        chosen, batch, found.policy, ticks, value=value, progress=ProgressLines(), **arguments
    )
    batch.close()
    return results, found.world


def check_folder(out: Path) -> None:
    """Refuses a folder that cannot be made or written to, before anything is played."""
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
    from interplay.core.files import os_errors_as_user_errors, replace_file
    from interplay.view.overlay import plot_overlay

    arrays, described, picture = (folder / f"{data.name}.{suffix}" for suffix in ("npz", "json", "png"))
    memory = io.BytesIO()
    np.savez_compressed(memory, **data.all_arrays())
    with os_errors_as_user_errors("writing", arrays):
        replace_file(arrays, memory.getvalue())
        replace_file(described, json.dumps(data.describe(), indent=1, default=_plain) + "\n")
    plot_overlay(data, picture)
    return [arrays, described, picture]


def show(data: Any) -> None:
    """The short table of an overlay."""
    typer.echo(f"{data.name}: {data.title}")
    print_aligned([data.columns, *([_shown(cell) for cell in row] for row in data.rows)], indent="  ")


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
