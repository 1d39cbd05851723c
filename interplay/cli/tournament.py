"""`interplay tournament`: who is the strongest of several players, or whose populations live longest."""

from __future__ import annotations

import json as json_text
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from interplay.cli.options import Trust, named_path
from interplay.cli.stopping import told_by_exit_code

EXAMPLE = (
    "interplay tournament runs/first runs/second hunter --world survival/1v1-heals-low --matches 100 --out cup\n"
    "interplay tournament --resume --out cup\n"
    "interplay tournament small=runs/a16,runs/b16 large=runs/a128,runs/b128 --merge --world mmo/forage "
    "--caps 16,32 --matches 8 --out merges"
)


def tournament(
    players: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN|POLICY]...",
            help="Run folders or scripted policies. With --merge also NAME=RUN,RUN (one home, several trainings) and "
            "POLICY@N (N populations).",
        ),
    ] = None,
    world: Annotated[str, typer.Option(help="The world's id; the first run brings its own.")] = "",
    matches: Annotated[
        int | None,
        typer.Option(help="Of every matchup; with --merge maps of every pair.  [default: 20, 8]", min=1),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the worlds and of the players' draws.", min=0)] = 0,
    out: Annotated[
        Path | None, typer.Option(parser=named_path, metavar="PATH", help="The tournament's folder.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the tournament in --out.")] = False,
    option: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="An option of the world; may be repeated.")
    ] = None,
    per_match: Annotated[int, typer.Option(help="Players of a match.", min=2)] = 2,
    score: Annotated[
        str, typer.Option(help="return, or a metric of the world with a value per agent.")
    ] = "return",
    max_steps: Annotated[int | None, typer.Option(help="Cut matches there.", min=1)] = None,
    merge: Annotated[
        bool, typer.Option("--merge", help="Merge the populations of every two homes into one world.")
    ] = False,
    caps: Annotated[str, typer.Option(help="Merges: places of the worlds, e.g. 16,32.")] = "16,32,64,128",
    quota: Annotated[str, typer.Option(help="Merges: per_home or per_population.")] = "per_home",
    window: Annotated[int, typer.Option(help="Merges: ticks in which births count.", min=1)] = 1_000,
    horizon: Annotated[int, typer.Option(help="Merges: ticks of a life that are followed.", min=1)] = 5_000,
    greedy: Annotated[
        bool, typer.Option("--greedy", help="Trained policies take their likeliest action.")
    ] = False,
    workers: Annotated[
        int, typer.Option(help="Processes that play a round robin; they change no bit.", min=1, max=1024)
    ] = 1,
    trust: Trust = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Plays a round robin, or merges populations, and rates everybody; stopped ones go on with --resume.

    The folder keeps every result, ratings.json and ratings.png.
    """
    from interplay.core.errors import UserError
    from interplay.core.settings import parse_overrides
    from interplay.verbs import tournament_kinds

    if out is None:
        raise UserError("a tournament needs a folder; add for example --out cup")
    options = parse_overrides(option or [])
    if players:
        values = {"options": options, "world": world, "seed": seed, "greedy": greedy}
        if merge:
            if workers > 1:
                raise UserError(f"--workers {workers}: merges are played in one process; leave it out")
            own: dict[str, Any] = {"quota": quota, "window": window, "horizon": horizon, "maps": matches or 8}
            kind = tournament_kinds.merge(players, {**values, **own, "caps": _numbers(caps)}, trust=trust)
        else:
            own = {"per_match": per_match, "score": score, "max_steps": max_steps, "matches": matches or 20}
            kind = tournament_kinds.round_robin(players, {**values, **own}, trust=trust, workers=workers)
    elif resume:
        kind = tournament_kinds.standing_in(out, trust, workers)
    else:
        raise UserError(
            "no players; name at least two run folders or policies, or go on with --resume --out FOLDER"
        )
    with told_by_exit_code():
        results = _played(kind.run, kind.unit, out, resume or not players)
    if json:
        typer.echo(json_text.dumps(results.to_dict(), indent=1))
    else:
        from interplay.view.standings_tables import print_results

        print_results(results)
    _draw(results, out, quiet=json)


def _numbers(text: str) -> tuple[int, ...]:
    from interplay.core.errors import UserError

    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise UserError(
            f"--caps {text}: not a list of whole numbers; write for example --caps 16,32"
        ) from None


def _played(run: Callable[..., Any], unit: str, out: Path, resume: bool) -> Any:
    """Plays with progress; a Ctrl-C says how to go on."""
    from interplay.train.run.progress import Progress

    every = 0
    progress: Progress | None = None

    def on_progress(done: int, total: int) -> None:
        nonlocal progress, every
        every = total
        if progress is None:
            progress = Progress(total, done, unit=unit)
        else:
            progress.update(done)

    try:
        return run(out, resume, on_progress)
    except KeyboardInterrupt:
        if every:
            kept = f"{_lines(out):,} of {every:,} {unit} are kept in {out}"
            typer.echo(f"{kept}; go on with `interplay tournament --resume --out {out}`", err=True)
        raise
    finally:
        if progress is not None:
            with closing(progress):
                pass


def _lines(out: Path) -> int:
    from interplay.core.reading import MIB, opened
    from interplay.evaluate.tournaments.folder import RESULTS

    with opened(out / RESULTS, 2**63, links=False) as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(MIB), b""))


def _draw(results: Any, out: Path, quiet: bool) -> None:
    from interplay.core.errors import UserError
    from interplay.view.standings_picture import plot_results

    try:
        picture = plot_results(results, out / "ratings.png")
    except UserError as error:
        typer.echo(f"no picture: {error}", err=True)
        return
    if not quiet:
        typer.echo(f"{out / 'ratings.json'}, {picture}")
