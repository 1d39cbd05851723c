"""`interplay tournament`: ratings of players, or of populations in merged worlds."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Any

import typer

from interplay.cli.declared import declared
from interplay.cli.stopping import signals_as_exit_codes
from interplay.core.errors import UserError
from interplay.core.files import short_path
from interplay.verbs import playing, tournaments


@declared(tournaments.tournament, playing.evaluate, arguments=("players",))
def tournament(*, json: bool = False, **given: Any) -> None:
    """Plays a round robin, or merges populations, and rates the players; stopped ones go on with --resume.

    The folder keeps every result, ratings.json and ratings.png.

    Example:
        interplay tournament runs/first runs/second hunter --world survival/1v1-heals-low --matches 100 --out cup
        interplay tournament --resume --out cup
        interplay tournament --resume --out cup --record 1
        interplay tournament small=runs/a16,runs/b16 large=runs/a128,runs/b128 --merge --world mmo/forage --caps 16,32 --matches 8 --out merges
    """
    if (out := given["out"]) is None:
        raise UserError("a tournament needs a folder; add for example --out cup")
    with signals_as_exit_codes():
        results = tournaments.tournament(**given)
    if json:
        typer.echo(json_text.dumps(results.to_dict(), indent=1))
    else:
        from interplay.view.standings_tables import print_results

        print_results(results)
    _draw(results, out, quiet=json)


def _draw(results: Any, out: Path, quiet: bool) -> None:
    from interplay.view.standings_picture import plot_results

    try:
        picture = plot_results(results, out / "ratings.png")
    except UserError as error:
        typer.echo(f"no picture: {error}", err=True)
        return
    if not quiet:
        typer.echo(f"{short_path(out / 'ratings.json')}, {short_path(picture)}")
