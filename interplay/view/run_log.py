"""Reads the log of a run, also while the run goes on."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.core.loading import did_you_mean
from interplay.core.reading import METRICS_FILE, memory_limit, read_json_lines, read_toml
from interplay.evaluate.last import OF_LIVES, Last, counted_by, last_of
from interplay.evaluate.units import PER_LIFE, unit_of

MOST = 1e100  # of a number; larger ones, whose differences are not finite, cannot be drawn
MOST_STEPS = 2**63  # agent-steps of a run


BEGAN = "episodes_began"
BY_AGENT = "by_agent"
AGENT_NAMES, TEAM_NAMES = "agent_names", "team_names"  # in the first line of a log
LISTS = ("of_episodes", "of_others", "of_lives", "per_team")  # of names of metrics
RETURN = "episode_return"
ENDS = ("max_updates", "max_episodes", "max_seconds")  # of `train`, beside `steps`
OTHERS = (
    ("opponents",),
    ("league", "learners"),
    ("pool", "populations"),
)  # settings that bring other players than the learner


class RunLog(NamedTuple):
    """The log of one run.

    Attributes:
        path, name: its folder, and that folder's name.
        world: the world's id; empty without settings.
        steps: (N,) agent-steps of each logged line, ascending.
        columns: name -> (N,) float64, NaN if missing in a line.
        of_others: columns -> (N,) bool, whether a line's mean is over the episodes with other players than the learner.
        of_lives: metrics that are means over lives.
        per_team: metrics of an agent's whole team.
        of_episodes: columns that are means over episodes, which began before the line was written.
        options: of the world, as JSON.
        agents: name -> (N, A) float64, of metrics logged per agent.
        planned: agent-steps in the settings; None if missing, or if another limit may end the run.
        mixed: agent-steps up to which means over episodes include the opponents; 0 for none.
        names: of the agents, and of the teams; empty if not logged.
    """

    path: Path
    name: str
    world: str
    steps: np.ndarray
    columns: dict[str, np.ndarray]
    of_episodes: frozenset[str] = frozenset()
    options: str = "{}"
    agents: dict[str, np.ndarray] = {}  # noqa: RUF012 - never changed
    planned: int | None = None
    mixed: int = 0
    of_others: Mapping[str, np.ndarray] = {}
    of_lives: frozenset[str] = frozenset(OF_LIVES)
    per_team: frozenset[str] = frozenset()
    names: tuple[tuple[str, ...], ...] = ()

    @property
    def apart(self) -> int:
        """The most agent-steps between two lines: runs of equal length may differ by as many."""
        return int(np.diff(self.steps, prepend=0.0).max())

    @property
    def mixed_sides(self) -> str:
        """A note on means that include opponents, in a log of an earlier version; else empty."""
        if not self.mixed:
            return ""
        return (
            f"{self.name}: up to {self.mixed:,} agent-steps its means over episodes are over all sides, opponents included: "
            "an earlier version logged them"
        )

    @property
    def early_end(self) -> str:
        """A note on a run with fewer agent-steps than its settings; else empty."""
        # With `log_every`, a complete run lacks at most the steps between two lines.
        last = int(self.steps[-1])
        if self.planned is None or self.planned - last < max(self.apart, 1):
            return ""
        return f"{self.name} ends at {last:,} of {self.planned:,} agent-steps"

    def unit(self, name: str) -> str:
        """The unit of a column; empty if unknown."""
        plain = name.partition("[")[0]
        if plain in self.of_lives and plain != "life":
            return PER_LIFE
        per_agent = True if plain in self.agents else False if name in self.of_episodes else None
        return unit_of(name, per_agent, self.per_team)

    def column(self, name: str) -> np.ndarray:
        """A column, (N,), all NaN if this run never logged it."""
        return self.columns.get(name, np.full(len(self.steps), np.nan))

    def cases(self, name: str) -> np.ndarray | None:
        """(N,) episodes or lives behind each mean of a column, 0 if unknown; None for other columns."""
        counts = counted_by(name, self.columns, self.of_episodes, self.of_lives)
        if counts is None:
            return None
        cases = self.columns[counts]
        if name in self.of_others:
            cases = np.where(self.of_others[name], self.column("episodes_with_others"), cases)
        return np.nan_to_num(cases)

    def last(self, name: str) -> Last:
        """The last value of a column."""
        return last_of(self.column(name), self.cases(name))

    def places(self, name: str) -> np.ndarray:
        """Places of a column on the x axis, (N,) in the unit of `steps`: means over episodes stand where these began."""
        if name not in self.of_episodes:
            return self.steps
        began = self.column(BEGAN)
        return np.where(np.isfinite(began), began, self.steps)

    def against(self, name: str) -> RunLog:
        """The log with another column, such as seconds, in place of `steps`."""
        counted = self.column(name)
        began = np.interp(self.column(BEGAN), np.append(0.0, self.steps), np.append(0.0, counted))
        return self._replace(steps=counted, columns={**self.columns, BEGAN: began})


def read_run(path: Path) -> RunLog:
    """Reads ``metrics.jsonl`` and ``settings.toml`` of a run folder.

    An incomplete last line is left out. Arrays (one number per agent) are read as their mean.
    """
    file = path / METRICS_FILE
    if not os.path.lexists(file):
        raise UserError(f"{path}: holds no {METRICS_FILE}; name a run folder, made by `interplay train`")
    read = list(_checked(file))
    lines = [_flat(line) for line in read]
    if not lines:
        raise UserError(f"{file}: nothing logged yet; wait for the run's first update")
    names = sorted({name for line in lines for name, value in line.items() if _number(value) is not None})
    _check_room(file, len(names), len(lines))
    table = {name: np.array([_cell(line.get(name)) for line in lines]) for name in names}
    for name, column in table.items():
        if (np.abs(column) > MOST).any():
            raise UserError(f"{file}: {name[:60]!r} holds a number beyond {MOST:g}; remove its line")
    steps = table.pop("agent_steps")
    settings = _settings(path / "settings.toml")
    of_episodes, others, of_lives, per_team = (
        frozenset(name for line in lines for name in line.get(key) or ()) for key in LISTS
    )
    of_others = {name: np.array([name in line.get("of_others", ()) for line in lines]) for name in others}
    world, options = _world(settings)
    return RunLog(
        path,
        path.resolve().name,
        world,
        steps,
        table,
        of_episodes,
        options,
        _agents(file, read),
        _planned(settings),
        _mixed(read) if any(_inside(settings, *keys) for keys in OTHERS) else 0,
        of_others,
        of_lives | frozenset(OF_LIVES),
        per_team,
        _names(read),
    )


def _names(lines: list[dict[str, Any]]) -> tuple[tuple[str, ...], ...]:
    """Names of the agents and of the teams, from the first line that has them."""
    line = next((line for line in lines if AGENT_NAMES in line), {})
    lists = [line.get(key) for key in (AGENT_NAMES, TEAM_NAMES)]
    return tuple(tuple(one_line(str(name)) for name in own) for own in lists if isinstance(own, list))


def _mixed(lines: list[dict[str, Any]]) -> int:
    """Agent-steps of the last line with means over episodes that does not name the learner's sides."""
    return max(
        (int(line["agent_steps"]) for line in lines if line.get("of_episodes") and "learner" not in line),
        default=0,
    )


def usual(names: Iterable[str], logged: Collection[str]) -> list[str]:
    """The logged ones of some names; for a return that was logged per side, those of all sides.

    Example:
        >>> usual(["episode_return", "won"], ["episode_return[left]", "episode_return[right]", "won[left]"])
        ['episode_return[left]', 'episode_return[right]']
    """
    sides = sorted(name for name in logged if name.startswith(f"{RETURN}["))
    found = [sides if name == RETURN and name not in logged else [name] for name in names]
    return [name for some in found for name in some if name in logged]


def check_logged(names: Iterable[str], logged: Collection[str]) -> None:
    """Refuses metrics that no run has logged."""
    for name in names:
        if name not in logged:
            near = did_you_mean(name, logged, f"there are {', '.join(sorted(logged)) or 'none yet'}")
            raise UserError(f"no run has logged {name!r}; {near}")


def one_line(text: str) -> str:
    """Replaces control characters of untrusted text by spaces.

    Example:
        >>> one_line("a\\nb\\x1b[31m")
        'a b [31m'
    """
    return "".join(letter if letter.isprintable() else " " for letter in text)


def finite(value: float | None) -> float | None:
    """A number for JSON: None for NaN and infinite ones."""
    return None if value is None or not math.isfinite(value) else float(value)


def _checked(file: Path) -> Iterator[dict[str, Any]]:
    """The lines of a log, checked for ascending agent-steps."""
    before = 0.0
    for number, line in read_json_lines(file, links=False):
        steps = line.get("agent_steps")
        if isinstance(steps, bool) or not isinstance(steps, int | float) or math.isnan(steps):
            raise UserError(f"{file}: line {number} is without agent_steps; this is no log of a run")
        if not 0 <= steps < MOST_STEPS:
            raise UserError(
                f"{file}: line {number}: agent_steps = {_short(steps)} is no number of steps; remove that line"
            )
        if steps < before:
            raise UserError(
                f"{file}: line {number}: agent_steps fall from {before:.15g} to {steps:.15g}; remove the lines of one of the runs"
            )
        for key in LISTS:
            own = line.get(key)
            if own is not None and not (isinstance(own, list) and all(isinstance(name, str) for name in own)):
                raise UserError(
                    f"{file}: line {number}: {key} = {_short(own)} is no list of names; remove that line"
                )
        before = steps
        yield line


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:60] + "..."


def _flat(line: dict[str, Any]) -> dict[str, Any]:
    """A line with nested mappings flattened, ``rates[learning_rate]``, without numbers per agent."""
    inner = {
        f"{name}[{key}]": v
        for name, value in line.items()
        if isinstance(value, dict) and name != BY_AGENT
        for key, v in value.items()
    }
    return {name: value for name, value in line.items() if not isinstance(value, dict)} | inner


def _check_room(file: Path, columns: int, lines: int) -> None:
    if (size := 8 * columns * lines) > memory_limit():
        raise UserError(
            f"{file}: {columns:,} columns of {lines:,} lines need {size:,} bytes; this is no log of a run"
        )


def _agents(file: Path, lines: list[dict[str, Any]]) -> dict[str, np.ndarray]:
    """Metrics under ``by_agent``: name -> (N, A), NaN if missing; left out if the number of agents changes."""
    tables: dict[str, np.ndarray] = {}
    groups = [line[BY_AGENT] if isinstance(line.get(BY_AGENT), dict) else {} for line in lines]
    widths: dict[str, int] = {}
    for name in dict.fromkeys(name for own in groups for name in own):
        rows = [own.get(name) for own in groups]
        sizes = {len(row) for row in rows if isinstance(row, list)}
        if len(sizes) != 1:
            continue
        widths[name] = sizes.pop()
        _check_room(file, sum(widths.values()), len(lines))
        empty = [None] * widths[name]
        tables[name] = np.array(
            [[_cell(one) for one in (row if isinstance(row, list) else empty)] for row in rows]
        )
    return tables


def _number(value: Any) -> float | None:
    if isinstance(value, list):
        parts = [_number(part) for part in value]
        return None if not parts or None in parts else sum(part or 0.0 for part in parts) / len(parts)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)


def _cell(value: Any) -> float:
    number = _number(value)
    return math.nan if number is None else number


def _settings(file: Path) -> dict[str, Any]:
    """Reads ``settings.toml``; empty if it is missing."""
    return read_toml(file, links=False) if os.path.lexists(file) else {}


def _world(settings: dict[str, Any]) -> tuple[str, str]:
    """The world's id, and its options as JSON."""
    world = settings.get("world", {})
    name, options = (world.get("id", ""), world.get("options", {})) if isinstance(world, dict) else ("", {})
    return str(name), json.dumps(options, sort_keys=True, default=str)


def _planned(settings: dict[str, Any]) -> int | None:
    """Agent-steps of the settings; None if another limit may end the run."""
    steps = settings.get("steps")
    ends = any(isinstance(_inside(settings, "train", end), int | float) for end in ENDS)
    return steps if isinstance(steps, int) and not isinstance(steps, bool) and not ends else None


def _inside(values: Any, *keys: str) -> Any:
    for key in keys:
        values = values.get(key) if isinstance(values, dict) else None
    return values
