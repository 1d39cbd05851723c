"""Playing to measure, and to watch."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, overload

from interplay.core.errors import UserError
from interplay.core.keywords import suggest_keyword
from interplay.verbs.showing import Media

if TYPE_CHECKING:
    from interplay.core.policy import Policy
    from interplay.evaluate.episodes import EpisodeTable
    from interplay.verbs.run import Metrics, Run


class EvaluateOptions(TypedDict, total=False):
    """Keyword arguments of `evaluate`, for type checkers."""

    episodes: int
    num_worlds: int
    max_steps: int | None
    roles: Sequence[str]
    greedy: bool
    seed: int
    trust: bool


@overload
def evaluate(
    player: str | Path | Policy | Run,
    world: object = "",
    options: Mapping[str, Any] | None = None,
    *,
    at_checkpoints: Literal[False] = False,
    **others: Unpack[EvaluateOptions],
) -> EpisodeTable: ...


@overload
def evaluate(
    player: str | Path | Run,
    world: object = "",
    options: Mapping[str, Any] | None = None,
    *,
    at_checkpoints: Literal[True],
    out: str | Path | None = None,
    **others: Unpack[EvaluateOptions],
) -> Metrics: ...


@suggest_keyword
def evaluate(
    player: str | Path | Policy | Run,
    world: object = "",
    options: Mapping[str, Any] | None = None,
    *,
    episodes: int = 100,
    num_worlds: int = 64,
    max_steps: int | None = None,
    roles: Sequence[str] = (),
    greedy: bool = False,
    seed: int = 0,
    trust: bool = False,
    at_checkpoints: bool = False,
    out: str | Path | None = None,
) -> EpisodeTable | Metrics:
    """Plays whole episodes.

    Args:
        player: a run folder or a scripted policy's name; in Python also a run or a policy.
        world: a world's id or ``module:name``, in Python anything that `interplay.train` takes; empty: the run's own.
        options: options of the world.
        episodes: number of episodes.
        num_worlds: worlds that are stepped together.
        max_steps: length at which episodes are cut; needed for worlds that may never end.
        roles: another player for some sides, e.g. ``"blue=random"``: a side is a team, a population, an agent, or a side of the run's
            settings. A run plays against the opponents of its training; with ``"blue=self"`` it plays that side itself.
        greedy: trained policies take their likeliest action.
        seed: of the worlds and of the players.
        trust: run the programs (``module:name``) that a run or file from elsewhere names; it is remembered.
        at_checkpoints: play the same episodes at every sound checkpoint that the run has kept.
        out: with `at_checkpoints`, a folder that keeps the rows, for ``interplay curves``; kept rows are not played again.

    Returns:
        One row per episode; ``.summary()`` has the mean of every column with its standard error, over the agents of the player where
        others play too, and ``name[side]``; ``.players`` names the player of each side. With `at_checkpoints` columns
        over the checkpoints, oldest first: ``agent_steps``, means by the names that training logs, ``standard_error[name]``, and
        ``by_agent[name]``.

    Raises:
        UserError: for an unknown player, world, option or number.

    Example:
        >>> table = evaluate("random", "dilemma/fixed", episodes=4)
        >>> len(table), table["return"].shape
        (4, (4, 2))
    """
    from interplay.core.policy import Policy
    from interplay.evaluate import play
    from interplay.evaluate.lineup import line_of
    from interplay.verbs.players import seat

    if at_checkpoints:
        from interplay.verbs.milestones import Evaluation, as_metrics, evaluate_checkpoints

        if isinstance(player, Policy):
            raise UserError(
                f"at_checkpoints: {player.name} is one policy and has no checkpoints; name its run"
            )
        wanted = Evaluation(
            player, world, options or {}, episodes, num_worlds, max_steps, roles, greedy, seed, trust
        )
        found = evaluate_checkpoints(wanted, None if out is None else Path(out))
        title = f"{line_of(found.players)}, on {found.world}, {episodes} episodes"
        return as_metrics(title, found.rows)
    if out is not None:
        raise UserError(f"out = {str(out)!r}: only rows of checkpoints are kept; add at_checkpoints=True")
    seated = seat(player, world, options, greedy, roles, trust)
    batch = seated.make_world(num_worlds=min(num_worlds, max(episodes, 1)), seed=seed)
    try:
        return play(batch, seated.policy, episodes=episodes, seed=seed, max_steps=max_steps)
    finally:
        batch.close()


@suggest_keyword
def record(
    player: str | Path | Policy | Run,
    out: str | Path | None = None,
    world: object = "",
    options: Mapping[str, Any] | None = None,
    *,
    episodes: int = 1,
    max_steps: int | None = None,
    size: int | tuple[int, int] | None = None,
    every: int = 1,
    frames: int | None = None,
    step: int | None = None,
    focus: int | tuple[float, float] | None = None,
    zoom: float | None = None,
    legend: bool = True,
    reveal: bool = False,
    roles: Sequence[str] = (),
    greedy: bool = False,
    seed: int = 0,
    trust: bool = False,
) -> Media:
    """Plays episodes and records them.

    A recording (``match.replay``) in place of the player is drawn as it was played; arguments of play are refused then.

    Args:
        player, world, options, roles, greedy, seed, trust: as for `evaluate`.
        out: the file: ``.mp4``, ``.gif``, ``.png``, or ``.replay``, a recording. None: ``episode.mp4`` in the run's folder.
        episodes: number of episodes.
        max_steps: length at which episodes are cut; needed for worlds that may never end.
        size: pixels of both sides, or width and height. None: 512, or wider where the scene is wider.
        every: show only one in so many steps, for faster playback.
        frames: frames for which a step stays in view, 30 a second; things glide in between. None: the world's own.
        step: of a ``.png``: the step to show. None: the middle.
        focus: show only what is around the agent of this number, which is followed, or around a place (x, y). None: all.
        zoom: tiles or metres of the shorter side to show. None: all, or 24 around a focus.
        legend: draw the legend.
        reveal: show what is hidden from the public, such as roles.

    Returns:
        The file; a notebook shows it.

    Raises:
        UserError: as `evaluate`, for another suffix, or if a package is missing.
    """
    from interplay.evaluate.lineup import players_of
    from interplay.verbs.opening import set_privileged_view
    from interplay.verbs.players import seat
    from interplay.view.video import record as record_video

    if out is None:
        folder = Path(str(getattr(player, "folder", player)))
        if not (folder / "settings.toml").is_file():
            raise UserError(f"{player}: no run folder to record into; add for example --out episode.mp4")
        out = folder / "episode.mp4"
    if is_recording(player):
        playing = (world, options, episodes != 1, max_steps, reveal, roles, greedy, seed, trust)
        looks = {"size": size, "every": every, "frames": frames, "step": step}
        return _draw_recording(
            str(player), out, playing, looks | {"focus": focus, "zoom": zoom, "legend": legend}
        )
    found = seat(player, world, options, greedy, roles, trust)
    batch = found.make_world(num_worlds=1, seed=seed)
    try:
        set_privileged_view(batch, reveal)
        written = record_video(
            batch,
            found.policy,
            out,
            episodes=episodes,
            max_steps=max_steps,
            size=size,
            every=every,
            seed=seed,
            frames=frames,
            step=step,
            options=found.options,
            focus=focus,
            zoom=zoom,
            legend=legend,
        )
        return Media(written, players_of(found.policy, batch))
    finally:
        batch.close()


def is_recording(player: object) -> bool:
    """Whether a player's name is that of a recording."""
    from interplay.core.loading import is_folder

    return isinstance(player, str | Path) and str(player).endswith(".replay") and not is_folder(str(player))


def _draw_recording(
    replay: str,
    out: str | Path,
    playing: Sequence[object],
    looks: Mapping[str, Any],
) -> Media:
    from interplay.view.video import draw_replay

    names = ("world", "options", "episodes", "max_steps", "reveal", "roles", "greedy", "seed", "trust")
    for name, value in zip(names, playing, strict=True):
        if value:
            raise UserError(f"{replay}: {name} is for playing, and this was played already; leave it out")
    written, troubles = draw_replay(replay, out, **looks)
    for line in troubles:
        print(line, file=sys.stderr)
    return Media(written)
