"""`interplay evaluate RUN --at-checkpoints`: the same episodes at every checkpoint of a run."""

from __future__ import annotations

import json as json_text
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import typer

from interplay.core.errors import UserError
from interplay.core.policy import Policy
from interplay.verbs import players

MOST_COLUMNS = 6  # of the table that is printed


class Asked(NamedTuple):
    """What is to be played: as the options of `interplay evaluate` say."""

    run: str
    world: str
    options: Mapping[str, Any]
    episodes: int
    num_worlds: int
    max_steps: int | None
    roles: Sequence[str]
    greedy: bool
    seed: int
    trust: bool


def evaluate_checkpoints(
    asked: Asked, out: Path | None = None
) -> tuple[str, tuple[str, ...], list[dict[str, Any]]]:
    """Plays the episodes at every sound checkpoint of a run.

    Args:
        asked: the run and what is played.
        out: a folder that keeps the rows, for `interplay curves`; rows that it has from an earlier call are not played again.

    Returns:
        The world's id, its agents, and a row for each checkpoint, see `interplay.evaluate.milestones`.

    Raises:
        UserError: as `find_player`, for a run without sound checkpoints, or a folder that holds something else.
    """
    from interplay.cli.progress import ProgressLines
    from interplay.evaluate.milestones import play_counting, row_of
    from interplay.train.play.checkpoints import sound_checkpoints

    checkpoints, damaged = sound_checkpoints(asked.run)
    for reason in damaged:
        typer.echo(f"left out: {reason}", err=True)
    found = players.find_player(
        asked.run, asked.world, asked.options, asked.greedy, roles=asked.roles, trust=asked.trust
    )
    kept = None if out is None else _Kept(out, asked, found)
    rows = {} if kept is None else kept.rows
    missing = [path for path in checkpoints if int(path.name) not in rows]
    batch = found.make_world(num_worlds=min(asked.num_worlds, asked.episodes), seed=asked.seed)
    progress, all_of_them = ProgressLines(), len(missing) * asked.episodes
    try:
        for number, (path, policy) in enumerate(_policies(asked, missing)):

            def ended(count: int, before: int = number * asked.episodes) -> None:
                progress("episodes", before + count, all_of_them)

            table = play_counting(batch, policy, asked.episodes, asked.seed, asked.max_steps, ended)
            rows[int(path.name)] = row_of(table, _counts(path))
            if kept is not None:
                kept.keep(rows[int(path.name)])
    finally:
        batch.close()
    return found.world, tuple(batch.agents), [rows[steps] for steps in sorted(rows)]


def _policies(asked: Asked, checkpoints: list[Path]) -> Iterator[tuple[Path, Policy]]:
    """Who plays at each checkpoint; with others in some roles everybody is opened anew."""
    from interplay.core.loading import split_player
    from interplay.train.play.checkpoints import policies_at

    if not asked.roles:
        yield from zip(
            checkpoints, policies_at(asked.run, checkpoints, asked.greedy, asked.trust), strict=True
        )
        return
    player = split_player(asked.run)[1]
    for path in checkpoints:
        name = str(path) if player is None else f"{path}@{player}"
        found = players.find_player(
            name, asked.world, asked.options, asked.greedy, roles=asked.roles, trust=asked.trust
        )
        yield path, found.policy


def _counts(checkpoint: Path) -> dict[str, Any]:
    """What the run had done."""
    from interplay.train.run.checkpoint import read_part

    record, _ = read_part(checkpoint, [])
    counts = {
        "updates": record.get("updates"),
        "slot_steps": record.get("slot_steps"),
        "time": record.get("seconds"),
    }
    return {"agent_steps": int(checkpoint.name)} | {k: v for k, v in counts.items() if v is not None}


class _Kept:
    """A folder of rows, which `interplay curves` reads as it reads a run's.

    Args:
        folder: made if it is not there.
        asked: what is played; the folder keeps it, and holds rows of that alone.
        found: the player and its world.

    Attributes:
        rows: agent-steps -> row.

    Raises:
        UserError: if the folder holds something else.
    """

    def __init__(self, folder: Path, asked: Asked, found: players.Player) -> None:
        from interplay.core.files import refuse_links, replace_file, told_plainly
        from interplay.core.reading import read_json_lines, read_text
        from interplay.train.run.metrics_log import cut_torn_line

        self.path = folder / "metrics.jsonl"
        said, settings = _said(asked, found), folder / "settings.toml"
        with told_plainly("keeping the evaluations", folder):
            folder.mkdir(parents=True, exist_ok=True)
            refuse_links(folder, ("metrics.jsonl", "settings.toml"))
            if any(folder.iterdir()) and not (settings.is_file() and read_text(settings) == said):
                raise UserError(
                    f"{folder} holds something else, or evaluations of other settings, options or episodes; choose another --out"
                )
            replace_file(settings, said)
            cut_torn_line(self.path)
        lines = read_json_lines(self.path, links=False) if self.path.exists() else ()
        self.rows = {int(row["agent_steps"]): row for _, row in lines}

    def keep(self, row: Mapping[str, Any]) -> None:
        """Adds a row."""
        from interplay.train.run.metrics_log import MetricsLog

        with MetricsLog(self.path) as log:
            log.write(
                row["agent_steps"], {name: value for name, value in row.items() if name != "agent_steps"}
            )
            log.sync()


def _said(asked: Asked, found: players.Player) -> str:
    """The folder's settings: runs that differ in their seed alone are one curve there, too."""
    from interplay.core.seals import canonical, digest
    from interplay.core.settings_text import toml_value
    from interplay.train.play.checkpoints import sound_checkpoints
    from interplay.train.run.settings_file import PACE, settings_of

    settings = settings_of(sound_checkpoints(asked.run)[0][-1], asked.trust)
    # How far and how fast the run goes is no matter: later checkpoints join the rows that are there.
    trained = {name: value for name, value in canonical(settings).items() if name not in ("seed", *PACE)}
    values = {
        "seed": settings.seed,
        "world": {"id": found.world, "options": dict(found.options)},
        "evaluated": {
            "settings": digest(trained),
            "episodes": asked.episodes,
            "seed": asked.seed,
            "greedy": asked.greedy,
            "roles": list(asked.roles),
            "max_steps": "off" if asked.max_steps is None else asked.max_steps,
        },
    }
    return "".join(f"{name} = {toml_value(value)}\n" for name, value in values.items())


def show(
    asked: Asked,
    evaluated: tuple[str, tuple[str, ...], list[dict[str, Any]]],
    columns: Sequence[str],
    json: bool,
    csv: bool,
) -> None:
    """Prints the rows as a table, as JSON or as comma-separated values.

    Raises:
        UserError: for a column that there is not.
    """
    from interplay.evaluate.milestones import BY_AGENT, ERRORS, metrics_of, to_csv
    from interplay.train.run.metrics_log import plain

    world, agents, rows = evaluated
    metrics = metrics_of(rows)
    for name in columns:
        if name not in metrics:
            raise UserError(f"no column {name!r}; there are {', '.join(metrics)}")
    if csv:
        typer.echo(to_csv(rows, agents), nl=False)
        return
    if json:
        report = {
            "world": world,
            "run": asked.run,
            **({"roles": dict(words.split("=", 1) for words in asked.roles)} if asked.roles else {}),
            "seed": asked.seed,
            "agents": list(agents),
            "checkpoints": rows,
        }
        typer.echo(json_text.dumps(plain(report), indent=1, allow_nan=False))
        return
    shown = list(columns) or [name for name in metrics if name != "cut"][:MOST_COLUMNS]
    typer.echo(
        f"{asked.run} on {world}, the same {asked.episodes} episodes at each checkpoint, mean ± standard error"
    )
    _print(
        [["agent-steps", *shown], *([f"{row['agent_steps']:,}", *_cells(row, shown, ERRORS)] for row in rows)]
    )
    hidden = [name for name in metrics if name not in shown and name not in (BY_AGENT, "cut")]
    if hidden and not columns:
        typer.echo(
            f"also measured: {', '.join(hidden)}; choose with --column, or take all with --json or --csv"
        )


def _cells(row: Mapping[str, Any], names: Sequence[str], errors: str) -> list[str]:
    from interplay.evaluate.statistics import Estimate

    cells = []
    for name in names:
        mean = row[name]
        known = mean is not None and mean == mean
        cells.append(str(Estimate(mean if known else 0.0, row[errors][name], int(known))))
    return cells


def _print(lines: Sequence[Sequence[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        typer.echo("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)))
