"""`interplay tournament`: who is the strongest of several players, or whose populations live longest."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Annotated, Any

import typer

from interplay.cli.options import Trust, named_path
from interplay.cli.stopping import told_by_exit_code

EXAMPLE = (
    "interplay tournament runs/first runs/second hunter --world survival/1v1-heals-low --matches 100 --out cup\n"
    "interplay tournament --resume --out cup\n"
    "interplay tournament --resume --out cup --record 1\n"
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
        str | None,
        typer.Option(
            help="What decides a match: outcome, return, or another metric of the world with a value per agent.  "
            "[default: outcome where the world has one, else return]"
        ),
    ] = None,
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
    record: Annotated[
        int,
        typer.Option(
            help="Matches of every matchup and seat to record, for `interplay view`; with --resume also of one that was played.",
            min=0,
        ),
    ] = 0,
    trust: Trust = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Plays a round robin, or merges populations, and rates everybody; stopped ones go on with --resume.

    The folder keeps every result, ratings.json and ratings.png.
    """
    from interplay.core.errors import UserError
    from interplay.core.settings import parse_overrides
    from interplay.verbs.tournaments import tournament as play

    if out is None:
        raise UserError("a tournament needs a folder; add for example --out cup")
    with told_by_exit_code():
        results = play(
            players or (),
            world,
            parse_overrides(option or []),
            out=out,
            matches=matches,
            resume=resume,
            per_match=per_match,
            score=score,
            max_steps=max_steps,
            merge=merge,
            caps=_numbers(caps) if merge else (),
            quota=quota,
            window=window,
            horizon=horizon,
            greedy=greedy,
            workers=workers,
            record=record,
            seed=seed,
            trust=trust,
        )
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
