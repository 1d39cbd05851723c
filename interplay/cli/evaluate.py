"""`interplay evaluate`: how well a trained or scripted policy plays."""

from __future__ import annotations

import json as json_text
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from interplay.cli.options import Roles, Trust, named_path
from interplay.core.errors import UserError

EXAMPLE = (
    "interplay evaluate runs/first --episodes 200\n"
    "interplay evaluate runs/first --at-checkpoints --episodes 256 --out evaluations/first\n"
    "interplay evaluate random --world survival/1v1-heals-low --json\n"
    "interplay evaluate bayes --roles werewolf=avoid_wolves --world werewolf/9\n"
    "interplay evaluate runs/marines --roles blue=self"
)


def evaluate(
    player: Annotated[
        str, typer.Argument(metavar="RUN|POLICY", help="A run folder, or a scripted policy's name.")
    ],
    options: Annotated[
        list[str] | None, typer.Argument(metavar="[OPTION=VALUE]...", help="Options of the world.")
    ] = None,
    world: Annotated[str, typer.Option(help="The world's id; a run brings its own.")] = "",
    episodes: Annotated[int, typer.Option(help="Episodes to play.", min=1)] = 100,
    num_worlds: Annotated[int, typer.Option(help="Worlds side by side.", min=1)] = 64,
    max_steps: Annotated[
        int | None, typer.Option(help="Cut episodes there; for worlds that may never end.", min=1)
    ] = None,
    roles: Roles = None,
    trust: Trust = False,
    greedy: Annotated[
        bool, typer.Option("--greedy", help="A trained policy takes its likeliest action.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Of the worlds and of the players.", min=0)] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    at_checkpoints: Annotated[
        bool,
        typer.Option("--at-checkpoints", help="The same episodes at every checkpoint that the run has kept."),
    ] = False,
    csv: Annotated[
        bool, typer.Option("--csv", help="With --at-checkpoints: print comma-separated values.")
    ] = False,
    column: Annotated[
        list[str] | None,
        typer.Option(
            help="With --at-checkpoints: a metric of the table; may be repeated.  [default: the first six]"
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            parser=named_path,
            metavar="FOLDER",
            help="With --at-checkpoints: keeps the rows, for `interplay curves FOLDER`; what it has is not played again.",
        ),
    ] = None,
) -> None:
    """Plays whole episodes, a run against the opponents of its training: shares won, lost, drawn and cut, and means of every metric."""
    from interplay.core.settings import parse_overrides

    if at_checkpoints:
        from interplay.cli.milestones import show
        from interplay.cli.progress import ProgressLines
        from interplay.verbs.milestones import Asked, evaluate_checkpoints

        if json and csv:
            raise UserError("--json --csv: a table has one form; give one of the two")
        given = parse_overrides(options or [])
        asked = Asked(player, world, given, episodes, num_worlds, max_steps, roles or (), greedy, seed, trust)
        show(asked, evaluate_checkpoints(asked, out, ProgressLines()), column or (), json, csv)
        return
    for flag, used in (("--csv", csv), ("--column", column), ("--out", out)):
        if used:
            raise UserError(f"{flag}: that is for the table of all checkpoints; add --at-checkpoints")
    from interplay.evaluate.episodes import MOST_AGENTS
    from interplay.evaluate.results import NAMES
    from interplay.train.run.metrics_log import plain
    from interplay.verbs.playing import evaluate as play

    table = play(
        player,
        world,
        parse_overrides(options or []),
        episodes=episodes,
        num_worlds=num_worlds,
        max_steps=max_steps,
        roles=roles or (),
        greedy=greedy,
        seed=seed,
        trust=trust,
    )
    summary = table.summary()
    if json:
        metrics = {name: estimate._asdict() for name, estimate in summary.items()}
        report = {
            "world": table.world,
            "policy": player,
            **({"roles": dict(words.split("=", 1) for words in roles)} if roles else {}),
            "players": dict(table.players),
            **({"learner": list(table.seating.learner)} if table.seating else {}),
            "seed": seed,
            "episodes": episodes,
            "actions": table.actions,
            "results": table.to_dict()["results"],
            "units": {name: table.unit(name) for name in metrics},
            "metrics": metrics,
        }
        typer.echo(json_text.dumps(plain(report), indent=2, allow_nan=False))
        return
    typer.echo(f"{player} on {table.world}, {episodes} episodes")
    typer.echo(table.line)
    if table.seating and table.seating.learner:
        typer.echo(f"metrics without a side are of the agents of {player}")
    shares = table.shares()
    if 0 < len(shares) <= MOST_AGENTS:
        typer.echo("share of episodes [95 %]")
        for team, own in shares.items():
            typer.echo(f"  {team} " + ", ".join(f"{result} {share}" for result, share in own.items()))
    of_shares = {f"{result}[{team}]" for team, own in shares.items() for result in own}
    if own_results := table.learner_results():
        words = ", ".join(f"{result} {share}" for result, share in own_results.shares().items())
        typer.echo(f"  {player} {words} (of {len(own_results.won)} episodes with others)")
        of_shares |= {*NAMES}
    rows = [
        row
        for row in table.rows()
        if not table.is_of_crowd(row[0])
        and not (table.seating and table.is_of_agent(row[0]))
        and row[0] not in of_shares
        and not _told_before(row[0], summary)
    ]
    typer.echo("mean ± standard error")
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    for name, value, unit in rows:
        typer.echo(f"  {name:<{widths[0]}}  {value:<{widths[1]}}  {unit}".rstrip())


def _told_before(name: str, summary: Mapping[str, object]) -> bool:
    """Whether a metric is what every table has, steps or return, by another name and with the same values."""
    before = name.replace("episode_length", "steps").replace("episode_return", "return")
    return before != name and str(summary.get(before)) == str(summary[name])
