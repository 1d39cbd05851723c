"""`interplay talk`: how much messages say about roles and votes, and what they change, with null distributions."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Annotated

import typer

from interplay.cli.options import Trust, named_path

EXAMPLE = (
    "interplay talk runs/villagers --against random_target\n"
    "interplay talk random --world werewolf/9-l1s9 --games 500 --permutations 200\n"
    "interplay talk runs/villagers --out games --transfer runs/others --json"
)


def talk(
    player: Annotated[
        str,
        typer.Argument(
            metavar="RUN|POLICY|GAMES",
            help="A run folder, a scripted policy's name, or a folder of recorded games.",
        ),
    ],
    options: Annotated[
        list[str] | None, typer.Argument(metavar="[OPTION=VALUE]...", help="Options of the world.")
    ] = None,
    world: Annotated[str, typer.Option(help="The world's id; a run brings its own.")] = "",
    against: Annotated[
        str, typer.Option(metavar="RUN|POLICY", help="Player of the team that hides (the wolves).")
    ] = "",
    games: Annotated[int, typer.Option(help="Games to play, for each arm too.", min=1)] = 1_000,
    permutations: Annotated[int, typer.Option(help="Permutations of every null.", min=1)] = 1_000,
    arm: Annotated[
        list[str] | None,
        typer.Option(
            help="What to take away: signals_off, signals_shuffled, talk_off, targets_off, ...; repeat for more; "
            "none: nothing.  [default: those four]"
        ),
    ] = None,
    metric: Annotated[str, typer.Option(help="Of an episode, to compare the arms by.")] = "win_vil",
    probe: Annotated[
        bool, typer.Option("--probe/--no-probe", help="Fit probes that predict roles from public messages.")
    ] = True,
    transfer: Annotated[
        str, typer.Option(metavar="RUN|POLICY|GAMES", help="Also judge the role probe on this one's games.")
    ] = "",
    out: Annotated[
        Path | None,
        typer.Option(parser=named_path, metavar="PATH", help="Folder to keep the recorded games in."),
    ] = None,
    log_every: Annotated[int, typer.Option(help="Of so many games one is kept in --out.", min=1)] = 1,
    num_worlds: Annotated[int, typer.Option(help="Worlds side by side.", min=1)] = 256,
    greedy: Annotated[
        bool, typer.Option("--greedy", help="Trained policies take their likeliest action.")
    ] = False,
    trust: Trust = False,
    seed: Annotated[int, typer.Option(help="Of games, players and permutations.", min=0)] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Plays games, records the messages, and prints their information beside null distributions."""
    from interplay.cli.overlays import check_folder
    from interplay.cli.progress import ProgressLines
    from interplay.cli.talking_games import Wanted, play_arms, play_games
    from interplay.cli.talking_text import show
    from interplay.evaluate.communication import measure_talk
    from interplay.evaluate.communication.games import listen

    if out is not None:
        check_folder(out)
    progress = ProgressLines()
    wanted = Wanted(player, world, tuple(options or ()), against, games, num_worlds, greedy, seed, trust)
    played = play_games(wanted, progress)
    other = play_games(wanted._replace(player=transfer), progress) if transfer else None
    report = measure_talk(
        played.talk,
        other=None if other is None else other.talk,
        models=("logistic", "gru") if probe else (),
        permutations=permutations,
        seed=seed,
        progress=progress,
    )
    report.influences, report.beliefs = listen(played), played.beliefs
    report.ablations = play_arms(wanted, played, arm, metric, progress)
    if out is not None:
        _keep(played.talk, out, log_every)
    if json:
        about = {"player": player, "against": against, "world": played.talk.about.world, "seed": seed}
        typer.echo(json_text.dumps({**about, **report.to_dict()}, indent=1, allow_nan=False))
        return
    show(report, played.talk, player, against, seed)


def _keep(games: object, out: Path, log_every: int) -> None:
    from interplay.evaluate.communication import Talk, TalkFolder

    assert isinstance(games, Talk)
    kept = games.select(games.games.number % log_every == 0)
    with TalkFolder(out) as folder:
        typer.echo(f"written: {folder.append(kept)}, {len(kept):,} games", err=True)
