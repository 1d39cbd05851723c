"""`interplay evaluate`: how well a trained or scripted policy plays."""

from __future__ import annotations

import json as json_text
from typing import Annotated

import typer

EXAMPLE = (
    "interplay evaluate runs/first --episodes 200\n"
    "interplay evaluate random --world survival/1v1-heals-low --json"
)


def evaluate(
    player: Annotated[
        str, typer.Argument(metavar="RUN|POLICY", help="A run folder, or a scripted policy's name.")
    ],
    world: Annotated[str, typer.Option(help="The world's id; a run brings its own.")] = "",
    episodes: Annotated[int, typer.Option(help="Episodes to play.", min=1)] = 100,
    num_worlds: Annotated[int, typer.Option(help="Worlds side by side.", min=1)] = 64,
    seed: Annotated[int, typer.Option(help="Of the worlds and of the players.", min=0)] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Plays whole episodes and prints the mean of every metric with its standard error."""
    from interplay.cli.players import find_player
    from interplay.evaluate import play

    found = find_player(player, world)
    batch = found.make_world(num_worlds=min(num_worlds, episodes), seed=seed)
    table = play(batch, found.policy, episodes=episodes, seed=seed)
    summary = table.summary()
    if json:
        typer.echo(json_text.dumps({"world": found.world, "policy": player, "metrics": summary}, indent=2))
        return
    typer.echo(f"{player} on {found.world}, {episodes} episodes")
    for name, row in summary.items():
        typer.echo(f"  {name:<24} {row['mean']:>12.4f} +- {row['standard_error']:.4f}")
