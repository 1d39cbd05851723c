"""`interplay record` and `interplay transcript`: episodes as a video, an animation, a picture, a recording or words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import typer

from interplay.cli.declared import declared
from interplay.core.files import short_path
from interplay.verbs import playing


@declared(
    playing.record,
    playing.evaluate,
    arguments=("player", "options"),
    player="RUN|POLICY|REPLAY",
    size="SIDE|WIDTHxHEIGHT",
)
def record(**given: Any) -> None:
    """Plays episodes and records them; the suffix of --out chooses video, animation, picture or recording.

    A recording, match.replay, is drawn as it was played.

    Example:
        interplay record runs/first --out episode.mp4
        interplay record random --world survival/2v2-all-low --out episode.gif
        interplay record runs/first --out match.replay
        interplay record match.replay --out match.mp4
        interplay record runs/marines --greedy --out battle.mp4
    """
    from interplay.evaluate.lineup import line_of

    written = playing.record(**given)
    if written.players:
        typer.echo(line_of(written.players))
    typer.echo(f"written: {short_path(written.path)}")


@declared(playing.record, playing.evaluate, arguments=("player", "options"))
def transcript(
    player: str,
    world: str,
    options: Mapping[str, Any],
    episodes: int,
    max_steps: int | None,
    reveal: bool,
    roles: Sequence[str],
    greedy: bool,
    seed: int,
    trust: bool,
) -> None:
    """Plays an episode and prints it in words, step by step.

    Example:
        interplay transcript random --world werewolf/9-l1s9 --seed 3
        interplay transcript runs/village --reveal
    """
    from interplay.evaluate.lineup import line_of, players_of
    from interplay.verbs.opening import set_privileged_view
    from interplay.verbs.players import find_player
    from interplay.view.transcript import print_lines
    from interplay.view.transcript import transcript as lines_of

    found = find_player(player, world, options, greedy, roles=roles, trust=trust)
    batch = found.make_world(num_worlds=1, seed=seed)
    set_privileged_view(batch, reveal)
    typer.echo(line_of(players_of(found.policy, batch)))
    print_lines(lines_of(batch, found.policy, episodes=episodes, max_steps=max_steps, seed=seed))
    batch.close()
