"""Playing to measure, and to watch."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypedDict, Unpack, overload

from interplay.core.errors import UserError
from interplay.core.loading import is_folder
from interplay.verbs.keywords import Option, suggest_keyword, takes
from interplay.verbs.showing import Media

if TYPE_CHECKING:
    from interplay.core.policy import Policy
    from interplay.evaluate.episodes import EpisodeTable
    from interplay.verbs.run_folder import Metrics, RunFolder


class PlayOptions(TypedDict, total=False):
    """Options of verbs that play."""

    max_steps: Annotated[
        int | None, Option(None, "length at which episodes are cut; needed for worlds that may never end.")
    ]
    roles: Annotated[
        Sequence[str],
        Option(
            (),
            'another player for some sides, e.g. ``"blue=random"``: a side is a team, a population, an agent, or a side of the run\'s '
            'settings. A run plays against the opponents of its training; with ``"blue=self"`` it plays that side itself.',
        ),
    ]
    greedy: Annotated[bool, Option(False, "trained policies take their likeliest action.")]
    seed: Annotated[int, Option(0, "of the worlds and of the players.")]
    trust: Annotated[
        bool,
        Option(
            False,
            "run the programs (``module:name``) that a run or file from elsewhere names; it is remembered.",
        ),
    ]


class EvaluateOptions(PlayOptions, total=False):
    """Options of `evaluate`."""

    episodes: Annotated[int, Option(100, "number of episodes.")]
    num_worlds: Annotated[
        int,
        Option(
            64,
            "worlds that are stepped together. They share the players' random draws, so another number gives another sample.",
        ),
    ]


class Look(TypedDict, total=False):
    """Options of `record` for drawing."""

    size: Annotated[
        int | tuple[int, int] | None,
        Option(
            None,
            "pixels of both sides, or width and height. None: 512, or wider where the scene is wider.",
        ),
    ]
    every: Annotated[int, Option(1, "show only one in so many steps, for faster playback.")]
    frames: Annotated[
        int | None,
        Option(
            None,
            "frames for which a step stays in view, 30 a second; things glide in between. None: the world's own.",
        ),
    ]
    step: Annotated[int | None, Option(None, "of a ``.png``: the step to show. None: the middle.")]
    focus: Annotated[
        int | tuple[float, float] | None,
        Option(
            None,
            "show only what is around the agent of this number, which is followed, or around a place (x, y). None: all.",
        ),
    ]
    zoom: Annotated[
        float | None,
        Option(None, "tiles or metres of the shorter side to show. None: all, or 24 around a focus."),
    ]
    legend: Annotated[bool, Option(True, "draw the legend.")]


class RecordOptions(Look, PlayOptions, total=False):
    """Options of `record`."""

    episodes: Annotated[int, Option(1, "number of episodes.")]
    reveal: Annotated[bool, Option(False, "show what is hidden from the public, such as roles.")]


@overload
def evaluate(
    player: str | Path | Policy | RunFolder,
    world: object = "",
    options: Mapping[str, Any] | None = None,
    *,
    at_checkpoints: Literal[False] = False,
    **how: Unpack[EvaluateOptions],
) -> EpisodeTable: ...


@overload
def evaluate(
    player: str | Path | RunFolder,
    world: object = "",
    options: Mapping[str, Any] | None = None,
    *,
    at_checkpoints: Literal[True],
    out: str | Path | None = None,
    **how: Unpack[EvaluateOptions],
) -> Metrics: ...


@suggest_keyword
@takes(EvaluateOptions)
def evaluate(
    player: str | Path | Policy | RunFolder,
    world: object = "",
    options: Mapping[str, Any] | None = None,
    *,
    at_checkpoints: bool = False,
    out: str | Path | None = None,
    **how: Unpack[EvaluateOptions],
) -> EpisodeTable | Metrics:
    """Plays whole episodes.

    Args:
        player: a run folder or a scripted policy's name; in Python also a run or a policy.
        world: a world's id or ``module:name``, in Python anything that `interplay.train` takes; empty: the run's own.
        options: options of the world.
        at_checkpoints: play the same episodes at every sound checkpoint that the run has kept.
        out: with `at_checkpoints`, a folder that keeps the rows, for ``interplay curves``; kept rows are not played again.

    Returns:
        One row per episode; ``.summary()`` has the mean of every column with its standard error, over the agents of the player where
        others play too, and ``name[side]``; ``.players`` names the player of each side. With `at_checkpoints` columns
        over the checkpoints, oldest first: ``agent_steps``, means by the names that training logs, ``standard_error[name]``, a share's 95 % interval
        ``low[name]`` to ``high[name]``, and
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
        from interplay.verbs.milestones import as_metrics, evaluate_checkpoints

        if isinstance(player, Policy):
            raise UserError(
                f"at_checkpoints: {player.name} is one policy and has no checkpoints; name its run"
            )
        found = evaluate_checkpoints(player, world, options, how, None if out is None else Path(out))
        title = f"{line_of(found.players)}, on {found.world}, {how['episodes']} episodes"
        return as_metrics(title, found.rows)
    if out is not None:
        raise UserError(f"out = {str(out)!r}: only rows of checkpoints are kept; add at_checkpoints=True")
    seated = seat(player, world, options, how["greedy"], how["roles"], how["trust"])
    episodes, seed = how["episodes"], how["seed"]
    batch = seated.make_world(num_worlds=min(how["num_worlds"], max(episodes, 1)), seed=seed)
    try:
        table = play(batch, seated.policy, episodes=episodes, seed=seed, max_steps=how["max_steps"])
        if table.repeats:
            settings = getattr(batch, "settings", None)
            cure = "; the option randomize draws others" if hasattr(settings, "randomize") else ""
            warnings.warn(
                f"the {episodes} episodes were the same in every column: where world and players draw nothing, "
                f"the intervals mean nothing{cure}",
                stacklevel=2,
            )
        return table
    finally:
        batch.close()


@suggest_keyword
@takes(RecordOptions)
def record(
    player: str | Path | Policy | RunFolder,
    out: str | Path | None = None,
    world: object = "",
    options: Mapping[str, Any] | None = None,
    **how: Unpack[RecordOptions],
) -> Media:
    """Plays episodes and records them.

    A recording (``match.replay``) in place of the player is drawn as it was played; arguments of play are refused then.

    Args:
        player, world, options: as for `evaluate`.
        out: the file: ``.mp4``, ``.gif``, ``.png``, or ``.replay``, a recording. None: ``episode.mp4`` in the run's folder.

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
    looks: dict[str, Any] = {name: value for name, value in how.items() if name in Look.__annotations__}
    if is_recording(player):
        playing = {"world": world, "options": options, **how}
        return _draw_recording(str(player), out, looks, playing)
    found = seat(player, world, options, how["greedy"], how["roles"], how["trust"])
    batch = found.make_world(num_worlds=1, seed=how["seed"])
    try:
        set_privileged_view(batch, how["reveal"])
        written = record_video(
            batch,
            found.policy,
            out,
            episodes=how["episodes"],
            max_steps=how["max_steps"],
            seed=how["seed"],
            options=found.options,
            **looks,
        )
        return Media(written, players_of(found.policy, batch))
    finally:
        batch.close()


def is_recording(player: object) -> bool:
    """Whether a player's name is that of a recording."""
    return isinstance(player, str | Path) and str(player).endswith(".replay") and not is_folder(str(player))


def _draw_recording(
    replay: str, out: str | Path, looks: Mapping[str, Any], playing: Mapping[str, Any]
) -> Media:
    from interplay.view.video import draw_replay

    defaults = {"episodes": 1}
    for name, value in playing.items():
        if name not in looks and value and value != defaults.get(name):
            raise UserError(f"{replay}: {name} is for playing, and this was played already; leave it out")
    written, troubles = draw_replay(replay, out, **looks)
    for line in troubles:
        print(line, file=sys.stderr)
    return Media(written)
