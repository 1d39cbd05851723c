"""`interplay evaluate`: how well a trained or scripted policy plays."""

from __future__ import annotations

import json as json_text
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from interplay.cli.declared import declared
from interplay.cli.options import Json
from interplay.core.errors import UserError
from interplay.verbs import playing

EXAMPLE = (
    "interplay evaluate runs/first --episodes 200\n"
    "interplay evaluate runs/first --at-checkpoints --episodes 256 --out evaluations/first\n"
    "interplay evaluate random --world survival/1v1-heals-low --json\n"
    "interplay evaluate bayes --roles werewolf=avoid_wolves --world werewolf/9\n"
    "interplay evaluate runs/marines --roles blue=self"
)


@declared(playing.evaluate, arguments=("player", "options"), out="FOLDER")
def evaluate(
    json: Json = False,
    csv: Annotated[
        bool, typer.Option("--csv", help="With --at-checkpoints: print comma-separated values.")
    ] = False,
    column: Annotated[
        list[str] | None,
        typer.Option(
            help="With --at-checkpoints: a metric of the table; may be repeated.  [default: the first six]"
        ),
    ] = None,
    **given: Any,
) -> None:
    """Plays whole episodes, a run against the opponents of its training: shares won, lost, drawn and cut, and means of every metric."""
    player, episodes, roles, seed = (given[name] for name in ("player", "episodes", "roles", "seed"))
    if given["at_checkpoints"]:
        from interplay.cli.milestones import show
        from interplay.cli.progress import ProgressLines
        from interplay.verbs.milestones import Evaluation, evaluate_checkpoints

        if json and csv:
            raise UserError("--json --csv: a table has one form; give one of the two")
        wanted = Evaluation(given.pop("player"), **{name: given[name] for name in Evaluation._fields[1:]})
        show(wanted, evaluate_checkpoints(wanted, given["out"], ProgressLines()), column or (), json, csv)
        return
    for flag, used in (("--csv", csv), ("--column", column), ("--out", given["out"])):
        if used:
            raise UserError(f"{flag}: that is for the table of all checkpoints; add --at-checkpoints")
    from interplay.core.json_values import plain
    from interplay.evaluate.episodes import MOST_AGENTS
    from interplay.evaluate.results import NAMES

    table = playing.evaluate(**given)
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
        and not _shown_before(row[0], summary)
    ]
    typer.echo("mean ± standard error")
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    for name, value, unit in rows:
        typer.echo(f"  {name:<{widths[0]}}  {value:<{widths[1]}}  {unit}".rstrip())


def _shown_before(name: str, summary: Mapping[str, object]) -> bool:
    """Whether a metric is what every table has, steps or return, by another name and with the same values."""
    before = name.replace("episode_length", "steps").replace("episode_return", "return")
    return before != name and str(summary.get(before)) == str(summary[name])
