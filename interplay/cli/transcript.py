"""`interplay transcript`: an episode in words."""

from __future__ import annotations

from typing import Annotated

import typer

from interplay.cli.options import Roles, Trust

EXAMPLE = (
    "interplay transcript random --world werewolf/9-l1s9 --seed 3\ninterplay transcript runs/village --reveal"
)


def transcript(
    player: Annotated[
        str, typer.Argument(metavar="RUN|POLICY", help="A run folder, or a scripted policy's name.")
    ],
    options: Annotated[
        list[str] | None, typer.Argument(metavar="[OPTION=VALUE]...", help="Options of the world.")
    ] = None,
    world: Annotated[str, typer.Option(help="The world's id; a run brings its own.")] = "",
    episodes: Annotated[int, typer.Option(help="Episodes to play.", min=1)] = 1,
    max_steps: Annotated[
        int | None, typer.Option(help="Leave an episode there; for worlds that may never end.", min=1)
    ] = None,
    reveal: Annotated[
        bool, typer.Option("--reveal", help="Tell what the public may not know: hidden roles.")
    ] = False,
    roles: Roles = None,
    trust: Trust = False,
    greedy: Annotated[
        bool, typer.Option("--greedy", help="A trained policy takes its likeliest action.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Of the world and of the players.", min=0)] = 0,
) -> None:
    """Plays an episode and tells it in words, step by step."""
    from interplay.core.settings import parse_overrides
    from interplay.evaluate.lineup import line_of, players_of
    from interplay.verbs.opening import set_privileged_view
    from interplay.verbs.players import find_player
    from interplay.view.transcript import print_lines
    from interplay.view.transcript import transcript as lines_of

    found = find_player(player, world, parse_overrides(options or []), greedy, roles=roles, trust=trust)
    batch = found.make_world(num_worlds=1, seed=seed)
    set_privileged_view(batch, reveal)
    typer.echo(line_of(players_of(found.policy, batch)))
    print_lines(lines_of(batch, found.policy, episodes=episodes, max_steps=max_steps, seed=seed))
    batch.close()
