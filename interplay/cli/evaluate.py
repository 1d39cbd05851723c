"""`interplay evaluate`: how well a trained or scripted policy plays."""

from __future__ import annotations

import json as json_text
from typing import Annotated

import typer

from interplay.cli.options import Roles, Trust

EXAMPLE = (
    "interplay evaluate runs/first --episodes 200\n"
    "interplay evaluate random --world survival/1v1-heals-low --json\n"
    "interplay evaluate bayes --roles werewolf=avoid_wolves --world werewolf/9"
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
) -> None:
    """Plays whole episodes and prints the mean of every metric with its standard error."""
    from interplay.core.settings import parse_overrides
    from interplay.evaluate.episodes import MOST_AGENTS
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
            "seed": seed,
            "episodes": episodes,
            "metrics": metrics,
        }
        typer.echo(json_text.dumps(plain(report), indent=2, allow_nan=False))
        return
    whom = f"{player} ({', '.join(roles)})" if roles else player
    typer.echo(f"{whom} on {table.world}, {episodes} episodes, mean ± standard error")
    crowd = len(table.agents) > MOST_AGENTS
    shown = {name: estimate for name, estimate in summary.items() if not (crowd and name.endswith("]"))}
    width = max(map(len, shown))
    for name, estimate in shown.items():
        typer.echo(f"  {name:<{width}}  {estimate}")
