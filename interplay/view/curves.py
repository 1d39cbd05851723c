"""Learning curves of one or more runs as a picture; needs the extra ``plot`` (matplotlib)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.core.reading import parse_json
from interplay.core.targets import GIVEN
from interplay.view.figures import (
    AS_NEEDED,
    FigureLook,
    LineLook,
    draw_curve,
    fonts,
    frame_figure,
    line_look,
    mark,
    panel_grid,
    plain_axes,
)
from interplay.view.output import FIGURES, begin_figure, check_output, save_figure
from interplay.view.palette import FAINT, INK
from interplay.view.run_log import RunLog, check_logged, one_line, usual
from interplay.view.seed_means import WINDOWS, curves_of

if TYPE_CHECKING:
    from interplay.view.run_table import Run

DEFAULT_COLUMNS = ("episode_length", "episode_return", "won", "life", "rating")
AXES = {
    "agent_steps": "agent-steps",
    "slot_steps": "steps of every slot, alive or not",
    "time": "seconds of training",
    "updates": "updates",
}
MOST_PARTS = 16  # agents or teams, whose curves can be told apart
UNFINISHED = "episodes stand where they began"
WHOLE = 0.9  # share of a run; curves that end earlier get a note
LONGEST = 120  # characters of a label
SHORT = 40  # characters of settings that serve as a label
PANEL = (4.0, 2.8)  # inches of a panel without title and legend


class Reference(NamedTuple):
    """A line to compare with.

    Attributes:
        column: the metric of its panel.
        level: a horizontal line, or None.
        windows: (first, last step of every slot, value) of means over windows, drawn as short bars.
    """

    label: str
    column: str
    level: float | None = None
    windows: tuple[tuple[float, float, float], ...] = ()


def plot_runs(
    runs: Sequence[str | Path],
    out: str | Path,
    columns: Sequence[str] | None = None,
    references: Sequence[Reference] | None = None,
    title: str = "",
    against: str = "",
    by: str = "",
    labels: Mapping[str, str] | None = None,
    look: FigureLook = AS_NEEDED,
) -> Path:
    """Draws columns of the runs' ``metrics.jsonl`` against agent-steps, one panel each.

    Runs that differ only in their seed become one curve: the mean, in a band from lowest to highest. Each run is
    interpolated between its own points (`interplay.view.seed_means`), as far as all runs have points. A single run is
    drawn as means over windows above its faint raw values. Means are weighted by their episodes and stand where these
    began (decision 16). Notes below the panels name runs that ended early. Beside a published curve, which counts the
    steps of every slot, so do the runs' curves (earlier versions logged that number as agent-steps).

    Args:
        runs: run folders.
        out: a ``.png``, ``.pdf`` or ``.svg`` in an existing folder.
        columns: names in ``metrics.jsonl``; None = length, return, share won, life and rating, if logged.
        references: None = published results of the world, if all runs share one; () = none.
        title: empty = the world's id, if all runs share one.
        against: ``agent_steps``, ``slot_steps`` (of every slot, alive or not) or ``time`` (seconds of training); empty: as
            the published curve, else agent-steps.
        by: ``agent`` or ``team``: a curve for each, of columns logged for every agent; empty: their mean.
        labels: label of a group, or name or path of one of its runs -> new label.
        look: size and fonts; its title replaces `title`.

    Raises:
        UserError: for a folder without a log, an unknown column or label, or a column without numbers per agent.
    """
    from interplay.view.run_table import read_logged  # brings all settings: the viewer starts without

    target = check_output(out, FIGURES)
    if not runs:
        raise UserError("no runs given; name at least one run folder")
    found, left_out = read_logged([Path(run) for run in runs], bare=True)
    logs = [log for _, log in found]
    early = [line for log in logs for line in (log.early_end, log.mixed_sides) if line]
    names = _columns(logs, columns, by)
    logs, parts = split(logs, names, by)
    worlds = {log.world for log in logs}
    world = worlds.pop() if len(worlds) == 1 else ""
    if references is None:
        references = published(world)
    axis, logs = choose_axis(logs, references, against)
    if axis != AXES["slot_steps"]:
        references = [reference._replace(windows=()) for reference in references]
    groups = _grouped([run for run, _ in found], logs, labels or {})
    mixed = [] if world else [f"curves of different worlds: {', '.join(sorted({log.world for log in logs}))}"]
    notes = "; ".join(
        [
            *mixed,
            *(note.rstrip(".") for note in left_out),
            *early,
            *([UNFINISHED] if _lack_ends(logs, names) else []),
        ]
    )
    known = [r for r in references if r.windows or r.level is not None]
    looks = _looks(groups, [parts[name] for name in names])
    rows, across = panel_grid(len(names), look.width)
    with fonts(look):
        width = look.width or across * PANEL[0]
        figure = begin_figure(target, "learning curves", (width, look.height or rows * PANEL[1]))
        grid = figure.subplots(rows, across, squeeze=False).ravel()
        for axes, name in zip(grid, names, strict=False):
            _panel(axes, name, axis, groups, known, parts[name], looks)
        for axes in grid[len(names) :]:
            axes.set_axis_off()
        heading = plain_words(look.title or title or world)
        frame_figure(figure, look, heading, one_line(notes), rows, PANEL[1])
        return save_figure(figure, target)


def _grouped(
    runs: Sequence[Run], logs: Sequence[RunLog], labels: Mapping[str, str]
) -> dict[str, list[RunLog]]:
    """Label of a group -> its logs.

    Labels are the settings in which groups differ if these are short, else the names of the folders.
    """
    from interplay.view.run_groups import group_runs, label_groups

    by_path = {log.path: log for log in logs}
    groups = group_runs(runs)
    settings = [group.settings for group in groups]
    short = len(set(settings)) == len(settings) > 1 and all(0 < len(text) <= SHORT for text in settings)
    shown = label_groups(groups, settings if short else [group.folders for group in groups], labels)
    return {
        label: [by_path[run.path] for run in group.runs] for label, group in zip(shown, groups, strict=True)
    }


def _looks(
    groups: Mapping[str, Sequence[RunLog]], parts: Sequence[Mapping[str, str]]
) -> dict[tuple[str, str], LineLook]:
    """Group and part -> look of its lines, the same in each panel."""
    kinds = dict.fromkeys((label, part) for own in parts for label in groups for part in own)
    return {kind: line_look(number, len(kinds)) for number, kind in enumerate(kinds)}


def _lack_ends(logs: Sequence[RunLog], names: Sequence[str]) -> bool:
    """Whether a curve ends long before its run because the last episodes had not ended."""
    of_episodes = [(log, name) for log in logs for name in names if name in log.of_episodes]
    return any(
        np.max(log.places(name), initial=0.0, where=np.isfinite(log.column(name))) < WHOLE * log.steps[-1]
        for log, name in of_episodes
    )


def choose_axis(
    logs: Sequence[RunLog], references: Sequence[Reference], against: str = ""
) -> tuple[str, list[RunLog]]:
    """Label of the x axis, and the runs with their `steps` in its unit."""
    if against not in ("", *AXES):
        raise UserError(f"against = {against}: no such axis; give {', '.join(AXES)}")
    if not against and not any(reference.windows for reference in references):
        against = "agent_steps"
    against = against or "slot_steps"
    if against == "agent_steps":
        return AXES[against], list(logs)
    # Earlier versions logged the steps of every slot as agent-steps.
    moved = [
        log if against == "slot_steps" and against not in log.columns else log.against(against)
        for log in logs
    ]
    for log in moved:
        if not np.isfinite(log.steps).all():
            raise UserError(f"{log.path}: lines without {against} among others; this is no log of a run")
    return AXES[against], moved


def split(
    logs: Sequence[RunLog], names: Sequence[str], by: str
) -> tuple[list[RunLog], dict[str, dict[str, str]]]:
    """Adds a column for each agent or team to columns that were logged per agent.

    Returns:
        The runs with columns such as ``name[agent 0]``, and the parts of each column: label -> suffix of the column's
        name, both empty for a column that is not split.

    Raises:
        UserError: for no column per agent, runs of different worlds, or a world without teams.
    """
    whole = {"": ""}
    if not by:
        return list(logs), dict.fromkeys(names, whole)
    if by not in ("agent", "team"):
        raise UserError(f"by = {by}: no such parts; give agent or team")
    divided = [name for name in names if any(name in log.agents for log in logs)]
    if not divided:
        there = ", ".join(sorted(logs[0].agents)) or "none"
        raise UserError(f"{logs[0].path}: {names[0]} has no number per agent; these have: {there}")
    count, teams = _sides(logs, by)
    found: list[RunLog] = []
    labels: list[tuple[str, ...]] = []
    for log in logs:
        more: dict[str, np.ndarray] = {}
        for name in divided:
            table = _by_agent(log, name)
            members = _members(name, table.shape[1], count, teams, by)
            if labels and labels[0] != tuple(members):
                raise UserError(
                    f"{log.path}: {name} has {len(members)} {by}s, {len(labels[0])} before; draw one of them"
                )
            labels.append(tuple(members))
            more |= {f"{name}[{part}]": _mean_of_known(table[:, slots]) for part, slots in members.items()}
        own = {name for name in more if name.partition("[")[0] in log.of_episodes}
        found.append(log._replace(columns={**log.columns, **more}, of_episodes=log.of_episodes | own))
    if len(labels[0]) > MOST_PARTS:
        raise UserError(f"{len(labels[0])} {by}s are more than {MOST_PARTS} curves; draw them without --by")
    parts = {part: f"[{part}]" for part in labels[0]}
    return found, {name: parts if name in divided else whole for name in names}


def _by_agent(log: RunLog, name: str) -> np.ndarray:
    """A column with a number per agent, (N, A)."""
    if name not in log.agents:
        there = ", ".join(sorted(log.agents)) or "none"
        raise UserError(f"{log.path}: {name} has no number per agent; these have: {there}")
    return log.agents[name]


def _sides(logs: Sequence[RunLog], by: str) -> tuple[int | None, tuple[tuple[int, ...], ...]]:
    """Number of agents of the runs' world (None if only the log has it) and the slots of each team."""
    from interplay.registry import make_world

    worlds = {(log.world, log.options) for log in logs}
    world, options = worlds.pop()
    own = not world or ":" in world or world.startswith(GIVEN)
    if own and not worlds and by == "agent":
        return None, ()
    if own or worlds:
        raise UserError(
            f"{by}s are those of one world{' of the registry' * (by == 'team')}; draw runs of one, or without --by"
        )
    made = make_world(world, num_worlds=1, **parse_json(options))
    made.close()
    return len(made.agents), made.teams or ()


def _members(
    name: str, columns: int, agents: int | None, teams: Sequence[Sequence[int]], by: str
) -> dict[str, list[int]]:
    """Label of a part -> its columns of the metric."""
    if by == "agent" and agents in (None, columns):
        return {f"agent {i}": [i] for i in range(columns)}
    if by == "team" and teams and columns == agents:
        return {f"team {i}": list(slots) for i, slots in enumerate(teams)}
    if by == "team" and columns == len(teams):
        return {f"team {i}": [i] for i in range(columns)}
    what = f"{columns} numbers, of {agents} agents" + (
        f" in {len(teams)} teams" if teams else " without teams"
    )
    raise UserError(f"{name} has {what}; draw it by {'team' if by == 'agent' and teams else 'agent'}")


def _mean_of_known(table: np.ndarray) -> np.ndarray:
    known = np.isfinite(table)
    sums = np.where(known, table, 0.0).sum(axis=1)
    means: np.ndarray = np.where(known.any(axis=1), sums / np.maximum(known.sum(axis=1), 1), np.nan)
    return means


def published(world: str) -> tuple[Reference, ...]:
    """Published learning curves of a world."""
    if not world.startswith("survival/"):
        return ()
    from interplay.worlds.survival.published import (
        EPISODE_LENGTH,
        LATER,
        LATER_WINDOWS,
        RANDOM_LENGTH,
        WINDOWS,
    )

    who, found = "Fanti 2022, one run", []
    if world in EPISODE_LENGTH:
        found.append(Reference(who, "episode_length", windows=_bars(WINDOWS, EPISODE_LENGTH[world])))
    if world in RANDOM_LENGTH:
        found.append(Reference("random play", "episode_length", level=RANDOM_LENGTH[world]))
    for column, sides in LATER.get(world, {}).items():
        mean = np.mean(sides, axis=0)
        found.append(Reference(who, column, windows=_bars(LATER_WINDOWS, mean)))
        if len(sides) > 1:
            side = "team" if "2v2" in world else "agent"
            own = enumerate(sides)
            found += [
                Reference(who, f"{column}[{side} {i}]", windows=_bars(LATER_WINDOWS, one)) for i, one in own
            ]
    return tuple(found)


def _bars(
    windows: Sequence[tuple[float, float]], values: Sequence[float]
) -> tuple[tuple[float, float, float], ...]:
    """Windows in millions of steps with their means, as in `Reference`."""
    return tuple(
        (1e6 * first, 1e6 * last, float(value)) for (first, last), value in zip(windows, values, strict=True)
    )


def _columns(logs: Sequence[RunLog], asked: Sequence[str] | None, by: str) -> list[str]:
    logged = sorted({name for log in logs for name in (*log.columns, *(log.agents if by else ()))})
    names = usual(DEFAULT_COLUMNS, logged) if asked is None else list(asked)
    if not names:
        raise UserError(
            f"{logs[0].path}: no episodes are logged yet (the longest of the first must end); there are {', '.join(logged)}"
        )
    check_logged(names, logged)
    return names


def _panel(
    axes: Any,
    name: str,
    axis: str,
    groups: dict[str, list[RunLog]],
    references: Sequence[Reference],
    parts: Mapping[str, str],
    looks: Mapping[tuple[str, str], LineLook],
) -> None:
    last = max(log.steps[-1] for logs in groups.values() for log in logs)
    series = [(label, part, logs) for label, logs in groups.items() for part in parts]
    for i, (label, part, logs) in enumerate(series):
        shown = f"{label}: {part}" if part and len(groups) > 1 else part or label
        _curve(axes, name + parts[part], plain_words(shown), logs, looks[label, part], i)
    for i, (part, end) in enumerate(parts.items()):
        colour = looks[next(iter(groups)), part].colour if part and len(groups) == 1 else INK
        for reference in references:
            if reference.column == name + end or (
                part and i == 0 and reference.column == name and not reference.windows
            ):
                _reference(axes, reference, last, colour, f", {part}" if part else "")
    axes.set_xlabel(axis)
    units = (log.unit(name) for logs in groups.values() for log in logs)
    axes.set_ylabel(quantity(name, next(filter(None, units), "")))
    axes.set_xlim(0, last * 1.02)
    axes.xaxis.set_major_formatter(thousands)
    _steady(axes)
    plain_axes(axes)


def _curve(axes: Any, name: str, label: str, logs: Sequence[RunLog], look: LineLook, number: int) -> None:
    edges = np.linspace(0, max(log.steps[-1] for log in logs), WINDOWS + 1)
    means = curves_of(logs, name, edges)
    some = np.isfinite(means).any(axis=0)
    if (seeds := len(means) or sum(np.isfinite(log.column(name)).any() for log in logs)) > 1:
        label += f" ({seeds} seeds)"
    middles, means = ((edges[:-1] + edges[1:]) / 2)[some], means[:, some]
    if not some.any():  # too few points for a line
        points = np.concatenate([[log.places(name), log.column(name)] for log in logs], axis=1)
        (drawn,) = axes.plot(*points, "o", color=look.colour, label=label)
        mark(drawn, look, number)
        return
    if len(logs) == 1:
        known = np.flatnonzero(np.isfinite(logs[0].column(name)))
        at = known[np.argsort(logs[0].places(name)[known], kind="stable")]
        raw = {"color": look.colour, "linewidth": 0.6, "alpha": 0.25}
        axes.plot(logs[0].places(name)[at], logs[0].column(name)[at], **raw)
    band = (means.min(axis=0), means.max(axis=0)) if len(logs) > 1 else None
    draw_curve(axes, middles, means.mean(axis=0), band, look, number, label)


def _reference(axes: Any, reference: Reference, last: float, colour: str, of: str) -> None:
    if reference.level is not None:
        axes.axhline(reference.level, color=FAINT, linewidth=1.2, linestyle="--", label=reference.label)
    shown = [window for window in reference.windows if window[0] < last]
    for i, (start, end, value) in enumerate(shown):
        label = reference.label + of if i == 0 else None
        for width, inked in ((4, INK), (2, colour))[: 1 + bool(of)]:
            bar = {"color": inked, "linewidth": width, "solid_capstyle": "butt"}
            axes.plot([start, end], [value, value], label=None if of and width == 4 else label, **bar)


def _steady(axes: Any) -> None:
    """Removes the tick offset, and widens the axis of a column that is constant up to rounding."""
    axes.ticklabel_format(axis="y", useOffset=False)
    low, high = axes.get_ylim()
    if high - low < 1e-6 * max(abs(low), abs(high)):
        middle = (low + high) / 2
        axes.set_ylim(middle - 0.1 * abs(middle), middle + 0.1 * abs(middle))


def quantity(name: str, unit: str) -> str:
    """A column and its unit, ``kills (per agent)``."""
    base, bracket, side = name.partition("[")
    return plain_words(base.replace("_", " ") + bracket + side) + (f" ({unit})" if unit else "")


def plain_words(text: str) -> str:
    """Text from a file or a folder's name without control characters, cut to `LONGEST`."""
    plain = one_line(text[: LONGEST + 1])
    return plain if len(plain) <= LONGEST else plain[:LONGEST] + "..."


def thousands(value: float, _: int) -> str:
    """Label of a tick on an axis of agent-steps."""
    if abs(value) >= 1e6:
        return f"{value / 1e6:g} M"
    return f"{value / 1e3:g} k" if abs(value) >= 1e3 else f"{value:g}"
