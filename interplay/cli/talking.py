"""`interplay talk`: how much messages say about roles and votes, and what they change, with null distributions."""

from __future__ import annotations

import json as json_text
from collections.abc import Sequence
from pathlib import Path

import typer

from interplay.cli.declared import declared
from interplay.core.files import short_path


@declared(
    player="RUN|POLICY|GAMES", options="[OPTION=VALUE]...", against="RUN|POLICY", transfer="RUN|POLICY|GAMES"
)
def talk(
    player: str,
    options: Sequence[str] = (),
    *,
    world: str = "",
    against: str = "",
    games: int = 1_000,
    permutations: int = 1_000,
    arm: Sequence[str] = (),
    metric: str = "win_vil",
    probe: bool = True,
    transfer: str = "",
    out: Path | None = None,
    log_every: int = 1,
    num_worlds: int = 256,
    greedy: bool = False,
    trust: bool = False,
    seed: int = 0,
    json: bool = False,
) -> None:
    """Plays games, records the messages, and prints their information beside null distributions.

    Args:
        player: a run folder, a scripted policy's name, or a folder of recorded games.
        options: options of the world.
        world: the world's id; a run brings its own.
        against: player of the team that hides (the wolves).
        games: games to play, for each arm too.
        permutations: permutations of every null.
        arm: what to take away: signals_off, signals_shuffled, talk_off, targets_off, ...; none: nothing. None: those four.
        metric: of an episode, to compare the arms by.
        probe: fit probes that predict roles from public messages.
        transfer: also judge the role probe on this one's games.
        out: folder to keep the recorded games in.
        log_every: of so many games one is kept in --out.
        num_worlds: worlds side by side.
        greedy: trained policies take their likeliest action.
        seed: of games, players and permutations.

    Example:
        interplay talk runs/villagers --against random_target
        interplay talk random --world werewolf/9-l1s9 --games 500 --permutations 200
        interplay talk runs/villagers --out games --transfer runs/others --json
    """
    from interplay.cli.overlays import check_folder
    from interplay.cli.printing import ProgressLines
    from interplay.cli.talking_games import Wanted, play_arms, play_games
    from interplay.cli.talking_text import show
    from interplay.evaluate.communication import measure_talk
    from interplay.evaluate.communication.games import listen

    if out is not None:
        check_folder(out)
    progress = ProgressLines()
    wanted = Wanted(player, world, tuple(options), against, games, num_worlds, greedy, seed, trust)
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
    report.ablations = play_arms(wanted, played, arm or None, metric, progress)
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
        typer.echo(f"written: {short_path(folder.append(kept))}, {len(kept):,} games", err=True)
