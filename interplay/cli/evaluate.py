"""`interplay evaluate`: how well a trained or scripted policy plays."""

from __future__ import annotations

import json as json_text
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

from interplay.cli.declared import declared
from interplay.cli.printing import ProgressLines, print_aligned
from interplay.core.errors import UserError
from interplay.verbs import playing

if TYPE_CHECKING:
    from interplay.verbs.milestones import Evaluated

MOST_COLUMNS = 6  # of the table of all checkpoints


@declared(playing.evaluate, arguments=("player", "options"), out="FOLDER")
def evaluate(*, json: bool = False, csv: bool = False, column: Sequence[str] = (), **given: Any) -> None:
    """Plays whole episodes, a run against the opponents of its training: shares won, lost, drawn and cut, and means of every metric.

    Args:
        csv: with --at-checkpoints: print comma-separated values.
        column: with --at-checkpoints: a metric of the table. None: the first six.

    Example:
        interplay evaluate runs/first --episodes 200
        interplay evaluate runs/first --at-checkpoints --episodes 256 --out evaluations/first
        interplay evaluate random --world survival/1v1-heals-low --json
        interplay evaluate bayes --roles werewolf=avoid_wolves --world werewolf/9
        interplay evaluate runs/marines --roles blue=self
    """
    player, episodes, roles, seed = (given[name] for name in ("player", "episodes", "roles", "seed"))
    if given["at_checkpoints"]:
        from interplay.verbs.milestones import evaluate_checkpoints

        if json and csv:
            raise UserError("--json --csv: a table has one form; give one of the two")
        how: Any = {name: given[name] for name in playing.EvaluateOptions.__annotations__}
        found = evaluate_checkpoints(
            player, given["world"], given["options"], how, given["out"], ProgressLines()
        )
        _show_checkpoints(player, how, found, column, json, csv)
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
            "num_worlds": table.num_worlds,
            "actions": table.actions,
            "results": table.to_dict()["results"],
            "units": {name: table.unit(name) for name in metrics},
            "metrics": metrics,
        }
        typer.echo(json_text.dumps(plain(report), indent=2, allow_nan=False))
        return
    typer.echo(f"{player} on {table.world}, {episodes} episodes")
    typer.echo(table.line)
    if table.seating and not table.seating.own.any() and not table.seating.learner:
        typer.echo("slots change players within an episode, so its metrics belong to no player")
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
    typer.echo("mean ± standard error, or share [95 %]")
    print_aligned(rows, left=range(3), indent="  ")


def _shown_before(name: str, summary: Mapping[str, object]) -> bool:
    """Whether a metric is what every table has, steps or return, by another name and with the same values."""
    before = name.replace("episode_length", "steps").replace("episode_return", "return")
    return before != name and str(summary.get(before)) == str(summary[name])


def _show_checkpoints(
    run: str,
    how: playing.EvaluateOptions,
    evaluated: Evaluated,
    columns: Sequence[str],
    json: bool,
    csv: bool,
) -> None:
    """Prints the rows as a table, as JSON or as comma-separated values."""
    from interplay.core.json_values import plain
    from interplay.evaluate.lineup import line_of
    from interplay.evaluate.milestones import BY_AGENT, metrics_of, to_csv

    world, agents, rows, players = evaluated
    metrics = metrics_of(rows)
    for name in columns:
        if name not in metrics:
            raise UserError(f"no column {name!r}; there are {', '.join(metrics)}")
    if csv:
        typer.echo(to_csv(rows, agents, line_of(players)), nl=False)
        return
    if json:
        report = {
            "world": world,
            "run": run,
            **({"roles": dict(words.split("=", 1) for words in how["roles"])} if how["roles"] else {}),
            "players": players,
            "seed": how["seed"],
            "num_worlds": min(how["num_worlds"], how["episodes"]),
            "agents": list(agents),
            "checkpoints": rows,
        }
        typer.echo(json_text.dumps(plain(report), indent=1, allow_nan=False))
        return
    shown = list(columns) or [name for name in metrics if name != "truncated"][:MOST_COLUMNS]
    typer.echo(
        f"{run} on {world}, the same {how['episodes']} episodes at each checkpoint, mean ± standard error or share [95 %]"
    )
    typer.echo(line_of(players))
    print_aligned(
        [["agent-steps", *shown], *([f"{row['agent_steps']:,}", *_cells(row, shown)] for row in rows)]
    )
    hidden = [name for name in metrics if name not in shown and name not in (BY_AGENT, "truncated")]
    if hidden and not columns:
        typer.echo(
            f"also measured: {', '.join(hidden)}; choose with --column, or take all with --json or --csv"
        )


def _cells(row: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    from interplay.evaluate.milestones import ENDS, ERRORS
    from interplay.evaluate.statistics import Estimate

    cells = []
    for name in names:
        mean = row[name]
        known = mean is not None and mean == mean
        ends = [row.get(end, {}).get(name) for end in ENDS]
        cells.append(str(Estimate(mean if known else 0.0, row[ERRORS][name], int(known), *ends)))
    return cells
